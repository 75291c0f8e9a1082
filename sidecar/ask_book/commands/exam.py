"""`ask-book exam`: ask a book questions whose right passages are known."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from ask_book.answering.open_book import OpenBook
from ask_book.book.configuration import find_root
from ask_book.commands import marks, questions, terminal
from ask_book.commands.books import opened
from ask_book.errors import UsageError
from ask_book.exam.format import Exam, read_exam
from ask_book.exam.report import Results, shares, to_json, to_junit, to_lines
from ask_book.exam.run import examine
from ask_book.files import write_atomically

DEFAULT = "exam.yml"


def run(options: Namespace) -> int:
    """Print the results. 1 when the evidence is found less often than `--min-recall`, else 0."""
    if options.suggest or options.record or options.gaps:
        return questions.run(options)
    if options.out or options.with_model:
        raise UsageError("There is nothing to draft.", "Say --suggest, too.", "usage")
    exams = [read_exam(Path(file)) for file in options.files or [options.book / DEFAULT]]
    book, settings = opened(options, most=sys.maxsize)
    k = options.k or settings.top_k
    results = asyncio.run(_examined(book, exams, k))
    if options.junit:
        write_atomically(options.junit, to_junit(results))
    if options.json:
        terminal.say_json(to_json(results))
    else:
        for line in to_lines(results):
            terminal.say(line)
    if marks.wanted():
        for mark in marks.of_exam(results, find_root(options.book)):
            terminal.tell(mark)
    found = shares(results.outcomes)["evidence_at_k"].fraction
    return 1 if found is not None and found < options.min_recall else 0


async def _examined(book: OpenBook, exams: Sequence[Exam], k: int) -> Results:
    async with aclosing(book):
        return Results(tuple([(exam, tuple([one async for one in examine(book, exam, k)])) for exam in exams]), k)
