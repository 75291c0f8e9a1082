"""`ask-book ask`: an answer with its notes, for a person or as JSON."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ask_book.answering.answer import Answer, Citation, Source, to_json
from ask_book.answering.ask import answer
from ask_book.answering.assistant import Assistant
from ask_book.answering.events import Event, collect
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question, question
from ask_book.book.manifest import breadcrumb
from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.commands import terminal
from ask_book.commands.books import assistant_for, read
from ask_book.excerpt import excerpt

_NOTE = re.compile(r"\[(\d+)\]\(#ask-book-\d+\)")
NEAREST_CHARACTERS = 240


def run(options: Namespace) -> int:
    """Answer one question. 0 when it was answered, 1 when the book does not say it."""
    asked = question(options.question, mode=options.mode, scope=options.scope)
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    book, assistant = read(project, settings), assistant_for(project, settings)
    streams = assistant.chat is not None and not options.json and sys.stdout.isatty()
    result = asyncio.run(_answer(book, asked, assistant, options.k or settings.top_k, streams))
    if options.report:
        from ask_book.commands.reports import kept

        model = assistant.chat.model if assistant.chat and result.mode != "extractive" else ""
        result = replace(result, report=kept(result, asked.text, book, project, settings, model))
    if options.json:
        terminal.say_json(to_json(result))
    else:
        if not streams:
            terminal.say(terminal.wrapped(_readable(result.answer)))
        _say_notes(result, book.site.as_uri())
        if result.report:
            terminal.say("\nKept as:")
            for file in filter(None, (result.report.html, result.report.md, result.report.pdf)):
                terminal.say(f"  {file}")
    return 0 if result.status == "answered" else 1


async def _answer(book: OpenBook, asked: Question, assistant: Assistant, k: int, streams: bool) -> Answer:
    """The whole answer; with `streams` its text is on the terminal already."""
    try:
        events = answer(book, asked, assistant, k)
        return await collect(_shown(events) if streams else events)
    finally:
        await assistant.aclose()
        await book.aclose()


async def _shown(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """The same events, the text written as it comes; what `done` has instead of it is written after it."""
    text = ""
    async with aclosing(events):
        async for event in events:
            if event.kind == "delta":
                text += event.data
                terminal.write(_readable(event.data))
            elif event.kind == "done":
                terminal.say()
                if event.data.answer != text:
                    terminal.say(f"\n{terminal.wrapped(_readable(event.data.answer))}")
            yield event


def _say_notes(result: Answer, site: str) -> None:
    for citation in result.citations:
        terminal.say()
        _say_note(citation, site)
    if result.absent_terms:
        terminal.say()
        terminal.say(terminal.wrapped(f"The book never uses: {', '.join(result.absent_terms)}."))
    if result.nearest:
        terminal.say("\nThe nearest passages, which do not answer it:")
        for source in result.nearest:
            terminal.say()
            _say_source(source, site)
    for notice in result.notices:
        terminal.say(f"\n{terminal.dim(terminal.wrapped(f'Note: {notice.message}'))}")


def _readable(markdown: str) -> str:
    """Markdown as a terminal shows it: notes as [1], escapes taken off."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", _NOTE.sub(r"[\1]", markdown))


def _say_note(citation: Citation, site: str) -> None:
    checked = "" if citation.verified else "  (not verified)"
    terminal.say(terminal.wrapped(f"“{citation.quote}”{checked}", "     ", f"[{citation.n}]  "))
    _say_place(citation, site)


def _say_source(source: Source, site: str) -> None:
    terminal.say(terminal.wrapped(excerpt(source.text, NEAREST_CHARACTERS), "     ", "  -  "))
    _say_place(source, site)


def _say_place(where: Citation | Source, site: str) -> None:
    terminal.say(f"     {terminal.dim(breadcrumb(where))}")
    terminal.say(f"     {terminal.dim(f'{site}/{where.href}')}")
