"""The vectors of what a sidecar serves, made in the background: answers by words go on meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from ask_book.answering.open_book import OpenBook
from ask_book.errors import AskBookError
from ask_book.retrieval.building import ConsentNeededError, build
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.embedding import Embedder
from ask_book.retrieval.storage import META
from ask_book.retrieval.vectors import ready
from ask_book.server.holder import Embedding, Holder

LOOK_SECONDS = 2.0
FIRST_RETRY = 60.0
LAST_RETRY = 3600.0

log = logging.getLogger(__name__)


class Background:
    """Embeds one edition at a time; a newer one takes its place. All methods are called on the event loop."""

    def __init__(self, holder: Holder, consent: Consent) -> None:
        self._holder = holder
        self._consent = consent
        self._task: asyncio.Task[None] | None = None

    def begin(self, book: OpenBook, folder: Path) -> None:
        """Embed a book that was just opened, if there is something to do; its index is in `folder`."""
        if self._task:
            self._task.cancel()
            self._task = None
        self._holder.embedding = Embedding()
        if book.embedder and book.manifest.chunks:
            self._task = asyncio.create_task(self._keep_up(book, book.embedder, folder))

    async def close(self) -> None:
        """Stop; what was embedded is kept."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _keep_up(self, book: OpenBook, embedder: Embedder, folder: Path) -> None:
        if book.index.vectors is None:
            await self._until_done(book, embedder, folder)
        while True:
            await _written(folder / META)
            # Perhaps a command has embedded it anew.
            if vectors := await asyncio.to_thread(ready, book.manifest, folder, embedder):
                self._change(book, partial(OpenBook.with_vectors, vectors=vectors))

    async def _until_done(self, book: OpenBook, embedder: Embedder, folder: Path) -> None:
        """Tries again after a failure, ever later, and whenever another process has written the index."""
        retry: float | None = FIRST_RETRY
        while True:
            self._holder.embedding = Embedding("building")
            try:
                built = await build(book.manifest, folder, embedder, self._consent, self._progress)
            except ConsentNeededError as error:
                self._tell(book, "waiting", error)
                retry = None
            except AskBookError as error:
                log.warning("The book was not embedded: %s", error)
                self._tell(book, "failed", error)
            except Exception as error:  # whatever a model does must not end the sidecar
                log.exception("The book was not embedded")
                self._tell(
                    book, "failed", AskBookError(f"The book was not embedded ({type(error).__name__}).", "See the log.")
                )
            else:
                log.info("Embedded %d passages with %s, %d reused", built.embedded, embedder.name, built.reused)
                self._change(book, partial(OpenBook.with_vectors, vectors=built.vectors))
                self._holder.embedding = Embedding()
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(_written(folder / META), retry)
            retry = min(2 * (retry or FIRST_RETRY), LAST_RETRY)

    def _progress(self, done: int, total: int) -> None:
        before, now = self._holder.embedding.progress, done / max(total, 1)
        self._holder.embedding = Embedding("building", now)
        if int(10 * now) > int(10 * before):
            log.info("Embedded %d of %d passages", done, total)

    def _tell(self, book: OpenBook, state: str, error: AskBookError) -> None:
        self._holder.embedding = Embedding(state)
        self._change(book, partial(OpenBook.pending, why=f"{error.message} {error.hint}".strip()))

    def _change(self, book: OpenBook, change: Callable[[OpenBook], OpenBook]) -> None:
        """Change what is served, unless that is a newer edition by now."""
        self._holder.update(lambda now: change(now) if now.manifest is book.manifest else now)


async def _written(path: Path) -> None:
    before = _stamp(path)
    while _stamp(path) == before:
        await asyncio.sleep(LOOK_SECONDS)


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
