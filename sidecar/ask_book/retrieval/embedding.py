"""What turns text into vectors, and what different models want to be told.

An embedder is told apart by its `name`: vectors of two names are never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

Floats = npt.NDArray[np.float32]
Kind = Literal["e5", "encoder", "joined", "other"]

LONGEST_TEXT = 4000
# Of how texts are made ready for a model: a change makes all vectors anew.
VERSION = 1


class Embedder(Protocol):
    """`name` tells its vectors from all others: where it runs, model, version. Never a key.

    `kind` chooses the share of the vectors in a ranking. `unasked`: it costs nothing and sends nothing to another
    machine, so that no consent is needed. `batch`: how many texts make a call; `parallel`: how many calls at once.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def kind(self) -> Kind: ...  # noqa: D102

    @property
    def unasked(self) -> bool: ...  # noqa: D102

    @property
    def batch(self) -> int: ...  # noqa: D102

    @property
    def parallel(self) -> int: ...  # noqa: D102

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of passages, one a row."""
        ...

    async def query(self, text: str) -> Floats:
        """The unit vector of a question."""
        ...

    async def aclose(self) -> None:
        """Let go of what it holds on this event loop."""


@dataclass(frozen=True)
class Prefixes:
    """What a model wants before a question and before a passage."""

    query: str = ""
    passage: str = ""


_TASK = "Instruct: Given a question, retrieve passages that answer the question\nQuery: "
# By a part of the model's name, the first that fits; from the models' own cards.
_PREFIXES = (
    ("e5-mistral", Prefixes(_TASK)),
    ("e5-large-instruct", Prefixes(_TASK)),
    ("e5", Prefixes("query: ", "passage: ")),
    ("nomic-embed", Prefixes("search_query: ", "search_document: ")),
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    ("qwen3-embedding", Prefixes(_TASK)),
)


def prefixes_of(model: str) -> Prefixes:
    """The prefixes for a model, by its name; none for an unknown one."""
    return next((prefixes for part, prefixes in _PREFIXES if part in model.lower()), Prefixes())


def kind_of(model: str) -> Kind:
    """The kind of a model, by its name."""
    return "e5" if "e5" in model.lower() else "other"


@cache
def keep_to_one_thread() -> None:
    """From now on a product of matrices takes one thread: more of them wait for each other where others work, too."""
    threadpool_limits(1, user_api="blas")


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    """Rows scaled to length 1. A row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
