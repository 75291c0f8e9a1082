"""Real daemons of a small book: started, found, replaced, killed, stopped."""

import json
import logging
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ask_book import __version__
from ask_book.book.identity import ports
from ask_book.book.manifest import read_manifest
from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import __main__ as daemon
from ask_book.daemon import control
from ask_book.daemon.ports import bind
from ask_book.daemon.process import begin
from ask_book.daemon.state import Order, State, state_folder
from ask_book.errors import AskBookError
from disks import closed, fill, small_disk
from waiting import wait_until

COMMAND = (sys.executable, "-m", "ask_book")


@pytest.fixture
def project(small_book: Path) -> Project:
    return find_project(small_book, os.environ)


def start(project: Project) -> State:
    return control.start(project, settings_of(project.configuration, os.environ), os.environ)


def health(state: State) -> dict[str, Any]:
    found = control.health(state.port)
    assert found is not None
    return found


def test_start_status_stop(project: Project) -> None:
    assert control.status(project) == control.Status(False, book_id=project.book_id)
    state = start(project)
    assert state.port in ports(project.book_id)
    wait_until(lambda: health(state)["edition"] == "plain")
    manifest = read_manifest(project.cache_dir / "manifest.json")
    named = {"id": project.book_id, "title": project.title, "lang": "es"}
    assert health(state)["book"] == {**named, "hash": manifest.book.hash}
    expected = control.Status(True, state.url, state.pid, state.port, project.book_id, __version__)
    assert replace(control.status(project), vectors=None) == expected
    assert start(project) == state
    assert control.stop(project)
    assert not control.stop(project)
    assert not control.status(project).running


