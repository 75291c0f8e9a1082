"""Drafts of an exam as the YAML that `format` reads. What an author has to decide first is written as comments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ask_book.errors import UsageError
from ask_book.exam.format import Place, Question
from ask_book.exam.run import letters

QUOTE_CHARACTERS = 160


@dataclass(frozen=True)
class Draft:
    """A question to be checked. `note` says what to check; `decided` False: it is written as a comment."""

    question: Question
    note: str = ""
    decided: bool = True


def unique(drafts: Iterable[Draft]) -> list[Draft]:
    """The same question once, whatever its case, accents and marks: the first."""
    found: dict[str, Draft] = {}
    for draft in drafts:
        found.setdefault(letters(draft.question.text, marks=False), draft)
    return list(found.values())


def shortened(text: str) -> str:
    """The beginning of a quote: enough to know the passage by, and little that a later edit could change."""
    if len(text) <= QUOTE_CHARACTERS:
        return text
    short = text[: QUOTE_CHARACTERS + 1]
    return short.rsplit(None, 1)[0] if " " in short else text[:QUOTE_CHARACTERS]


def to_yaml(title: str, lang: str, drafts: Sequence[Draft], head: str) -> str:
    """The exam; `head` is a comment at its top."""
    lines = [f"# {head}", f"book: {_quoted(title)}", *([f"lang: {_quoted(lang)}"] if lang else []), "", "questions:"]
    for draft in drafts:
        if draft.note:
            lines.append(f"  # {''.join(filter(str.isprintable, ' '.join(draft.note.split())))}")
        lines += [line if draft.decided else f"  #{line}" for line in _item(draft.question)]
    return "\n".join(lines) + "\n"


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet. Raises `UsageError` when it is, or cannot be."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        exists = isinstance(error, FileExistsError)
        why = "exists, and nothing is overwritten" if exists else f"cannot be written: {error.strerror}"
        raise UsageError(f"{path} {why}.", "Name another file after --out.", "out") from None


def _item(question: Question) -> Iterator[str]:
    yield f"  - q: {_quoted(question.text)}"
    if question.kind:
        yield "    refuse: true"
        yield f"    kind: {question.kind}"
        return
    if question.type:
        yield f"    type: {_quoted(question.type)}"
    if question.places:
        yield "    must_cite:"
    for place in question.places:
        for name, mark in _fields(place):
            yield f"      {mark} {name}"


def _fields(place: Place) -> Iterator[tuple[str, str]]:
    named = {"quote": place.quote, "file": place.file, "heading": place.heading, "anchor": place.anchor}
    for at, (name, value) in enumerate((name, value) for name, value in named.items() if value):
        yield f"{name}: {_quoted(value)}", " " if at else "-"


def _quoted(text: str) -> str:
    """A YAML string in double quotes on one line: JSON's, and what YAML does not take as it is, escaped."""
    return "".join(_escaped(char) for char in json.dumps(text, ensure_ascii=False))


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
