"""Serving an application on a socket, in this process, until somebody says stop."""

from __future__ import annotations

import asyncio
import logging
import socket

from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config
from starlette.applications import Starlette

GRACE_SECONDS = 3.0
HEADER_SECONDS = 10.0
HEADER_BYTES = 32_768
CONNECTIONS = 200


async def serve(app: Starlette, listener: socket.socket, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then let open answers finish for `GRACE_SECONDS`.

    `listener` is bound, to whatever address the caller wants; it is closed at the end.
    """
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = GRACE_SECONDS
    config.keep_alive_timeout = HEADER_SECONDS
    config.h11_max_incomplete_size = HEADER_BYTES
    config.backlog = CONNECTIONS
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = logging.getLogger("ask_book.server")
    await hypercorn_serve(app, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]
