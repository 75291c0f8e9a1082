"""Keep what a sidecar serves up to date with the book, and know when the sidecar should end."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ask_book.book.dotenv import read_dotenv
from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.errors import AskBookError, system_error
from ask_book.server.holder import Holder

# What reads a book is imported in the thread that does it: a sidecar answers before.
if TYPE_CHECKING:
    from ask_book.answering.open_book import OpenBook
    from ask_book.book.edition import Edition
    from ask_book.book.notice import Notice
    from ask_book.daemon.embedding import Background
    from ask_book.retrieval.choice import Choice

LOOK_SECONDS = 1.0
RENDER_SECONDS = 600.0
AGAIN_SECONDS = 20.0

log = logging.getLogger(__name__)


class Watch:
    """Looks at a book once a second: a few `stat` calls. A change is read beside, then swapped in as a whole.

    A render takes the pages away and brings them back with a new manifest. Until it does, what was loaded stays;
    and a sidecar that a render started waits for that render rather than reading the sources meanwhile.
    """

    def __init__(self, project: Project, holder: Holder, env: Mapping[str, str]) -> None:
        self._project = project
        self._holder = holder
        self._env = env
        self._asked = asyncio.Event()
        self._seen: object = None
        self._loaded: object = None
        self._edition_notices: tuple[Notice, ...] = ()
        self._choice: Choice | None = None
        self._background: Background | None = None
        self._again = math.inf
        self._patience = time.monotonic() + RENDER_SECONDS if "QUARTO_PROJECT_OUTPUT_DIR" in env else 0.0
        self._loop = asyncio.get_running_loop()
        holder.reload = self._ask

    async def run(
        self, shutdown: asyncio.Event, idle_seconds: float | None = None, is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Until `shutdown`: set here after `idle_seconds` without a reader, or when nothing wants it."""
        gone = 0
        while not shutdown.is_set():
            # An editor that saves may take the file away for an instant.
            gone = 0 if self._project.config_files[0].exists() and is_wanted() else gone + 1
            if gone > 1:
                log.info("%s or what is known of its sidecar is gone: the sidecar ends.", self._project.root)
                shutdown.set()
            elif idle_seconds is not None and self._idle() > idle_seconds:
                log.info("Nobody asked for %d minutes: the sidecar ends.", idle_seconds / 60)
                shutdown.set()
            else:
                if not gone:
                    await asyncio.to_thread(self._look)
                await self._pause(shutdown)
        if self._background:
            await self._background.close()
        if self._choice and self._choice.embedder:
            await self._choice.embedder.aclose()

    def _ask(self) -> None:
        self._loop.call_soon_threadsafe(self._asked.set)

    async def _pause(self, shutdown: asyncio.Event) -> None:
        waiters = [asyncio.ensure_future(event.wait()) for event in (shutdown, self._asked)]
        await asyncio.wait(waiters, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for waiter in waiters:
            waiter.cancel()

    def _idle(self) -> float:
        return 0.0 if self._holder.busy else time.monotonic() - self._holder.last_used

    def _look(self) -> None:
        seen = self._stamps()
        if seen == self._seen and not self._asked.is_set() and time.monotonic() < self._again:
            return
        from ask_book.book.edition import open_edition

        try:
            if self._render_is_under_way():
                return
            self._asked.clear()
            self._again = math.inf
            self._project = find_project(self._project.root, self._env)
            self._load(open_edition(self._project, env=self._env))
            self._holder.failure = None
        except AskBookError as error:
            log.warning("The book could not be read: %s", error)
            self._holder.failure = error
        except Exception as error:  # a damaged book must not end the sidecar
            log.exception("The book could not be read")
            refused = system_error(error) if isinstance(error, OSError) else None
            unforeseen = AskBookError(f"The book could not be read ({type(error).__name__}).", "See the log.")
            self._holder.failure = refused or unforeseen
            # A full disk changes no file of the book when there is room again.
            self._again = time.monotonic() + AGAIN_SECONDS
        self._seen = seen

    def _load(self, edition: Edition) -> None:
        version = (edition.manifest_path, _stamp(edition.manifest_path))
        earlier, self._edition_notices = self._edition_notices, edition.notices
        if self._holder.current is not None and version == self._loaded:
            self._holder.update(lambda book: _with_notices(book, earlier, edition.notices))
            return
        from ask_book.answering.open_book import open_book

        book = open_book(edition, self._chosen())
        self._holder.current = book
        self._holder.progress = 1.0
        self._loaded = version
        log.info("Serving %s (%s edition)", edition.manifest_path, edition.kind)
        self._loop.call_soon_threadsafe(self._embed, book, edition.index_dir)

    def _chosen(self) -> Choice:
        """The embedder, chosen once: a local one keeps its model in memory."""
        from ask_book.retrieval.choice import choose

        if self._choice is None:
            settings = settings_of(self._project.configuration, self._env)
            dotenv = read_dotenv(self._project.root / ".env")
            self._choice = choose(settings, dotenv, self._env, in_background=True)
        return self._choice

    def _embed(self, book: OpenBook, folder: Path) -> None:
        from ask_book.daemon.embedding import Background
        from ask_book.retrieval.consent import Consent

        if self._background is None:
            self._background = Background(self._holder, Consent(self._project.key))
        self._background.begin(book, folder)

    def _render_is_under_way(self) -> bool:
        from ask_book.book.edition import rendered_edition

        if rendered_edition(self._project) is not None:
            self._patience = 0.0
            return False
        current = self._holder.current
        if not self._patience and current is not None and current.site == self._project.output_dir:
            self._patience = time.monotonic() + RENDER_SECONDS
        return time.monotonic() < self._patience and not self._asked.is_set()

    def _stamps(self) -> object:
        sources = (self._project.root / chapter.file for chapter in self._project.chapters)
        files = (self._project.data_dir / "manifest.json", *self._project.config_files, *sources)
        return [_stamp(path) for path in files]


def _with_notices(book: OpenBook, earlier: tuple[Notice, ...], now: tuple[Notice, ...]) -> OpenBook:
    others = [notice for notice in book.notices if notice not in earlier]
    return replace(book, notices=(*now, *others))


def _stamp(path: Path) -> tuple[int, int] | None:
    """What changes when a file is written; None when it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
