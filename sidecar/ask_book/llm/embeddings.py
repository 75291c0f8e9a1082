"""Embeddings from any host that speaks OpenAI's interface, looked at before anybody uses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import BrokenStreamError, UnknownModelError
from ask_book.llm.http import Http

MOST_DIMENSIONS = 20_000


async def embed(http: Http, endpoint: Endpoint, model: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One vector a text, as rows in the order of `texts`, not scaled. Raises `ProviderError`.

    Every row is finite, none is all zeros, all have the same dimension.
    """
    try:
        answer = await http.post_json(endpoint, "/embeddings", {"model": model, "input": list(texts)})
    except UnknownModelError as error:
        raise UnknownModelError(
            f"{endpoint.host} has no embedding model {model!r}, or no interface for embeddings.",
            "Check `embedding-model` and the base URL.",
            error.said,
        ) from None
    rows = _rows(answer)
    if rows is None:
        raise _wrong(endpoint, "no list of embeddings")
    if len(rows) != len(texts):
        raise _wrong(endpoint, f"{len(rows)} embeddings for {len(texts)} texts")
    if len({len(row) for row in rows}) != 1 or not 0 < len(rows[0]) <= MOST_DIMENSIONS:
        raise _wrong(endpoint, "embeddings of different dimensions, or of none")
    with np.errstate(over="ignore"):
        vectors = np.array(rows, np.float32)
    if not np.isfinite(vectors).all() or not np.abs(vectors).max(axis=1).all():
        raise _wrong(endpoint, "embeddings that are no directions (infinite, not a number, or zero)")
    return vectors


def _rows(answer: Any) -> list[list[float]] | None:
    """The embeddings in the order of their `index`; None when the answer is no list of lists of numbers."""
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    order = [item.get("index", at) for at, item in enumerate(items)]
    if sorted(map(str, order)) != sorted(map(str, range(len(items)))):
        return None
    by_index = {int(at): item.get("embedding") for at, item in zip(order, items, strict=True)}
    rows = [by_index[at] for at in range(len(items))]
    if not all(isinstance(row, list) and {type(value) for value in row} <= {int, float} for row in rows):
        return None
    return rows


def _wrong(endpoint: Endpoint, what: str) -> BrokenStreamError:
    return BrokenStreamError(
        f"{endpoint.host} answered with {what}.", "See that `embedding-model` is a model for embeddings.", what
    )
