from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.book.dotenv import parse_dotenv, read_dotenv


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=value", "value"),
        ("  export K = value  ", "value"),
        ("K=", ""),
        ("K='a # b'  # why", "a # b"),
        ('K="a \\"b\\"\\nc"', 'a "b"\nc'),
        ("K=a#b", "a#b"),
        ("K=a b # why", "a b"),
        ("K=# all comment", ""),
        ("K='a\\n'", "a\\n"),
        ("K=a=b", "a=b"),
        ("K=año", "año"),
    ],
)
def test_lines(line: str, value: str) -> None:
    assert parse_dotenv(f"# before\n\n{line}\nOTHER=1\n") == {"K": value, "OTHER": "1"}


def test_other_lines_are_ignored_and_the_last_one_counts() -> None:
    assert parse_dotenv("\ufeffA=1\r\nnot a line\r\n#A=2\r\n1B=3\r\nA=4\r\n") == {"A": "4"}


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    assert read_dotenv(tmp_path / ".env") == {}
    (tmp_path / ".env").write_bytes(b"A=\xff\n")
    assert read_dotenv(tmp_path / ".env") == {}


@given(st.text(st.characters(blacklist_characters="'\r\n", blacklist_categories=["Cs"])))
def test_single_quotes_hold_any_text_of_one_line(value: str) -> None:
    assert parse_dotenv(f"K='{value}'").get("K") == value


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert all(key.isidentifier() for key in parse_dotenv(text))
