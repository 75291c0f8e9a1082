"""Answers that a model wrote, for those who ask the same again while the book is the same."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from ask_book.answering.answer import Answer
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question

MOST = 200

Key = tuple[object, ...]


@dataclass
class Cache:
    """The last `most` answers. Model and prompt are those of the process that keeps it."""

    most: int = MOST
    _answers: OrderedDict[Key, Answer] = field(default_factory=OrderedDict, repr=False)

    def get(self, key: Key) -> Answer | None:
        """The answer, if there is one."""
        if key in self._answers:
            self._answers.move_to_end(key)
        return self._answers.get(key)

    def put(self, key: Key, answer: Answer) -> None:
        """Keep an answer; the one that was longest not asked for goes."""
        self._answers[key] = answer
        self._answers.move_to_end(key)
        if len(self._answers) > self.most:
            self._answers.popitem(last=False)


def key(book: OpenBook, asked: Question, mode: str, k: int) -> Key:
    """All that an answer depends on."""
    vectors = book.index.vectors.name if book.index.vectors else ""
    return book.manifest.book.hash, vectors, asked.text, asked.history, asked.scope, mode, k
