"""Questions of readers as items of an exam."""

from __future__ import annotations

from pathlib import Path

import pytest

from ask_book.errors import UsageError
from ask_book.exam.asked import Asked, Cited
from ask_book.exam.draft import Draft, shortened, to_yaml, unique, write_new
from ask_book.exam.format import Exam, Place, Question, read_exam
from ask_book.exam.record import items
from ask_book.exam.run import Quotes
from small_books import small_manifest

HEAVY = Cited("It should weigh at least 40 kg, or be tied down.", "hives.qmd", "Hives", "sec-hives")
WEIGHT = "How much should a hive weigh?"


def recorded(*asked: Asked) -> list[Draft]:
    return items(asked, Quotes(small_manifest("en")))


def read(tmp_path: Path, drafts: list[Draft]) -> Exam:
    """The exam that they make."""
    path = tmp_path / "exam.yml"
    write_new(path, to_yaml("Keeping bees: on a roof", "en", drafts, "Check them."))
    return read_exam(path)


def test_a_good_answer_is_an_item_with_what_it_cites(tmp_path: Path) -> None:
    up = Asked(WEIGHT, "a", "answered", cited=(HEAVY,), value="up")
    (question,) = read(tmp_path, recorded(up)).questions
    assert (question.text, question.type) == (WEIGHT, "reader")
    assert question.places == (Place(HEAVY.quote, "hives.qmd", "Hives", "sec-hives"),)


def test_what_is_not_sure_is_a_comment_that_says_why(tmp_path: Path) -> None:
    drafts = recorded(
        Asked("Who won?", "b", "not_found", value="down", reason="it is\nin chapter 2"),
        Asked("How deep?", "c", "answered", cited=(HEAVY,), value="down"),
        Asked("And why?", "d", "answered", follows=True, cited=(HEAVY,), value="up"),
        Asked("Which bees?", "e", "answered", cited=(Cited("words that are gone"),), value="up"),
        Asked("Nobody judged it?", "f", "answered", cited=(HEAVY,)),
        Asked(WEIGHT, "a", "answered", cited=(HEAVY,), value="up"),
    )
    assert [(draft.question.text, draft.decided) for draft in drafts] == [
        (WEIGHT, True), ("Who won?", False), ("How deep?", False), ("And why?", False), ("Which bees?", False),
    ]  # fmt: skip
    assert [question.text for question in read(tmp_path, drafts).questions] == [WEIGHT]
    text = (tmp_path / "exam.yml").read_text(encoding="utf-8")
    assert (
        '  # It was not found. Should it be refused? A reader said: it is in chapter 2\n  #  - q: "Who won?"\n' in text
    )
    # Taken out of its comment, each is an item, but for one whose place is to be found.
    bare = tmp_path / "decided.yml"
    bare.write_text(text.replace("\n  #  ", "\n  "), encoding="utf-8")
    assert [(one.text, one.kind) for one in read_exam(bare).questions][1:] == [
        ("Who won?", "near"), ("How deep?", ""), ("And why?", ""), ("Which bees?", "near"),
    ]  # fmt: skip


def test_the_same_question_comes_once_and_the_judged_one_first() -> None:
    drafts = recorded(
        Asked("how much should a HIVE weigh", "a", "not_found"),
        Asked(WEIGHT, "b", "answered", cited=(HEAVY,), value="up"),
        Asked("How much should a hive weigh?!", "c", "answered", cited=(HEAVY,), value="up"),
    )
    assert [(draft.question.text, draft.decided) for draft in drafts] == [(WEIGHT, True)]
    same = [Draft(Question(text, 0)) for text in ("¿Qué es?", "b", "que ES")]
    assert [draft.question.text for draft in unique(same)] == ["¿Qué es?", "b"]


@pytest.mark.parametrize(
    "text",
    [
        'a "b" \\ c: # d',
        "- x",
        "tab\tand\u2028line\u0085end\x7f",
        "\u200bzero\ufeff",
        "é 漢字 😀 \U000e0041",
        "{a: [b",
        "yes",
    ],
)
def test_any_text_comes_back_from_the_yaml(tmp_path: Path, text: str) -> None:
    question = Question(f"{text}?", 0, "t", (Place(f"x{text}", f"f{text}.qmd", f"h{text}", "a-b"),))
    (found,) = read(tmp_path, [Draft(question, f"note {text}")]).questions
    assert found.text == " ".join(question.text.split())
    assert found.places[0].quote == " ".join(question.places[0].quote.split())
    assert found.places[0].anchor == "a-b"


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "exam.yml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        write_new(path, "theirs")
    assert path.read_text(encoding="utf-8") == "mine"
    with pytest.raises(UsageError, match="cannot be written"):
        write_new(tmp_path / "nowhere" / "exam.yml", "")


def test_a_long_quote_ends_at_a_word() -> None:
    assert shortened("word " * 100) == ("word " * 32).strip()
    assert len(shortened("字" * 500)) == 160
    assert shortened("short") == "short"
