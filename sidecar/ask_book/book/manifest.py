"""The book manifest, version 1: what the Lua builder wrote, as types, and the places in it.

Every offset counts Unicode code points from 0 in the text of a chapter, end exclusive,
which is how Python slices a `str`.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

from ask_book.book.identity import MANIFEST_VERSION
from ask_book.errors import AskBookError

_TAG = re.compile(r"\[?f(\d{1,6})-(\d{1,9})-(\d{1,9})\]?")


@dataclass(frozen=True)
class Block:
    """A leaf of a section. `text` is on the page; `context` only helps to find it."""

    kind: str
    start: int
    end: int
    text: str
    context: str = ""
    label: str = ""


@dataclass(frozen=True)
class Section:
    """A heading and the blocks under it, its subsections apart."""

    id: str
    anchor: str
    level: int
    title: str
    number: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Chapter:
    """One page of the book. Its sections partition its text."""

    index: int
    file: str
    href: str
    title: str
    number: str
    part: str
    hash: str
    sections: tuple[Section, ...]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in reading order."""
        return tuple(block for section in self.sections for block in section.blocks)

    @cached_property
    def text(self) -> str:
        """The blocks' texts joined by one newline: what offsets point into."""
        return "\n".join(block.text for block in self.blocks)

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.start for section in self.sections]

    @cached_property
    def _block_starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def section_at(self, offset: int) -> Section:
        """The section whose span holds `offset`."""
        return self.sections[max(0, bisect_right(self._section_starts, offset) - 1)]

    def blocks_in(self, start: int, end: int) -> tuple[Block, ...]:
        """The blocks that share at least one character with `[start, end)`."""
        first = max(0, bisect_right(self._block_starts, start) - 1)
        last = bisect_right(self._block_starts, max(start, end - 1))
        return tuple(block for block in self.blocks[first:last] if block.end > start and block.start < end)


@dataclass(frozen=True)
class Chunk:
    """A passage of the size that retrieval works on."""

    id: str
    chapter: int
    section: str
    start: int
    end: int


@dataclass(frozen=True)
class Label:
    """What `Figure 3.2` or `@fig-map` points to."""

    href: str
    text: str
    caption: str


@dataclass(frozen=True)
class Book:
    """What a reader would call the book."""

    id: str
    title: str
    authors: tuple[str, ...]
    lang: str
    site_url: str
    hash: str


@dataclass(frozen=True, order=True)
class Tag:
    """A position tag `[f{chapter}-{start}-{end}]`: a span of a chapter's text."""

    chapter: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"[f{self.chapter}-{self.start}-{self.end}]"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The tag that `text` is, with or without its brackets; None if it is none."""
        match = _TAG.fullmatch(text.strip())
        if match is None or not text.isascii():
            return None
        chapter, start, end = map(int, match.groups())
        return cls(chapter, start, end) if start < end else None


@dataclass(frozen=True)
class Place:
    """Where a span of the book is, in a reader's words and as a link."""

    href: str
    anchor: str
    chapter_title: str
    heading_path: tuple[str, ...]


class Placed(Protocol):
    """What says where it is: a place, a passage, a note."""

    @property
    def chapter_title(self) -> str: ...  # noqa: D102

    @property
    def heading_path(self) -> tuple[str, ...]: ...  # noqa: D102


def breadcrumb(where: Placed) -> str:
    """`Chapter › Section › Subsection`, the chapter named once."""
    return " › ".join(dict.fromkeys(filter(None, (where.chapter_title, *where.heading_path))))


@dataclass(frozen=True)
class Manifest:
    """The whole book, cut."""

    book: Book
    chapters: tuple[Chapter, ...]
    chunks: tuple[Chunk, ...]
    labels: dict[str, Label] = field(default_factory=dict)

    def text(self, tag: Tag) -> str | None:
        """The text at a tag, or None if the book has no such span."""
        if tag.chapter >= len(self.chapters):
            return None
        text = self.chapters[tag.chapter].text
        return text[tag.start : tag.end] if 0 <= tag.start < tag.end <= len(text) else None

    def place(self, tag: Tag) -> Place:
        """Where the start of a tag is."""
        chapter = self.chapters[tag.chapter]
        section = chapter.section_at(tag.start)
        return Place(link(chapter.href, section.anchor), section.anchor, chapter.title, section.heading_path)

    def tags(self) -> Iterator[Tag]:
        """The spans of all chunks, in order."""
        for chunk in self.chunks:
            yield Tag(chunk.chapter, chunk.start, chunk.end)


def link(page: str, anchor: str = "") -> str:
    """The address, from the book's first page, of a place in a page: what has a meaning in addresses is escaped."""
    path = re.sub(r"[%?#\\: ]", lambda found: f"%{ord(found[0]):02X}", page)
    return f"{path}#{anchor}" if anchor else path


def read_manifest(path: Path) -> Manifest:
    """Read `manifest.json`. Raises `AskBookError` when it is missing, cut short or of another version."""
    try:
        data = json.loads(path.read_bytes())
        if data["version"] != MANIFEST_VERSION:
            raise AskBookError(
                f"{path} has manifest version {data['version']}, this ask-book reads version {MANIFEST_VERSION}.",
                "Render the book again with the extension of the same version.",
                "manifest",
            )
        return _manifest(data)
    except FileNotFoundError:
        raise AskBookError(
            f"There is no manifest at {path}.", "Render the book, or run `ask-book index`.", "manifest"
        ) from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise AskBookError(
            f"{path} is damaged ({type(error).__name__}: {error}).", "Render the book again.", "manifest"
        ) from error


def _manifest(data: dict[str, Any]) -> Manifest:
    book = data["book"]
    return Manifest(
        book=Book(**{**book, "authors": tuple(book["authors"])}),
        chapters=tuple(_chapter(chapter) for chapter in data["chapters"]),
        chunks=tuple(Chunk(**chunk) for chunk in data["chunks"]),
        labels={name: Label(**label) for name, label in data["labels"].items()},
    )


def _chapter(data: dict[str, Any]) -> Chapter:
    return Chapter(**{**data, "sections": tuple(_section(section) for section in data["sections"])})


def _section(data: dict[str, Any]) -> Section:
    return Section(
        **{
            **data,
            "heading_path": tuple(data["heading_path"]),
            "blocks": tuple(Block(**block) for block in data["blocks"]),
        }
    )
