"""Finding a pandoc: the one named, Quarto's own, the system's, or that of `pypandoc-binary`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ask_book.errors import AskBookError
from ask_book.resources import extension_dir

VARIABLE = "ASK_BOOK_PANDOC"
OLDEST = (3, 1, 1)
_TIME_LIMIT = 1800.0
_ANOTHER_PANDOC = f"Name another pandoc in {VARIABLE}, or render the book with Quarto."
_EXE = ".exe" if sys.platform == "win32" else ""
_HOW_TO_GET_ONE = (
    'Install one: `pip install "ask-book[pandoc]"`, or Quarto (https://quarto.org), or pandoc 3.1.1 or later '
    f"(https://pandoc.org); or name one in {VARIABLE}."
)


@dataclass(frozen=True)
class Pandoc:
    """`argv`: how a command line begins (`["/usr/bin/pandoc"]`, `["quarto", "pandoc"]`); `origin`: in words."""

    argv: tuple[str, ...]
    version: str
    origin: str


def find_pandoc(env: Mapping[str, str]) -> Pandoc:
    """The first pandoc that runs and is new enough. A pandoc named in the environment must be right."""
    refused: list[str] = []
    for argv, origin in _candidates(env):
        version = _version(argv)
        if version and _numbers(version) >= OLDEST:
            return Pandoc(argv, version, origin)
        problem = f"is version {version}, older than 3.1.1" if version else "does not run"
        refused.append(f"{origin} ({' '.join(argv)}) {problem}")
        if origin == VARIABLE:
            break
    why = "; ".join(refused)
    raise AskBookError(
        f"No usable pandoc: {why}." if refused else "There is no pandoc on this machine.", _HOW_TO_GET_ONE, "no_pandoc"
    )


def find_pandocs(env: Mapping[str, str]) -> Iterator[Pandoc]:
    """Every pandoc that `find_pandoc` would consider and that can be used, in the same order."""
    for argv, origin in _candidates(env):
        version = _version(argv)
        if version and _numbers(version) >= OLDEST:
            yield Pandoc(argv, version, origin)


def run_lua(pandoc: Pandoc, script: str, job: Path, folder: Path) -> str:
    """What a script of the extension prints when it has done a job; `folder` is where the job's relative paths begin.

    Raises `AskBookError` when it fails, with its last words.
    """
    command = [*pandoc.argv, "lua", str(extension_dir() / "lua" / script), str(job)]
    try:
        run = subprocess.run(
            command, capture_output=True, timeout=_TIME_LIMIT, stdin=subprocess.DEVNULL, cwd=folder, check=False
        )
    except OSError as error:
        raise AskBookError(f"pandoc cannot be started: {error}.", _ANOTHER_PANDOC, "pandoc") from error
    except subprocess.TimeoutExpired as error:
        raise AskBookError(
            f"pandoc needed more than {_TIME_LIMIT:.0f} s for {folder}.", _ANOTHER_PANDOC, "pandoc"
        ) from error
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip().splitlines()
        raise AskBookError(
            f"The pages of {folder} could not be read ({script}: {said[-1] if said else 'no message'}).",
            "Correct what the message names, or render the book with Quarto.",
            "plain",
        )
    return run.stdout.decode()


def _candidates(env: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
    if named := env.get(VARIABLE):
        yield (named,), VARIABLE
    path = env.get("PATH")
    if quarto := shutil.which("quarto", path=path):
        # Quarto's launcher starts Deno before pandoc: half a second that its own binary does not cost.
        own = _inside_quarto(Path(quarto))
        yield ((str(own),) if own else (quarto, "pandoc")), "Quarto's pandoc"
    if system := shutil.which("pandoc", path=path):
        yield (system,), "the system's pandoc"
    if packaged := _packaged():
        yield (packaged,), "pypandoc-binary"


def _inside_quarto(launcher: Path) -> Path | None:
    """`bin/tools/<platform>/pandoc` beside Quarto's launcher (`bin/tools/pandoc` before 1.3)."""
    tools = launcher.resolve().parent / "tools"
    found = sorted((*tools.glob(f"*/pandoc{_EXE}"), *tools.glob(f"pandoc{_EXE}")))
    return found[0] if found else None


def _packaged() -> str | None:
    try:
        return str(import_module("pypandoc").get_pandoc_path())
    except (ImportError, OSError):
        return None


def _version(argv: tuple[str, ...]) -> str:
    try:
        run = subprocess.run(
            [*argv, "--version"], capture_output=True, timeout=60, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    match = re.match(rb"pandoc(?:\.exe)? (\d[\d.]*)", run.stdout)
    return match[1].decode() if match else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)
