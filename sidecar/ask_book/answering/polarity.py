"""Whether a claim says no where its source says yes, or less where that says more.

Two ways of looking. Close by: a negation stands between words that the other text has side by side without one ("the
mean is *not* quite representative", "the mean is quite representative"); words with an opposite count as its negation
("less" is "not more"), and articles, adverbs and auxiliary verbs do not count. As a whole: two clauses have nearly the
same words, and one of them is turned. Languages without spaces are only looked at as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ask_book.answering.vocabulary import beginning, vocabulary
from ask_book.retrieval.language import locale
from ask_book.retrieval.tokens import fold, is_unspaced, runs, terms

STEM = 5
ALIKE = 0.85
ALIKE_BIGRAMS = 0.7
INSIDE = 0.8
BEFORE, BEHIND = 3, 4
LEAST = 3
TWO_OF_ONE = 3
NEAR = 4

_TOKEN = re.compile(r"[^\W_]+|[.;:!?…]+(?=\s|$)|\n|[()—]|\s[–-]\s")
_SHORT_NOT = re.compile(r"(?<=can)['’]t\b|n['’]t\b")
_ADVERB = {
    "en": re.compile(r"\w{3,}ly"),
    "fr": re.compile(r"\w+(?:(?:able|ale|elle|euse|ide|ique|ive|vre|ère|aire)ment|[ae]mment)"),
    **dict.fromkeys(("es", "pt", "it"), re.compile(r"\w{3,}mente")),
}
_CLAUSE = re.compile(r"(?<!\d)\.(?!\w)|[;:!?…—()。，；：！？、,]+(?!\d)\s*|\s[–-]\s")
_DIGITS = re.compile(r"\d+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_BORDER = ""


@dataclass(frozen=True)
class _Read:
    """The stems of a text, `_BORDER` between sentences, and before which of them something says no."""

    stems: tuple[str, ...]
    turned: frozenset[int]

    @property
    def denied(self) -> frozenset[tuple[str, ...]]:
        """The two words behind each no."""
        return frozenset(self.stems[at : at + 2] for at in self.turned)


def contradicts(claim: str, source: str, lang: str, names: Collection[str] = ()) -> bool:
    """Whether a claim turns round what its source says, both in one language. `names`, folded, tell clauses little."""
    if vocabulary(lang).numbers:
        mine, theirs = _read(claim, lang), _read(source, lang)
        if _is_turned_round(mine, theirs, lang) or _is_turned_round(theirs, mine, lang):
            return True
        if mine.turned and mine.denied == theirs.denied:
            return False
    return _has_turned_clause(claim, source, lang, names)


# -- close by ----------------------------------------------------------------------------------------------------------


def _read(text: str, lang: str) -> _Read:
    words, adverb = vocabulary(lang), _ADVERB.get(lang[:2])
    plain = _SHORT_NOT.sub(" not", _without_idioms(fold(text), lang).replace("cannot", "can not"))
    stems: list[str] = []
    turned: set[int] = set()
    last_no = -TWO_OF_ONE - 1
    for found in _TOKEN.finditer(plain):
        word = found[0]
        if not word[0].isalnum():
            stems.append(_BORDER)
            continue
        if _denies(lang).fullmatch(word):
            # "ne … pas", "no … nunca": one negation in two words.
            if len(stems) - last_no > TWO_OF_ONE:
                turned ^= {len(stems)}
            last_no = len(stems)
            continue
        if word in words.fillers or (adverb and adverb.fullmatch(word)):
            continue
        stem = beginning(word)
        if opposite := words.opposites.get(stem):
            turned ^= {len(stems)}
        stems.append(opposite or stem)
    return _Read(tuple(stems), frozenset(turned))


def _is_turned_round(one: _Read, other: _Read, lang: str) -> bool:
    """Whether the words around something turned in the one stand in the other, and there are not turned so."""
    return any(
        (places := list(_places(words, other.stems)))
        and not any(_is_turned_alike(place, len(words), no, other) for place in places)
        and all(_is_turned_alike(place, len(words), no, one) for place in _places(words, one.stems))
        for at in one.turned
        for start, words in _surroundings(one.stems, at, locale(lang).stopwords)
        for no in [{turn - start for turn in one.turned if start <= turn < start + len(words)}]
    )


def _surroundings(stems: Sequence[str], at: int, stop: Collection[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Where the words around a place in a sentence begin, and the words: enough of them, and telling something."""
    before = next((n for n in range(BEFORE) if at - n < 1 or stems[at - n - 1] == _BORDER), BEFORE)
    behind = next((n for n in range(BEHIND) if at + n >= len(stems) or stems[at + n] == _BORDER), BEHIND)
    begins = before < BEFORE
    for start in range(at - before, at + begins):
        for end in range(at + min(behind, 2), at + behind + 1):
            words = stems[start:end]
            telling = sum(word not in stop for word in words)
            ends = behind < BEHIND and end == at + behind
            if end > at and len(words) >= LEAST and (telling >= 2 or (telling and ends and len(words) > LEAST)):
                yield start, words


