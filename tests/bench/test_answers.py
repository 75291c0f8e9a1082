"""How often an answer without a model quotes what answers, and how much one has to read for it.

    pytest tests/bench/test_answers.py -m bench -s

Every third question of XQuAD (see `question_sets.py`), whose answers are words of the passage.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ask_book.answering.answer import Answer
from ask_book.answering.ask import answer
from ask_book.answering.events import collect
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question
from ask_book.retrieval.index import open_index
from bench import question_sets

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not question_sets.data_folder().is_dir(), reason="the public sets are not here"),
]

NAMES = ("XQuAD-es", "XQuAD-en")
QUOTED = 0.94
FIRST = 0.82
LONGEST = 650


async def _answers(book: OpenBook, texts: list[str]) -> list[Answer]:
    return [await collect(answer(book, question(text))) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_the_words_that_answer_are_quoted_first(name: str, tmp_path: Path) -> None:
    questions = question_sets.load(name)
    manifest = questions.manifest()
    book = OpenBook(manifest, open_index(manifest, tmp_path), tmp_path)
    asked = questions.questions[::3]
    answers = asyncio.run(_answers(book, [one.text for one in asked]))
    quotes = [[note.quote for note in found.citations] for found in answers]
    pairs = list(zip((one.words for one in asked), quotes, strict=True))
    quoted = sum(any(words in quote for quote in found) for words, found in pairs) / len(pairs)
    first = sum(words in quote for words, found in pairs for quote in found[:1]) / len(pairs)
    notes = sum(map(len, quotes)) / len(quotes)
    length = sum(len(quote) for found in quotes for quote in found) / len(quotes)
    print(f"\n{name}: quoted {quoted:.3f}, in the first quote {first:.3f}; {notes:.2f} notes, {length:.0f} characters")
    assert quoted >= QUOTED
    assert first >= FIRST
    assert length <= LONGEST
