"""`ask-book export`: a book in one folder that can be served anywhere."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from ask_book.answering.open_book import open_book
from ask_book.book.edition import open_edition
from ask_book.book.export import Export, checked, export
from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.commands import terminal
from ask_book.commands.books import choice_for


def run(options: Namespace) -> int:
    """Bring the book up to date, then write it."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    progress = terminal.Progress()
    try:
        edition = open_edition(project, progress)
        out = checked(project, edition, Path(options.out))
        progress("Building the index")
        book = open_book(edition, choice_for(project, settings))
        progress("Copying")
        made = export(project, settings, edition, out)
    finally:
        progress.clear()
    notices = [notice.message for notice in book.notices]
    if options.json:
        terminal.say_json({**asdict(made), "edition": book.kind, "notices": notices})
    else:
        _say(made, project.title, notices)
    return 0


def _say(made: Export, title: str, notices: list[str]) -> None:
    terminal.say(f"{title or 'The book'} is in {made.out}: {made.files:,} files, {made.bytes / 1e6:,.1f} MB")
    if made.left_out:
        terminal.say("Left out:")
    for what in made.left_out:
        terminal.say(terminal.wrapped(what, "    ", "  - "))
    for notice in notices:
        terminal.say(f"Note: {notice}")
    terminal.say(f"Serve it with `ask-book serve {made.out}`, here or on another machine.")
