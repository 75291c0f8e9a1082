"""The answer as the HTTP contract gives it: types, and their JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ask_book.book.manifest import Manifest, Tag
from ask_book.book.notice import Notice

HEADER_BYTES = 3500

Status = Literal["answered", "not_found"]
Mode = Literal["extractive", "grounded", "tools"]


@dataclass(frozen=True)
class Citation:
    """Note `n` of an answer. `verified`: offered in this round, and `quote` is the book's text at `tag`."""

    n: int
    tag: str
    href: str
    anchor: str
    chapter_title: str
    heading_path: tuple[str, ...]
    quote: str
    verified: bool


@dataclass(frozen=True)
class Source:
    """A passage that was retrieved. `score` is from 0 to 1."""

    tag: str
    href: str
    anchor: str
    chapter_title: str
    heading_path: tuple[str, ...]
    score: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A span of `answer` (code points, end exclusive) that its reader should doubt: `uncited` or `unsupported`."""

    start: int
    end: int
    kind: Literal["uncited", "unsupported"]


@dataclass(frozen=True)
class Claims:
    """How many sentences of an answer have a source that supports them, none, or one that does not."""

    cited: int = 0
    uncited: int = 0
    unsupported: int = 0
    dropped_tags: int = 0
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Report:
    """Where the saved answer is."""

    id: str
    html: str
    md: str
    pdf: str


@dataclass(frozen=True)
class Answer:
    """`answer` is Markdown; a note in it is `[n](#ask-book-n)`. `timings` are in milliseconds."""

    id: str
    status: Status
    mode: Mode
    answer: str
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    absent_terms: tuple[str, ...] = ()
    nearest: tuple[Source, ...] = ()
    claims: Claims = Claims()
    report: Report | None = None
    notices: tuple[Notice, ...] = ()
    timings: dict[str, float] | None = None


def to_json(answer: Answer) -> dict[str, Any]:
    """The answer as the contract's object."""
    return {**asdict(answer), "timings": answer.timings or {}}


def cite(manifest: Manifest, n: int, tag: Tag, verified: bool) -> Citation:
    """The note `n` on a span that the book has."""
    place = manifest.place(tag)
    return Citation(
        n,
        str(tag),
        place.href,
        place.anchor,
        place.chapter_title,
        place.heading_path,
        manifest.text(tag) or "",
        verified,
    )


def source(manifest: Manifest, tag: Tag, score: float) -> Source | None:
    """A retrieved passage for the reader, or None if there is nothing to show."""
    text = manifest.text(tag) or ""
    if not text.strip():
        return None
    place = manifest.place(tag)
    return Source(
        str(tag),
        place.href,
        place.anchor,
        place.chapter_title,
        place.heading_path,
        round(score, 4),
        text,
    )


def sources_header(sources: Iterable[Source]) -> str:
    """The value of `X-Ask-Book-Sources`: an ASCII JSON list of the first sources that fit in `HEADER_BYTES`."""
    rows: list[str] = []
    for item in sources:
        row = json.dumps({"tag": item.tag, "href": item.href, "chapter_title": item.chapter_title}, ensure_ascii=True)
        if sum(map(len, rows)) + 2 * len(rows) + len(row) + 2 > HEADER_BYTES:
            break
        rows.append(row)
    return f"[{', '.join(rows)}]"
