"""Places named by a caller or in a question. The passages are those of the small books."""

from __future__ import annotations

import numpy as np
import pytest

from ask_book.retrieval.places import HELD, NEAR, OPENING, in_scope, lists_of_references, named, narrowed
from small_books import fixture, small_manifest

ES = small_manifest("es")
EN = small_manifest("en")
ZH = small_manifest("zh")


@pytest.mark.parametrize(
    ("scope", "passages"),
    [
        ("clima.qmd", [1, 2, 3]),
        ("clima.html", [1, 2, 3]),
        ("El territorio", [1, 2, 3]),
        ("sec-clima", [1, 2, 3]),
        ("#sec-clima", [1, 2, 3]),
        ("clima.html#sec-clima", [1, 2, 3]),
        ("index.qmd#sec-clima", []),
        ("1", [1, 2, 3]),
        ("clima", [1, 2, 3]),
        ("no-hay", []),
        ("", []),
        ("#", []),
    ],
)
def test_scope(scope: str, passages: list[int]) -> None:
    assert np.flatnonzero(in_scope(ES, scope)).tolist() == passages


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("¿Qué recoge la Tabla 1.1?", [2]),
        ("la tabla 1.1.", [2]),
        ("table 1.1, please", [2]),
        ("las tablas 1.1 y 1.2", [2]),
        ("ecuación 1.1", [2]),
        ("@tbl-lluvia", [2]),
        ("(tbl-lluvia)", [2]),
        ("#sec-clima", [1, 2, 3]),
        ("tabla 9.9", []),
        ("estable 1.1", []),
        ("tabla", []),
    ],
)
def test_a_question_names_what_holds_a_place(question: str, passages: list[int]) -> None:
    assert np.flatnonzero(named(ES, question) == HELD).tolist() == passages


def test_a_named_chapter_is_near_and_its_opening_nearer() -> None:
    assert named(ES, "¿De qué trata el capítulo 1?").tolist() == [0, OPENING, NEAR, NEAR, 0, 0]
    assert named(ES, "what is in appendix A").tolist() == [0, 0, 0, 0, OPENING, NEAR]
    assert named(EN, "chapter 2").tolist() == [0, 0, 0, OPENING]
    assert named(ZH, "第2章讲什么").tolist() == [0, 0, 0, OPENING, NEAR, NEAR]


@pytest.mark.parametrize("case", fixture("narrowed.json"), ids=lambda case: case["question"])
def test_a_question_narrows_itself_to_a_chapter(case: dict[str, str]) -> None:
    assert narrowed(small_manifest(case["book"]), case["question"]) == (case["words"], case["scope"])


def test_a_chapter_is_called_by_words_of_its_title_in_any_script() -> None:
    assert np.flatnonzero(in_scope(ZH, "茶")).tolist() == [0, 1, 2, 3, 4, 5]
    assert np.flatnonzero(in_scope(ZH, "制茶")).tolist() == [3, 4, 5]


def test_lists_of_references_are_known_by_their_title() -> None:
    assert np.flatnonzero(lists_of_references(ES)).tolist() == [5]
    assert not lists_of_references(EN).any()
