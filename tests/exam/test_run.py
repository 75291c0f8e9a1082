"""Asking a book the questions of an exam."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.exam.format import Exam, Place, Question
from ask_book.exam.report import Results, Share, shares, to_json, to_junit, to_lines
from ask_book.exam.run import Outcome, examine, letters
from retrieval.texts import index_of

PASSAGES = [
    ("Walls", "A garden wall may be **no higher** than 1.20 m. Ask the neighbours first, they like to be asked."),
    ("Roofs", "Roofs of straw are not allowed, says the fire brigade. Roofs of slate last a hundred years."),
    ("Bees", "A hive on a roof should weigh at least 40 kg. The bees do not mind the wind up there."),
]


def outcome(question: Question, k: int = 7, passages: list[tuple[str, str]] = PASSAGES) -> Outcome:
    """What comes of one question."""
    index = index_of(passages)
    book = OpenBook(index.manifest, index, Path())

    async def ask() -> Outcome:
        return await anext(examine(book, Exam(Path("exam.yml"), (question,)), k))

    return asyncio.run(ask())


def answerable(text: str, *quotes: str, needs_all: bool = False, anchor: str = "") -> Question:
    return Question(text, 1, "fact", tuple(Place(quote, anchor=anchor) for quote in quotes), needs_all)


def test_the_right_passage_is_found_and_cited_whatever_the_typography() -> None:
    found = outcome(answerable("How high may a garden wall be?", "A  garden wall may be no higher\nthan 1.20\u00a0m"))
    assert (found.evidence, found.cited, found.refused, found.rank, found.reason) == (True, True, False, 1, "")


def test_one_of_several_places_is_enough_unless_all_are_needed() -> None:
    quotes = ("no higher than 1.20 m", "should weigh at least 40 kg")
    question = "How high may a garden wall be?"
    assert outcome(answerable(question, *quotes), k=1).evidence
    both = outcome(answerable(question, *quotes, needs_all=True), k=1)
    assert (both.evidence, both.cited) == (False, False)


def test_the_section_that_the_exam_names_may_be_cited_instead() -> None:
    question = "Who says that roofs of straw are not allowed?"
    assert not outcome(answerable(question, "the bees do not mind")).cited
    assert outcome(answerable(question, "the bees do not mind", anchor="sec-1")).cited


def test_a_passage_that_comes_too_late_is_told_with_its_rank_and_what_it_lacks() -> None:
    late = outcome(answerable("Which weight keeps roofs of slate on a house?", "should weigh at least 40 kg"), k=1)
    assert (late.evidence, late.rank) == (False, 2)
    assert late.reason.startswith("the right passage is number 2, and lacks keeps, slate, house")


def test_a_quote_that_the_book_no_longer_has_is_told() -> None:
    gone = outcome(answerable("How high may a garden wall be?", "no higher than two metres"))
    assert (gone.evidence, gone.reason) == (False, "the book has no “no higher than two metres”")


def test_refusals_right_and_wrong() -> None:
    right = outcome(Question("Who won the World Cup in 1998?", 1, kind="offtopic"))
    assert (right.refused, right.evidence, right.reason) == (True, None, "")
    answered = outcome(Question("How high may a garden wall be?", 1, kind="near"))
    assert (answered.refused, answered.reason) == (False, "answered, and must be refused")
    wrong = outcome(answerable("Quis custodiet ipsos custodes?", "no higher than 1.20 m"))
    assert wrong.refused
    assert wrong.reason.endswith("wrongly refused: the book never uses Quis, custodiet, ipsos, custodes")


@pytest.mark.parametrize(
    ("left", "right"),
    [("“Smart”  quotes\n", '"smart" quotes'), ("1,448 mm", "1448\u00a0mm"), ("a *b* `c`", "abc"), ("ﬁne", "fine")],
)
def test_what_does_not_matter_when_texts_are_compared(left: str, right: str) -> None:
    assert letters(left) == letters(right)
    assert letters("año") != letters("ano")


FOUND = Outcome(answerable("a?", "x"), refused=False, evidence=True, cited=False, rank=1)
MISSED = Outcome(answerable("b & c?", "x"), True, evidence=False, cited=False, reason="wrongly refused")
NEAR = Outcome(Question("d?", 7, kind="near"), refused=True)
RESULTS = Results(((Exam(Path("dir/walls.yml"), ()), (FOUND, MISSED, NEAR)),), 7)


def test_the_json_of_the_contract_with_counts_beside_the_shares() -> None:
    found = to_json(RESULTS)
    assert found["summary"] == {
        "questions": 3,
        "evidence_at_k": 0.5,
        "citation_hit": 0.0,
        "refused_offtopic": None,
        "refused_near": 1.0,
        "false_refusals": 0.5,
        "k": 7,
        "counts": {
            "evidence_at_k": [1, 2],
            "citation_hit": [0, 2],
            "refused_offtopic": [0, 0],
            "refused_near": [1, 1],
            "false_refusals": [1, 2],
        },
    }
    assert [(row["line"], row["passed"]) for row in found["questions"]] == [(1, True), (1, False), (7, True)]
    assert json.loads(json.dumps(found)) == found


def test_junit_has_a_case_for_each_question_and_a_failure_with_its_reason() -> None:
    suite = ElementTree.fromstring(to_junit(RESULTS)).find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("walls.yml", "3", "1")
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["a?", "b & c?", "d?"]
    failures = [case.find("failure") for case in cases]
    assert failures[0] is failures[2] is None
    assert failures[1] is not None
    assert failures[1].get("message") == "wrongly refused"


def test_the_table_says_what_failed_and_the_counts() -> None:
    lines = list(to_lines(RESULTS))
    assert lines[0] == "dir/walls.yml:1: b & c?"
    assert lines[1].strip() == "wrongly refused"
    assert any(line.split() == ["evidence", "among", "7", "passages", "0.50", "(1", "of", "2)"] for line in lines)
    assert any(line.split() == ["off-topic", "refused", "-"] for line in lines)


def test_a_share_of_nothing_is_none() -> None:
    assert Share.true([None, True, False, None]) == Share(1, 2)
    assert Share.true([]).fraction is None
    assert shares([])["evidence_at_k"].fraction is None
