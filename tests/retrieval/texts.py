"""Books made of a few texts, for tests that need their own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ask_book.book.manifest import Block, Book, Chapter, Chunk, Manifest, Section
from ask_book.retrieval.index import Index, open_index


def manifest_of(passages: Sequence[tuple[str, str]], lang: str = "en") -> Manifest:
    """A book of one section and one passage a chapter: (title, text)."""
    chapters, chunks = [], []
    for i, (title, text) in enumerate(passages):
        section = Section(
            f"s{i}", f"sec-{i}", 1, title, str(i + 1), (), 0, len(text), (Block("para", 0, len(text), text),)
        )
        chapters.append(Chapter(i, f"{i}.qmd", f"{i}.html", title, str(i + 1), "", "", (section,)))
        chunks.append(Chunk(f"c{i}", i, f"s{i}", 0, len(text)))
    content = sha256(repr(passages).encode("utf-8", "surrogatepass")).hexdigest()
    return Manifest(Book("0" * 12, "A book", (), lang, "", content), tuple(chapters), tuple(chunks))


def index_of(passages: Sequence[tuple[str, str]], lang: str = "en") -> Index:
    """The same, ready to be searched."""
    with tempfile.TemporaryDirectory() as folder:
        return open_index(manifest_of(passages, lang), Path(folder))
