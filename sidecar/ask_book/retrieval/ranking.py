"""The order of the passages for a question.

1. words = BM25 / attainable (`bm25.py`), and score = words fused with the nearness of meaning, where there are vectors
   (`fusion.py`), halved for lists of references and lowered by a fifth of the share that is code, table or formula.
2. If the question has phrases in quotation marks, only the passages with the most of them stay (all, if none has any).
3. place = 0.5 for passages that hold a place which the question names (`@fig-x`, "Figure 3.2"), 0.4 for those of a
           chapter it names (0.45 at its opening); it closes that share of the gap to 1.
4. A passage that has the whole question, word for word, comes before all others: its score becomes
   highest + (1 - highest) · score. So what is copied from the book finds where it is from; a question that is
   but the name of a place is left to the rule before.
5. By score, then reading order. A passage that is nearly the same as a better one (Jaccard index of the sets of
   words of their texts at least 0.8) is left out.

Scores are compared rounded to nine decimals, so that the order does not hang on how a machine adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ask_book.retrieval import tokens
from ask_book.retrieval.bm25 import Floats, Mask, Postings
from ask_book.retrieval.fusion import DECIMALS, Meaning, highest
from ask_book.retrieval.query import Query

REPEATED = 3
SAME_PASSAGE = 0.8


def rank(
    query: Query,
    postings: Postings,
    words_of: Callable[[int], frozenset[str]],
    factor: Floats,
    place: Floats,
    verbatim: Mask,
    k: int,
    meaning: Meaning | None = None,
) -> list[tuple[int, float]]:
    """The best `k` passages with their scores, all above 0.

    `factor` multiplies what a passage scores: 0 where it may not be found, less than 1 where it is no prose;
    `place` and `verbatim` as above; `meaning` is None without vectors; `words_of` gives the words of a passage's text.
    """
    words = postings.scores(query.weights) / (postings.attainable(query.weights) or 1.0)
    score = factor * (meaning.fused(words) if meaning else words)
    score += (1 - score) * np.where(factor > 0, place, 0)
    highest = score.max(initial=0.0)
    score = np.where(verbatim & (factor > 0), highest + (1 - highest) * score, score)
    found = ((at, float(score[at])) for at in best(score, REPEATED * k))
    return _without_repetitions(found, words_of, k)


def passages_with(runs: Sequence[str], postings: Postings, runs_of: Callable[[int], list[str]]) -> Mask:
    """The passages in which these runs follow each other, none without a run; `runs_of` gives those of a passage."""
    terms = {term for run in runs for term in tokens.terms(run, postings.short)}
    rarest, *others = sorted(terms, key=postings.frequency) or [""]
    held = postings.passages_with(rarest)
    for term in others:
        if not len(held):
            break
        held = held[postings.holds(term, held)]
    mask = np.zeros(postings.size, np.bool_)
    mask[held] = [f" {' '.join(runs)} " in f" {' '.join(runs_of(int(at)))} " for at in held]
    return mask


def best(scores: Floats, count: int) -> list[int]:
    """The positions of the `count` highest scores above 0, best first, ties in reading order."""
    at = highest(scores, count)
    rounded = np.round(scores[at], DECIMALS)
    order = np.argsort(-rounded, kind="stable")[:count]
    return [int(i) for i in at[order[rounded[order] > 0]]]


def _without_repetitions(
    scored: Iterable[tuple[int, float]], words_of: Callable[[int], frozenset[str]], k: int
) -> list[tuple[int, float]]:
    """The first `k` that are not nearly the same as one before."""
    kept: list[tuple[int, float]] = []
    for at, score in scored:
        if len(kept) == k:
            break
        if not any(_nearly_same(words_of(at), words_of(other)) for other, _ in kept):
            kept.append((at, score))
    return kept


def _nearly_same(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    if not fewer or fewer < SAME_PASSAGE * more:  # Even if the one had all words of the other.
        return False
    common = len(one & other)
    return common >= SAME_PASSAGE * (fewer + more - common)
