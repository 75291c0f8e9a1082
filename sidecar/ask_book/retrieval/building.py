"""Making the vectors of a book: one process at a time, asked for where it costs, on disk at the end."""

from __future__ import annotations

import asyncio
from asyncio import to_thread
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ask_book.book.manifest import Manifest
from ask_book.errors import AskBookError
from ask_book.retrieval import storage
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.embedding import Embedder
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.vectors import Plan, Progress, Vectors, embed, plan

LOOK_SECONDS = 0.5


class ConsentNeededError(AskBookError):
    """The model is on another machine, and its author has not agreed to (so much of) this."""


@dataclass(frozen=True)
class Built:
    """The vectors of a book, and how many of its chunks had one before or got one now."""

    vectors: Vectors
    reused: int
    embedded: int


async def build(
    manifest: Manifest,
    folder: Path,
    embedder: Embedder,
    consent: Consent,
    progress: Progress = lambda *_: None,
    dimension: int | None = None,
) -> Built:
    """Embed what is missing and write the vectors beside the index in `folder`. `dimension`: see `plan`.

    Waits while another process does the same (`progress` is told 0 of 0), and then uses what that one made. Raises
    `ConsentNeededError`, or `AskBookError` when the embedder fails; what was embedded until then is kept.
    """
    kept = Kept(embedder.name)
    with kept.lock(str(folder)) as lock:
        while not lock.acquire():
            progress(0, 0)
            await asyncio.sleep(LOOK_SECONDS)
        todo = await to_thread(plan, manifest, kept, dimension)
        if todo.missing and not embedder.unasked:
            vectors = await _embed_as_agreed(todo, embedder, kept, consent, progress)
        else:
            vectors = await embed(todo, embedder, kept, progress)
        with suppress(OSError):
            await to_thread(storage.save_vectors, manifest, folder, embedder.name, vectors.matrix)
    embedded = sum(key in todo.missing for key in todo.keys)
    return Built(vectors, len(todo.keys) - embedded, embedded)


async def _embed_as_agreed(todo: Plan, embedder: Embedder, kept: Kept, consent: Consent, progress: Progress) -> Vectors:
    left = consent.left(embedder.name)
    if todo.characters > left:
        raise ConsentNeededError(
            f"{len(todo.missing)} passages are not embedded: that sends {todo.characters:,} characters of the book to "
            f"{embedder.name}, which you have not agreed to.",
            "Run `ask-book index` to see what it takes, or `ask-book index --yes`.",
            "embeddings_consent",
        )
    # Set aside before it is spent, so that a process that is killed does not spend it again and again.
    consent.give(embedder.name, left - todo.characters)
    try:
        return await embed(todo, embedder, kept, progress)
    except BaseException:
        done = kept.get(tuple(todo.missing))
        consent.give(embedder.name, left - sum(len(todo.missing[key]) for key in done))
        raise
