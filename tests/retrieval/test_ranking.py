"""The order of passages: the published vectors, each rule by an example, and the laws."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ask_book.retrieval.index import open_index
from retrieval.texts import index_of, manifest_of
from retrieval.vectors import RANKING, outcome

VECTORS = json.loads(RANKING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: f"{case['book']}: {case['question']}")
def test_the_published_vectors(case: dict[str, object]) -> None:
    found = outcome(case)
    assert [at for at, _ in found["hits"]] == [at for at, _ in case["hits"]]  # type: ignore[attr-defined]
    assert [score for _, score in found["hits"]] == pytest.approx(
        [score for _, score in case["hits"]],  # type: ignore[attr-defined]
        abs=VECTORS["tolerance"],
    )
    assert found["confidence"] == pytest.approx(case["confidence"], abs=VECTORS["tolerance"])
    for key in ("enough", "found_terms", "absent_terms"):
        assert found[key] == case[key]


def order(passages: list[tuple[str, str]], question: str, k: int = 7) -> list[int]:
    return [hit.chunk for hit in index_of(passages).search(question, k).hits]


def test_a_list_of_references_does_not_crowd_out_prose() -> None:
    prose = "Flood maps are drawn from the heights of the land and from what the neighbours remember of every flood."
    listed = "Marlow (2019). Flood maps. Ames (2020). Flood maps of cities. Flood maps and people."
    assert order([("References", listed), ("Maps", prose)], "How are flood maps drawn?") == [1, 0]


def test_code_does_not_crowd_out_prose(tmp_path: Path) -> None:
    prose = manifest_of([("Maps", "draw the flood map from heights")])
    chapter = prose.chapters[0]
    section = replace(chapter.sections[0], blocks=(replace(chapter.blocks[0], kind="code"),))
    code = replace(prose, chapters=(replace(chapter, sections=(section,)),))
    scores = [
        open_index(book, tmp_path / str(at)).search("maps of a flood").hits[0].score
        for at, book in enumerate((prose, code))
    ]
    assert scores[1] == pytest.approx(0.8 * scores[0])


def test_passages_that_are_nearly_the_same_come_once() -> None:
    text = "The keeper checks the hives every week in spring, and every month in winter when the bees are at rest."
    assert order(
        [("A", text), ("B", text.replace("checks", "visits")), ("C", "Hives are heavy.")], "checks the hives"
    ) == [0, 2]


def test_a_quoted_phrase_must_match() -> None:
    passages = [
        ("A", "A red fox lives behind the old mill."),
        ("B", "No fox is as red as the one that stole our bread."),
        ("C", "Where the hen met a red fox there is a stone."),
    ]
    assert order(passages, 'the "red fox"') == [0, 2]
    assert order(passages, '"red fox" and "the hen met"') == [2]


def test_a_phrase_that_is_nowhere_does_not_hide_the_rest() -> None:
    found = index_of([("A", "The red fox."), ("B", "A hen.")]).search('the "green fox"')
    assert [hit.chunk for hit in found.hits] == [0]
    assert found.evidence.absent_terms == ("green", "green fox")


def test_a_typo_and_missing_accents_find_the_same() -> None:
    passages = [("Clima", "La precipitación anual es de 1448 mm."), ("Suelo", "El suelo es arcilloso y pesado.")]
    assert order(passages, "precipitacion anual")[0] == order(passages, "presipitación annual")[0] == 0


words = st.sampled_from(
    ["river", "april", "snow", "hill", "sea", "bees", "roof", "wind", "keeper", "straps", "map", "flood"]
)
texts = st.lists(words, min_size=1, max_size=12).map(" ".join)
books = st.lists(st.tuples(words, texts), min_size=1, max_size=6)


@settings(deadline=None, max_examples=40)
@given(books, texts, st.integers(1, 8))
def test_the_order_is_total_and_scores_lie_between_0_and_1(book: list[tuple[str, str]], question: str, k: int) -> None:
    index = index_of(book)
    hits = index.search(question, k).hits
    assert hits == index.search(question, k).hits
    assert len(hits) <= k
    assert all(0 < hit.score <= 1 for hit in hits)
    keys = [(-round(hit.score, 9), hit.chunk) for hit in hits]
    assert keys == sorted(set(keys))


@settings(deadline=None, max_examples=40)
@given(books, texts, st.text(alphabet="qxyz", min_size=5, max_size=9))
def test_an_unknown_word_never_raises_a_score(book: list[tuple[str, str]], question: str, unknown: str) -> None:
    index = index_of(book)
    before = {hit.chunk: hit.score for hit in index.search(question, 99).hits}
    after = {hit.chunk: hit.score for hit in index.search(f"{question} {unknown}", 99).hits}
    assert max(after.values(), default=0) <= max(before.values(), default=0) + 1e-9
    # Of passages nearly the same, another one may stand for all now: the one with the question word for word did.
    assert all(score <= before[at] + 1e-9 for at, score in after.items() if at in before)


@settings(deadline=None, max_examples=40)
@given(books)
@example([("river", f"{'river ' * 7}april snow hill"), ("river", "snow"), ("river", "april hill")])
def test_a_passage_finds_itself_first_by_its_own_text(book: list[tuple[str, str]]) -> None:
    """Itself, or one that has all of its text, word for word."""
    index = index_of(book)
    for title, text in book:
        own = f"{title} {text}"
        first = " ".join(book[index.search(own).hits[0].chunk])
        assert f" {own} " in f" {first.split()[0]} {first} "


def test_a_sentence_copied_from_the_book_finds_where_it_is_from() -> None:
    passages = [
        ("Flood maps", "Flood maps: flood maps of the town."),
        ("Notes", "Nobody had asked before. The town has flood maps. Weeks went by until somebody asked again."),
    ]
    assert order(passages, "the town has flood maps") == [1, 0]
    assert order(passages, "the town has maps of a flood") == [0, 1]
