"""An embedder for tests of what is done with embedders: words are dimensions, calls are counted, faults on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from ask_book.errors import AskBookError
from ask_book.retrieval.embedding import Floats, Kind, unit


class WordEmbedder:
    """A text is the sum of its words, each a direction of its own. Fails at the text `fails_at`, if any."""

    kind: Kind = "other"

    def __init__(
        self, name: str = "test/words", size: int = 64, batch: int = 2, parallel: int = 1, unasked: bool = True
    ) -> None:
        self.name, self.size, self.batch, self.parallel, self.unasked = name, size, batch, parallel, unasked
        self.seen: list[str] = []
        self.fails_at: str | None = None

    async def passages(self, texts: Sequence[str]) -> Floats:
        await asyncio.sleep(0)
        if self.fails_at is not None and any(self.fails_at in text for text in texts):
            raise AskBookError("The model broke off.", "Try again.", "provider_server")
        self.seen += texts
        return np.stack([self.vector(text) for text in texts])

    async def query(self, text: str) -> Floats:
        return self.vector(text)

    async def aclose(self) -> None:
        """Nothing is open."""

    def vector(self, text: str) -> Floats:
        """The sum of the words, and a constant so that no text is nothing."""
        vector = np.zeros(self.size)
        vector[0] = 0.1
        for word in text.lower().split():
            vector[crc32(word.encode()) % self.size] += 1
        return unit(vector)
