"""One process that serves a book: what the daemon and `ask-book serve` have in common."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.daemon.watch import Watch
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from ask_book.server.run import serve


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
) -> None:
    """Answer on `listener` at once, read the book meanwhile, and go on until a signal, idleness or the book's end.

    Or until nobody has a use for it: `is_wanted` is asked once a second, after `on_listening`.
    """
    stop = asyncio.Event()
    _stop_on_signals(stop)
    holder = Holder(project.book_id, project.title, project.lang)
    watch = Watch(project, holder, env)
    serving = asyncio.create_task(serve(create_app(holder, access, state_dir, settings.top_k), listener, stop))
    on_listening()
    watching = asyncio.create_task(watch.run(stop, idle_seconds, is_wanted))
    try:
        await serving
    finally:
        stop.set()
        await watching


def _stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        else:
            loop.add_signal_handler(number, stop.set)
