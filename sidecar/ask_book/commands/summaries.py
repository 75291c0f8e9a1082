"""`ask-book index --summaries`: let the chat model sum up the sections of a book, once."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ask_book.answering import summaries
from ask_book.answering.assistant import Assistant
from ask_book.answering.open_book import OpenBook
from ask_book.commands import terminal
from ask_book.errors import AskBookError


def sum_up(book: OpenBook, assistant: Assistant, options: Namespace) -> summaries.Made:
    """Make the summaries that are missing, after saying what that takes. Raises `AskBookError` without a model."""
    if assistant.chat is None:
        raise AskBookError(
            "There is no chat model to sum up the book.", "Set `chat-model` and `base-url`.", "summaries"
        )
    todo = summaries.missing(book)
    done = len(summaries.segments(book.manifest)) - len(todo)
    if not todo:
        return summaries.Made(kept=done)
    read, written = summaries.estimate(book, todo)
    terminal.tell(
        f"{len(todo)} parts of the book are to be summed up by {assistant.chat.model} at {assistant.host}: "
        f"about {read:,} tokens to read and {written:,} to write."
    )
    is_asked = terminal.is_attended() and not options.json
    if not options.yes and not (is_asked and terminal.agreed("Sum them up?")):
        raise AskBookError("Nothing was summed up.", "Say `--yes` to agree to what it takes.", "summaries")
    progress = terminal.Progress()
    try:
        made = asyncio.run(_make(book, assistant, todo, progress))
    finally:
        progress.clear()
    return summaries.Made(made.made, done, made.failed, made.prompt_tokens, made.completion_tokens, made.trouble)


async def _make(
    book: OpenBook, assistant: Assistant, todo: list[summaries.Segment], progress: terminal.Progress
) -> summaries.Made:
    try:
        return await summaries.make(book, assistant, todo, progress.bar("Summing up"))
    finally:
        await assistant.aclose()
