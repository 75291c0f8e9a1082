"""What readers asked that the book does not answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.exam import gaps as gaps_module
from ask_book.exam.asked import Asked
from ask_book.exam.gaps import Gap, Near, gaps
from small_books import small_book


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("gaps"), "en")


def found(book: OpenBook, *asked: Asked) -> list[Gap]:
    return asyncio.run(gaps(book, asked))


def refused(question: str) -> Asked:
    return Asked(question, "a", "not_found")


def test_like_questions_are_one_gap_and_the_most_frequent_comes_first(bees: OpenBook) -> None:
    (varroa, honey) = found(
        bees,
        refused("When is honey harvested?"),
        refused("How do I treat varroa mites?"),
        refused("how do i treat VARROA mites"),
        refused("What treats varroa mite?"),
        Asked("How much should a hive weigh?", "b", "answered", value="up"),
        Asked("Where may a hive stand?", "c", "answered"),
    )
    assert varroa.questions == (
        "How do I treat varroa mites?",
        "how do i treat VARROA mites",
        "What treats varroa mite?",
    )
    assert (varroa.count, varroa.refused, varroa.down, varroa.reasons) == (3, 3, 0, ())
    assert "varroa" in varroa.absent_terms
    assert (varroa.answered, honey.questions, honey.count) == (False, ("When is honey harvested?",), 1)


def test_a_thumb_down_is_a_gap_with_its_reasons_and_the_sections_that_come_near(bees: OpenBook) -> None:
    (gap,) = found(
        bees,
        Asked("How much should a hive weigh?", "a", "answered", value="down", reason="on slopes?"),
        Asked("How much should hives weigh?", "b", "answered", value="down", reason="on slopes?"),
    )
    assert (gap.count, gap.refused, gap.down, gap.reasons) == (2, 0, 2, ("on slopes?",))
    assert gap.answered
    assert gap.nearest[0] == Near("Hives", ("Hives",), "hives.qmd", "hives.html#sec-hives")
    assert len({near.href for near in gap.nearest}) == len(gap.nearest) <= 3


def test_many_gaps_are_cut_to_the_largest(bees: OpenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps_module, "MOST", 2)
    monkeypatch.setattr(gaps_module, "MOST_QUESTIONS", 3)
    asked = [refused(f"{name} {name}") for name in ("zeta", "alpha", "beta", "gamma", "gamma")]
    assert [gap.questions[0] for gap in found(bees, *asked)] == ["gamma gamma", "alpha alpha"]


def test_scripts_without_spaces_and_questions_of_function_words(tmp_path: Path, bees: OpenBook) -> None:
    tea = small_book(tmp_path, "zh")
    (stored, _) = found(tea, refused("茶叶怎么保存?"), refused("如何保存茶叶?"), refused("山上的天气"))
    assert stored.count == 2
    assert [gap.count for gap in found(bees, refused("What is it?"), refused("?!"))] == [1, 1]
    assert found(bees) == []
