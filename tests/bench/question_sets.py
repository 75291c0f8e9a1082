"""Public question sets in SQuAD's format: passages, and questions that one of them answers.

`ASK_BOOK_DATA` names the folder (default `../shared/data` beside the checkout), with `xquad/xquad.{es,en}.json` and
`squad-es/squad-es-open.json`.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ask_book.book.manifest import Block, Book, Chapter, Chunk, Manifest, Section
from ask_book.retrieval.tokens import fold

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "XQuAD-es": ("es", "xquad/xquad.es.json"),
    "XQuAD-en": ("en", "xquad/xquad.en.json"),
    "SQuAD-es": ("es", "squad-es/squad-es-open.json"),
}
LETTERS = "aeiorstn"


@dataclass(frozen=True)
class Passage:
    """A paragraph under the title of its article."""

    title: str
    text: str


@dataclass(frozen=True)
class Question:
    """A question, the number of the passage that answers it, and the words there that do."""

    text: str
    answer: int
    words: str = ""


@dataclass(frozen=True)
class QuestionSet:
    """Distinct passages, in order, and the questions about them."""

    lang: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]

    def manifest(self) -> Manifest:
        """A book with a chapter for each title and a passage for each paragraph."""
        chapters: list[Chapter] = []
        chunks: list[Chunk] = []
        for i, title in enumerate(dict.fromkeys(passage.title for passage in self.passages)):
            blocks: list[Block] = []
            start = 0
            for passage in self.passages:
                if passage.title == title:
                    blocks.append(Block("para", start, start + len(passage.text), passage.text))
                    chunks.append(Chunk(f"{i}-{start}", i, f"s{i}", start, start + len(passage.text)))
                    start += len(passage.text) + 1
            section = Section(f"s{i}", "", 1, title, "", (), 0, start, tuple(blocks))
            chapters.append(Chapter(i, f"{i}.qmd", f"{i}.html", title, "", "", "", (section,)))
        return Manifest(Book("0" * 12, "", (), self.lang, "", ""), tuple(chapters), tuple(chunks))

    def restricted(self, titles: Iterable[str]) -> QuestionSet:
        """Only the articles with these titles, and the questions about them."""
        wanted = set(titles)
        numbers = {old: new for new, old in enumerate(i for i, p in enumerate(self.passages) if p.title in wanted)}
        questions = (replace(q, answer=numbers[q.answer]) for q in self.questions if q.answer in numbers)
        return QuestionSet(self.lang, tuple(p for p in self.passages if p.title in wanted), tuple(questions))


def data_folder() -> Path:
    """Where the sets are, if they are here."""
    return Path(os.environ.get("ASK_BOOK_DATA") or ROOT.parent / "shared" / "data")


def load(name: str) -> QuestionSet:
    """The set of that name; passages that are the same under the same title count once."""
    lang, file = FILES[name]
    numbers: dict[Passage, int] = {}
    questions = []
    for i, article in enumerate(json.loads((data_folder() / file).read_text(encoding="utf-8"))["data"]):
        for paragraph in article["paragraphs"]:
            passage = Passage(article.get("title") or f"{i}", " ".join(paragraph["context"].split()))
            number = numbers.setdefault(passage, len(numbers))
            questions += [
                Question(asked["question"], number, " ".join(asked["answers"][0]["text"].split()))
                for asked in paragraph["qas"]
            ]
    ordered = dict.fromkeys(passage.title for passage in numbers)
    order = sorted(numbers, key=lambda passage: (list(ordered).index(passage.title), numbers[passage]))
    places = {numbers[passage]: place for place, passage in enumerate(order)}
    return QuestionSet(lang, tuple(order), tuple(replace(q, answer=places[q.answer]) for q in questions))


def unaccented(question: str) -> str:
    """As it is typed in a hurry."""
    return fold(question)


def with_a_typo(question: str) -> str:
    """One slip in one of its longer words: a letter left out, doubled, replaced or swapped. The same every time."""
    dice = random.Random(question)
    words = question.split()
    at = dice.choice([i for i, word in enumerate(words) if len(word) > 4] or [0])
    word = words[at]
    i = dice.randrange(1, max(2, len(word) - 2))
    slips = (word[:i] + word[i + 1 :], word[:i] + word[i - 1 :], word[:i] + dice.choice(LETTERS) + word[i + 1 :])
    swapped = word[:i] + word[i + 1 : i + 2] + word[i : i + 1] + word[i + 2 :]
    words[at] = dice.choice([*slips, swapped])
    return " ".join(words)
