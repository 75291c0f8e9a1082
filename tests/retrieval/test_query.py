"""How a question is read."""

from __future__ import annotations

import math

import pytest

from ask_book.retrieval.language import locale
from ask_book.retrieval.query import Phrase, Word, read

ES = locale("es").stopwords


def test_stop_words_count_half_accents_and_case_aside() -> None:
    query = read("¿Qué es el CLIMA?", ES)
    assert [(word.written, word.stop) for word in query.words] == [
        ("Qué", True),
        ("es", True),
        ("el", True),
        ("CLIMA", False),
    ]
    assert query.weights["_clima_"] == pytest.approx(1 / math.sqrt(5))
    assert query.weights["_que_"] == pytest.approx(0.5 / math.sqrt(3))


def test_a_long_word_weighs_more_but_not_as_much_more_as_it_has_terms() -> None:
    weights = read("sol precipitaciones", ES).weights
    assert sum(weight for term, weight in weights.items() if term in "_sol_") == pytest.approx(math.sqrt(3))
    assert sum(weights.values()) == pytest.approx(math.sqrt(3) + math.sqrt(15))


def test_a_term_of_a_stop_word_and_of_another_counts_whole() -> None:
    weights = read("como comodo", ES).weights
    assert weights["_com"] == weights["_comodo_"]
    assert weights["_como_"] == pytest.approx(0.5 / math.sqrt(4))


def test_in_a_very_large_book_a_word_and_its_first_five_letters_are_looked_for() -> None:
    assert list(read("lluvia en mayo", ES, short=True).weights) == ["_lluvia_", "_lluvi", "_en_", "_mayo_"]


def test_phrases_between_any_quotation_marks() -> None:
    query = read('“Mapa de riesgo” o «agua» o "dos palabras" o 「水温」', ES)
    assert query.phrases == (
        Phrase("Mapa de riesgo", ("mapa", "de", "riesgo")),
        Phrase("agua", ("agua",)),
        Phrase("dos palabras", ("dos", "palabras")),
        Phrase("水温", ("水温",)),
    )


def test_an_apostrophe_or_a_lonely_mark_makes_no_phrase() -> None:
    assert read("l'eau de l'usine à 3\" de fond", ES).phrases == ()


def test_bigrams_are_words_where_there_are_no_spaces() -> None:
    assert read("東京の夏", frozenset(), marks=False).words == (
        Word("東京", "東京", stop=False),
        Word("京の", "京の", stop=False, glued=True),
        Word("の夏", "の夏", stop=False, glued=True),
    )
    assert read("これは", frozenset()).words[0].stop
