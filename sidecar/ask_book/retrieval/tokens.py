"""What a text is made of for search: words, their 4-grams, and bigrams of scripts without spaces.

The whole definition, so that the in-browser search can do the same (`widget/search.js`); the vectors in
`tests/fixtures/tokens.json` hold both to it:

1. fold: NFKD, lower case, drop invisible format characters and, unless `marks` are kept, the diacritics of Latin,
   Greek, Cyrillic, Hebrew and Arabic; a few letters that do not decompose are spelt out (ß → ss, ø → o); then NFC.
   Marks of other scripts (Hindi vowels, Japanese voicing) stay: they are letters there. A Vietnamese book keeps its
   diacritics: they tell words apart.
2. runs: a letter or digit, then letters, digits and combining marks (Unicode L, N, M).
3. each run is cut where scripts without spaces begin and end (Han, kana, Hangul, Thai, Lao, Burmese, Khmer). Such
   a piece gives its bigrams of code points (itself if it is one). Any other piece is a word, written between two `_`:
   it gives itself and, when longer than four with them, all its runs of four code points (`_sol_`, `_sol`, `sol_`).
   In a very large book (`short`) it gives itself and, when it has five letters or more, the first five (`_puent`):
   a third of the terms, and still better than stems.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain

VERSION = 1
GRAM = 4
PREFIX = 5

_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff"
_DIACRITICS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPELT_OUT = dict(zip("ßæœøđðłħıþς", ["ss", "ae", "oe", "o", "d", "d", "l", "h", "i", "th", "σ"], strict=True))
_DROP_FOLDING = re.compile(f"[{_INVISIBLE}{_DIACRITICS}]+")
_DROP_KEEPING = re.compile(f"[{_INVISIBLE}]+")
_SPELL = re.compile(f"[{''.join(_SPELT_OUT)}]")
_ASCII_RUNS = re.compile("[A-Za-z0-9]+")
_PIECES = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_IS_OF_LETTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def fold(text: str, marks: bool = False) -> str:
    """The text as search sees it; `marks` keeps the diacritics. Offsets are not kept. Idempotent."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", text).lower()
    if marks:
        return unicodedata.normalize("NFC", _DROP_KEEPING.sub("", text))
    bare = _DROP_FOLDING.sub("", text)
    return unicodedata.normalize("NFC", _SPELL.sub(lambda letter: _SPELT_OUT[letter[0]], bare))


def runs(folded: str) -> list[str]:
    """The runs of letters, digits and marks of a folded text, in order."""
    return (_ASCII_RUNS if folded.isascii() else _run_pattern()).findall(folded)


def words(text: str) -> list[str]:
    """The words of a text as they are written: its runs before folding, cut by script, invisible characters apart."""
    visible = unicodedata.normalize("NFC", _DROP_KEEPING.sub("", text))
    whole = runs(visible)
    return [piece for run in whole for piece in _PIECES.findall(run)] if _IS_UNSPACED.search(visible) else whole


def share_of_word(run: str) -> float:
    """How much of a word a run is that has been found, a bigram of a script without spaces being less than one."""
    return 1.0 if not is_unspaced(run) else 1 / 10 if _IS_OF_LETTERS.match(run) else 0.5


def is_unspaced(run: str) -> bool:
    """Whether a run begins in a script that is written without spaces."""
    return _IS_UNSPACED.match(run) is not None


@lru_cache(maxsize=100_000)
def terms(run: str, short: bool = False) -> tuple[str, ...]:
    """The search terms that one run gives, in order, repetitions kept."""
    return tuple(chain.from_iterable(_terms_of_piece(piece, short) for piece in _PIECES.findall(run)))


def tokens(text: str, marks: bool = False, short: bool = False) -> list[str]:
    """All search terms of a text, in order, repetitions kept."""
    return [term for run in runs(fold(text, marks)) for term in terms(run, short)]


def _terms_of_piece(piece: str, short: bool) -> list[str]:
    if is_unspaced(piece):
        return [piece[i : i + 2] for i in range(max(1, len(piece) - 1))]
    word = f"_{piece}_"
    if short:
        return [word, word[: PREFIX + 1]] if len(piece) >= PREFIX else [word]
    return [word, *(word[i : i + GRAM] for i in range(len(word) - GRAM + 1))] if len(word) > GRAM else [word]


@cache
def _run_pattern() -> re.Pattern[str]:
    """Python's `re` knows no class of combining marks and `\\w` leaves them out: they are listed, those of the BMP."""
    marks = "".join(char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M")
    return re.compile(f"[^\\W_]+(?:[{re.escape(marks)}]+[^\\W_]*)*")
