"""What models want to be told, and unit vectors."""

from __future__ import annotations

import numpy as np
import pytest

from ask_book.retrieval.embedding import Prefixes, kind_of, prefixes_of, unit


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/multilingual-e5-small", Prefixes("query: ", "passage: ")),
        ("nomic-embed-text:v1.5", Prefixes("search_query: ", "search_document: ")),
        ("text-embedding-3-small", Prefixes()),
    ],
)
def test_a_model_is_told_what_a_text_is_as_it_was_trained_to_be(model: str, prefixes: Prefixes) -> None:
    assert prefixes_of(model) == prefixes


def test_a_model_that_takes_instructions_wants_one_for_questions_only() -> None:
    prefixes = prefixes_of("intfloat/multilingual-e5-large-instruct")
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.passage == ""


def test_the_kind_of_a_model_is_in_its_name() -> None:
    assert kind_of("multilingual-e5-base") == "e5"
    assert kind_of("text-embedding-3-large") == "other"


def test_rows_are_scaled_to_length_one() -> None:
    scaled = unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert scaled.dtype == np.float32
    assert np.allclose(scaled, [[0.6, 0.8], [0.0, 0.0]])
