"""The daemon's own process: `python -m ask_book.daemon STATE_FOLDER`, begun by `process.begin`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from dataclasses import replace
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ask_book import __version__
from ask_book.daemon.ports import bind_one_of_the_books
from ask_book.daemon.run import serve_book
from ask_book.daemon.state import State, StateFolder
from ask_book.errors import AskBookError
from ask_book.files import FileLock
from ask_book.server.access import Access

LOG_BYTES = 200_000
SUPERSEDED_SECONDS = 15.0


def main() -> int:
    """Listen, say so in the state file, serve until it is time to end. 1 when it cannot listen.

    The order is in the folder, and its id comes over stdin: nothing comes if this process is not needed.
    """
    folder, start_id = StateFolder(Path(sys.argv[1])), sys.stdin.readline().strip()
    if not start_id:
        return 0
    ordered, order, last = folder.order_stamp(), folder.order(), folder.read()
    if order.start_id != start_id:
        return 0  # the start that made this process was killed, and another one has begun since
    book_id = order.project.book_id
    state = State(order.start_id, os.getpid(), __version__, book_id, order.fingerprint)
    with FileLock(folder.alive_lock) as life:
        # One that a killed start left behind notices the new order, and ends.
        if not life.acquire(timeout=SUPERSEDED_SECONDS):
            sys.stderr.write("Another sidecar of this book does not end.\n")
            return 1
        # From now on it is known which process has to be ended.
        folder.write(state)
        try:
            listener = bind_one_of_the_books(book_id, prefer=last.port if last else 0)
        except AskBookError as error:
            folder.write(replace(state, error=error.message, hint=error.hint))
            return 1
        _log_to(folder.log)
        port = listener.getsockname()[1]
        asyncio.run(
            serve_book(
                order.project,
                order.settings,
                os.environ,
                Access(folder.token()),
                listener,
                folder.path,
                order.settings.idle_minutes * 60,
                on_listening=lambda: folder.write(replace(state, port=port)),
                # A daemon that no command can find any more would be in the way of the next one.
                is_wanted=lambda: (
                    folder.order_stamp() == ordered and (now := folder.read()) is not None and now.start_id == start_id
                ),
            )
        )
    return 0


def _log_to(path: Path) -> None:
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
    logging.basicConfig(handlers=[handler], level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


if __name__ == "__main__":
    raise SystemExit(main())
