"""Marks that GitHub puts beside the lines of a pull request: errors of the book, failed questions of an exam.

They are lines of output in a form that its runners read: `::error file=index.qmd,line=3,title=…::message`.
Nowhere else is one written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ask_book.errors import AskBookError

# Errors are told without importing all that an exam needs.
if TYPE_CHECKING:
    from ask_book.exam.format import Place
    from ask_book.exam.report import Results

_WHERE = re.compile(r"(?P<file>.+?):(?P<line>\d+): (?P<what>.+)", re.DOTALL)
WORDS_OF_A_QUOTE = 6


def wanted() -> bool:
    """Whether somebody reads them."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def of_error(error: AskBookError) -> str:
    """An error, at the file and line that it names."""
    found = _WHERE.fullmatch(error.message)
    if found is None or not Path(found["file"]).is_file():
        return _mark("error", "ask-book", f"{error.message} {error.hint}".strip(), None, 0)
    return _mark("error", "ask-book", f"{found['what']} {error.hint}".strip(), Path(found["file"]), int(found["line"]))


def of_exam(results: Results, book: Path) -> Iterator[str]:
    """The questions that went wrong, each at the chapter and line where the book answers it, else at its own line."""
    for exam, outcomes in results.exams:
        for outcome in outcomes:
            if outcome.reason:
                asked = outcome.question
                file, line = next(_places(asked.places, book), (exam.path, asked.line))
                what = f"{outcome.reason} ({exam.path.name}:{asked.line})"
                yield _mark("warning", f"Exam: {asked.text}", what, file, line)


def _places(places: Iterable[Place], book: Path) -> Iterator[tuple[Path, int]]:
    """Where the sources of the book have what must be cited: the words, else the section, else the file."""
    for place in places:
        path = book / place.file
        if place.file and path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            words = [re.escape(word) for word in place.quote.split()[:WORDS_OF_A_QUOTE]]
            signs = (
                r"\W+".join(words),
                re.escape(f"#{place.anchor}") if place.anchor else "",
                re.escape(place.heading),
            )
            yield path, next(filter(None, (_line_of(sign, lines) for sign in signs if sign)), 1)


def _line_of(pattern: str, lines: list[str]) -> int:
    return next((number for number, line in enumerate(lines, 1) if re.search(pattern, line)), 0)


def _mark(kind: Literal["error", "warning"], title: str, message: str, file: Path | None, line: int) -> str:
    place = "" if file is None else f"file={_property(_from_the_top(file))},line={line},"
    return f"::{kind} {place}title={_property(title)}::{_data(message)}"


def _from_the_top(path: Path) -> str:
    """As the repository names the file."""
    top = os.environ.get("GITHUB_WORKSPACE", "")
    absolute = path.resolve()
    inside = bool(top) and absolute.is_relative_to(Path(top).resolve())
    return (absolute.relative_to(Path(top).resolve()) if inside else path).as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
