"""BM25 (Robertson and Zaragoza 2009) over arrays: one compressed row of postings a term.

    score(d, q) = Σ w(t) · g(t) · tf / (tf + k1 · (1 - b + b · |d| / mean|d|))        over the distinct terms t of q
    g(t)        = idf(t)^DAMPED, but idf(t) of an unknown term
    idf(t)      = ln(1 + (N - df + 0.5) / (df + 0.5))                                 an unknown term has df = 0

`w` is the weight of a term in the question. Readers ask in their own words, and a rare one is as often theirs as the
book's: hence the damping. Without the constant factor (k1 + 1) a term never gives more than w · g, so `attainable`
(the sum of that over all terms, the unknown ones included) bounds the score and the quotient lies in 0..1; an unknown
word can only lower it. The quotient of a posting is worked out once, in single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from ask_book.retrieval import tokens

K1 = 1.2
B = 0.75
DAMPED = 0.8
FREQUENT = 4
BLOCK = 4096
FREQUENT_BYTES = 1 << 26

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
_Counts = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.uint16]]
_NOTHING: _Counts = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint16))


@dataclass(frozen=True)
class Postings:
    """Which passages have which term, how often. Row `t` is `starts[t]:starts[t + 1]` of `passages` and `counts`.

    `vocabulary` is sorted; `lengths` is the number of terms of each passage; `short` as in `tokens.terms`.
    """

    vocabulary: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    passages: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.int32]
    short: bool = False

    @property
    def size(self) -> int:
        """How many passages there are."""
        return len(self.lengths)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Row number of each term."""
        return {term: row for row, term in enumerate(self.vocabulary)}

    @cached_property
    def frequencies(self) -> Ints:
        """How many passages have each term."""
        return np.diff(self.starts)

    @cached_property
    def idf(self) -> Floats:
        """Weight of each term."""
        return _idf(self.size, self.frequencies.astype(np.float64))

    @cached_property
    def unknown(self) -> float:
        """Weight of a term that is in no passage: the highest there is."""
        return float(_idf(self.size, np.zeros(1))[0])

    def weight(self, term: str) -> float:
        """The idf of a term."""
        row = self.ids.get(term)
        return self.unknown if row is None else float(self.idf[row])

    @cached_property
    def _gains(self) -> Floats:
        """What each term gives at most: g of the formula."""
        gains: Floats = self.idf**DAMPED
        return gains

    def gain(self, term: str) -> float:
        """The same of one term, which may be unknown."""
        row = self.ids.get(term)
        return self.unknown if row is None else float(self._gains[row])

    def attainable(self, weights: Mapping[str, float]) -> float:
        """The bound of the score for terms with these weights."""
        return sum(weight * self.gain(term) for term, weight in weights.items())

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """BM25 of every passage for terms with these weights; shape (size,)."""
        known = {row: weight for term, weight in weights.items() if (row := self.ids.get(term)) is not None}
        rows = np.fromiter(known, np.int64, len(known))
        gains = (self._gains[rows] * np.fromiter(known.values(), np.float64, len(known))).astype(np.float32)
        often = self.frequencies[rows] * FREQUENT > self.size
        scores = self._added_up(rows[~often], gains[~often])
        for row, gain in zip(rows[often].tolist(), gains[often].tolist(), strict=True):
            scores += self._written_out(row, gain)
        return scores

    def _added_up(self, rows: Ints, gains: Shares) -> Floats:
        """What these terms give together to each passage, posting by posting."""
        at = [slice(*ends) for ends in zip(self.starts[rows].tolist(), self.starts[rows + 1].tolist(), strict=True)]
        passages = np.concatenate([self.passages[:0], *(self.passages[row] for row in at)])
        shares = np.concatenate([self._shares[:0], *(self._shares[row] for row in at)])
        shares *= np.repeat(gains, self.frequencies[rows])
        # With nothing to add, numpy counts in whole numbers.
        return np.bincount(passages, shares, minlength=self.size).astype(np.float64, copy=False)

    @cached_property
    def _written_out(self) -> Callable[[int, float], Floats]:
        """What a term that many passages have adds to each of all: adding that is quicker than picking passages."""

        @lru_cache(maxsize=max(1, FREQUENT_BYTES // (8 * max(1, self.size))))
        def row(term: int, gain: float) -> Floats:
            at = slice(self.starts[term], self.starts[term + 1])
            adds = np.zeros(self.size)
            adds[self.passages[at]] = gain * self._shares[at]
            return adds

        return row

    @cached_property
    def _shares(self) -> Shares:
        """The tf / (tf + k1 · …) of the formula, of every posting."""
        mean = max(1.0, float(self.lengths.mean())) if self.size else 1.0
        norms = (K1 * (1 - B + B * self.lengths / mean)).astype(np.float32)
        shares = norms[self.passages]
        shares += self.counts
        return np.divide(self.counts, shares, out=shares)

    def holds(self, term: str, passages: npt.NDArray[np.integer]) -> Mask:
        """Whether each of these passages has a term."""
        own = self.passages_with(term)
        if not len(own):
            return np.zeros(len(passages), np.bool_)
        # Of the same type: numpy would make all of `own` into the other's first.
        at = own.searchsorted(passages.astype(own.dtype, copy=False))
        found: Mask = own.take(at, mode="clip") == passages
        return found

    def frequency(self, term: str) -> int:
        """How many passages have a term."""
        row = self.ids.get(term)
        return 0 if row is None else int(self.frequencies[row])

    def passages_with(self, term: str) -> npt.NDArray[np.int32]:
        """The passages that have a term, in order."""
        row = self.ids.get(term)
        return self.passages[:0] if row is None else self.passages[self.starts[row] : self.starts[row + 1]]


def build(texts: Iterable[str], marks: bool = False, short: bool = False) -> Postings:
    """Index the texts. Each distinct run of letters is cut into terms only once; counting is done on arrays, block by
    block of passages, so that what it takes in between does not grow with the book.
    """
    run_ids: dict[str, int] = {}
    rows: list[npt.NDArray[np.int64]] = []
    for text in texts:
        runs = tokens.runs(tokens.fold(text, marks))
        rows.append(np.fromiter((run_ids.setdefault(run, len(run_ids)) for run in runs), np.int64, len(runs)))
    vocabulary, cut = _cut(list(run_ids), short)
    blocks = [_counted(rows[at : at + BLOCK], at, cut) for at in range(0, len(rows), BLOCK)]
    terms, passages, counts = (np.concatenate(parts) for parts in zip(*blocks, strict=True)) if blocks else _NOTHING
    order = np.argsort(terms, kind="stable")
    starts = np.zeros(len(vocabulary) + 1, np.int64)
    np.cumsum(np.bincount(terms, minlength=len(vocabulary)), out=starts[1:])
    widths = np.diff(cut.starts)
    lengths = np.fromiter((widths[row].sum() for row in rows), np.int32, len(rows))
    return Postings(vocabulary, starts, passages[order], counts[order], lengths, short)


@dataclass(frozen=True)
class _Cut:
    starts: Ints
    terms: Ints


def _cut(runs: Sequence[str], short: bool) -> tuple[tuple[str, ...], _Cut]:
    """The sorted vocabulary of the runs' terms, and for each run its terms as rows of that vocabulary."""
    lists = [tokens.terms(run, short) for run in runs]
    vocabulary = sorted({term for terms in lists for term in terms})
    ids = {term: row for row, term in enumerate(vocabulary)}
    starts = np.zeros(len(runs) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, lists), np.int64, len(runs)), out=starts[1:])
    return tuple(vocabulary), _Cut(
        starts, np.fromiter((ids[t] for terms in lists for t in terms), np.int64, starts[-1])
    )


def _counted(rows: Sequence[Ints], first: int, cut: _Cut) -> _Counts:
    """The terms of some passages, each passage's once, how often it has them; `first` is the first one's position."""
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    used = np.concatenate(rows)
    at, widths = _ranges(cut.starts[used], cut.starts[used + 1])
    owners = np.repeat(np.repeat(np.arange(len(rows)), sizes), widths)
    keys, counts = np.unique(cut.terms[at] * len(rows) + owners, return_counts=True)
    terms, passages = np.divmod(keys, len(rows))
    most = np.iinfo(np.uint16).max
    return terms.astype(np.int32), (passages + first).astype(np.int32), np.minimum(counts, most).astype(np.uint16)


def _idf(size: int, frequencies: Floats) -> Floats:
    return np.log(1 + (size - frequencies + 0.5) / (frequencies + 0.5))


def _ranges(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """All positions of the half-open ranges, one after the other, and how wide each range is."""
    widths = ends - starts
    before = np.cumsum(widths) - widths
    return np.arange(widths.sum()) + np.repeat(starts - before, widths), widths
