"""Words and meaning in one score.

    fused = a · words + (1 - a) · near

`words` is the lexical score, a share of what is attainable: words that the book does not have lower it for every
passage, so that a question in another language is decided by nearness.
`near` is the cosine between a passage and the question, scaled so that the best passage has 1 and the `NEAREST`th
best, and all below, 0: cosines of different models and questions have no common scale, but their order has a meaning.
`a` is what did best on public question sets for each kind of model: a weak one may say less. Where two models are
joined, `near` is the mean of theirs, the first counting `FIRST_SHARE`, each scaled by itself: what one of them sees is
not drowned by the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ask_book.retrieval.bm25 import Floats, Ints, Mask
from ask_book.retrieval.embedding import Kind

Cosines = npt.NDArray[np.float32]

NEAREST = 175
DECIMALS = 9
GROUP = 64
SHARE_OF_WORDS: Mapping[Kind, float] = {"e5": 0.84, "encoder": 0.9, "joined": 0.82, "other": 0.84}
SECOND_BEGINS: Mapping[Kind, int] = {"joined": 384}
FIRST_SHARE = 0.65


@dataclass(frozen=True)
class Meaning:
    """How near each passage is to the question, 0..1, and the kind of model that says so."""

    near: Floats
    kind: Kind

    def fused(self, words: Floats, at: Sequence[int] | None = None) -> Floats:
        """The fused scores for the lexical ones, of all passages or of those at `at`. It grows with both."""
        a = SHARE_OF_WORDS[self.kind]
        return a * words + (1 - a) * (self.near if at is None else self.near[np.asarray(at, np.int64)])


def cosines(vectors: Cosines, question: Cosines, kind: Kind) -> list[Cosines]:
    """Of all passages, by each of the models that the vectors are of: 384 numbers of e5, then those of the encoder."""
    cut = SECOND_BEGINS.get(kind, len(question))
    parts = (slice(cut), slice(cut, None)) if cut < len(question) else (slice(None),)
    return [vectors[:, part] @ question[part] for part in parts]


def nearness(cosines: Sequence[Cosines], allowed: Mask) -> Floats:
    """The nearness of all passages by one model or two."""
    near = [scaled(part, allowed) for part in cosines]
    shares = (FIRST_SHARE, 1 - FIRST_SHARE) if len(near) == 2 else None
    return np.average(near, axis=0, weights=shares)


def scaled(cosines: Cosines, allowed: Mask) -> Floats:
    """The nearness of all passages, 0 for those that are not allowed; all 0 if no two of these differ."""
    near = np.zeros(len(cosines))
    at = highest(np.where(allowed, cosines, -np.inf), NEAREST)
    at = at[allowed[at]]
    if not len(at):
        return near
    own = cosines[at].astype(np.float64)
    least = float(np.partition(own, -NEAREST)[-NEAREST] if len(own) > NEAREST else own.min())
    if (span := float(own.max()) - least) > 0:
        near[at] = np.maximum(0.0, own - least) / span
    return near


def highest(values: npt.NDArray[np.floating], count: int) -> Ints:
    """The positions of the `count` highest values and of some more, in order: of all that are as high as they.

    Of many values, those count that are as high as the `count`th highest of the groups' highest; they are looked for
    only in the groups that have one.
    """
    groups = len(values) // GROUP
    if groups <= count:
        least = np.partition(values, -count)[-count] if 0 < count < len(values) else -np.inf
        return np.flatnonzero(values >= least - 10.0**-DECIMALS)
    tops = values[: GROUP * groups].reshape(GROUP, groups).max(axis=0)
    least = np.partition(tops, -count)[-count] - 10.0**-DECIMALS
    high = np.flatnonzero(tops >= least) + groups * np.arange(GROUP)[:, None]
    at = np.concatenate([high.ravel(), np.arange(GROUP * groups, len(values))])
    found: Ints = at[values[at] >= least]
    return found
