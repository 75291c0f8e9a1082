"""Real daemons of a small book: started, found, replaced, killed, stopped."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ask_book import __version__
from ask_book.book.identity import ports
from ask_book.book.manifest import read_manifest
from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.daemon.ports import bind
from ask_book.daemon.state import State, state_folder
from ask_book.errors import AskBookError

COMMAND = (sys.executable, "-m", "ask_book")


@pytest.fixture
def project(small_book: Path) -> Project:
    return find_project(small_book, os.environ)


def start(project: Project) -> State:
    return control.start(project, settings_of(project.configuration, os.environ), os.environ)


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def health(state: State) -> dict[str, object]:
    found = control.health(state.port)
    assert found is not None
    return found


def test_start_status_stop(project: Project) -> None:
    assert control.status(project) == control.Status(False, book_id=project.book_id)
    state = start(project)
    assert state.port in ports(project.book_id)
    wait_until(lambda: health(state)["edition"] == "plain")
    manifest = read_manifest(project.cache_dir / "manifest.json")
    named = {"id": project.book_id, "title": "Un libro", "lang": "es"}
    assert health(state)["book"] == {**named, "hash": manifest.book.hash}
    expected = control.Status(True, state.url, state.pid, state.port, project.book_id, __version__)
    assert control.status(project) == expected
    assert start(project) == state
    assert control.stop(project)
    assert not control.stop(project)
    assert not control.status(project).running


def test_it_answers_questions_once_the_book_is_read(project: Project) -> None:
    state = start(project)
    wait_until(lambda: health(state)["index"] == {"state": "ready", "progress": 1.0, "chunks": 2})
    request = urllib.request.Request(
        f"{state.url}ask",
        json.dumps({"question": "¿Cuándo se terminó el puente de Alcántara?"}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    assert answer["status"] == "answered"
    assert "106" in answer["citations"][0]["quote"]


def test_start_leaves_no_pipe_open(project: Project) -> None:
    """Quarto waits for the end of our output: a daemon that held it would hang the render."""
    done = subprocess.run(
        [*COMMAND, "start", "--book", str(project.root), "--json"], capture_output=True, timeout=60, check=True
    )
    status = json.loads(done.stdout)
    assert status["running"]
    assert set(status) == {"running", "url", "pid", "port", "book_id", "version"}
    assert control.health(status["port"]) is not None


def test_twenty_starts_at_once_give_one_daemon(project: Project) -> None:
    starts = [
        subprocess.Popen([*COMMAND, "start", str(project.root), "--json"], stdout=subprocess.PIPE) for _ in range(20)
    ]
    found = [json.loads(one.communicate(timeout=120)[0]) for one in starts]
    assert len({(status["pid"], status["port"]) for status in found}) == 1


@pytest.mark.parametrize("left_behind", ["{", "[]", "null", '{"pid": 1}', ""])
def test_a_damaged_state_file_is_replaced(project: Project, left_behind: str) -> None:
    (state_folder(project).path / "daemon.json").write_text(left_behind)
    assert health(start(project))


def test_a_state_file_damaged_under_a_living_daemon(project: Project) -> None:
    first = start(project)
    (state_folder(project).path / "daemon.json").write_text("{")
    second = start(project)
    assert second.pid != first.pid
    assert control.status(project).pid == second.pid


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be halted there")
def test_a_daemon_that_hangs_is_replaced(project: Project) -> None:
    first = start(project)
    os.kill(first.pid, signal.SIGSTOP)
    second = start(project)
    assert second.pid != first.pid
    assert health(second)


def test_a_daemon_whose_state_was_deleted_ends(project: Project) -> None:
    first = start(project)
    shutil.rmtree(state_folder(project).path)
    wait_until(lambda: control.health(first.port) is None)


def test_the_state_of_a_later_version_is_understood(project: Project) -> None:
    state = start(project)
    path = state_folder(project).path / "daemon.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "since": 3}))
    assert control.status(project).pid == state.pid


def test_a_reused_process_id_is_never_killed(project: Project) -> None:
    state = start(project)
    os.kill(state.pid, signal.SIGKILL)
    wait_until(lambda: not state_folder(project).is_alive())
    state_folder(project).write(replace(state, pid=os.getpid()))
    assert not control.status(project).running
    assert not control.stop(project)
    again = start(project)
    assert again.pid != os.getpid()
    assert again.port == state.port


def test_after_kill_9_the_port_is_the_same(project: Project) -> None:
    first = start(project)
    os.kill(first.pid, signal.SIGKILL)
    wait_until(lambda: not state_folder(project).is_alive())
    assert start(project).port == first.port


def test_a_port_of_another_program_is_avoided(project: Project) -> None:
    first, second, *_ = ports(project.book_id)
    with bind("127.0.0.1", first):
        state = start(project)
    assert state.port == second
    control.stop(project)
    assert start(project).port == second, "the port is remembered"


def test_all_four_ports_taken(project: Project) -> None:
    taken: list[socket.socket] = [bind("127.0.0.1", port) for port in ports(project.book_id)]
    try:
        with pytest.raises(AskBookError, match=r"four ports of this book .* are all taken") as caught:
            start(project)
        assert "--port 0" in caught.value.hint
    finally:
        for listener in taken:
            listener.close()
    assert health(start(project))


def test_two_copies_of_a_book_have_a_daemon_each(project: Project, tmp_path: Path) -> None:
    copy = find_project(shutil.copytree(project.root, tmp_path / "copy"), os.environ)
    one, other = start(project), start(copy)
    try:
        assert one.book_id == other.book_id
        assert one.port != other.port
        assert start(project) == one
    finally:
        control.stop(copy)


def test_other_settings_replace_it(project: Project) -> None:
    first = start(project)
    with (project.root / "_quarto.yml").open("a") as file:
        file.write("ask-book: {top-k: 3}\n")
    second = start(find_project(project.root, os.environ))
    assert second.pid != first.pid
    assert second.port == first.port


def test_another_version_is_replaced(project: Project) -> None:
    first = start(project)
    state_folder(project).write(replace(first, version="0.0.1", fingerprint="of another version"))
    assert control.status(project).version == "0.0.1"
    second = start(project)
    assert (second.version, second.pid != first.pid) == (__version__, True)


def test_it_ends_when_the_project_disappears(project: Project) -> None:
    start(project)
    folder = state_folder(project)
    shutil.rmtree(project.root)
    wait_until(lambda: not folder.is_alive())


def test_a_new_manifest_is_noticed(project: Project) -> None:
    state = start(project)
    wait_until(lambda: health(state)["edition"] == "plain")
    shutil.copytree(project.cache_dir / "site", project.output_dir)
    project.data_dir.mkdir(parents=True)
    shutil.copy(project.cache_dir / "manifest.json", project.data_dir / "manifest.json")
    wait_until(lambda: health(state)["edition"] == "rendered")


def test_a_changed_chapter_is_noticed(project: Project) -> None:
    state = start(project)
    wait_until(lambda: health(state)["edition"] == "plain")
    (project.root / "puentes.qmd").write_text("# Los puentes\n\nEl acueducto de Segovia tiene 167 arcos.\n")

    def finds_it() -> bool:
        with urllib.request.urlopen(f"{state.url}search?q=acueducto") as response:
            return bool(json.load(response)["passages"])

    wait_until(finds_it)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are not what keeps others out there")
def test_only_the_owner_can_read_the_token(project: Project) -> None:
    state = start(project)
    folder = state_folder(project)
    token = folder.token()
    assert len(token) >= 32
    assert stat.S_IMODE((folder.path / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert token not in json.dumps(health(state))


def test_the_token_of_one_start_is_that_of_the_next(project: Project) -> None:
    assert state_folder(project).token() == state_folder(project).token()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_folder_that_cannot_be_written(project: Project, home: Path) -> None:
    home.chmod(0o500)
    try:
        with pytest.raises(AskBookError, match="state cannot be written"):
            start(project)
    finally:
        home.chmod(0o700)


def test_a_start_that_fails_says_why(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project.root))
    (project.root / "starlette.py").write_text("raise ImportError('this starlette is broken')\n")
    with pytest.raises(AskBookError, match="ended at once") as caught:
        start(project)
    assert "this starlette is broken" in caught.value.hint
