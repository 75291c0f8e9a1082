"""The order of the passages for a question.

1. base  = BM25 / attainable (`bm25.py`), halved for lists of references.
2. If the question has phrases in quotation marks, only the passages with the most of them stay (all, if none has any).
3. place = 0.5 for passages that the question names (`@fig-x`, "Figure 3.2": those that hold it), 0.25 for those of a
           chapter it names or that mention the numbered thing; it closes that share of the gap to 1.
4. The best `CANDIDATES` by `base` with `place` stay. For them
       score = 0.75 · base + 0.25 · sentence, with `place` again,
   where `sentence` is the share of attainable that the terms of the passage's best sentence cover (halved alike).
5. By score, then reading order. A passage that is nearly the same as a better one (Jaccard index of their sets of
   runs at least 0.8) is left out.

Scores are compared rounded to nine decimals, so that the order does not hang on how a machine adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ask_book.retrieval import tokens
from ask_book.retrieval.bm25 import Floats, Mask, Postings
from ask_book.retrieval.passages import Passage, contains
from ask_book.retrieval.query import Phrase, Query

CANDIDATES = 30
SENTENCE_SHARE = 0.25
SAME_PASSAGE = 0.8
DECIMALS = 9


def rank(
    query: Query,
    postings: Postings,
    passage: Callable[[int], Passage],
    factor: Floats,
    place: Floats,
    k: int,
) -> list[tuple[int, float]]:
    """The best `k` passages with their scores, all above 0.

    `factor` multiplies what a passage scores: 0 where it may not be found, 0.5 in a list of references, else 1;
    `place` as above.
    """
    attainable = postings.attainable(query.weights) or 1.0
    base = factor * postings.scores(query.weights) / attainable
    place = place * (factor > 0)
    gains = _Gains({term: weight * postings.weight(term) / attainable for term, weight in query.weights.items()})
    scored: list[tuple[int, float]] = []
    for at in _best(base + (1 - base) * place, max(CANDIDATES, 2 * k)):
        sentence = factor[at] * max(map(gains.of, passage(at).sentences), default=0.0)
        score = (1 - SENTENCE_SHARE) * base[at] + SENTENCE_SHARE * sentence
        scored.append((at, float(score + (1 - score) * place[at])))
    scored.sort(key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))
    return _without_repetitions(scored, passage, k)


def passages_with(phrase: Phrase, postings: Postings, passage: Callable[[int], Passage]) -> Mask:
    """The passages in which the runs of a phrase follow each other."""
    rows = [set(postings.passages_with(term).tolist()) for run in phrase.runs for term in tokens.terms(run)]
    mask = np.zeros(postings.size, np.bool_)
    for at in set.intersection(*rows):
        mask[at] = contains(passage(at).runs, phrase.runs)
    return mask


class _Gains:
    """The share of the question that a sentence covers: the summed weights of the question's terms in it."""

    def __init__(self, weights: dict[str, float]) -> None:
        self._weights = weights
        self._terms_of: dict[str, frozenset[str]] = {}

    def of(self, sentence: Iterable[str]) -> float:
        found: set[str] = set()
        for run in sentence:
            terms = self._terms_of.get(run)
            if terms is None:
                terms = self._terms_of[run] = frozenset(self._weights.keys() & tokens.terms(run))
            found |= terms
        return sum(weight for term, weight in self._weights.items() if term in found)


def _best(scores: Floats, count: int) -> list[int]:
    """The positions of the `count` highest scores above 0, best first, ties in reading order."""
    rounded = np.round(scores, DECIMALS)
    if count < len(rounded):
        limit = np.partition(rounded, -count)[-count]
        at = np.flatnonzero((rounded >= limit) & (rounded > 0))
    else:
        at = np.flatnonzero(rounded > 0)
    return [int(i) for i in at[np.argsort(-rounded[at], kind="stable")][:count]]


def _without_repetitions(
    scored: list[tuple[int, float]], passage: Callable[[int], Passage], k: int
) -> list[tuple[int, float]]:
    kept: list[tuple[int, float]] = []
    sets: list[frozenset[str]] = []
    for at, score in scored:
        if len(kept) == k:
            break
        runs = frozenset(passage(at).runs)
        if all(len(runs & other) < SAME_PASSAGE * len(runs | other) or not runs for other in sets):
            kept.append((at, score))
            sets.append(runs)
    return kept
