"""`ask-book serve` in one process or in several that share a socket, the rates and the counters.

Each worker is a whole server with the book in its memory. The first process serves nothing: it replaces a worker that
dies, and ends the others when it is told to end.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from types import FrameType

from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.daemon.run import serve_book
from ask_book.errors import AskBookError
from ask_book.server.access import Access
from ask_book.server.app import Service
from ask_book.server.limits import SLOTS, Shared
from ask_book.server.logs import Form, log_to_stderr
from ask_book.server.metrics import SIZE, Metrics

LOOK_SECONDS = 0.5
YOUNG_SECONDS = 5.0
YOUNG_DEATHS = 3

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Served:
    """What a worker needs to know; it is sent to it."""

    project: Project
    settings: Settings
    access: Access
    service: Service
    grace: float
    log_form: Form
    log_level: int


def serve_alone(served: Served, listener: socket.socket, on_listening: Callable[[], None] = lambda: None) -> None:
    """Serve in this process until a signal."""
    log_to_stderr(served.log_form, served.log_level)
    asyncio.run(
        serve_book(
            served.project,
            served.settings,
            os.environ,
            served.access,
            listener,
            on_listening=on_listening,
            service=served.service,
            grace=served.grace,
        )
    )


def serve_with_workers(
    served: Served, listener: socket.socket, count: int, on_listening: Callable[[], None] = lambda: None
) -> None:
    """Serve with `count` processes until a signal. Raises `AskBookError` when workers die as soon as they live."""
    log_to_stderr(served.log_form, served.log_level)
    context = multiprocessing.get_context("spawn")
    shared = Shared(context.RawArray("d", SLOTS), context.RawArray("d", 1), secrets.token_bytes(16))
    rows = tuple(context.RawArray("d", SIZE) for _ in range(count))
    parts = [
        replace(served, service=replace(served.service, shared=shared, metrics=Metrics(rows, mine)))
        for mine in range(count)
    ]
    ending = False

    def end(_: int, __: FrameType | None) -> None:
        nonlocal ending
        ending = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    workers = [_begin(context, part, listener) for part in parts]
    born = [time.monotonic()] * count
    on_listening()
    young_deaths = 0
    try:
        while not ending and young_deaths < YOUNG_DEATHS:
            wait([worker.sentinel for worker in workers], LOOK_SECONDS)
            for place, worker in enumerate(workers):
                if worker.exitcode is None or ending:
                    continue
                if worker.exitcode == 0:  # the book is gone
                    return
                log.error("A worker ended with code %s; another takes its place.", worker.exitcode)
                young_deaths = young_deaths + 1 if time.monotonic() - born[place] < YOUNG_SECONDS else 0
                workers[place], born[place] = _begin(context, parts[place], listener), time.monotonic()
    finally:
        _end(workers, served.grace)
        listener.close()
    if not ending:
        raise AskBookError(
            "The workers of the server end as soon as they begin.", "Their last words are above.", "workers"
        )


def _begin(context: SpawnContext, part: Served, listener: socket.socket) -> SpawnProcess:
    worker = context.Process(target=serve_alone, args=(part, listener))
    worker.start()
    return worker


def _end(workers: list[SpawnProcess], grace: float) -> None:
    """Let them finish their answers, then make them end."""
    for worker in workers:
        worker.terminate()
    deadline = time.monotonic() + grace + 5
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
        if worker.exitcode is None:
            worker.kill()
            worker.join()
