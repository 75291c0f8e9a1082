"""Tokens: the published vectors, and the laws behind them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.retrieval.tokens import VERSION, fold, runs, share_of_word, terms, tokens, words
from retrieval.vectors import FIXTURES

VECTORS = json.loads((FIXTURES / "tokens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_published_vectors(case: dict[str, object]) -> None:
    assert tokens(str(case["text"]), bool(case["marks"])) == case["tokens"]


def test_the_vectors_are_of_this_version() -> None:
    assert VECTORS["version"] == VERSION


def test_a_word_gives_itself_and_its_4_grams_with_its_ends_marked() -> None:
    assert tokens("Soles") == ["_soles_", "_sol", "sole", "oles", "les_"]


def test_a_typo_and_a_plural_still_share_terms() -> None:
    assert set(tokens("diference")) & set(tokens("difference")) == {"_dif", "fere", "eren", "renc", "ence", "nce_"}
    assert "_map" in set(tokens("mapa")) & set(tokens("mapas"))


def test_accents_do_not_matter_but_hindi_vowels_do() -> None:
    assert tokens("ACCIÓN") == tokens("accion")
    assert tokens("की") != tokens("कि")


def test_vietnamese_keeps_its_accents_when_asked() -> None:
    assert tokens("má", marks=True) != tokens("mà", marks=True)
    assert tokens("má") == tokens("mà")


def test_words_are_given_as_written() -> None:
    assert words("¿Qué es el IRD-2? co\u00adoperate") == ["Qué", "es", "el", "IRD", "2", "cooperate"]
    assert words("東京IRD") == ["東京", "IRD"]


@given(st.text(), st.booleans())
def test_folding_is_idempotent(text: str, marks: bool) -> None:
    assert fold(fold(text, marks), marks) == fold(text, marks)


@given(st.text(), st.booleans())
def test_tokenising_is_idempotent(text: str, marks: bool) -> None:
    once = runs(fold(text, marks))
    assert runs(fold(" ".join(once), marks)) == once
    assert tokens(" ".join(once), marks) == [term for run in once for term in terms(run)]


@given(st.text(), st.text())
def test_tokens_of_two_texts_apart_are_those_of_both(left: str, right: str) -> None:
    assert tokens(f"{left}\n{right}") == tokens(left) + tokens(right)


@pytest.mark.parametrize(("run", "share"), [("wind", 1.0), ("西风", 0.5), ("바람", 0.5), ("ลม", 0.1)])
def test_how_much_of_a_word_is_found_with_a_run(run: str, share: float) -> None:
    assert share_of_word(run) == share
