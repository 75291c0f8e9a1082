import pytest

from ask_book.commands.terminal import wrapped


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
