"""Locale tables and the language of a text."""

from __future__ import annotations

import pytest

from ask_book.retrieval.language import book_language, has_table, keeps_marks, language_of, languages, locale
from ask_book.retrieval.tokens import fold


@pytest.mark.parametrize("lang", languages())
def test_every_table_says_not_found_and_has_folded_stop_words(lang: str) -> None:
    table = locale(lang)
    assert table.not_found
    assert table.stopwords
    assert all(fold(word) == word for word in table.stopwords)
    assert table.notices.keys() == locale("en").notices.keys()


def test_a_region_does_not_matter_and_an_unknown_language_is_english() -> None:
    assert locale("es-DO").lang == locale("ES_mx").lang == "es"
    assert locale("es").not_found == "No encontrado en el libro"
    assert locale("eo").lang == locale("").lang == "en"
    assert has_table("pt_BR")
    assert not has_table("ru")
    assert not has_table("")


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("es", "El río crece en abril porque la nieve se funde en las montañas."),
        ("en", "The river rises in April because the snow melts in the hills."),
        ("fr", "La rivière monte en avril parce que la neige fond dans les montagnes."),
        ("pt", "O rio sobe em abril porque a neve derrete nas montanhas e não há lagos."),
        ("de", "Der Fluss steigt im April, weil der Schnee in den Bergen schmilzt."),
        ("it", "Il fiume sale in aprile perché la neve si scioglie nelle montagne."),
        ("zh", "四月河水上涨，因为山上的雪融化了。"),
        ("ja", "四月になると山の雪がとけて川の水がふえる。"),
    ],
)
def test_the_language_of_a_text(lang: str, text: str) -> None:
    assert language_of(text) == lang


def test_a_text_that_tells_nothing_has_the_default() -> None:
    assert language_of("overplotting", "es") == "es"
    assert language_of("", "fr") == "fr"
    assert language_of("1 E") == "en", "a word of two languages tells neither"


def test_only_vietnamese_keeps_its_marks_said_or_not() -> None:
    assert keeps_marks("vi", "")
    assert keeps_marks("", "Nước Việt Nam có đường bờ biển dài.")
    assert not keeps_marks("es", "Nước Việt Nam")
    assert not keeps_marks("", "El río crece.")


def test_a_model_is_told_the_language_of_the_book_as_far_as_it_is_known() -> None:
    assert book_language("ru") == "the language of the book (ru)"
    assert book_language("") == "the language of the book"
