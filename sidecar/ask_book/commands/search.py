"""`ask-book search`: the passages that fit some words, with their scores."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from contextlib import aclosing
from dataclasses import asdict

from ask_book.answering.answer import Source, source
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question, question
from ask_book.book.manifest import Tag, breadcrumb
from ask_book.commands import terminal
from ask_book.commands.books import opened
from ask_book.excerpt import excerpt
from ask_book.retrieval.index import Retrieval

SHOWN_CHARACTERS = 200


def run(options: Namespace) -> int:
    """Print the passages. 0 when there are some, 1 when there are none."""
    asked = question(options.words, scope=options.scope)
    book, settings = opened(options)
    retrieval = asyncio.run(_search(book, asked, options.k or settings.top_k))
    chunks = [(book.manifest.chunks[hit.chunk], hit.score) for hit in retrieval.hits]
    found = [source(book.manifest, Tag(chunk.chapter, chunk.start, chunk.end), score) for chunk, score in chunks]
    passages = [passage for passage in found if passage]
    if options.json:
        terminal.say_json([asdict(passage) for passage in passages])
    elif passages:
        _say(passages, book.site.as_uri())
    else:
        terminal.say("Nothing in the book has these words.")
    for notice in (*book.notices, *retrieval.notices) if not options.json else ():
        terminal.tell(terminal.wrapped(f"Note: {notice.message}"))
    return 0 if passages else 1


async def _search(book: OpenBook, asked: Question, k: int) -> Retrieval:
    async with aclosing(book):
        return await book.search(asked.text, k, asked.scope)


def _say(passages: list[Source], site: str) -> None:
    for passage in passages:
        terminal.say(f"{passage.score:.2f}  {breadcrumb(passage)}")
        terminal.say(terminal.wrapped(excerpt(passage.text, SHOWN_CHARACTERS), "      "))
        terminal.say(terminal.dim(f"      {site}/{passage.href}"))
        terminal.say()
