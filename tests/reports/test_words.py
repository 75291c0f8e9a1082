import re

import pytest

from ask_book.reports.words import _tables, words, written_date
from ask_book.retrieval.language import languages

CREATED = "2026-03-09T21:05:00.000+00:00"


@pytest.mark.parametrize("lang", ["es", "fr", "pt", "de", "it", "zh", "ja"])
def test_each_language_says_all_that_english_says(lang: str) -> None:
    english, table = _tables()["en"], _tables()[lang]
    assert table.keys() | {"months"} == english.keys()
    for name, said in english.items():
        if name not in ("months", "date"):
            assert set(re.findall(r"{\w+}", table[name])) == set(re.findall(r"{\w+}", said)), name
    assert len(table.get("months", " " * 11).split(" ")) == 12


@pytest.mark.parametrize(
    ("lang", "day"),
    [
        ("en", "9 March 2026"), ("es-MX", "9 de marzo de 2026"), ("de", "9. März 2026"), ("ja", "2026年3月9日"),
        ("fr", "9 mars 2026"), ("xx", "9 March 2026"),
    ],
)  # fmt: skip
def test_dates(lang: str, day: str) -> None:
    assert written_date(CREATED, lang) == day


def test_reports_speak_what_the_panel_speaks() -> None:
    assert set(_tables()) == set(languages())


def test_a_language_without_a_table_is_english() -> None:
    assert words("eo") is words("en")
    assert words("es_ES") is words("es")
