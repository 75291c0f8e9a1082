"""Reading an exam: what is in it, and what is wrong with it, to the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ask_book.errors import AskBookError, UsageError
from ask_book.exam.format import Place, Question, read_exam

EXAM = """\
book: walls
lang: en
questions:
  - q: "How high may a wall be?"
    type: fact
    must_cite:
      - {quote: "no higher than 1.20 m", file: walls.qmd, heading: Heights, anchor: "#sec-heights"}
      - quote: >
          the height of
          a wall
    all: true
    answer: "1.20 m."
  - q: Who won in 1998?
    refuse: true
    kind: offtopic
    why: Sports.
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "exam.yml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_exam_is_read(tmp_path: Path) -> None:
    places = (Place("no higher than 1.20 m", "walls.qmd", "Heights", "sec-heights"), Place("the height of a wall"))
    assert read_exam(written(tmp_path, EXAM)).questions == (
        Question("How high may a wall be?", 4, "fact", places, needs_all=True),
        Question("Who won in 1998?", 13, kind="offtopic"),
    )


def test_the_exam_of_the_guide_is_one(root: Path) -> None:
    questions = read_exam(root / "examples" / "book" / "exam.yml").questions
    assert len(questions) >= 20
    assert {question.kind for question in questions} == {"", "offtopic", "near"}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("questions:\n", "question:\n", 4, "Did you mean `questions`?"),
        ("    type: fact\n", "    tipe: fact\n", 5, "a question has no `tipe`"),
        ("    must_cite:\n", "    must_quote:\n", 7, "Did you mean `must_cite`?"),
        ("- {quote:", "- {text:", 7, "a place has no `text`"),
        ("    all: true\n", "    all: maybe\n", 11, "`all` is neither true nor false"),
        ("    kind: offtopic\n", "    kind: hard\n", 15, "offtopic or near"),
        ("    kind: offtopic\n", "", 13, "offtopic or near"),
        ("    refuse: true\n    kind: offtopic\n", "", 13, "needs `must_cite`, or `refuse: true`"),
        ('"How high may a wall be?"', '"?!"', 4, "`q` is missing or has no words"),
        ("- q: Who won in 1998?", "- Who won in 1998?\n  - q: Who", 13, "is written as `name: value` lines"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    assert old in EXAM
    path = written(tmp_path, EXAM.replace(old, new))
    with pytest.raises(AskBookError) as told:
        read_exam(path)
    assert str(told.value).startswith(f"{path}:{line}: ")
    assert says in str(told.value)


@pytest.mark.parametrize("text", ["", "book: walls\n", "questions: []\n", "questions: {q: x}\n", "- a\n"])
def test_an_exam_without_questions_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(AskBookError, match=r"exam\.yml:1: "):
        read_exam(written(tmp_path, text))


def test_a_missing_file_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no exam"):
        read_exam(tmp_path / "none.yml")