def test_it_answers_questions_once_the_book_is_read(project: Project) -> None:
    state = start(project)
    wait_until(lambda: health(state)["index"]["state"] == "ready")
    assert health(state)["index"]["chunks"] == 2
    request = urllib.request.Request(
        f"{state.url}ask",
        json.dumps({"question": "¿Cuándo se terminó el puente de Alcántara?"}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    assert answer["status"] == "answered"
    assert "106" in answer["citations"][0]["quote"]


def test_an_extension_of_another_version_is_told(project: Project) -> None:
    extension = project.root / "_extensions" / "ask-book"
    extension.mkdir(parents=True)
    (extension / "_extension.yml").write_text("title: ask-book\nversion: 0.0.1\n")
    state = start(project)
    wait_until(lambda: "extension_version" in {notice["code"] for notice in health(state)["notices"]})


def test_start_leaves_no_pipe_open(project: Project) -> None:
    """Quarto waits for the end of our output: a daemon that held it would hang the render."""
    done = subprocess.run(
        [*COMMAND, "start", "--book", str(project.root), "--json"], capture_output=True, timeout=60, check=True
    )
    status = json.loads(done.stdout)
    assert status["running"]
    assert set(status) == {"running", "url", "pid", "port", "book_id", "version", "vectors"}
    assert control.health(status["port"]) is not None


def test_twenty_starts_at_once_give_one_daemon(project: Project) -> None:
    """Some are processes, the rest threads: for the locks that makes no difference."""
    command = [*COMMAND, "start", str(project.root), "--json"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    with ThreadPoolExecutor(16) as threads:
        found = [(state.pid, state.port) for state in threads.map(start, [project] * 16)]
    said = [json.loads(one.communicate(timeout=120)[0]) for one in processes]
    assert len({*found, *((status["pid"], status["port"]) for status in said)}) == 1


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


def test_a_daemon_that_a_killed_start_left_behind_makes_room(project: Project) -> None:
    """It was not alive yet when the next start looked, so nobody ended it."""
    settings = settings_of(project.configuration, os.environ)
    left = start(project)
    folder = state_folder(project)
    order = Order("ab" * 8, control.fingerprint(project, settings, os.environ), project, settings)
    state = control._employ(begin(folder, os.environ), order)
    assert (state.start_id, state.pid != left.pid) == (order.start_id, True)
    wait_until(lambda: control.status(project).pid == state.pid)
    assert start(project) == state
    late = begin(folder, os.environ)
    late.employ(left.start_id)
    assert late.child.wait(60) == 0, "its order is no longer there"
    assert control.status(project).pid == state.pid


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

    wait_until(lambda: bool(passages(state, "acueducto")))


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
    folder = state_folder(project)
    token = folder.token()
    assert folder.token() == token
    for damaged in (b"", b"\xff\x00", token[:20].encode()):
        (folder.path / "token").write_bytes(damaged)
        assert re.fullmatch(r"[\w-]{43}", folder.token()), "a new one"


def test_a_start_that_fails_says_why(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project.root))
    (project.root / "starlette.py").write_text("raise ImportError('this starlette is broken')\n")
    with pytest.raises(AskBookError, match="ended at once") as caught:
        start(project)
    assert "this starlette is broken" in caught.value.hint


def test_the_same_version_with_other_code_is_replaced(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("1")
    monkeypatch.setattr(control, "PACKAGE", package)
    first = start(project)
    assert start(project) == first
    (package / "a.py").write_text("22")
    second = start(project)
    assert (second.version, second.pid != first.pid, second.port) == (first.version, True, first.port)


def test_another_environment_is_another_daemon(project: Project) -> None:
    settings = settings_of(project.configuration, {})

    def made_with(env: dict[str, str]) -> str:
        return control.fingerprint(project, settings, env)

    plain = made_with({"PATH": "/bin"})
    assert made_with({"PATH": "/usr/bin", "ASK_BOOK_START": "1", "LANG": "es"}) == plain
    keyed = {made_with({"ASK_BOOK_API_KEY": key}) for key in ("one", "two")}
    assert len(keyed | {plain}) == 3
    (project.root / ".env").write_text("ASK_BOOK_API_KEY=three\n")
    assert made_with({"PATH": "/bin"}) not in keyed | {plain}
    assert "three" not in made_with({})


def test_the_log_has_a_bound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(daemon, "LOG_BYTES", 2000)
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    root.handlers = []
    try:
        daemon._log_to(tmp_path / "daemon.log")
        for number in range(500):
            logging.getLogger("test").info("line %d", number)
        assert "line 499" in (tmp_path / "daemon.log").read_text()
    finally:
        root.handlers[0].close()
        root.handlers, root.level = before
    assert sorted(file.name for file in tmp_path.glob("daemon.log*")) == ["daemon.log", "daemon.log.1"]
    assert sum(file.stat().st_size for file in tmp_path.glob("daemon.log*")) <= 4000


def test_a_start_on_a_full_disk_says_so_and_a_later_one_works(project: Project, home: Path) -> None:
    with small_disk(home, "size=64k"):
        state_folder(project)
        fill(home)
        done = command("start", "--book", str(project.root), "--json")
        assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "disk_full")
        (home / "filler").unlink()
        assert health(start(project))
        control.stop(project)


def test_a_daemon_outlives_a_full_disk(project: Project, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It serves what it has in memory; its log is what is lost."""
    state_home = home / "state"
    state_home.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(state_home))
    with small_disk(state_home, "size=64k"):
        state = start(project)
        wait_until(lambda: health(state)["edition"] == "plain")
        fill(state_home)
        (project.root / "puentes.qmd").write_text("# Los puentes\n\nEl acueducto de Segovia tiene 167 arcos.\n")
        wait_until(lambda: bool(passages(state, "acueducto")))
        assert control.status(project).pid == state.pid
        assert control.stop(project)


def test_a_cache_on_a_full_disk_is_told(project: Project, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = home / "cache"
    cache.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    full = find_project(project.root, os.environ)
    with small_disk(cache, "size=8k"):
        fill(cache)
        state = start(full)
        wait_until(lambda: health(state)["index"]["state"] == "failed")
        assert [notice["code"] for notice in health(state)["notices"]] == ["disk_full"]
        control.stop(full)


@pytest.mark.skipif(sys.platform == "win32", reason="modes do not close a folder there")
def test_a_home_that_cannot_be_written(project: Project, home: Path) -> None:
    with closed(home):
        done = command("start", "--book", str(project.root), "--json")
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["code"]) == (1, "state")
        assert "XDG_STATE_HOME" in error["hint"]
        status = command("status", "--book", str(project.root), "--json")
        assert status.returncode == 1


def command(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, timeout=60)


def passages(state: State, words: str) -> list[object]:
    with urllib.request.urlopen(f"{state.url}search?q={words}") as response:
        found: list[object] = json.load(response)["passages"]
    return found
