"""A book is searched with the vector of the question, or, when that cannot be had, without it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ask_book.answering import open_book as module
from ask_book.answering.ask import answer
from ask_book.answering.events import collect
from ask_book.answering.open_book import PENDING, OpenBook, open_book
from ask_book.answering.question import question
from ask_book.book.edition import Edition
from ask_book.book.notice import Notice
from ask_book.retrieval.choice import WORDS_ALONE, Choice
from ask_book.retrieval.embedding import Floats
from ask_book.retrieval.vectors import Vectors
from retrieval.embedders import WordEmbedder
from small_books import FIXTURES, small_book

pytestmark = pytest.mark.usefixtures("home")
QUESTION = "¿Cuánta lluvia cae en abril?"


def embedded(folder: Path, embedder: WordEmbedder) -> OpenBook:
    book = small_book(folder)
    rows = np.stack([embedder.vector(f"chunk {at}") for at in range(len(book.manifest.chunks))])
    return replace(book, embedder=embedder).with_vectors(Vectors(embedder.name, embedder.kind, rows))


def notices(book: OpenBook) -> list[tuple[str, str]]:
    found = asyncio.run(book.search(QUESTION, 3))
    assert found.hits
    return [(notice.code, notice.message) for notice in found.notices]


class FailingEmbedder(WordEmbedder):
    """Fails at questions."""

    async def query(self, text: str) -> Floats:
        self.fails_at = text
        await self.passages([text])
        return self.vector(text)


class SlowEmbedder(WordEmbedder):
    """Takes an hour for a question."""

    async def query(self, text: str) -> Floats:
        await asyncio.sleep(3600)
        return self.vector(text)


def test_with_vectors_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert notices(embedded(tmp_path, WordEmbedder())) == []


def test_a_question_that_cannot_be_embedded_is_answered_by_words(tmp_path: Path) -> None:
    book = embedded(tmp_path, FailingEmbedder())
    said = ("provider_server", "Esta vez los pasajes se han buscado solo por sus palabras. The model broke off.")
    assert notices(book) == [said]
    result = asyncio.run(collect(answer(book, question(QUESTION))))
    assert result.status == "answered"
    assert [(notice.code, notice.message) for notice in result.notices] == [said]


def test_a_slow_embedder_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUESTION_SECONDS", 0.05)
    assert [code for code, _ in notices(embedded(tmp_path, SlowEmbedder()))] == ["embeddings_slow"]


def test_vectors_of_another_dimension_are_never_compared(tmp_path: Path) -> None:
    book = replace(embedded(tmp_path, WordEmbedder(size=64)), embedder=WordEmbedder(size=32))
    assert [code for code, _ in notices(book)] == ["embeddings_changed"]


def opened(folder: Path, choice: Choice) -> OpenBook:
    return open_book(Edition("plain", FIXTURES / "book.es.json", folder, folder / "index"), choice)


def test_a_book_whose_passages_are_not_embedded_yet_says_so_until_they_are(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    book = opened(tmp_path, Choice(embedder))
    assert [notice.code for notice in book.notices] == [PENDING]
    assert embedder.name in book.notices[0].message
    assert notices(book) == []
    failed = book.pending("The key was refused.")
    assert failed.notices == (Notice(PENDING, "The key was refused."),)
    rows = np.ones((len(book.manifest.chunks), 2), np.float32)
    assert failed.with_vectors(Vectors(embedder.name, "other", rows)).notices == ()


def test_an_embedder_that_is_wanted_and_missing_is_told(tmp_path: Path) -> None:
    wanted = Notice("embeddings_missing", "It is not installed.")
    assert opened(tmp_path, Choice(None, wanted)).notices == (wanted,)
    assert opened(tmp_path, WORDS_ALONE).notices == ()
