import sys
import threading
import time
from pathlib import Path

import pytest

from ask_book.reports.process import Runner

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")

ENV = {"PATH": "/usr/bin:/bin"}


def sh(script: str, folder: Path, seconds: float = 20, runner: Runner | None = None) -> tuple[int | None, str]:
    outcome = (runner or Runner()).run(["/bin/sh", "-c", script], folder, ENV, seconds)
    return outcome.code, outcome.said


def test_what_it_said_and_how_it_ended(tmp_path: Path) -> None:
    assert sh("echo a; echo b >&2; exit 43", tmp_path) == (43, "a\nb\n")
    assert sh("pwd; cat; printf '\\377'", tmp_path) == (0, f"{tmp_path.resolve()}\n\ufffd")


def test_only_the_environment_that_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASK_BOOK_API_KEY", "sk-secret")
    assert "secret" not in sh("env", tmp_path)[1]


def test_its_time_is_over_also_for_what_it_started(tmp_path: Path) -> None:
    beats = tmp_path / "beats"
    code, _ = sh(f"(while :; do echo x >> '{beats}'; sleep 0.05; done) & sleep 60", tmp_path, 0.5)
    assert code is None
    size = beats.stat().st_size
    time.sleep(0.3)
    assert beats.stat().st_size == size


def test_what_outlives_its_parent_ends_with_it(tmp_path: Path) -> None:
    """A child that keeps the pipe open must not keep us waiting either."""
    beats = tmp_path / "beats"
    code, _ = sh(f"(while :; do echo x >> '{beats}'; sleep 0.05; done) >/dev/null 2>&1 & exit 3", tmp_path)
    assert code == 3
    time.sleep(0.1)
    size = beats.stat().st_size if beats.exists() else 0
    time.sleep(0.3)
    assert (beats.stat().st_size if beats.exists() else 0) == size


def test_a_loop_is_ended_by_the_system_too(tmp_path: Path) -> None:
    """Should this very process be killed, the processor's time is limited."""
    assert sh("ulimit -t", tmp_path, 7)[1] == "8\n"
    assert int(sh("ulimit -f", tmp_path)[1]) <= 400_000


def test_closing_ends_what_runs(tmp_path: Path) -> None:
    runner = Runner()
    ended: list[tuple[int | None, str]] = []
    thread = threading.Thread(target=lambda: ended.append(sh("echo on > on; sleep 60", tmp_path, 60, runner)))
    thread.start()
    while not (tmp_path / "on").exists():
        time.sleep(0.01)
    runner.close()
    thread.join(10)
    assert ended == [(-9, "")]
    assert sh("echo more", tmp_path, runner=runner) == (None, "")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    code, said = Runner().run(["/not/there"], tmp_path, ENV, 5).code, ""
    assert (code, said) == (127, "")
