"""How `ask-book status` says that passages are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.cli import main
from ask_book.daemon import control

MODEL = {"model": "local/e5"}


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ({"state": "ready", "progress": 1.0, **MODEL}, "by their words and, with local/e5, by their meaning."),
        ({"state": "building", "progress": 0.371, **MODEL}, "by their words until all are embedded with local/e5 (37%"),
        (
            {"state": "waiting", "progress": 0.0, **MODEL},
            "`ask-book index` tells what embedding them with local/e5 takes",
        ),
        ({"state": "failed", "progress": 0.0, **MODEL}, "embedding them with local/e5 failed, and is tried again"),
        ({"state": "none", "progress": 0.0, "model": None}, "by their words alone."),
    ],
)
def test_status_says_it_plainly(
    small_book: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    vectors: dict[str, object],
    said: str,
) -> None:
    status = control.Status(True, "http://127.0.0.1:1/", 1, 1, "b", "0", vectors)
    monkeypatch.setattr(control, "status", lambda _: status)
    assert main(["status", str(small_book)]) == 0
    assert said in capsys.readouterr().out


def test_a_sidecar_without_a_model_says_so(small_book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = find_project(small_book, {})
    env = {"ASK_BOOK_EMBEDDING_MODEL": "none"}
    control.start(project, settings_of(project.configuration, env), env)
    said = ""
    while "Passages" not in said:
        assert main(["status", str(small_book)]) == 0
        said = capsys.readouterr().out
    assert "Passages are found by their words alone." in said
