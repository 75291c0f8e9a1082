"""What an answer is made of while it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from ask_book.answering.answer import Answer, Citation, to_json
from ask_book.book.notice import Notice
from ask_book.errors import AskBookError


@dataclass(frozen=True)
class Event:
    """`kind` is `sources`, `citation`, `delta`, `notice` or `done`; `data` as in the HTTP contract, not yet JSON.

    `done` is what counts: where its answer is not the deltas joined, it replaces what they showed.
    """

    kind: str
    data: Any


async def collect(events: AsyncGenerator[Event, None]) -> Answer:
    """The whole answer, when nobody waits for its parts."""
    async with aclosing(events):
        async for event in events:
            if event.kind == "done":
                return event.data  # type: ignore[no-any-return]
    raise AskBookError("The answer did not come to its end.", "Ask again.", "cut")


def event_json(event: Event) -> Any:
    """The data of an event as JSON can say it."""
    match event.data:
        case Answer():
            return to_json(event.data)
        case Citation() | Notice():
            return vars(event.data)
        case tuple():
            return [vars(item) for item in event.data]
        case str():
            return {"text": event.data}
        case _:
            return event.data
