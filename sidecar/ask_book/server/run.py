"""Serving an application on a socket, in this process, until somebody says stop."""

from __future__ import annotations

import asyncio
import logging
import socket

from h11 import Request
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config
from hypercorn.protocol.h11 import H11Protocol
from starlette.types import ASGIApp

from ask_book.server.logs import Seldom

GRACE_SECONDS = 3.0
SILENT_MILLISECONDS = 60_000
HEADER_SECONDS = 10.0
HEADER_BYTES = 32_768
CONNECTIONS = 200

_seldom = Seldom()


async def _only_http_1(_: H11Protocol, __: Request) -> None:
    """No change to HTTP/2, which no browser speaks without TLS, and which hypercorn would let idle for ever."""


H11Protocol._check_protocol = _only_http_1  # type: ignore[assignment, method-assign]


async def serve(app: ASGIApp, listener: socket.socket, stop: asyncio.Event, grace: float = GRACE_SECONDS) -> None:
    """Serve until `stop` is set, then let open answers finish for `grace` seconds.

    `listener` is bound, to whatever address the caller wants; it is closed at the end.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # a client that takes nothing of its response is given up
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_MILLISECONDS)
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = grace
    config.keep_alive_timeout = HEADER_SECONDS
    config.h11_max_incomplete_size = HEADER_BYTES
    config.backlog = CONNECTIONS
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("ask_book.server")
    logging.getLogger("asyncio").addFilter(_seldom)
    serving = asyncio.ensure_future(hypercorn_serve(app, config, shutdown_trigger=stop.wait))  # type: ignore[arg-type]
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
        # From Python 3.12 on, the end of a server waits for its last connection without any limit.
        await asyncio.wait({serving}, timeout=grace + 1)
    finally:
        for task in (serving, stopped):
            task.cancel()
    await asyncio.gather(serving, stopped, return_exceptions=True)
    if not serving.cancelled() and (error := serving.exception()):
        raise error
