"""`ask-book index`: read the book, build its index, embed its passages, say what is in it."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from ask_book.answering.open_book import OpenBook, open_book
from ask_book.book.edition import open_edition
from ask_book.book.notice import Notice
from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.commands import terminal
from ask_book.commands.books import assistant_for, choice_for
from ask_book.errors import AskBookError
from ask_book.retrieval.building import build
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.embedding import Embedder
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.vectors import Plan, plan

if TYPE_CHECKING:
    from ask_book.answering.summaries import Made

# What may be embedded unasked later is as much again as the whole book, and for small books this many characters.
LEAST_CONSENT = 100_000
SECONDS_A_REQUEST = 1.5


@dataclass(frozen=True)
class Sizes:
    """Of chunks, in characters."""

    min: int
    median: int
    max: int


@dataclass(frozen=True)
class Embeddings:
    """With what the chunks are embedded, and how many of them were embedded before and now."""

    model: str
    dimension: int
    reused: int
    embedded: int
    seconds: float


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
    embeddings: Embeddings | None
    seconds: float
    folder: str
    notices: tuple[Notice, ...]
    summaries: Made | None = None


def run(options: Namespace) -> int:
    """Open the book, embed it, and print the figures. 1 when a model that is set did not embed it."""
    started = time.perf_counter()
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    progress = terminal.Progress()
    try:
        edition = open_edition(project, progress)
        before = _chunk_ids(edition.index_dir)
        progress("Building the index")
        choice = choice_for(project, settings)
        book, embeddings = open_book(edition, choice), None
        if book.embedder and book.manifest.chunks:
            progress.clear()
            ask = partial(_ask, embedder=book.embedder, price=settings.embedding_price, options=options)
            work = _embed(book, book.embedder, edition.index_dir, Consent(project.key), ask, progress)
            book, embeddings = asyncio.run(work)
    finally:
        progress.clear()
    made = None
    if options.summaries:
        from ask_book.commands.summaries import sum_up

        made = sum_up(book, assistant_for(project, settings), options)
    figures = _figures(book, before, edition.index_dir, embeddings, time.perf_counter() - started)
    figures = replace(figures, summaries=made)
    if options.json:
        terminal.say_json(asdict(figures))
    else:
        _say(project.title, figures)
    is_wanted = choice.notice or (choice.embedder and figures.chunks)
    return 1 if (is_wanted and embeddings is None) or (made and made.failed) else 0


def _ask(todo: Plan, consent: Consent, *, embedder: Embedder, price: float | None, options: Namespace) -> None:
    """Show what it takes, and let whoever pays say yes."""
    if not embedder.unasked and (todo.characters > consent.left(embedder.name) or options.yes):
        if todo.missing:
            terminal.tell(_estimate(todo, embedder, price))
        if options.yes or (not options.json and terminal.is_attended() and terminal.agreed("Embed them?")):
            whole = sum(map(len, todo.texts))
            consent.give(embedder.name, todo.characters + max(whole, LEAST_CONSENT))


def _estimate(todo: Plan, embedder: Embedder, price: float | None) -> str:
    requests = math.ceil(len(todo.missing) / embedder.batch)
    seconds = math.ceil(requests / embedder.parallel) * SECONDS_A_REQUEST
    if price is None:
        cost = "What that costs is on the host's price list; `embedding-price` lets ask-book reckon it."
    else:
        cost = f"At {price:g} for a million tokens that is about {todo.tokens * price / 1e6:.4f}."
    return (
        f"{len(todo.missing):,} passages are to be embedded with {embedder.name}: {todo.characters:,} characters, "
        f"about {todo.tokens:,} tokens,\nin {requests:,} requests, about {terminal.duration(seconds)}. {cost}"
    )


async def _embed(
    book: OpenBook,
    embedder: Embedder,
    folder: Path,
    consent: Consent,
    ask: Callable[[Plan, Consent], None],
    progress: terminal.Progress,
) -> tuple[OpenBook, Embeddings | None]:
    """The book with its vectors; without them, and with the reason, when that is not agreed to or fails."""
    started, vectors, embedded = time.perf_counter(), book.index.vectors, 0
    async with aclosing(book):
        now = await _dimension(embedder) if vectors else None
        if vectors is None or now not in (None, vectors.matrix.shape[1]):
            try:
                ask(plan(book.manifest, Kept(embedder.name), now), consent)
                built = await build(book.manifest, folder, embedder, consent, progress.bar("Embedding"), now)
            except AskBookError as error:
                return book.pending(f"{error.message} {error.hint}"), None
            book, vectors, embedded = book.with_vectors(built.vectors), built.vectors, built.embedded
    size = vectors.matrix.shape
    seconds = round(time.perf_counter() - started, 2)
    return book, Embeddings(embedder.name, size[1], size[0] - embedded, embedded, seconds)


async def _dimension(embedder: Embedder) -> int | None:
    """That of the model that is served under its name now; None when that cannot be told, or cannot have changed."""
    if embedder.name.startswith("local/"):
        return None
    try:
        return len(await embedder.query("?"))
    except AskBookError:
        return None


def _figures(book: OpenBook, before: set[str], folder: Path, embeddings: Embeddings | None, seconds: float) -> Figures:
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
        embeddings=embeddings,
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
    if made := index.embeddings:
        terminal.say(
            f"  {made.embedded} embedded, {made.reused} reused, with {made.model}, {made.dimension} dimensions"
        )
    else:
        terminal.say("  Nothing is embedded: passages are found by their words alone")
    if summed_up := index.summaries:
        terminal.say(f"  {summed_up.made} parts summed up, {summed_up.kept} were before, {summed_up.failed} failed")
        if summed_up.trouble:
            terminal.say(terminal.wrapped(f"{summed_up.trouble} Run it again: what is done stays.", "  ", "  "))
    terminal.say(f"  {index.seconds} s, in {index.folder}")
    for notice in index.notices:
        terminal.say(terminal.wrapped(f"Note: {notice.message}", "  ", "  "))
