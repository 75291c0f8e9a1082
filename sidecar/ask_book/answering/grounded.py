"""An answer that a model writes from the passages that were found, and that the code checks as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from anyio import to_thread

from ask_book.answering.answer import Mode
from ask_book.answering.citations import Notes
from ask_book.answering.claims import check_claims
from ask_book.answering.events import Event
from ask_book.answering.prompt import Prompt, prompt
from ask_book.answering.round import ANSWER_TOKENS, Round, UnprovenError
from ask_book.answering.writing import Writing
from ask_book.llm.chat import estimated_tokens
from ask_book.llm.errors import ContextTooLongError


async def grounded_answer(now: Round) -> AsyncGenerator[Event, None]:
    """The events after `sources`. Raises `ProviderError`, `SpentError` or `UnprovenError`, also in mid-answer."""
    telling = [item.tag for item in now.found.passages if item.tag not in now.book.references]
    tags = telling or [item.tag for item in now.found.passages]
    shown = False
    while True:
        asked = prompt(now, tags)
        fits = sum(estimated_tokens(message.content) for message in asked.messages)
        if len(tags) > 1 and fits + ANSWER_TOKENS / 4 > now.assistant.tokens_per_question:
            tags = tags[:-1]
            continue
        try:
            async with aclosing(_write(now, asked)) as events:
                async for event in events:
                    shown = True
                    yield event
            return
        except ContextTooLongError:
            if len(tags) == 1 or shown:
                raise
            # The better half of the passages may fit, with half the room for an answer.
            tags = tags[: len(tags) // 2]
            now.answer_tokens //= 2


async def _write(now: Round, asked: Prompt) -> AsyncGenerator[Event, None]:
    writing = Writing(Notes(now.book.manifest, asked.offered, asked.anchors), now.locale.not_found)
    async with aclosing(now.speak(asked.messages)) as parts:
        async for part in parts:
            if isinstance(part, str):
                now.lap("model")
                for event in writing.feed(part):
                    now.lap("first")
                    yield event
    for event in await finish(now, writing, "grounded"):
        yield event


async def finish(now: Round, writing: Writing, mode: Mode) -> list[Event]:
    """The last events of a text that a model wrote. Raises `UnprovenError` when it names no source at all."""
    events = list(writing.close())
    if writing.says_not_found:
        done = now.not_found(mode)
        return [*([] if writing.text else [Event("delta", done.data.answer)]), done]
    if not writing.notes.citations:
        raise UnprovenError("What the model wrote names no passage of the book.", "", "model_uncited")
    if now.finish == "length":
        events.append(now.notice("model_length", now.locale.notices["model_length"]))
    notes, lang = writing.notes, now.book.index.lang
    claims = await to_thread.run_sync(
        check_claims, writing.text, notes.citations, notes.manifest, lang, notes.dropped, abandon_on_cancel=True
    )
    cited = tuple(notes.citations)
    return [
        *events,
        now.done("answered", mode, writing.text, citations=cited, sources=now.found.sources, claims=claims),
    ]
