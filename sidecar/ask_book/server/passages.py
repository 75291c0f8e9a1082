"""A passage by its tag; and found again by the hash of its quote when the book has changed under the tag."""

from __future__ import annotations

from collections.abc import Iterator

from ask_book.answering.open_book import OpenBook
from ask_book.answering.sentences import units
from ask_book.book.manifest import Tag


def fnv1a(text: str) -> str:
    """FNV-1a, 32 bits, of the text's UTF-8, as eight hex digits (Fowler, Noll, Vo; offset basis 2166136261)."""
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{value:08x}"


def find_passage(book: OpenBook, tag: Tag, wanted: str = "") -> Tag | None:
    """The tag of the quote whose hash is `wanted`: the given one, or the nearest that says the same; None if gone.

    A quote begins and ends with a sentence or block and keeps its length: only such spans are tried.
    """
    text = book.manifest.text(tag)
    if text is not None and wanted in ("", fnv1a(text)):
        return tag
    if not wanted:
        return None
    same = [found for found in _spans(book, tag.end - tag.start) if fnv1a(book.manifest.text(found) or "") == wanted]
    return min(same, key=lambda found: (abs(found.chapter - tag.chapter), abs(found.start - tag.start)), default=None)


def _spans(book: OpenBook, length: int) -> Iterator[Tag]:
    for chapter in book.manifest.chapters:
        starts: set[int] = set()
        ends: set[int] = set()
        for block in chapter.blocks:
            starts.add(block.start)
            ends.add(block.end)
            for start, end in units(block, book.locale.abbreviations):
                starts.add(start)
                ends.add(end)
        for start in sorted(starts):
            if start + length in ends:
                yield Tag(chapter.index, start, start + length)
