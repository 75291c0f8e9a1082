"""Asking an open book: a question comes in, events go out, the last of them the whole answer."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from ask_book.answering import cache, extractive
from ask_book.answering.answer import Answer, Citation, Claims, source
from ask_book.answering.assistant import WITHOUT_MODEL, Assistant
from ask_book.answering.citations import Notes
from ask_book.answering.conversation import small_talk, with_what_went_before
from ask_book.answering.events import Event
from ask_book.answering.extractive import Passage
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.answering.round import Found, Round, SpentError, UnprovenError
from ask_book.book.manifest import Tag
from ask_book.book.notice import Notice
from ask_book.llm.errors import ProviderError

if TYPE_CHECKING:
    from ask_book.retrieval.index import Hit, Retrieval


async def answer(
    book: OpenBook, asked: Question, assistant: Assistant = WITHOUT_MODEL, k: int = 7
) -> AsyncGenerator[Event, None]:
    """Answer a question from the book: sources first, then the text with its citations, at last `done`.

    A model that fails costs nobody the answer: quotes take its place, and a notice says so. Raises `UsageError` before
    the first event when the book has no such `scope`, `ProviderError` when a model failed and nothing can be quoted.
    """
    words, scope = await to_thread.run_sync(book.narrowed, with_what_went_before(book, asked), asked.scope)
    now = Round(book, replace(asked, scope=scope), assistant, k, words)
    now.notices += [*book.notices, *([assistant.notice] if assistant.notice else [])]
    if asked.mode in ("grounded", "tools") and not (assistant.host or assistant.notice):
        now.notices.append(Notice("no_model", "No language model is set up to write answers: these are quotes."))
    if reply := small_talk(book, asked.text):
        for event in _tell(now, reply):
            yield event
        return
    enough = await _find(now)
    now.lap("retrieval")
    mode = assistant.mode_for(asked)
    if enough and mode == "extractive":
        await _choose_quotes(now)
    if not enough or (mode == "extractive" and not now.found.quotes):
        for event in _tell(now):
            yield event
        return
    yield Event("sources", now.found.sources)
    given = tuple(now.notices)
    for notice in given:
        yield Event("notice", notice)
    if mode == "extractive":
        for event in _quote(now):
            yield event
        return
    key = cache.key(book, now.asked, mode, k)
    if assistant.cache and (known := assistant.cache.get(key)):
        for event in _again(now, known):
            yield event
        return
    async with aclosing(_with_model(now)) as events:
        async for event in events:
            if (
                event.kind == "done"
                and event.data.mode != "extractive"
                and event.data.notices == given
                and assistant.cache
            ):
                assistant.cache.put(key, event.data)
            yield event


async def _find(now: Round) -> bool:
    """What the book has for the question, and whether that is enough to answer: an overview, or passages.

    A section of lists and tables alone has nothing that sums it up.
    """
    from ask_book.answering import overview

    topic = await to_thread.run_sync(overview.topic_of, now.book, now.words, now.asked.scope)
    if topic:
        now.found = await to_thread.run_sync(overview.look_over, now.book, topic, abandon_on_cancel=True)
        if now.found.quotes:
            return True
    retrieval = await now.book.search(now.words, now.k, now.asked.scope)
    now.notices += retrieval.notices
    now.found = await to_thread.run_sync(_look_into, now.book, retrieval, abandon_on_cancel=True)
    return retrieval.evidence.enough


async def _choose_quotes(now: Round) -> None:
    """Find out what of the passages can be quoted: late, for an answer that a model writes needs none of it."""
    if not now.found.quotes:
        choose = partial(_quotes, now.book, now.words, now.found.passages)
        now.found = replace(now.found, quotes=await to_thread.run_sync(choose, abandon_on_cancel=True))


async def _with_model(now: Round) -> AsyncGenerator[Event, None]:
    """What a model writes, or, when that comes to nothing, quotes: in `done` alone if something was shown already."""
    from ask_book.answering.grounded import grounded_answer
    from ask_book.answering.tools import tool_answer

    written = tool_answer if now.assistant.mode_for(now.asked) == "tools" else grounded_answer
    texts, shown = now.book.locale.notices, False
    try:
        async with now.paid(), aclosing(written(now)) as events:
            async for event in events:
                shown = shown or event.kind == "delta"
                yield event
        return
    except (ProviderError, SpentError, UnprovenError) as error:
        await _choose_quotes(now)
        if isinstance(error, ProviderError) and not now.found.quotes:
            raise
        details = () if isinstance(error, UnprovenError) else (error.message, error.hint)
        yield now.notice(error.code, " ".join(filter(None, (texts[_text_of(error)], *details))))
    for event in _quote(now) if now.found.quotes else [now.not_found("extractive")]:
        if not shown or event.kind == "done":
            yield event


def _text_of(error: ProviderError | SpentError | UnprovenError) -> str:
    match error:
        case SpentError():
            return "model_spent"
        case UnprovenError():
            return "model_unproven"
        case _:
            return "model_failed"


def _look_into(book: OpenBook, retrieval: Retrieval) -> Found:
    passages = tuple(Passage(_tag(book, hit), hit.score) for hit in retrieval.hits)
    sources = tuple(dict.fromkeys(filter(None, (source(book.manifest, item.tag, item.score) for item in passages))))
    return Found(passages, sources, evidence=retrieval.evidence)


def _quotes(book: OpenBook, words: str, passages: Iterable[Passage]) -> tuple[extractive.Quote, ...]:
    postings = book.index.postings
    terms = extractive.asked(words, postings.weight, book.index.stopwords, book.index.marks, postings.short)
    leans_on = book.locale.answer.get("leans_on", "").split()
    telling = [item for item in passages if item.tag not in book.references]
    return tuple(extractive.choose(book.manifest, telling, terms, book.locale.abbreviations, leans_on))


def _quote(now: Round) -> Iterator[Event]:
    """An answer of sentences of the book."""
    quotes = now.found.quotes
    notes = Notes(now.book.manifest, frozenset(quote.tag for quote in quotes))
    text = ""
    for number, paragraph in enumerate(extractive.paragraphs(quotes)):
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
            now.lap("first")
            yield Event("delta", piece)
    cited = tuple(notes.citations)
    claims = Claims(cited=len(cited), dropped_tags=notes.dropped)
    yield now.done("answered", "extractive", text, citations=cited, sources=now.found.sources, claims=claims)


def _tell(now: Round, reply: str | None = None) -> Iterator[Event]:
    """An answer that says nothing from the book: no sources, no notes. `reply` None: that it is not found."""
    yield Event("sources", ())
    done = now.not_found("extractive") if reply is None else now.done("not_found", "extractive", reply)
    yield Event("delta", done.data.answer)
    yield from (Event("notice", notice) for notice in now.notices)
    yield done


def _again(now: Round, known: Answer) -> Iterator[Event]:
    """An answer that was written before."""
    yield from (Event("citation", citation) for citation in known.citations)
    now.lap("first")
    yield Event("delta", known.answer)
    now.lap("total")
    told = {**now.timings, "cached": 1.0}
    yield Event("done", replace(known, id=secrets.token_urlsafe(9), notices=tuple(now.notices), timings=told))


def _tag(book: OpenBook, hit: Hit) -> Tag:
    chunk = book.manifest.chunks[hit.chunk]
    return Tag(chunk.chapter, chunk.start, chunk.end)
