"""Words and meaning in one score: the laws, and a search with vectors made up for the test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.retrieval import fusion
from ask_book.retrieval.fusion import GROUP, NEAREST, SHARE_OF_WORDS, Meaning, highest, scaled
from ask_book.retrieval.index import Index
from ask_book.retrieval.vectors import Vectors
from retrieval.texts import index_of

scores = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)
cosines = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30).map(lambda values: np.array(values, np.float32))
kinds = st.sampled_from(list(SHARE_OF_WORDS))


def everywhere(values: np.ndarray) -> np.ndarray:
    return np.ones(len(values), np.bool_)


@given(cosines)
def test_nearness_lies_between_0_and_1_and_keeps_the_order(values: np.ndarray) -> None:
    near = scaled(values, everywhere(values))
    assert ((near >= 0) & (near <= 1)).all()
    assert (np.diff(near[np.argsort(values, kind="stable")]) >= 0).all()
    assert near.max() == (1.0 if values.max() > values.min() else 0.0)


@given(st.integers(1, 3), st.integers(0, 5 * GROUP), st.integers(1, 9), st.integers(0, 2**32))
def test_the_highest_are_all_there_in_order_with_all_that_are_as_high(
    count: int, size: int, levels: int, seed: int
) -> None:
    values = np.random.default_rng(seed).integers(0, levels, size) / levels
    at = highest(values, count)
    assert (np.diff(at) > 0).all()
    least = np.sort(values)[-count] if size > count else 0.0
    assert set(np.flatnonzero(values >= least)) <= set(at)
    assert (np.delete(values, at) < values[at].min(initial=1)).all()


def test_only_the_nearest_count_and_only_those_that_are_allowed() -> None:
    values = np.linspace(0, 1, 3 * NEAREST, dtype=np.float32)
    assert np.count_nonzero(scaled(values, everywhere(values))) == NEAREST - 1
    allowed = np.zeros(len(values), np.bool_)
    allowed[:3] = True
    assert scaled(values, allowed)[:4].tolist() == pytest.approx([0, 0.5, 1, 0])
    assert not scaled(values, np.zeros(len(values), np.bool_)).any()


@given(scores, kinds, st.data())
def test_the_fused_score_grows_with_each_part(words: np.ndarray, kind: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    near = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(words), max_size=len(words))))
    more = data.draw(st.floats(0.001, 1))
    before = Meaning(near, kind).fused(words)  # type: ignore[arg-type]
    raised = np.where(np.arange(len(words)) == at, more, 0)
    for after in (Meaning(near, kind).fused(words + raised), Meaning(near + raised, kind).fused(words)):  # type: ignore[arg-type]
        assert after[at] > before[at]
        assert (np.delete(after, at) == np.delete(before, at)).all()


@given(cosines, st.data())
def test_a_higher_cosine_never_lowers_its_own_nearness(values: np.ndarray, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(values) - 1))
    raised = values.copy()
    raised[at] = data.draw(st.floats(float(values[at]), 1, width=32))
    before, after = scaled(values, everywhere(values)), scaled(raised, everywhere(raised))
    assert after[at] >= before[at] or values.max() > values.min() == raised.max()


def test_the_vector_of_a_few_passages_chosen_is_that_of_all() -> None:
    meaning, words = Meaning(np.array([0.0, 0.5, 1.0]), "encoder"), np.array([1.0, 0.5, 0.0])
    assert meaning.fused(words).tolist() == pytest.approx([0.9, 0.5, 0.1])
    assert meaning.fused(words[[2, 0]], [2, 0]).tolist() == pytest.approx([0.1, 0.9])


BOOK = [
    ("Hives", "A hive on a roof should weigh at least 40 kg, or be tied down with straps."),
    ("Feeding", "Bees take sugar syrup when it is warm; in winter they need fondant."),
    ("Swarms", "A swarm leaves in May, when the colony has grown too large."),
]


def with_vectors(*rows: tuple[float, float]) -> Index:
    matrix = np.array(rows, np.float32)
    return replace(index_of(BOOK), vectors=Vectors("made up", "e5", matrix))


def test_a_question_without_a_word_of_the_book_is_decided_by_meaning() -> None:
    index = with_vectors((0, 1), (0.6, 0.8), (1, 0))
    question, vector = "¿Cuándo enjambran?", np.array([1, 0], np.float32)
    assert [hit.chunk for hit in index.search(question, vector=vector).hits] == [2, 1]
    assert index.search(question).hits == ()


def test_words_go_before_meaning_where_both_speak() -> None:
    index = with_vectors((1, 0), (0.6, 0.8), (0, 1))
    found = index.search("When does a swarm leave?", vector=np.array([1, 0], np.float32))
    assert found.hits[0].chunk == 2
    assert {hit.chunk for hit in found.hits} == {0, 1, 2}


def test_the_scope_and_a_quoted_phrase_hold_for_meaning_too() -> None:
    index, vector = with_vectors((1, 0), (0.6, 0.8), (0, 1)), np.array([1, 0], np.float32)
    assert [hit.chunk for hit in index.search("May", scope="1.qmd", vector=vector).hits] == []
    assert [hit.chunk for hit in index.search('"sugar syrup"', vector=vector).hits] == [1]


angles = st.floats(0, 6.2)


@given(st.lists(angles, min_size=3, max_size=3), angles, st.sampled_from(["swarm", "when is it warm", "xyz", ""]))
def test_the_order_is_total_and_the_same_every_time(rows: list[float], asked: float, question: str) -> None:
    index = with_vectors(*((float(np.cos(row)), float(np.sin(row))) for row in rows))
    vector = np.array([np.cos(asked), np.sin(asked)], np.float32)
    hits = index.search(question, vector=vector).hits
    assert hits == index.search(question, vector=vector).hits
    keys = [(-round(hit.score, 9), hit.chunk) for hit in hits]
    assert keys == sorted(set(keys))
    assert all(0 < hit.score <= 1 for hit in hits)


@given(st.lists(angles, min_size=3, max_size=3), angles, st.text(alphabet="qxyz", min_size=5, max_size=9))
def test_an_unknown_word_never_raises_a_score(rows: list[float], asked: float, unknown: str) -> None:
    index = with_vectors(*((float(np.cos(row)), float(np.sin(row))) for row in rows))
    vector = np.array([np.cos(asked), np.sin(asked)], np.float32)
    before = {hit.chunk: hit.score for hit in index.search("does the swarm leave", vector=vector).hits}
    after = index.search(f"does the swarm leave {unknown}", vector=vector).hits
    assert all(hit.score <= before[hit.chunk] + 1e-9 for hit in after)


def test_two_joined_models_are_scaled_each_by_itself() -> None:
    """The first model tells its two best passages apart by little, the second one by much: each counts."""
    matrix = np.zeros((3, 384 + 2), np.float32)
    matrix[:, 0] = (0.91, 0.90, 0.0)
    matrix[:, 384] = (0.0, 0.9, 0.0)
    asked = np.zeros(384 + 2, np.float32)
    asked[[0, 384]] = 1
    first, second = fusion.cosines(matrix, asked, "joined")
    assert first.tolist() == matrix[:, 0].tolist()
    assert second.tolist() == matrix[:, 384].tolist()
    assert [part.tolist() for part in fusion.cosines(matrix, asked, "e5")] == [(matrix @ asked).tolist()]
    best = replace(index_of(BOOK), vectors=Vectors("made up", "joined", matrix)).search("zzz", vector=asked).hits[0]
    assert best.chunk == 1
    assert best.score == pytest.approx(0.18 * (0.65 * 0.90 / 0.91 + 0.35))
