"""The order of the passages for a question.

1. words = BM25 / attainable (`bm25.py`), and base = words fused with the nearness of meaning, where there are vectors
   (`fusion.py`), halved for lists of references and lowered by a fifth of the share that is code, table or formula.
2. If the question has phrases in quotation marks, only the passages with the most of them stay (all, if none has any).
3. place = 0.5 for passages that hold a place which the question names (`@fig-x`, "Figure 3.2"), 0.4 for those of a
           chapter it names (0.45 at its opening); it closes that share of the gap to 1.
4. The best `CANDIDATES` by `base` with `place` stay. For them
       words = 0.75 · words + 0.25 · sentence, fused, lowered and with `place` again,
   where `sentence` is the share of attainable that the terms of the passage's best sentence cover.
5. By score, then reading order. A passage that is nearly the same as a better one (Jaccard index of the sets of
   terms of their texts at least 0.8) is left out.

Scores are compared rounded to nine decimals, so that the order does not hang on how a machine adds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ask_book.retrieval import tokens
from ask_book.retrieval.bm25 import Floats, Mask, Postings
from ask_book.retrieval.fusion import Meaning
from ask_book.retrieval.passages import Passage
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
    meaning: Meaning | None = None,
) -> list[tuple[int, float]]:
    """The best `k` passages with their scores, all above 0.

    `factor` multiplies what a passage scores: 0 where it may not be found, less than 1 where it is no prose;
    `place` as above; `meaning` is None without vectors.
    """
    attainable = postings.attainable(query.weights) or 1.0
    words = postings.scores(query.weights) / attainable
    base = factor * (meaning.fused(words) if meaning else words)
    place = place * (factor > 0)
    best = _best(base + (1 - base) * place, max(CANDIDATES, 2 * k))
    sentence = _best_sentences([passage(at) for at in best], query, postings) / attainable
    words = (1 - SENTENCE_SHARE) * words[best] + SENTENCE_SHARE * sentence
    score = factor[best] * (meaning.fused(words, best) if meaning else words)
    score += (1 - score) * place[best]
    scored = sorted(zip(best, score.tolist(), strict=True), key=lambda pair: (-round(pair[1], DECIMALS), pair[0]))
    return _without_repetitions(scored, passage, len(postings.vocabulary), k)


def passages_with(phrase: Phrase, postings: Postings, runs: Callable[[int], list[str]]) -> Mask:
    """The passages in which the runs of a phrase follow each other; `runs` gives those of a passage."""
    rows = [
        set(postings.passages_with(term).tolist()) for run in phrase.runs for term in tokens.terms(run, postings.short)
    ]
    mask = np.zeros(postings.size, np.bool_)
    for at in set.intersection(*rows):
        mask[at] = f" {' '.join(phrase.runs)} " in f" {' '.join(runs(at))} "
    return mask


def _best(scores: Floats, count: int) -> list[int]:
    """The positions of the `count` highest scores above 0, best first, ties in reading order."""
    least = np.partition(scores, -count)[-count] - 10.0**-DECIMALS if 0 < count < len(scores) else 0.0
    at = np.flatnonzero((scores >= least) & (scores > 0))
    rounded = np.round(scores[at], DECIMALS)
    at = at[rounded > 0]
    return [int(i) for i in at[np.argsort(-rounded[rounded > 0], kind="stable")][:count]]


def _best_sentences(passages: Sequence[Passage], query: Query, postings: Postings) -> Floats:
    """For each passage the largest sum of w · idf over the terms of one of its sentences."""
    gains = np.zeros(len(postings.vocabulary))
    for term, weight in query.weights.items():
        if term in postings.ids:
            gains[postings.ids[term]] = weight * postings.weight(term)
    return np.array(
        [np.add.reduceat(gains[read.terms], read.starts).max() if len(read.starts) else 0.0 for read in passages]
    )


def _without_repetitions(
    scored: Sequence[tuple[int, float]], passage: Callable[[int], Passage], rows: int, k: int
) -> list[tuple[int, float]]:
    """The first `k` that are not nearly the same as one before; `rows` is the size of the vocabulary."""
    kept: list[tuple[int, float]] = []
    sets: list[tuple[int, Mask]] = []
    for at, score in scored:
        if len(kept) == k:
            break
        terms = passage(at).distinct
        if not any(_nearly_same(terms, size, mask) for size, mask in sets):
            mask = np.zeros(rows, np.bool_)
            mask[terms] = True
            kept.append((at, score))
            sets.append((len(terms), mask))
    return kept


def _nearly_same(terms: npt.NDArray[np.int32], other_size: int, other: Mask) -> bool:
    common = int(np.count_nonzero(other[terms]))
    return common > 0 and common >= SAME_PASSAGE * (len(terms) + other_size - common)
