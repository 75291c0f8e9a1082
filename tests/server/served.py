"""A real server on a free loopback port, in a thread, for tests that speak HTTP."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from ask_book.server.run import serve


@contextmanager
def served(app: ASGIApp) -> Iterator[int]:
    """Its port; at the end the server is stopped and must end."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(serve(app, listener, stop),))
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
        assert not thread.is_alive()


def exchange(port: int, request: bytes, until: bytes = b"") -> bytes:
    """What the server sends for these very bytes: everything until it closes, or up to `until`."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        while piece := connection.recv(65536):
            received += piece
            if until and until in received:
                break
    return received
