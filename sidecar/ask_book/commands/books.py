"""Opening the book that a command names."""

from __future__ import annotations

import os
from argparse import Namespace

from ask_book.answering.assistant import Assistant, assistant_of
from ask_book.answering.open_book import OpenBook, open_book
from ask_book.book.dotenv import read_dotenv
from ask_book.book.edition import open_edition
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.daemon.state import state_folder
from ask_book.errors import AskBookError


def opened(options: Namespace) -> tuple[OpenBook, Settings]:
    """The book ready to be asked, whatever that takes, and its settings."""
    project = find_project(options.book, os.environ)
    return read(project), settings_of(project.configuration, os.environ)


def read(project: Project) -> OpenBook:
    """A project's book, ready to be asked."""
    progress = terminal.Progress()
    try:
        return open_book(open_edition(project, progress))
    finally:
        progress.clear()


def assistant_for(project: Project, settings: Settings) -> Assistant:
    """What answers from it; the tokens of the day are those that its servers count, too."""
    try:
        folder = state_folder(project).path
    except AskBookError:
        folder = None
    return assistant_of(settings, read_dotenv(project.root / ".env"), os.environ, folder)
