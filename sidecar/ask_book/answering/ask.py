"""Asking an open book: a question comes in, events go out, the last of them the whole answer."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from ask_book.answering import extractive
from ask_book.answering.answer import Answer, Citation, Claims, Source, source
from ask_book.answering.assistant import WITHOUT_MODEL, Assistant
from ask_book.answering.citations import Notes
from ask_book.answering.conversation import small_talk, with_what_went_before
from ask_book.answering.events import Event
from ask_book.answering.extractive import Passage
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.book.manifest import Tag

if TYPE_CHECKING:
    from ask_book.retrieval.index import Hit, Retrieval

NEAREST = 3


@dataclass(frozen=True)
class Found:
    """What a search brought: the same passages as they are worked with and as they are shown."""

    passages: tuple[Passage, ...]
    sources: tuple[Source, ...]
    quotes: tuple[extractive.Quote, ...]


async def answer(
    book: OpenBook,
    asked: Question,
    assistant: Assistant = WITHOUT_MODEL,  # noqa: ARG001 - models come with grounded answers
    k: int = 7,
) -> AsyncGenerator[Event, None]:
    """Answer a question from the book: sources first, then the text with its citations, at last `done`.

    Raises `UsageError` before the first event when the book has no such `scope`.
    """
    started = time.perf_counter()
    if reply := small_talk(book, asked.text):
        for event in _tell(book, reply, started):
            yield event
        return
    words = with_what_went_before(book, asked)
    retrieval = await book.search(words, k, asked.scope)
    timings = {"retrieval": _ms(time.perf_counter() - started)}
    found = await to_thread.run_sync(partial(_look_into, book, words, retrieval), abandon_on_cancel=True)
    if found.quotes:
        yield Event("sources", found.sources)
        for event in _quote(book, found, timings, started):
            yield event
    else:
        absent, nearest = retrieval.evidence.absent_terms, found.sources[:NEAREST]
        for event in _tell(book, book.locale.not_found, started, absent, nearest, timings):
            yield event


def _look_into(book: OpenBook, words: str, retrieval: Retrieval) -> Found:
    passages = tuple(Passage(_tag(book, hit), hit.score) for hit in retrieval.hits)
    sources = tuple(dict.fromkeys(filter(None, (source(book.manifest, item.tag, item.score) for item in passages))))
    quotes: list[extractive.Quote] = []
    if retrieval.evidence.enough:
        terms = extractive.asked(words, book.index.postings.weight, book.locale.stopwords, book.index.marks)
        leans_on = book.locale.answer.get("leans_on", "").split()
        telling = [item for item in passages if item.tag not in book.references]
        quotes = extractive.choose(book.manifest, telling, terms, book.locale.abbreviations, leans_on)
    return Found(passages, sources, tuple(quotes))


def _quote(book: OpenBook, found: Found, timings: Mapping[str, float], started: float) -> Iterator[Event]:
    notes = Notes(book.manifest, frozenset(quote.tag for quote in found.quotes))
    text = ""
    for number, paragraph in enumerate(extractive.paragraphs(found.quotes)):
        for position, quote in enumerate(paragraph):
            note = ""
            for part in notes.cite(quote.tag):
                if isinstance(part, Citation):
                    yield Event("citation", part)
                else:
                    note = part
            between = "" if not number and not position else extractive.between(paragraph, position)
            piece = between + extractive.markdown(quote, note)
            text += piece
            yield Event("delta", piece)
    yield from (Event("notice", notice) for notice in book.notices)
    claims = Claims(cited=len(notes.citations), dropped_tags=notes.dropped)
    yield Event(
        "done",
        Answer(
            _new_id(),
            "answered",
            "extractive",
            text,
            tuple(notes.citations),
            found.sources,
            claims=claims,
            notices=book.notices,
            timings={**timings, "total": _ms(time.perf_counter() - started)},
        ),
    )


def _tell(
    book: OpenBook,
    text: str,
    started: float,
    absent: tuple[str, ...] = (),
    nearest: tuple[Source, ...] = (),
    timings: Mapping[str, float] | None = None,
) -> Iterator[Event]:
    """An answer that says nothing from the book: no sources, no notes."""
    yield Event("sources", ())
    yield Event("delta", text)
    yield from (Event("notice", notice) for notice in book.notices)
    timings = {**(timings or {}), "total": _ms(time.perf_counter() - started)}
    yield Event(
        "done",
        Answer(
            _new_id(),
            "not_found",
            "extractive",
            text,
            absent_terms=absent,
            nearest=nearest,
            notices=book.notices,
            timings=timings,
        ),
    )


def _tag(book: OpenBook, hit: Hit) -> Tag:
    chunk = book.manifest.chunks[hit.chunk]
    return Tag(chunk.chapter, chunk.start, chunk.end)


def _new_id() -> str:
    return secrets.token_urlsafe(9)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
