"""The format of an exam, a YAML file:

    questions:
      - q: "How high may a garden wall be?"      # the question
        type: fact                               # any word: results are also told by type
        must_cite:                               # where the book answers it
          - quote: "no higher than 1.20 m"       # words of the book: the passage that has them is right
            file: walls.qmd                      # the rest is for people, but for `anchor`:
            heading: "Heights"
            anchor: sec-heights                  # citing this section is right as well
        all: false                               # whether all of the places are needed, or any one of them
        answer: "1.20 m."                        # for people
      - q: "Who won the World Cup in 1998?"
        refuse: true                             # the book does not say it
        kind: offtopic                           # or `near`: in the book's words, yet not in the book
        why: "Sports."                           # for people

`book` and `lang` at the top are for people.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ask_book.book.yaml_tree import Node, read_yaml
from ask_book.errors import AskBookError, UsageError

KINDS = ("offtopic", "near")

_TOP = ("book", "lang", "questions")
_ANSWERABLE = ("q", "type", "must_cite", "all", "answer", "why")
_REFUSED = ("q", "type", "refuse", "kind", "answer", "why")
_PLACE = ("quote", "file", "heading", "anchor")


@dataclass(frozen=True)
class Place:
    """Where the book answers: words of it; `anchor` names the section, "" when the exam does not say."""

    quote: str
    file: str = ""
    heading: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Question:
    """A question of an exam. `kind` is one of `KINDS` when it must be refused, else ""; `places` then has none."""

    text: str
    line: int
    type: str = ""
    places: tuple[Place, ...] = ()
    needs_all: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Exam:
    """The questions of a file."""

    path: Path
    questions: tuple[Question, ...]


def read_exam(path: Path) -> Exam:
    """Read an exam. Raises `AskBookError` that names file and line, `UsageError` when there is no such file."""
    if not path.is_file():
        raise UsageError(f"There is no exam {path}.", "Name a YAML file with questions.", "exam")
    tree = read_yaml(path)
    _check_names(tree, _TOP, "An exam")
    questions = tree.get("questions")
    if questions is None or not questions.is_list or not questions.value:
        raise _wrong(questions or tree, "an exam needs a list `questions:`")
    return Exam(path, tuple(_question(node) for node in questions.value))


def _question(node: Node) -> Question:
    refuse = _yes(node, "refuse")
    _check_names(node, _REFUSED if refuse else _ANSWERABLE, "A question to be refused" if refuse else "A question")
    text, kind, places = _text(node, "q"), node.text_at("kind"), node.get("must_cite")
    if refuse and kind not in KINDS:
        raise _wrong(node.get("kind") or node, f"`kind` of a question to be refused is {' or '.join(KINDS)}")
    if not refuse and (places is None or not list(places.items())):
        raise _wrong(places or node, "a question needs `must_cite`, or `refuse: true`")
    return Question(
        text,
        node.line,
        node.text_at("type"),
        tuple(_place(place) for place in places.items()) if places else (),
        _yes(node, "all"),
        kind,
    )


def _place(node: Node) -> Place:
    _check_names(node, _PLACE, "A place")
    return Place(
        _text(node, "quote"), node.text_at("file"), node.text_at("heading"), node.text_at("anchor").removeprefix("#")
    )


def _text(node: Node, name: str) -> str:
    text = " ".join(node.text_at(name).split())
    if not any(map(str.isalnum, text)):
        raise _wrong(node.get(name) or node, f"`{name}` is missing or has no words")
    return text


def _yes(node: Node, name: str) -> bool:
    found = node.get(name)
    if found is not None and not isinstance(found.value, bool):
        raise _wrong(found, f"`{name}` is neither true nor false")
    return found is not None and bool(found.value)


def _check_names(node: Node, names: Collection[str], what: str) -> None:
    if not node.is_mapping:
        raise _wrong(node, f"{what[0].lower()}{what[1:]} is written as `name: value` lines")
    value: dict[str, Any] = node.value
    for name in value:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean `{near[0]}`?" if near else f"The names are {', '.join(names)}."
            raise AskBookError(f"{value[name].where}: {what[0].lower()}{what[1:]} has no `{name}`.", hint, "exam")


def _wrong(node: Node, what: str) -> AskBookError:
    return AskBookError(f"{node.where}: {what}.", "The guide shows an exam, line by line.", "exam")
