"""Opening the book that a command names."""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace
from contextlib import aclosing
from pathlib import Path

from ask_book.answering.assistant import Assistant, assistant_of
from ask_book.answering.open_book import OpenBook, open_book
from ask_book.book.dotenv import read_dotenv
from ask_book.book.edition import open_edition
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.daemon.state import state_folder
from ask_book.errors import AskBookError
from ask_book.retrieval.building import build
from ask_book.retrieval.choice import Choice, choose
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.embedding import Embedder
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.vectors import plan

# So many passages are embedded on the way to an answer; more are left to `ask-book index` and to the sidecar.
FEW_PASSAGES = 8
FEW_SECONDS = 20.0


def opened(options: Namespace, most: int = FEW_PASSAGES) -> tuple[OpenBook, Settings]:
    """The book ready to be asked, whatever that takes, and its settings. `most`: see `read`."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    return read(project, settings, most), settings


def read(project: Project, settings: Settings, most: int = FEW_PASSAGES) -> OpenBook:
    """A project's book, ready to be asked; when no more than `most` passages are not embedded, they are now."""
    progress = terminal.Progress()
    try:
        edition = open_edition(project, progress)
        book = open_book(edition, choice_for(project, settings))
        if book.embedder is None or not book.embedder.unasked or book.index.vectors or not book.manifest.chunks:
            return book
        return asyncio.run(_embedded(book, book.embedder, edition.index_dir, Consent(project.key), most, progress))
    finally:
        progress.clear()


def choice_for(project: Project, settings: Settings) -> Choice:
    """The embedder of a project."""
    return choose(settings, read_dotenv(project.root / ".env"), os.environ)


async def _embedded(
    book: OpenBook, embedder: Embedder, folder: Path, consent: Consent, most: int, progress: terminal.Progress
) -> OpenBook:
    if len(plan(book.manifest, Kept(embedder.name)).missing) > most:
        return book
    seconds = FEW_SECONDS if most == FEW_PASSAGES else None
    try:
        async with asyncio.timeout(seconds), aclosing(book):
            built = await build(book.manifest, folder, embedder, consent, progress.bar("Embedding"))
    except AskBookError as error:
        return book.pending(f"{error.message} {error.hint}")
    except TimeoutError:
        return book
    return book.with_vectors(built.vectors)


def assistant_for(project: Project, settings: Settings) -> Assistant:
    """What answers from it; the tokens of the day are those that its servers count, too."""
    try:
        folder = state_folder(project).path
    except AskBookError:
        folder = None
    return assistant_of(settings, read_dotenv(project.root / ".env"), os.environ, folder)
