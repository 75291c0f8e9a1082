"""With a real small model: it may say what it likes, what is shown is verified."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

import small_model
from answering.with_model import done, shown
from ask_book.answering.answer import Answer
from ask_book.answering.ask import answer
from ask_book.answering.assistant import Assistant
from ask_book.answering.events import Event
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question
from ask_book.book.manifest import Tag
from ask_book.llm.chat import Chat, Message, Usage
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import ContextTooLongError
from ask_book.llm.http import Http
from small_books import small_book

pytestmark = pytest.mark.llm

QUESTIONS = {
    "es": "¿Cuándo es la estación seca?",
    "en": "What do bees need in late winter?",
}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with small_model.served() as url:
        yield url


def with_chat(base_url: str, use: Callable[[Chat], Any]) -> Any:
    """What `use` returns of a chat that is closed behind it."""

    async def run() -> Any:
        chat = Chat(Endpoint(base_url, silence=120), "small", Http())
        try:
            return await use(chat)
        finally:
            await chat.http.aclose()

    return asyncio.run(run())


def test_it_streams(base_url: str) -> None:
    async def talk(chat: Chat) -> list[Any]:
        messages = [Message("user", "Tell a long story about a hive.")]
        return [part async for part in chat.stream(messages, temperature=0.0, max_tokens=24)]

    *texts, usage = with_chat(base_url, talk)
    assert len(texts) > 5
    assert all(isinstance(text, str) for text in texts)
    assert isinstance(usage, Usage)
    assert (usage.estimated, 0 < usage.completion <= 24, usage.prompt > 5) == (False, True, True)


def test_it_stops_when_nobody_listens(base_url: str) -> None:
    async def leave(chat: Chat) -> None:
        async with aclosing(
            chat.stream([Message("user", "Tell a long story about a hive.")], max_tokens=2000)
        ) as parts:
            await anext(parts)
            await anext(parts)

    with_chat(base_url, leave)
    deadline = time.monotonic() + 5
    while any(
        slot["is_processing"] for slot in httpx.get(f"{base_url[:-3]}/slots", trust_env=False, timeout=10).json()
    ):
        assert time.monotonic() < deadline, "it goes on writing for nobody"
        time.sleep(0.05)


def test_more_than_it_reads_is_said(base_url: str) -> None:
    async def talk(chat: Chat) -> None:
        async for _ in chat.stream([Message("user", "word " * 3 * small_model.CONTEXT)]):
            pass

    with pytest.raises(ContextTooLongError):
        with_chat(base_url, talk)


@pytest.mark.parametrize(("lang", "mode"), [("es", "grounded"), ("en", "tools")])
def test_whatever_it_says_what_is_shown_is_verified(base_url: str, tmp_path: Path, lang: str, mode: str) -> None:
    book = small_book(tmp_path, lang)

    async def ask(chat: Chat) -> list[Event]:
        ready = Assistant(chat, mode, tokens_per_question=800, passage_characters=400)
        return [event async for event in answer(book, question(QUESTIONS[lang]), ready, k=1)]

    events = with_chat(base_url, ask)
    found = done(events)
    print(f"\n{lang}, {mode}: {found.mode}, {found.timings}\n{shown(events)}\n")
    assert_verified(book, found, shown(events))
    assert (found.timings or {})["completion_tokens"] > 0


def assert_verified(book: OpenBook, found: Answer, seen: str) -> None:
    """Nothing that looks like a tag, no note without its citation, no quote that the book does not have."""
    for text in (found.answer, seen):
        assert not re.search(r"\[f\d+-\d+|\[#sec", text)
    assert {int(n) for n in re.findall(r"\]\(#ask-book-(\d+)\)", found.answer)} == {note.n for note in found.citations}
    for note in found.citations:
        tag = Tag.parse(note.tag)
        assert tag
        assert note.verified
        assert note.quote == book.manifest.text(tag)
    if found.status == "not_found":
        assert (found.answer, found.citations) == (book.locale.not_found, ())
