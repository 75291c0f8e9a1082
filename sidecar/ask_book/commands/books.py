"""Opening the book that a command names."""

from __future__ import annotations

import os
from argparse import Namespace

from ask_book.answering.open_book import OpenBook, open_book
from ask_book.book.edition import open_edition
from ask_book.book.project import find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal


def opened(options: Namespace) -> tuple[OpenBook, Settings]:
    """The book ready to be asked, whatever that takes, and its settings."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    progress = terminal.Progress()
    try:
        return open_book(open_edition(project, progress)), settings
    finally:
        progress.clear()
