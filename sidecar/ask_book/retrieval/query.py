"""A question as search reads it: its words, the weight of each search term, the phrases in quotation marks.

A word's weight is 1, that of a stop word (function words and the words of asking) a half: they say little about the
subject, but the order of the passages is better with them than without; in a question in another language than the
book's, where they only mislead, it is 0. Each of the n terms that a word gives has 1/√n of that: a long word weighs
more than a short one, but not as much more as it has more 4-grams. A term that two words give counts as the heavier of
them. In a script without spaces every bigram is a word; one of hiragana alone is a stop word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ask_book.retrieval import tokens

STOPWORD_WEIGHT = 0.5
_QUOTED = re.compile(r"[\"“”„«「『]([^\"“”„«»「」『』]+)[\"“”»」』]")
_HIRAGANA = re.compile("[\u3040-\u309f]+")


@dataclass(frozen=True)
class Word:
    """A word as the reader wrote it and as search sees it. `glued`: a bigram that begins in the one before."""

    written: str
    run: str
    stop: bool
    glued: bool = False


@dataclass(frozen=True)
class Phrase:
    """Words between quotation marks, as the reader wrote them, and their runs (at least one)."""

    written: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Query:
    """A question, read. `weights` holds its distinct terms in order of first use."""

    words: tuple[Word, ...]
    weights: dict[str, float]
    phrases: tuple[Phrase, ...]


def read(
    question: str, stopwords: frozenset[str], marks: bool = False, short: bool = False, foreign: bool = False
) -> Query:
    """Read a question; `stopwords` are as its words are folded, `marks` as in `tokens.fold`, `short` as in
    `tokens.terms`; `foreign`: it is in another language than the book.
    """
    words = tuple(word for written in tokens.words(question) for word in _words(written, stopwords, marks))
    weights: dict[str, float] = {}
    for word in words:
        if word.stop and foreign:
            continue
        terms = tokens.terms(word.run, short)
        weight = (STOPWORD_WEIGHT if word.stop else 1.0) / math.sqrt(len(terms))
        for term in terms:
            if weight > weights.get(term, 0.0):
                weights[term] = weight
    phrases = (
        Phrase(written.strip(), tuple(tokens.runs(tokens.fold(written, marks))))
        for written in _QUOTED.findall(question)
    )
    return Query(words, weights, tuple(phrase for phrase in phrases if phrase.runs))


def without_joints(query: Query, is_known: Callable[[str], bool]) -> Query:
    """In scripts without spaces, only the bigrams that the book has (`is_known`) and those of words that it has not.

    The others join the end of a word to the next, or belong to what is asked with: "是绿" and "什么" in 什么是绿茶.
    """
    unknown = [word for word in query.words if tokens.is_unspaced(word.run) and not is_known(word.run)]
    missed = {word.run for word in inner(query.words, [word for word in unknown if not word.stop])}
    joints = {word.run for word in unknown} - missed
    return replace(query, weights={term: weight for term, weight in query.weights.items() if term not in joints})


def inner(words: Sequence[Word], absent: Sequence[Word]) -> list[Word]:
    """Without the bigrams that touch a stop word or a known one: they only join the end of a word to the next."""
    kept = set(absent)
    for left, right in pairwise(words):
        if right.glued and (left in absent) != (right in absent):
            kept -= {left, right}
    return [word for word in absent if word in kept]


@lru_cache(maxsize=10_000)
def _words(written: str, stopwords: frozenset[str], marks: bool) -> tuple[Word, ...]:
    """What search sees in a word as it is written. Readers use the same words all the time."""
    return tuple(
        word for run in tokens.runs(tokens.fold(written, marks)) for word in _words_of(run, written, stopwords)
    )


def _words_of(run: str, written: str, stopwords: frozenset[str]) -> Iterator[Word]:
    if not tokens.is_unspaced(run):
        yield Word(written, run, run in stopwords)
        return
    for at, bigram in enumerate(tokens.terms(run)):
        yield Word(bigram, bigram, bigram in stopwords or _HIRAGANA.fullmatch(bigram) is not None, at > 0)
