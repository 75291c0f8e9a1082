"""Is there enough in the book to answer? What of the question was found, and what the book never says.

The words of the question, stop words aside, are looked for in the book with some tolerance: a word is found as itself;
as a word that begins like it (the first two thirds of its letters, at least four) and is at most three letters
longer; else as a word with the same two first letters from which it differs by one letter or two swapped. In a script
without spaces a bigram is found only as itself, and counts half, or a tenth in Thai and its kin, where a word has
more letters and bigrams are few.

    confidence = logistic(bias + score · s + covered · ln(1 + c) + name · n)

`s` is the score of the best passage; `c` the largest number of words that one of the three best passages has; `n` the
number of phrases in quotation marks and of capitalised words, the first of the question apart, that the book never
uses (in German, where every noun is capitalised, of phrases alone). The four numbers of `GATES`, for search by words
alone and with each kind of vectors, were fitted by logistic regression, answerable and other questions weighing the
same, on XQuAD (es, en) and SQuAD-es, each question asked of a half of the articles: one that has its passage, one
where that was taken out, one without its article; and on four real books with off-topic questions and near misses.
The biases are such that one `ENOUGH` does for all, and a low one: refusing what the book does say is the worse error.

A question in another language than the book's has few words in common with what answers it. With vectors it is enough
that a passage is near: at least `FOREIGN`, below which lie three of a hundred right passages.

A place that the question names and the book has ("Figure 3.2") settles it: that is enough. A chapter does when one of
the best passages has another word of the question, or there is none. Nothing but stop words is never enough.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ask_book.retrieval import tokens
from ask_book.retrieval.bm25 import Mask, Postings
from ask_book.retrieval.embedding import Kind
from ask_book.retrieval.places import HELD, is_name_of_place
from ask_book.retrieval.query import Query, Word, inner

ENOUGH = 0.15
LOOKED_AT = 3

_LONGER = 3
_SHORTEST_STEM = 4


@dataclass(frozen=True)
class Gate:
    """The numbers of the formula above."""

    bias: float
    score: float
    covered: float
    name: float


WORDS_ALONE = Gate(-4.78, 7.57, 2.06, -2.66)
GATES: Mapping[Kind, Gate] = {
    "e5": Gate(-5.3, 7.51, 2.64, -3.15),
    "joined": Gate(-5.52, 7.51, 2.64, -3.15),
    "encoder": Gate(-5.13, 7.54, 2.23, -2.78),
    "other": Gate(-5.3, 7.51, 2.64, -3.15),
}
FOREIGN: Mapping[Kind, float] = {"e5": 0.63, "joined": 0.63, "encoder": 0.19, "other": 0.0}
NEAR_ENOUGH = 0.5


@dataclass(frozen=True)
class Evidence:
    """`confidence` is 0..1. The terms are words of the question as the reader wrote them, in order, each once."""

    enough: bool
    confidence: float
    found_terms: tuple[str, ...]
    absent_terms: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """What a search brought, for `judge`.

    `score` of the best passage; `passages`: the best `LOOKED_AT`, as numbers of the `postings`; `missing`: phrases
    that no passage has; `named`: the strongest mark of `places.named`; `kind` of the vectors, None without, and with
    them the best `cosine`; `foreign`: the question is in another language than the book.
    """

    score: float
    passages: tuple[int, ...]
    postings: Postings
    missing: tuple[str, ...] = ()
    named: float = 0.0
    kind: Kind | None = None
    cosine: float = 0.0
    foreign: bool = False


def judge(query: Query, found: Findings, nouns_capitalised: bool = False) -> Evidence:
    """Weigh the evidence."""
    asked = [word for word in query.words if not (word.stop or (found.named and is_name_of_place(word.run)))]
    families = [family(word.run, found.postings.vocabulary) for word in asked]
    known = [word for word, members in zip(asked, families, strict=True) if members]
    absent = [word for word in asked if word not in known]
    names = 0 if nouns_capitalised else sum(word.written[:1].isupper() and word != query.words[0] for word in absent)
    covered = _covered(asked, families, found)
    gate = GATES[found.kind] if found.kind else WORDS_ALONE
    logit = gate.bias + gate.score * found.score + gate.covered * math.log1p(covered)
    logit += gate.name * (names + len(found.missing))
    if not found.passages or not (asked or found.named):
        confidence = 0.0
    elif found.named >= HELD or (found.named and (covered or not asked)):
        confidence = 1.0
    else:
        confidence = 1 / (1 + math.exp(-logit))
        if found.kind and found.foreign and found.cosine >= FOREIGN[found.kind]:
            confidence = max(confidence, NEAR_ENOUGH)
    return Evidence(
        confidence >= ENOUGH,
        confidence,
        tuple(dict.fromkeys(_written(query, known))),
        tuple(dict.fromkeys((*_written(query, inner(query.words, absent)), *found.missing))),
    )


def lacking(query: Query, passage: int, postings: Postings) -> tuple[str, ...]:
    """The words of the question, stop words aside, that a passage does not have."""
    asked = [word for word in query.words if not word.stop]
    families = [family(word.run, postings.vocabulary) for word in asked]
    has = [_held(members, (passage,), postings).any() for members in families]
    return tuple(dict.fromkeys(_written(query, [word for word, yes in zip(asked, has, strict=True) if not yes])))


def family(run: str, vocabulary: Sequence[str]) -> frozenset[str]:
    """The terms of the book that count as this word."""
    if tokens.is_unspaced(run):
        return frozenset(term for term in _beginning_with(run, vocabulary) if term == run)
    exact = frozenset(term for term in _words(run, vocabulary) if len(term) == len(run) + 2)
    if len(run) < _SHORTEST_STEM:
        return exact
    stem = run[: max(_SHORTEST_STEM, math.ceil(len(run) * 2 / 3))]
    kin = frozenset(term for term in _words(stem, vocabulary) if len(term) <= len(run) + 2 + _LONGER)
    return exact | kin or frozenset(term for term in _words(run[:2], vocabulary) if is_one_slip(run, term[1:-1]))


def is_one_slip(a: str, b: str) -> bool:
    """Whether two words differ by at most one letter (added, left out, replaced) or two neighbours swapped."""
    if abs(len(a) - len(b)) > 1:
        return False
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    end = next((i for i in range(shorter - start) if a[-1 - i] != b[-1 - i]), shorter - start)
    rest_a, rest_b = a[start : len(a) - end], b[start : len(b) - end]
    return max(len(rest_a), len(rest_b)) <= 1 or (len(rest_a) == 2 and rest_a == rest_b[::-1])


def _beginning_with(prefix: str, vocabulary: Sequence[str]) -> Sequence[str]:
    """The slice of the sorted vocabulary whose terms begin so."""
    return vocabulary[bisect_left(vocabulary, prefix) : bisect_left(vocabulary, f"{prefix}\U0010ffff")]


def _words(prefix: str, vocabulary: Sequence[str]) -> list[str]:
    """The words that begin so: terms between two `_` (4-grams lack one of these, but for two letters)."""
    return [term for term in _beginning_with(f"_{prefix}", vocabulary) if term[-1] == "_"]


def _covered(asked: Sequence[Word], families: Sequence[frozenset[str]], found: Findings) -> float:
    shares = [tokens.share_of_word(word.run) for word in asked]
    covered = np.zeros(len(found.passages))
    for share, members in zip(shares, families, strict=True):
        covered += share * _held(members, found.passages, found.postings)
    return float(covered.max(initial=0.0))


def _held(members: Iterable[str], passages: Sequence[int], postings: Postings) -> Mask:
    """Which of the passages have one of the terms."""
    at, held = np.array(passages, np.int64), np.zeros(len(passages), np.bool_)
    for term in members:
        held |= postings.holds(term, at)
    return held


def _written(query: Query, chosen: list[Word]) -> list[str]:
    """The chosen words as the reader wrote them; bigrams that follow each other become one word again."""
    texts: list[str] = []
    before: Word | None = None
    for word in query.words:
        if word in chosen:
            if word.glued and before in chosen:
                texts[-1] += word.written[1:]
            else:
                texts.append(word.written)
        before = word
    return texts
