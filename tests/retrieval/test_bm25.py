"""BM25 on arrays against the formula written out, and its laws."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.retrieval.bm25 import DAMPED, K1, B, build
from ask_book.retrieval.tokens import tokens

TEXTS = [
    "The river floods in April.",
    "April is wet; the river is high, the river is wide.",
    "Snow melts late in the hills and the river takes it down to the sea.",
    "",
]
small_texts = st.lists(st.text(alphabet="abcñ東京 .", max_size=30), min_size=1, max_size=6)


def by_the_book(texts: list[str], weights: dict[str, float]) -> list[float]:
    """The formula of the module, one passage and one term at a time."""
    counts = [Counter(tokens(text)) for text in texts]
    mean = max(1.0, sum(count.total() for count in counts) / len(texts))
    scores = []
    for count in counts:
        norm = K1 * (1 - B + B * count.total() / mean)
        score = 0.0
        for term, weight in weights.items():
            frequency = sum(term in other for other in counts)
            idf = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
            score += weight * idf**DAMPED * count[term] / (count[term] + norm)
        scores.append(score)
    return scores


def test_scores_are_those_of_the_formula() -> None:
    weights = {"_river_": 1.0, "_april_": 0.5, "_apr": 1.0, "_unknown_": 1.0}
    assert build(TEXTS).scores(weights) == pytest.approx(by_the_book(TEXTS, weights), abs=1e-6)


@given(small_texts, st.text(alphabet="abcñ東京 ", max_size=12))
def test_scores_are_those_of_the_formula_for_any_text(texts: list[str], question: str) -> None:
    weights = dict.fromkeys(tokens(question), 1.0)
    assert build(texts).scores(weights) == pytest.approx(by_the_book(texts, weights), abs=1e-6)


def test_rare_terms_and_frequent_ones_are_added_up_alike() -> None:
    texts = [*TEXTS, *(f"The sea and island number {i}, with one word more." for i in range(40))]
    weights = {"_sea_": 1.0, "_river_": 0.5, "_7_": 0.5, "_the_": 1.0, "_isla": 0.25}
    postings = build(texts)
    assert postings.scores(weights) == pytest.approx(by_the_book(texts, weights), abs=1e-6)
    assert postings.scores(weights).tolist() == postings.scores(weights).tolist()


def test_a_short_index_has_words_and_their_beginnings() -> None:
    postings = build(["The rivers of the north"], short=True)
    assert postings.vocabulary == ("_north", "_north_", "_of_", "_river", "_rivers_", "_the_")


@given(small_texts)
def test_the_rows_are_sorted_and_complete(texts: list[str]) -> None:
    postings = build(texts)
    assert list(postings.vocabulary) == sorted({term for text in texts for term in tokens(text)})
    assert postings.lengths.tolist() == [len(tokens(text)) for text in texts]
    for term in postings.vocabulary:
        assert postings.passages_with(term).tolist() == [i for i, text in enumerate(texts) if term in tokens(text)]


@given(small_texts, st.text(alphabet="abcñ東京 ", max_size=12))
def test_a_score_is_never_more_than_attainable(texts: list[str], question: str) -> None:
    postings = build(texts)
    weights = dict.fromkeys(tokens(question), 1.0)
    assert (postings.scores(weights) <= postings.attainable(weights) + 1e-6).all()


def test_an_unknown_term_weighs_the_most_and_gives_nothing() -> None:
    postings = build(TEXTS)
    assert postings.weight("_zebra_") > max(postings.weight(term) for term in postings.vocabulary)
    assert not postings.scores({"_zebra_": 1.0}).any()


def test_no_texts_no_scores() -> None:
    postings = build([])
    assert postings.size == 0
    assert postings.vocabulary == ()
    assert postings.scores({"_river_": 1.0}).tolist() == []


def test_counts_beyond_sixteen_bits_are_kept_at_the_top() -> None:
    assert build(["a " * 70_000]).counts.tolist() == [np.iinfo(np.uint16).max]
