"""How a book is answered from: made once for a server or a command, from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ask_book.answering.budget import Budget
from ask_book.answering.cache import Cache
from ask_book.answering.question import Question
from ask_book.book.notice import Notice
from ask_book.book.settings import Settings
from ask_book.llm.endpoint import endpoint_of
from ask_book.llm.errors import NoKeyError

# The HTTP client is slow to import, and not needed without a model.
if TYPE_CHECKING:
    from ask_book.llm.chat import Chat

LADDER = ("extractive", "grounded", "tools")


@dataclass(frozen=True)
class Assistant:
    """The model, if there is one, and what the author wants of it. `notice` says why a model that is set is not used.

    `mode` is the most that answers may use; `auto` is the most there is.
    """

    chat: Chat | None = None
    mode: str = "auto"
    temperature: float = 0.2
    answer_language: str = "book"
    style: tuple[str, ...] = ()
    system_prompt: str | None = None
    passage_characters: int = 1800
    tokens_per_question: int = 60_000
    budget: Budget = field(default_factory=Budget)
    cache: Cache | None = None
    notice: Notice | None = None

    @property
    def host(self) -> str | None:
        """The machine that gets the questions, for the reader to know."""
        return self.chat.endpoint.host if self.chat and self.mode != "extractive" else None

    def mode_for(self, asked: Question) -> str:
        """What to try for a question: what it wants, up to what the author allows and the model can."""
        if self.chat is None:
            return "extractive"
        can = "tools" if self.chat.has_tools else "grounded"
        steps = [LADDER.index(step) for step in (self.mode, asked.mode or "auto", can) if step != "auto"]
        return LADDER[min(steps)]

    async def aclose(self) -> None:
        """Close the connections to the model."""
        if self.chat:
            await self.chat.http.aclose()


WITHOUT_MODEL = Assistant(mode="extractive")


def assistant_of(
    settings: Settings, dotenv: Mapping[str, str], env: Mapping[str, str], folder: Path | None = None
) -> Assistant:
    """What settings, `.env` and environment give. `folder` is where the day's tokens are counted; None: in memory.

    Never fails for want of a key or an address: the answers are quotes then, with a notice.
    """
    chat, notice = None, None
    if settings.chat_model and settings.mode != "extractive":
        try:
            endpoint = endpoint_of(settings.base_url, dotenv, env, silence=settings.model_seconds)
        except NoKeyError as error:
            notice = Notice(error.code, f"{error.message} {error.hint}")
        else:
            if endpoint is None:
                notice = Notice("provider_no_url", "A chat model is set, but no address for it: set `base-url`.")
            else:
                from ask_book.llm.chat import Chat
                from ask_book.llm.http import Http

                chat = Chat(endpoint, settings.chat_model, Http(), settings.answer_seconds)
    return Assistant(
        chat,
        settings.mode,
        settings.temperature,
        settings.answer_language,
        settings.style,
        settings.system_prompt,
        settings.passage_characters,
        settings.tokens_per_question,
        Budget(settings.tokens_per_day, folder),
        Cache() if settings.cache else None,
        notice,
    )
