"""Locale tables (the files that the page loads too, and what only the sidecar says) and the language of a text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ask_book.errors import AskBookError
from ask_book.resources import extension_dir
from ask_book.retrieval.tokens import fold, runs

FALLBACK = "en"


@dataclass(frozen=True)
class Locale:
    """What ask-book says and skips in one language. `stopwords` are folded; the rest are texts by key: `ui` of the
    panel, `answer` of answers, `notices` of how an answer was made.
    """

    lang: str
    not_found: str
    stopwords: frozenset[str]
    abbreviations: frozenset[str]
    ui: dict[str, str]
    answer: dict[str, str]
    notices: dict[str, str]


@cache
def locale(lang: str) -> Locale:
    """The table of a language tag such as `es` or `es-MX`; that of English when there is none."""
    return _read(code_of(lang) if has_table(lang) else FALLBACK)


def code_of(lang: str) -> str:
    """The language alone of a tag such as `es-MX` or `ES_mx`."""
    return lang.replace("_", "-").split("-")[0].lower()


def has_table(lang: str) -> bool:
    """Whether there is a table of a language tag."""
    return code_of(lang) in languages()


def book_language(lang: str) -> str:
    """The language of a book, for a model."""
    return f"the language of the book ({lang})" if lang else "the language of the book"


@cache
def languages() -> tuple[str, ...]:
    """The codes that have a table, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.js")))


def language_of(text: str, default: str = FALLBACK) -> str:
    """The language of a text: by its script, or the one whose function words it uses most; `default` when in doubt."""
    sample = fold(text[:200_000])
    kana = sum("\u3040" <= char <= "\u30ff" for char in sample)
    han = sum("\u4e00" <= char <= "\u9fff" for char in sample)
    if kana + han > len(sample) / 5:
        return "ja" if kana * 20 > han else "zh"
    words = runs(sample)
    counts = {code: sum(map(locale(code).stopwords.__contains__, words)) for code in languages()}
    most = max(counts.values())
    best = [code for code, count in counts.items() if count == most]
    return best[0] if len(best) == 1 and most * 5 > len(words) else default


def keeps_marks(lang: str, text: str) -> bool:
    """Whether diacritics tell words apart: in Vietnamese, also when the book does not say that it is."""
    if lang:
        return lang.lower().split("-")[0] == "vi"
    sample = text[:200_000].lower()
    telling = sum("\u1ea0" <= char <= "\u1ef9" or char in "đơư" for char in sample)
    return telling * 50 > len(sample)


def _folder() -> Path:
    return extension_dir() / "widget" / "locales"


def _read(code: str) -> Locale:
    path = _folder() / f"{code}.js"
    try:
        source = path.read_text(encoding="utf-8")
        data = json.loads(source[source.index("{") : source.rindex("}") + 1])
    except (OSError, ValueError) as error:
        raise AskBookError(f"The locale table {path} cannot be read ({error}).", "Install ask-book again.") from error
    return Locale(
        code,
        data["not_found"],
        frozenset(data["stopwords"].split()),
        frozenset(data["abbreviations"].split()),
        data.get("ui", {}),
        data.get("answer", {}),
        _notices()[code],
    )


@cache
def _notices() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("notices.json").read_bytes())
    return tables
