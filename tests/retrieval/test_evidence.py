"""Is there enough in the book?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.retrieval.bm25 import build
from ask_book.retrieval.evidence import family, is_one_slip
from ask_book.retrieval.vectors import Vectors
from retrieval.texts import index_of
from retrieval.vectors import book

BEES = [
    ("Hives", "A hive on a roof should weigh at least 40 kg, or be tied down with straps."),
    ("Feeding", "Bees take sugar syrup when it is warm; in winter they need fondant."),
    ("Swarms", "A swarm leaves the hive in May, when the colony has grown too large."),
    ("Counting", "A camera counts the bees that leave; the script prints a number a minute."),
]


@pytest.mark.parametrize(
    "question",
    [
        "When does a swarm leave the hive?",
        "what do bees need in winter",
        "the swram leavs the hive",
        "swarm",
        "What does chapter 3 say?",
    ],
)
def test_what_the_book_says_is_enough(question: str) -> None:
    assert index_of(BEES).search(question).evidence.enough


@pytest.mark.parametrize(
    "question",
    [
        "Who won the World Cup in 1998?",
        "How do I renew my passport?",
        "¿Quién pintó Las Meninas?",
        "What is it?",
        "",
        "???",
        "chapter 9",
    ],
)
def test_what_it_does_not_say_is_not(question: str) -> None:
    evidence = index_of(BEES).search(question).evidence
    assert not evidence.enough
    assert 0 <= evidence.confidence < 0.2


def test_terms_are_told_as_the_reader_wrote_them_in_order_and_once() -> None:
    evidence = index_of(BEES).search("Do the Swarms of VARROA mites harm swarms or Varroa?").evidence
    assert evidence.found_terms == ("Swarms", "swarms")
    assert evidence.absent_terms == ("VARROA", "mites", "harm", "Varroa")


def test_names_that_the_book_never_uses_weigh_against_it() -> None:
    asked = index_of(BEES).search
    assert asked("Does the swarm leave Kazan in May?").evidence.confidence < (
        asked("Does the swarm leave kazan in May?").evidence.confidence
    )


def test_bigrams_between_two_words_are_not_told() -> None:
    evidence = book("zh").search("咖啡怎么烘焙？").evidence
    assert evidence.absent_terms == ("咖啡", "烘焙")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("flood", {"_flood_", "_floods_", "_flooded_", "_floor_"}),
        ("floods", {"_flood_", "_floods_", "_flooded_", "_floor_"}),
        ("flodo", {"_flood_"}),
        ("flod", {"_flood_"}),
        ("floorboards", set()),
        ("sea", {"_sea_"}),
        ("se", set()),
        ("水温", {"水温"}),
        ("温度", set()),
    ],
)
def test_the_family_of_a_word(word: str, found: set[str]) -> None:
    assert family(word, build(["flood floods flooded floor sea seal 水温"]).vocabulary) == found


@given(st.text(alphabet="abc", max_size=6), st.integers(0, 6), st.sampled_from("xyz"))
def test_one_letter_more_less_or_other_is_one_slip(word: str, at: int, letter: str) -> None:
    longer = word[:at] + letter + word[at:]
    assert is_one_slip(word, longer)
    assert is_one_slip(longer, word)
    assert is_one_slip(word[:at] + letter + word[at + 1 :], word)


def test_two_slips_are_too_many() -> None:
    assert is_one_slip("chnages", "changes")
    assert not is_one_slip("chnagse", "changes")
    assert not is_one_slip("abcd", "abyx")


@pytest.mark.parametrize(
    ("question", "cosine", "enough"),
    [
        ("¿Cuándo se marcha el enjambre de la casa?", 0.9, True),
        ("¿Cuándo se marcha el enjambre de la casa?", 0.1, False),
        ("Who painted the ceiling of that chapel?", 0.9, False),
    ],
)
def test_in_another_language_a_near_passage_is_enough(question: str, cosine: float, enough: bool) -> None:
    rows = np.array([[0, 1], [0, 1], [cosine, math.sqrt(1 - cosine**2)], [0, 1]], np.float32)
    index = replace(index_of(BEES), vectors=Vectors("made up", "e5", rows))
    assert index.search(question, vector=np.array([1, 0], np.float32)).evidence.enough is enough
    assert not index.search(question).evidence.enough
