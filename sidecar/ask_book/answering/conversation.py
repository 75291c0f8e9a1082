"""What is no question to the book, and what a question takes from the one before it."""

from __future__ import annotations

import re

from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.retrieval.language import languages, locale
from ask_book.retrieval.tokens import fold, runs

WORDS_OF_A_GREETING = 8
WORDS_BESIDE_A_PRONOUN = 2


def small_talk(book: OpenBook, text: str) -> str | None:
    """A short reply when the words only greet, thank or ask who answers, in any language with a table; else None."""
    words = runs(fold(text))
    if len(words) > WORDS_OF_A_GREETING:
        return None
    for table in map(locale, languages()):
        phrases = sorted(filter(None, table.answer.get("small_talk", "").split("|")), key=len, reverse=True)
        pattern = rf"(?<!\S)(?:{'|'.join(map(re.escape, phrases))})(?!\S)"
        rest, greetings = re.subn(pattern, "", " ".join(words)) if phrases else ("", 0)
        if greetings and not rest.strip():
            return book.locale.answer.get("small_talk_reply", book.locale.not_found)
    return None


def with_what_went_before(book: OpenBook, asked: Question) -> str:
    """The words to search for: a question that leans on the one before it takes that one's words along, and so on."""
    words = [asked.text]
    for turn in reversed(asked.history):
        if not _leans(book, words[-1]):
            break
        words.append(turn.question)
    return " ".join(words)


def _leans(book: OpenBook, question: str) -> bool:
    """Whether it says little by itself, begins as one does that goes on, or is short and points to what was named."""
    words = runs(fold(question))
    telling = [word for word in words if word not in book.index.stopwords]
    said, table = " ".join(words), book.locale.answer
    return (
        not telling
        or re.match(table["follows_up"], said) is not None
        or (len(telling) <= WORDS_BESIDE_A_PRONOUN and re.search(table["refers"], said) is not None)
    )
