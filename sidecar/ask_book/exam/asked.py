"""What readers asked, kept for the author: JSON lines in two files that only their owner reads, a newer and an older.

Only where the author wants it (setting `record-questions`). A line has the question, what came of it and the day; no
address, no name, no hour, nothing that ties one question to another. Thumbs are in `feedback.jsonl`, by the id of the
answer.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ask_book.answering.answer import Answer, Citation
from ask_book.answering.conversation import small_talk, with_what_went_before
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.book.manifest import Tag
from ask_book.files import locked

FILE = "questions.jsonl"
OLDER = "questions.1.jsonl"
FEEDBACK = "feedback.jsonl"
FILE_BYTES = 5_000_000
NOTES = 5
QUOTE_CHARACTERS = 600
LOCK_SECONDS = 2.0

_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


@dataclass(frozen=True)
class Cited:
    """A verified note of an answer: the words of the book, and where they were."""

    quote: str
    file: str = ""
    heading: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Asked:
    """A question of a reader. `follows`: it leans on the one before it. `value`: `up`, `down` or "", for `reason`."""

    question: str
    answer_id: str
    status: str
    follows: bool = False
    scope: str = ""
    cited: tuple[Cited, ...] = ()
    value: str = ""
    reason: str = ""


def keep_question(folder: Path, book: OpenBook, asked: Question, answer: Answer) -> None:
    """Add one line. A greeting is no question, and an address of electronic mail is left out. Raises `OSError`."""
    if small_talk(book, asked.text):
        return
    notes = [note for note in answer.citations if note.verified][:NOTES]
    line = {
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "book": book.manifest.book.id,
        "answer_id": answer.id,
        "question": _MAIL.sub("…@…", asked.text),
        "status": answer.status,
        "follows": with_what_went_before(book, asked) != asked.text,
        "scope": asked.scope or "",
        "cited": [asdict(_cited(book, note)) for note in notes],
    }
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Workers and sidecars of one book write into one file.
    with locked(folder / "questions.lock", LOCK_SECONDS) as alone:
        handle = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            is_full = file.tell() > FILE_BYTES
        if is_full and alone:
            (folder / FILE).replace(folder / OLDER)


def read_questions(folder: Path, book_id: str) -> list[Asked]:
    """What was asked of a book, oldest first, each with its last thumb. Lines that are damaged are left out."""
    thumbs = {
        line["answer_id"]: (str(line.get("value", "")), _plain(str(line.get("reason", ""))))
        for line in _lines(folder / FEEDBACK, book_id)
    }
    found = (_asked(line) for name in (OLDER, FILE) for line in _lines(folder / name, book_id))
    return [
        replace(one, value=thumbs[one.answer_id][0], reason=thumbs[one.answer_id][1])
        if one.answer_id in thumbs
        else one
        for one in found
        if one
    ]


def _cited(book: OpenBook, note: Citation) -> Cited:
    tag = Tag.parse(note.tag)
    file = book.manifest.chapters[tag.chapter].file if tag else ""
    heading = note.heading_path[-1] if note.heading_path else note.chapter_title
    return Cited(note.quote[:QUOTE_CHARACTERS], file, heading, note.anchor)


def _lines(path: Path, book_id: str) -> Iterator[dict[str, Any]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for row in data.splitlines():
        try:
            line = json.loads(row)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and line.get("book") == book_id and isinstance(line.get("answer_id"), str):
            yield line


def _plain(text: str) -> str:
    """On one line, without what a terminal would obey."""
    return "".join(filter(str.isprintable, " ".join(text.split())))


def _asked(line: dict[str, Any]) -> Asked | None:
    try:
        return Asked(
            str(line["question"]),
            line["answer_id"],
            str(line["status"]),
            bool(line["follows"]),
            str(line["scope"]),
            tuple(Cited(**cited) for cited in line["cited"]),
        )
    except (KeyError, TypeError):
        return None
