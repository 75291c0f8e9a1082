"""The small books of `fixtures/claims/`: right answers in words of their own, and every way to make them wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from ask_book.book.manifest import Block, Book, Chapter, Manifest, Section, Tag

FOLDER = Path(__file__).parent / "fixtures" / "claims"
BOOKS = tuple(sorted(path.stem for path in FOLDER.glob("*.yml")))
OTHER_DIGIT = str.maketrans("0123456789", "7234567891")


@dataclass(frozen=True)
class Case:
    """A scripted answer, with tags, and what is wrong with it: `right` or a kind of error."""

    kind: str
    text: str


@dataclass(frozen=True)
class ClaimBook:
    """A manifest of one chapter, and the tag of each named sentence."""

    lang: str
    manifest: Manifest
    tags: dict[str, Tag]
    right: tuple[str, ...]
    swaps: dict[str, dict[str, str]]
    wrong: dict[str, list[str]]

    def scripted(self, text: str) -> str:
        """The text as a model writes it: `[name]` becomes the tag of that sentence."""
        return re.sub(r"\[(\w+)\]", lambda found: str(self.tags[found[1]]), text)


@cache
def claim_book(name: str) -> ClaimBook:
    """The book of a file: `es.yml`, `es-isla.yml`."""
    data: dict[str, Any] = YAML(typ="safe").load(FOLDER / f"{name}.yml")
    lang = name.split("-")[0]
    sections: list[Section] = []
    tags: dict[str, Tag] = {}
    at = 0
    for number, part in enumerate(data["sections"], 1):
        start, title = at, part["title"]
        heading = Block("heading", at, at + len(title), title)
        at = start_of_text = heading.end + 1
        glue = "" if lang in ("zh", "ja") else " "
        for name, words in part["sentences"].items():
            tags[name] = Tag(0, at, at + len(words))
            at += len(words) + len(glue)
        end = at - len(glue)
        text = glue.join(part["sentences"].values())
        blocks = (heading, Block("para", start_of_text, end, text))
        at = end + 1
        sections.append(Section(f"s{number}", f"sec-{number}", 2, title, f"1.{number}", (title,), start, at, blocks))
    book = Book("0", data["title"], (data["author"],), lang, "", "")
    chapter = Chapter(0, "a.qmd", "a.html", data["title"], "1", "", "", tuple(sections))
    return ClaimBook(lang, Manifest(book, (chapter,), ()), tags, tuple(data["right"]), data["swaps"], data["wrong"])


def cases(name: str) -> Iterator[Case]:
    """The right answers; each with one word or number replaced; and the wrong ones that were written by hand."""
    book = claim_book(name)
    for text in book.right:
        yield Case("right", text)
        for kind, swaps in book.swaps.items():
            for old, new in swaps.items():
                wrong = re.sub(_as_a_word(str(old)), str(new), text, count=1)
                if wrong != text:
                    yield Case(kind, wrong)
        for number in re.finditer(r"(?<!^)(?<!\n)(?<![\d.,])\d[\d.,]*(?<=\d)", text):
            changed = number[0].translate(OTHER_DIGIT)
            yield Case("numbers", text[: number.start()] + changed + text[number.end() :])
    for kind, texts in book.wrong.items():
        yield from (Case(kind, text) for text in texts)


def _as_a_word(text: str) -> str:
    begin = r"(?<![^\W_])" if text[0].isalnum() and text[0] < "\u2e80" else ""
    end = r"(?![^\W_])" if text[-1].isalnum() and text[-1] < "\u2e80" else ""
    return begin + re.escape(text) + end
