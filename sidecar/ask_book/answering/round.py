"""One question on its way to an answer: what all ways of answering share."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from ask_book.answering import extractive
from ask_book.answering.answer import Answer, Mode, Source, Status
from ask_book.answering.assistant import Assistant
from ask_book.answering.events import Event
from ask_book.answering.extractive import Passage
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.book.notice import Notice
from ask_book.errors import AskBookError
from ask_book.llm.errors import ProviderError
from ask_book.retrieval.language import Locale, language_of, locale

if TYPE_CHECKING:
    from ask_book.llm.chat import Message, Tool, ToolCall
    from ask_book.retrieval.evidence import Evidence

NEAREST = 3
ANSWER_TOKENS = 4000
LEAST_TOKENS = 200
# What is set aside of a day's tokens before a model is asked; afterwards it is put right.
SET_ASIDE = 4000


class SpentError(AskBookError):
    """No more tokens for the model, of the day or of this question."""


class UnprovenError(AskBookError):
    """What the model wrote names no source at all, or is nothing."""


@dataclass(frozen=True)
class Found:
    """What a search brought: the same passages as they are worked with and as they are shown, and what to quote."""

    passages: tuple[Passage, ...] = ()
    sources: tuple[Source, ...] = ()
    quotes: tuple[extractive.Quote, ...] = ()
    evidence: Evidence | None = None


@dataclass
class Round:
    """`words` are those to search for, `found` what that brought; times and tokens are added up on the way."""

    book: OpenBook
    asked: Question
    assistant: Assistant
    k: int
    words: str
    found: Found = field(default_factory=Found)
    started: float = field(default_factory=time.perf_counter)
    timings: dict[str, float] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    answer_tokens: int = ANSWER_TOKENS
    finish: str = ""

    @property
    def locale(self) -> Locale:
        """The table of the language to answer in."""
        return locale(self.lang)

    @property
    def lang(self) -> str:
        """The language to answer in: the book's, or the question's if the author wants that."""
        if self.assistant.answer_language == "question":
            return language_of(self.asked.text, self.book.index.lang)
        return self.book.index.lang

    @property
    def tokens(self) -> int:
        """What the model has taken so far."""
        return self.prompt_tokens + self.completion_tokens

    def notice(self, code: str, message: str) -> Event:
        """Something the reader should know; also in the answer at the end."""
        self.notices.append(Notice(code, message))
        return Event("notice", self.notices[-1])

    def lap(self, name: str) -> None:
        """Milliseconds since the question came, under a name; the first time counts."""
        self.timings.setdefault(name, round((time.perf_counter() - self.started) * 1000, 2))

    def done(self, status: Status, mode: Mode, text: str, **more: Any) -> Event:
        """The whole answer."""
        self.lap("total")
        if self.tokens:
            self.timings |= {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        answer = Answer(
            secrets.token_urlsafe(9), status, mode, text, notices=tuple(self.notices), timings=self.timings, **more
        )
        return Event("done", answer)

    def not_found(self, mode: Mode) -> Event:
        """The answer that the book does not say it, with what comes nearest."""
        absent = self.found.evidence.absent_terms if self.found.evidence else ()
        nearest = self.found.sources[:NEAREST]
        return self.done("not_found", mode, self.locale.not_found, absent_terms=absent, nearest=nearest)

    @asynccontextmanager
    async def paid(self) -> AsyncIterator[None]:
        """Around all that the model says in this round: it counts as tokens of the day, also when the reader has left.

        Raises `SpentError` at the beginning when too few are left.
        """
        budget, taken = self.assistant.budget, min(SET_ASIDE, self.assistant.tokens_per_question)
        if not await to_thread.run_sync(budget.take, taken):
            raise SpentError("The tokens of this day are used up.", "See `tokens-per-day`.", "budget")
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(budget.settle, taken, self.tokens)

    async def said(self, messages: Sequence[Message]) -> str:
        """All that the model says, without thinking. Raises as `speak` does."""
        async with aclosing(self.speak(messages, thinking=False)) as parts:
            return "".join([part async for part in parts if isinstance(part, str)])

    async def speak(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), **more: Any
    ) -> AsyncGenerator[str | ToolCall, None]:
        """What the model says, its tokens counted whether it comes to its end or not.

        Raises `ProviderError`, or `SpentError` when too little is left of what one question may take.
        """
        from ask_book.llm.chat import Usage, estimated_tokens

        chat = self.assistant.chat
        assert chat
        prompt = sum(estimated_tokens(message.content) for message in messages)
        left = self.assistant.tokens_per_question - self.tokens - prompt
        if left < LEAST_TOKENS:
            raise SpentError(
                "One question takes more of the model than it may.", "See `tokens-per-question`.", "budget"
            )
        parts = chat.stream(
            messages,
            tools=tools,
            temperature=self.assistant.temperature,
            max_tokens=min(self.answer_tokens, left),
            **more,
        )
        said, counted, came_to_nothing = 0, None, False
        try:
            async with aclosing(parts):
                async for part in parts:
                    if isinstance(part, Usage):
                        counted = part
                    else:
                        said += len(part) if isinstance(part, str) else 0
                        yield part
        except ProviderError:
            came_to_nothing = not said
            raise
        finally:
            # Who leaves before the first words has them read the prompt all the same.
            counted = counted or Usage(0 if came_to_nothing else prompt, said // 4, "")
            self.prompt_tokens += counted.prompt
            self.completion_tokens += counted.completion
            self.finish = counted.finish
