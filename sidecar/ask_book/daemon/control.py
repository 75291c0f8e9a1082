"""Start, stop and look at the daemon of a book, from another process."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask_book.book.dotenv import read_dotenv
from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.daemon.process import Process, begin
from ask_book.daemon.state import Order, State, StateFolder, state_folder
from ask_book.errors import AskBookError
from ask_book.files import locked

START_SECONDS = 30.0
STOP_SECONDS = 5.0
HUNG_SECONDS = 0.5
POLL_SECONDS = 0.01
PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Status:
    """What `status --json` prints. `vectors`: `index.vectors` of `/health`, once there is an index."""

    running: bool
    url: str | None = None
    pid: int | None = None
    port: int | None = None
    book_id: str | None = None
    version: str | None = None
    vectors: Mapping[str, Any] | None = None


def fingerprint(project: Project, settings: Settings, env: Mapping[str, str]) -> str:
    """What a daemon was started with: when it differs, `start` replaces the daemon.

    The program itself counts by its files, for a new build may have an old version's number; and so do keys, of
    which nothing can be read off a hash.
    """
    variables = [_ours(variables) for variables in (env, read_dotenv(project.root / ".env"))]
    made_of = (sys.executable, _code(), project.book_id, str(project.output_dir), settings, variables)
    return hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]


def _ours(variables: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(item for item in variables.items() if item[0].startswith("ASK_BOOK_") and item[0] != "ASK_BOOK_START")


def _code() -> list[tuple[str, int, int]]:
    """The files of this package: where, when, how large."""
    files = [Path(folder, name) for folder, _, names in os.walk(PACKAGE) for name in names if name.endswith(".py")]
    return sorted((str(file), status.st_mtime_ns, status.st_size) for file in files for status in (file.stat(),))


def start(project: Project, settings: Settings, env: Mapping[str, str], spare: Process | None = None) -> State:
    """The daemon of this project: the one that runs, or a new one, answering. Any number of starts give one daemon.

    `spare` becomes a new one, if it was made for this project. Raises `AskBookError` when none can start, with the
    reason and the place of its log.
    """
    folder = state_folder(project)
    wanted = fingerprint(project, settings, env)
    if state := _answering(folder, wanted):
        return state
    with locked(folder.start_lock, START_SECONDS) as got:
        if not got:
            raise AskBookError("Another `ask-book start` of this book does not come to an end.", f"See {folder.log}.")
        if state := _answering(folder, wanted):
            return state
        _end(folder)
        # Not the process id: on Windows a virtual environment's Python starts another one.
        order = Order(secrets.token_hex(8), wanted, project, settings)
        return _employ(spare if spare and spare.folder == folder else begin(folder, env), order)


def stop(project: Project) -> bool:
    """End the daemon of this project. Whether there was one."""
    folder = state_folder(project)
    with locked(folder.start_lock, START_SECONDS):
        return _end(folder)


def status(project: Project) -> Status:
    """Whether a daemon lives and answers, and where."""
    folder = state_folder(project)
    state = folder.read() if folder.is_alive() else None
    said = health(state.port) if state and state.port else None
    if state is None or said is None:
        return Status(False, book_id=project.book_id)
    index = said.get("index")
    vectors = index.get("vectors") if isinstance(index, dict) and index.get("state") == "ready" else None
    return Status(True, state.url, state.pid, state.port, state.book_id, state.version, vectors)


def health(port: int, timeout: float = 2.0) -> dict[str, Any] | None:
    """What `/health` says on a port of this machine; None if nothing there speaks like a sidecar."""
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", "/health")
        data = json.loads(connection.getresponse().read())
    except (OSError, ValueError, HTTPException):
        return None
    finally:
        connection.close()
    return data if isinstance(data, dict) else None


def _answering(folder: StateFolder, wanted: str) -> State | None:
    state = folder.read()
    if state is None or state.fingerprint != wanted or not state.port or not folder.is_alive():
        return None
    return state if health(state.port) is not None else None


def _end(folder: StateFolder) -> bool:
    """Ask the daemon to end, then make it. Only called with the start lock held, so its process id is current."""
    if not folder.is_alive(patience=0.2):
        return False
    state = folder.read()
    if state is not None:
        # One that hangs has no answer to finish, and a render that waits for the next one.
        patience = STOP_SECONDS if health(state.port, timeout=1) else HUNG_SECONDS
        for number, seconds in ((signal.SIGTERM, patience), (getattr(signal, "SIGKILL", signal.SIGTERM), STOP_SECONDS)):
            try:
                os.kill(state.pid, number)
            except OSError:
                break
            if _wait_for_end(folder, seconds):
                return True
    if _wait_for_end(folder, STOP_SECONDS):
        return True
    raise AskBookError("The sidecar that runs for this book cannot be ended.", f"See {folder.log}.", "stop")


def _wait_for_end(folder: StateFolder, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while folder.is_alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _employ(process: Process, order: Order) -> State:
    """Give it the order, and wait until it answers."""
    folder, child = process.folder, process.child
    folder.place(order)
    process.employ(order.start_id)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        state = folder.read()
        if state is not None and state.start_id == order.start_id:
            if state.error:
                child.wait(STOP_SECONDS)
                raise AskBookError(state.error, state.hint or f"See {folder.log}.", "start")
            if state.port and health(state.port) is not None:
                # It lives on without us: without this, Python warns about a child left behind.
                child.returncode = 0
                return state
        if child.poll() is not None:
            raise AskBookError(f"The sidecar ended at once (exit code {child.returncode}).", _log_hint(folder), "start")
        time.sleep(POLL_SECONDS)
    child.kill()
    child.wait()
    raise AskBookError(f"The sidecar did not answer within {START_SECONDS:.0f} s.", _log_hint(folder), "start")


def _log_hint(folder: StateFolder) -> str:
    try:
        lines = (folder.path / "crash.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        lines = []
    last = f"Its last words: {lines[-1]}\n  " if lines else ""
    return f"{last}See {folder.log}."
