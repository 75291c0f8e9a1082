"""`ask-book exam --suggest`, `--record` and `--gaps`: questions for an exam, and what the book does not answer."""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict

from ask_book.answering.assistant import Assistant
from ask_book.answering.open_book import OpenBook
from ask_book.book.manifest import breadcrumb
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.commands.books import assistant_for, read
from ask_book.daemon.state import state_folder
from ask_book.errors import AskBookError, UsageError
from ask_book.exam.asked import Asked, read_questions
from ask_book.exam.draft import Draft, to_yaml, write_new
from ask_book.exam.gaps import Gap, gaps
from ask_book.exam.record import items
from ask_book.exam.run import Quotes
from ask_book.exam.suggest import Suggested, suggest, to_refuse

SUGGESTED = "Drafts: check each question, and say it as a reader would."
RECORDED = "Questions of readers. Those behind a # are to be decided: give the right place, or refuse them."


def run(options: Namespace) -> int:
    """Do one of the three. 1 when there was nothing to do it from."""
    if options.files:
        raise UsageError("An exam is not asked and drafted at once.", "Leave the file out.", "usage")
    if options.out and options.out.exists():
        raise UsageError(f"{options.out} exists, and nothing is overwritten.", "Name another file after --out.", "out")
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    book = read(project, settings)
    if options.gaps:
        return _say_gaps(options, asyncio.run(_gaps(book, _asked(project, settings, book))))
    if options.record:
        drafts = items(_asked(project, settings, book), Quotes(book.manifest))
        return _give(options, book, drafts, RECORDED)
    suggested = suggest(book)
    drafts = [one.draft for one in suggested]
    if options.with_model:
        drafts = _by_model(options, book, assistant_for(project, settings), suggested)
    return _give(options, book, [*drafts, *to_refuse(book)], SUGGESTED)


def _asked(project: Project, settings: Settings, book: OpenBook) -> list[Asked]:
    asked = read_questions(state_folder(project).path, book.manifest.book.id)
    if not asked and not settings.record_questions:
        raise AskBookError(
            "No questions are kept: that is off.", "Set `record-questions: true` under `ask-book:`.", "record"
        )
    return asked


def _give(options: Namespace, book: OpenBook, drafts: Sequence[Draft], head: str) -> int:
    """Write the drafts into the file or on the terminal."""
    text = to_yaml(book.manifest.book.title, book.index.lang, drafts, head)
    decided = sum(draft.decided for draft in drafts)
    if drafts and options.out:
        write_new(options.out, text)
    if options.json:
        rows = [{**asdict(draft.question), "note": draft.note, "decided": draft.decided} for draft in drafts]
        terminal.say_json({"file": str(options.out) if drafts and options.out else None, "questions": rows})
    elif not drafts:
        terminal.say("There is nothing to ask yet.")
    elif options.out:
        terminal.say(f"{options.out}: {decided} questions, {len(drafts) - decided} to be decided")
    else:
        terminal.write(text)
    return 0 if drafts else 1


def _by_model(options: Namespace, book: OpenBook, assistant: Assistant, suggested: Sequence[Suggested]) -> list[Draft]:
    """Drafts by the chat model, after saying what that takes. Raises `AskBookError` without a model, or a yes."""
    from ask_book.exam.better import Better, better, estimate

    if assistant.chat is None:
        raise AskBookError("There is no chat model to draft questions.", "Set `chat-model` and `base-url`.", "suggest")
    read_tokens, written = estimate(book, suggested)
    terminal.tell(
        f"{len(suggested)} questions are to be drafted by {assistant.chat.model} at {assistant.host}: "
        f"about {read_tokens:,} tokens to read and {written:,} to write."
    )
    is_asked = terminal.is_attended() and not options.json
    if not options.yes and not (is_asked and terminal.agreed("Draft them?")):
        raise AskBookError("Nothing was drafted.", "Say `--yes` to agree to what it takes.", "suggest")
    progress = terminal.Progress()

    async def draft() -> Better:
        async with aclosing(assistant):
            return await better(book, assistant, suggested, progress.bar("Drafting"))

    try:
        made = asyncio.run(draft())
    finally:
        progress.clear()
    terminal.tell(f"{made.made} of {len(suggested)} by the model, with {made.tokens:,} tokens. {made.trouble}".rstrip())
    return list(made.drafts)


async def _gaps(book: OpenBook, asked: Sequence[Asked]) -> list[Gap]:
    async with aclosing(book):
        return await gaps(book, asked)


def _say_gaps(options: Namespace, found: Sequence[Gap]) -> int:
    if options.json:
        terminal.say_json({"gaps": [asdict(gap) for gap in found]})
    elif not found:
        terminal.say("No reader was left without an answer yet.")
    else:
        terminal.say("\n".join(map(terminal.wrapped, _gap_lines(found))))
    return 0


def _gap_lines(found: Sequence[Gap]) -> Iterator[str]:
    for number, gap in enumerate(found):
        if number:
            yield ""
        yield f"{gap.count} × {gap.questions[0]}"
        for other in gap.questions[1:]:
            yield f"     {other}"
        if gap.down:
            said = f": {'; '.join(gap.reasons)}" if gap.reasons else ""
            yield f"     thumbs down: {gap.down}{said}"
        if gap.absent_terms:
            yield f"     the book never uses: {', '.join(gap.absent_terms)}"
        if gap.answered:
            yield "     the book has something on it now"
        for near in gap.nearest:
            yield f"     near: {breadcrumb(near)} ({near.file})"
