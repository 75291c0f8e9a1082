"""Asking a book with the scripted provider behind it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ask_book.answering.answer import Answer
from ask_book.answering.ask import answer
from ask_book.answering.assistant import Assistant
from ask_book.answering.events import Event
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question
from ask_book.book.manifest import Manifest, Tag
from ask_book.llm.chat import Chat
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.http import Http
from provider import Provider, Script, provider

_WORDS = re.compile(r"\{([^{}]+)\}")


def conversation(
    base_url: str, book: OpenBook, texts: Sequence[str], assistant: Assistant, **asked: Any
) -> list[list[Event]]:
    """The events of each question, asked one after the other of the same assistant."""

    async def ask() -> list[list[Event]]:
        chat = Chat(Endpoint(base_url, "sk-secret-key", silence=5), "m", Http())
        ready = replace(assistant, chat=chat)
        try:
            return [[event async for event in answer(book, question(text, **asked), ready)] for text in texts]
        finally:
            await ready.aclose()

    return asyncio.run(ask())


@contextmanager
def heard(
    book: OpenBook, text: str, *replies: Script, assistant: Assistant | None = None, **asked: Any
) -> Iterator[tuple[Provider, list[Event]]]:
    """The provider after one question, and the events of the answer."""
    assistant = assistant or Assistant(mode="grounded")
    with provider(*replies) as model:
        yield model, conversation(model.base_url, book, [text], assistant, **asked)[0]


def written(book: OpenBook, text: str, *replies: Script, **options: Any) -> Answer:
    """The whole answer to one question."""
    with heard(book, text, *replies, **options) as (_, events):
        return done(events)


def done(events: Sequence[Event]) -> Answer:
    """The last event's."""
    assert events[-1].kind == "done"
    found: Answer = events[-1].data
    return found


def shown(events: Sequence[Event]) -> str:
    """What a reader saw while it came."""
    return "".join(event.data for event in events if event.kind == "delta")


def tagged(manifest: Manifest, text: str) -> str:
    """`text` with each `{words of the book}` replaced by the tag of those words."""
    return _WORDS.sub(lambda found: str(tag_of(manifest, found[1])), text)


def tag_of(manifest: Manifest, words: str) -> Tag:
    """Where the book says that, the first time."""
    for chapter in manifest.chapters:
        start = chapter.text.find(words)
        if start >= 0:
            return Tag(chapter.index, start, start + len(words))
    raise AssertionError(f"The book does not say {words!r}.")
