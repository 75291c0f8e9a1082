"""`ask-book ask`: an answer with its notes, for a person or as JSON."""

from __future__ import annotations

import asyncio
import re
from argparse import Namespace

from ask_book.answering.answer import Answer, Citation, Source, to_json
from ask_book.answering.ask import answer
from ask_book.answering.assistant import WITHOUT_MODEL
from ask_book.answering.events import collect
from ask_book.answering.question import question
from ask_book.commands import terminal
from ask_book.commands.books import opened

_NOTE = re.compile(r"\[(\d+)\]\(#ask-book-\d+\)")
NEAREST_CHARACTERS = 240


def run(options: Namespace) -> int:
    """Answer one question. 0 when it was answered, 1 when the book does not say it."""
    asked = question(options.question, scope=options.scope)
    book, settings = opened(options)
    result = asyncio.run(collect(answer(book, asked, WITHOUT_MODEL, options.k or settings.top_k)))
    if options.json:
        terminal.say_json(to_json(result))
    else:
        _say(result, book.site.as_uri())
    return 0 if result.status == "answered" else 1


def _say(result: Answer, site: str) -> None:
    terminal.say(terminal.wrapped(_readable(result.answer)))
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
    return re.sub(r"\\([\\`*_{}\[\]<>()#+.!|$~^-])", r"\1", _NOTE.sub(r"[\1]", markdown))


def _say_note(citation: Citation, site: str) -> None:
    checked = "" if citation.verified else "  (not verified)"
    terminal.say(terminal.wrapped(f"“{citation.quote}”{checked}", "     ", f"[{citation.n}]  "))
    _say_place(citation, site)


def _say_source(source: Source, site: str) -> None:
    text = " ".join(source.text.split())
    short = text if len(text) <= NEAREST_CHARACTERS else f"{text[:NEAREST_CHARACTERS].rsplit(' ', 1)[0]} …"
    terminal.say(terminal.wrapped(short, "     ", "  -  "))
    _say_place(source, site)


def _say_place(where: Citation | Source, site: str) -> None:
    terminal.say(f"     {terminal.dim(breadcrumb(where.chapter_title, where.heading_path))}")
    terminal.say(f"     {terminal.dim(f'{site}/{where.href}')}")


def breadcrumb(chapter_title: str, heading_path: tuple[str, ...]) -> str:
    """`Chapter › Section › Subsection`, the chapter named once."""
    return " › ".join(dict.fromkeys(filter(None, (chapter_title, *heading_path))))
