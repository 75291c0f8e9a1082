"""The passages of a book as vectors: what is embedded, what was embedded before, and embedding the rest."""

from __future__ import annotations

from asyncio import gather, to_thread
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np

from ask_book.book.manifest import Chunk, Manifest
from ask_book.errors import AskBookError
from ask_book.retrieval import storage
from ask_book.retrieval.embedding import LONGEST_TEXT, Embedder, Floats, Kind, keep_to_one_thread
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.passages import body, headings_of

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Vectors:
    """Unit vectors, one a row, in the order of `manifest.chunks`, and whose they are (`Embedder.name`, `.kind`)."""

    name: str
    kind: Kind
    matrix: Floats

    def __post_init__(self) -> None:
        keep_to_one_thread()


@dataclass(frozen=True)
class Plan:
    """What it takes to embed a book: its texts, one a chunk, and the vectors that there are already.

    `keys` has the hash of each text: chunks with the same text share one.
    """

    texts: tuple[str, ...]
    keys: tuple[bytes, ...]
    known: Mapping[bytes, Floats]

    @cached_property
    def missing(self) -> dict[bytes, str]:
        """The texts without a vector, each once, in reading order."""
        return {key: text for key, text in zip(self.keys, self.texts, strict=True) if key not in self.known}

    @property
    def characters(self) -> int:
        """How much there is to embed."""
        return sum(map(len, self.missing.values()))

    @property
    def tokens(self) -> int:
        """How much that is for a model, very nearly: a token for four bytes."""
        return sum(len(text.encode()) for text in self.missing.values()) // 4

    def matrix(self) -> Floats:
        """The vectors of all chunks, when none is missing."""
        return np.stack([self.known[key] for key in self.keys])


def plan(manifest: Manifest, kept: Kept, dimension: int | None = None) -> Plan:
    """What of a book is embedded already, and what is not. `dimension`: that of the model now, if it is known."""
    texts = tuple(embedded_text(manifest, chunk) for chunk in manifest.chunks)
    keys = tuple(sha256(text.encode()).digest()[:16] for text in texts)
    known = kept.get(keys)
    return Plan(texts, keys, {key: row for key, row in known.items() if dimension in (None, len(row))})


def embedded_text(manifest: Manifest, chunk: Chunk) -> str:
    """What a passage is embedded as: "chapter title. heading path. body", so many characters at most."""
    text = ". ".join((*headings_of(manifest, chunk), body(manifest, chunk)))
    return text[:LONGEST_TEXT].encode("utf-8", "replace").decode()


def ready(manifest: Manifest, folder: Path, embedder: Embedder) -> Vectors | None:
    """The vectors of a book when all of them are there, in its index or among those kept. Embeds nothing."""
    matrix = storage.load_vectors(manifest, folder, embedder.name)
    if matrix is None and manifest.chunks:
        found = plan(manifest, Kept(embedder.name))
        if not found.missing:
            matrix = found.matrix()
            with suppress(OSError):
                storage.save_vectors(manifest, folder, embedder.name, matrix)
    return None if matrix is None else Vectors(embedder.name, embedder.kind, matrix)


async def embed(todo: Plan, embedder: Embedder, kept: Kept, progress: Progress = lambda *_: None) -> Vectors:
    """The vectors of a whole book. Every batch is kept as soon as it is there, and never asked for again.

    `progress` is told how many of how many texts are done. Raises `AskBookError` when the embedder does.
    """
    known, missing = dict(todo.known), todo.missing
    sizes: set[int] = set()
    while missing:
        fresh = await _embed(missing, embedder, kept, progress)
        known.update(fresh)
        sizes |= set(map(len, fresh.values()))
        if len(sizes) > 1:
            raise AskBookError(
                f"The model {embedder.name} gave vectors of {' and '.join(map(str, sorted(sizes)))} dimensions.",
                "See that one model is served under this name, and run `ask-book index` again.",
                "embeddings_mixed",
            )
        # Another dimension than before under the same name: it is another model now, and what was kept is of no use.
        missing = {key: text for key, text in zip(todo.keys, todo.texts, strict=True) if len(known[key]) not in sizes}
        if missing and not embedder.unasked:
            raise AskBookError(
                f"The model {embedder.name} has {sizes.pop()} dimensions now, other than before.",
                "Run `ask-book index` to see what it takes to embed the book anew.",
                "embeddings_changed",
            )
    return Vectors(embedder.name, embedder.kind, Plan(todo.texts, todo.keys, known).matrix())


async def _embed(
    missing: Mapping[bytes, str], embedder: Embedder, kept: Kept, progress: Progress
) -> dict[bytes, Floats]:
    fresh: dict[bytes, Floats] = {}
    failures: list[AskBookError] = []
    texts = iter(missing.items())

    async def work() -> None:
        # After a failure no new batch is begun, but those under way come to their end: they are paid for.
        while not failures and (batch := dict(islice(texts, embedder.batch))):
            try:
                vectors = await embedder.passages(tuple(batch.values()))
                await to_thread(kept.put, tuple(batch), vectors)
            except AskBookError as error:
                failures.append(error)
                return
            fresh.update(zip(batch, vectors, strict=True))
            progress(len(fresh), len(missing))

    progress(0, len(missing))
    await gather(*(work() for _ in range(embedder.parallel)))
    if failures:
        raise failures[0]
    return fresh
