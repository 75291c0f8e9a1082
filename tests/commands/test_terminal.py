import io
import sys
import time

import pytest

from ask_book.commands.terminal import Progress, duration, wrapped


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")


def test_text_is_filled_behind_its_indent() -> None:
    assert wrapped("one two three four five six seven", "    ", "[1] ") == "[1] one two three four five\n    six seven"


def test_code_keeps_its_lines_and_indents() -> None:
    assert wrapped("def f():\n    return 1\n\nf()", "  ") == "  def f():\n      return 1\n\n  f()"


def test_long_words_are_not_cut() -> None:
    address = "https://example.org/a/very/long/address"
    assert wrapped(f"see {address}") == f"see\n{address}"


class Terminal(io.StringIO):
    """What is written to standard error, which claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_tells_how_far_and_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    show = Progress().bar("Embedding")
    show(0, 0)
    show(0, 40)
    now[0] += 10
    show(10, 40)
    show(40, 40)
    assert screen.getvalue().split("\r\033[K")[1:] == [
        "Embedding: another process is at it",
        "Embedding [                    ] 0 of 40",
        "Embedding [=====               ] 10 of 40, 30 s left",
        "Embedding [====================] 40 of 40",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 s"), (59, "59 s"), (300, "5 min"), (5400, "1.5 h"), (36_000, "10.0 h")]
)
def test_durations_are_said_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said