def _places(words: Sequence[str], stems: Sequence[str]) -> Iterator[int]:
    for start in range(len(stems) - len(words) + 1):
        if stems[start : start + len(words)] == words:
            yield start


def _is_turned_alike(start: int, length: int, no: Collection[int], text: _Read) -> bool:
    """Whether the same of these words are turned, or something says no near them, in the same sentence."""
    first, last = start, start + length
    while first > max(0, start - NEAR) and text.stems[first - 1] != _BORDER:
        first -= 1
    while last < min(len(text.stems), start + length + NEAR) and text.stems[last] != _BORDER:
        last += 1
    turned = {turn - start for turn in text.turned if first <= turn <= last}
    return turned == no or any(not 0 <= turn < length for turn in turned)


@cache
def _denies(lang: str) -> re.Pattern[str]:
    return re.compile(vocabulary(lang).denies)


def _without_idioms(plain: str, lang: str) -> str:
    idioms = vocabulary(lang).idioms
    return _as_words(idioms, lang).sub(" ", plain) if idioms else plain


# -- as a whole --------------------------------------------------------------------------------------------------------


def _has_turned_clause(claim: str, source: str, lang: str, names: Collection[str]) -> bool:
    words = vocabulary(lang)
    aside = {name[:STEM] for name in (*names, *words.months)}
    said = list(_clauses(source, lang))
    theirs = [stems(clause, (lang,)) - aside for clause in said]
    everything = frozenset().union(*theirs)
    for clause in _clauses(claim, lang):
        mine = stems(clause, (lang,)) - aside
        numbers = set(_DIGITS.findall(clause))
        shares = [
            _likeness(mine - (everything - other), other) if numbers.issubset(_DIGITS.findall(text)) else 0.0
            for text, other in zip(said, theirs, strict=True)
        ]
        best = max(shares, default=0.0)
        turned = {_is_turned(text, lang) for text, share in zip(said, shares, strict=True) if share == best}
        if best >= (ALIKE if words.numbers else ALIKE_BIGRAMS) and _is_turned(clause, lang) not in turned:
            return True
        if (
            words.numbers
            and len(mine) > 2
            and any(
                share(mine, other) >= INSIDE and _is_turned_inside(clause, text, lang)
                for text, other in zip(said, theirs, strict=True)
            )
        ):
            return True
    return False


def _is_turned_inside(clause: str, text: str, lang: str) -> bool:
    """Whether one of two clauses alone says no, and what it says no to is in the other."""
    one, other = _read(clause, lang), _read(text, lang)
    if bool(one.turned) == bool(other.turned):
        return False
    if other.turned:
        one, other = other, one
    stop = locale(lang).stopwords
    denied = [one.stems[start : start + 2] for at in one.turned for start in (at, at + 1)]
    return len(one.turned) == 1 and any(
        len(words) == 2 and _BORDER not in words and not stop.issuperset(words) and list(_places(words, other.stems))
        for words in denied
    )


def _likeness(mine: Collection[str], theirs: Collection[str]) -> float:
    return min(share(mine, theirs), share(theirs, mine)) if len(mine) > 1 else 0.0


def _clauses(text: str, lang: str) -> Iterator[str]:
    words, plain = vocabulary(lang), _without_idioms(fold(text), lang)
    if words.numbers:
        plain = _as_words(words.lists, lang).sub(";", plain)
    yield from filter(None, _CLAUSE.split(plain))


def _is_turned(clause: str, lang: str) -> bool:
    words = vocabulary(lang)
    denies = bool(words.denies and re.search(_as_words(words.denies, lang), clause))
    return (denies + (len(re.findall(_as_words(words.lessens, lang), clause)) if words.lessens else 0)) % 2 == 1


@cache
def _as_words(pattern: str, lang: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)" if vocabulary(lang).numbers else rf"(?:{pattern})")


def share(some: Collection[str], others: Collection[str]) -> float:
    """How much of the one is in the other, from 0 to 1."""
    return len(set(some) & set(others)) / len(some) if some else 0.0


def stems(text: str, langs: Sequence[str]) -> frozenset[str]:
    """The telling words of a text, cut to their beginnings, without those that say no; bigrams in unspaced scripts."""
    found: set[str] = set()
    for lang in langs:
        words, stop = vocabulary(lang), locale(lang).stopwords
        plain = fold(text)
        for turn in filter(None, (words.denies, words.lessens)):
            plain = _as_words(turn, lang).sub(" " if words.numbers else "", plain)
        for run in runs(plain):
            if any(map(is_unspaced, run)):
                pieces = (term for term in terms(run) if is_unspaced(term))
                found.update(term for term in pieces if term not in stop and not _HIRAGANA.fullmatch(term))
            elif run not in stop and not run.isdecimal():
                found.add(run[:STEM])
    return frozenset(found)
