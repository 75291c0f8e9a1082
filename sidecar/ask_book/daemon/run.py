"""One process that serves a book: what the daemon and `ask-book serve` have in common."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.types import ASGIApp

from ask_book.book.dotenv import read_dotenv
from ask_book.book.notice import Notice
from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.daemon.state import state_folder
from ask_book.daemon.watch import Watch
from ask_book.errors import AskBookError
from ask_book.reports.tinytex import might_make_pdf
from ask_book.server.access import Access
from ask_book.server.app import Service, create_app
from ask_book.server.holder import Holder
from ask_book.server.limits import Limits
from ask_book.server.run import GRACE_SECONDS, serve

if TYPE_CHECKING:
    from ask_book.answering.assistant import Assistant
    from ask_book.server.reports import Reports


async def serve_book(
    project: Project,
    settings: Settings,
    env: Mapping[str, str],
    access: Access,
    listener: socket.socket,
    state_dir: Path | None = None,
    idle_seconds: float | None = None,
    on_listening: Callable[[], None] = lambda: None,
    is_wanted: Callable[[], bool] = lambda: True,
    service: Service | None = None,
    grace: float = GRACE_SECONDS,
) -> None:
    """Answer on `listener` at once, read the book meanwhile, and go on until a signal, idleness or the book's end.

    Or until nobody has a use for it: `is_wanted` is asked once a second, after `on_listening`. At the end, answers
    under way have `grace` seconds.
    """
    stop = asyncio.Event()
    _stop_on_signals(stop)
    async with running_app(project, settings, env, access, stop, state_dir, idle_seconds, is_wanted, service) as app:
        serving = asyncio.create_task(serve(app, listener, stop, grace))
        on_listening()
        await serving


@asynccontextmanager
async def running_app(
    project: Project,
    settings: Settings,
    env: Mapping[str, str],
    access: Access,
    stop: asyncio.Event,
    state_dir: Path | None = None,
    idle_seconds: float | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
    service: Service | None = None,
) -> AsyncIterator[ASGIApp]:
    """The application of a book, which is read and watched as long as this lasts. `stop` is set when it should end."""
    holder = Holder(project.book_id, project.title, project.lang)
    watch = Watch(project, holder, env)
    made = _Made(project, settings, env, state_dir)
    is_kept = access.local if settings.reports is None else settings.reports
    reports = partial(_reports, project, settings, env, access, holder) if is_kept else None
    service = service or Service(Limits(at_once=settings.answers_at_once, waiting=settings.answers_waiting))
    records = settings.record_questions
    thumbs = state_dir or (_state_dir(project) if records else None)
    app = create_app(holder, access, thumbs, settings.top_k, made.assistant, reports, service, records)

    async def tell_what_works() -> None:
        assistant = await asyncio.to_thread(made.assistant)
        has_pdf = reports is not None and settings.reports_pdf and might_make_pdf(env)
        holder.works = replace(holder.works, chat=assistant.host is not None, model_host=assistant.host, pdf=has_pdf)
        outdated = await asyncio.to_thread(_outdated, project) if access.local else None
        holder.notices = tuple(notice for notice in (assistant.notice, outdated) if notice)

    tasks = [asyncio.create_task(watch.run(stop, idle_seconds, is_wanted)), asyncio.create_task(tell_what_works())]
    try:
        yield app
    finally:
        stop.set()
        await asyncio.gather(*tasks)


def _outdated(project: Project) -> Notice | None:
    """For the author: the pages come from another version than this. What cannot be read is the doctor's business."""
    from ask_book.book.install import version_notice

    try:
        return version_notice(project.root)
    except (AskBookError, OSError):
        return None


def _reports(
    project: Project, settings: Settings, env: Mapping[str, str], access: Access, holder: Holder, assistant: Assistant
) -> Reports:
    """What keeps answers as documents."""
    from ask_book.reports.place import book_style, reports_of
    from ask_book.server.reports import Reports

    return Reports(
        reports_of(project, settings),
        holder,
        access,
        env,
        model=assistant.chat.model if assistant.chat else "",
        by_default=access.local,
        has_pdf=settings.reports_pdf,
        style=book_style(project, settings),
    )


@dataclass
class _Made:
    """The assistant of a server, made once, by whoever needs it first."""

    project: Project
    settings: Settings
    env: Mapping[str, str]
    state_dir: Path | None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _assistant: Assistant | None = None

    def assistant(self) -> Assistant:
        """It is slow to import, so this is called in a thread."""
        from ask_book.answering.assistant import assistant_of

        with self._lock:
            if self._assistant is None:
                folder = self.state_dir or _state_dir(self.project)
                dotenv = read_dotenv(self.project.root / ".env")
                self._assistant = assistant_of(self.settings, dotenv, self.env, folder)
            return self._assistant


def _state_dir(project: Project) -> Path | None:
    """Where all servers of a book count its tokens; None where nothing can be written."""
    try:
        return state_folder(project).path
    except AskBookError:
        return None


def _stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        else:
            loop.add_signal_handler(number, stop.set)
