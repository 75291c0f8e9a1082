"""`ask-book index`: read the book, build its index, say what is in it."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from ask_book.answering.open_book import OpenBook, open_book
from ask_book.book.edition import open_edition
from ask_book.book.notice import Notice
from ask_book.book.project import find_project
from ask_book.commands import terminal


@dataclass(frozen=True)
class Sizes:
    """Of chunks, in characters."""

    min: int
    median: int
    max: int


@dataclass(frozen=True)
class Figures:
    """What is in an index. `reused`: the chunks that were in the index before, unchanged."""

    edition: str
    lang: str
    chapters: int
    sections: int
    characters: int
    chunks: int
    reused: int
    chunk_sizes: Sizes
    seconds: float
    folder: str
    notices: tuple[Notice, ...]


def run(options: Namespace) -> int:
    """Open the book, whatever that takes, and print the figures."""
    started = time.perf_counter()
    project = find_project(options.book, os.environ)
    progress = terminal.Progress()
    try:
        edition = open_edition(project, progress)
        before = _chunk_ids(edition.index_dir)
        progress("Building the index")
        book = open_book(edition)
    finally:
        progress.clear()
    figures = _figures(book, before, edition.index_dir, time.perf_counter() - started)
    if options.json:
        terminal.say_json(asdict(figures))
    else:
        _say(project.title, figures)
    return 0


def _figures(book: OpenBook, before: set[str], folder: Path, seconds: float) -> Figures:
    chapters, chunks = book.manifest.chapters, book.manifest.chunks
    sizes = [chunk.end - chunk.start for chunk in chunks] or [0]
    return Figures(
        edition=book.kind,
        lang=book.index.lang,
        chapters=len(chapters),
        sections=sum(len(chapter.sections) for chapter in chapters),
        characters=sum(len(chapter.text) for chapter in chapters),
        chunks=len(chunks),
        reused=sum(chunk.id in before for chunk in chunks),
        chunk_sizes=Sizes(min(sizes), int(median(sizes)), max(sizes)),
        seconds=round(seconds, 2),
        folder=str(folder),
        notices=book.notices,
    )


def _chunk_ids(folder: Path) -> set[str]:
    try:
        return {chunk["id"] for chunk in json.loads((folder / "chunks.json").read_bytes())}
    except (OSError, ValueError, TypeError, KeyError):
        return set()


def _say(title: str, index: Figures) -> None:
    kind = "the rendered book" if index.edition == "rendered" else "a plain rendition of its chapters"
    sizes = index.chunk_sizes
    terminal.say(f"{title}: {kind}")
    terminal.say(f"  {index.chapters} chapters, {index.sections} sections, {index.characters:,} characters")
    terminal.say(
        f"  {index.chunks} chunks of {sizes.min:,} to {sizes.max:,} characters (median {sizes.median:,}), "
        f"{index.reused} reused"
    )
    terminal.say(f"  {index.seconds} s, in {index.folder}")
    for notice in index.notices:
        terminal.say(f"  Note: {notice.message}")
