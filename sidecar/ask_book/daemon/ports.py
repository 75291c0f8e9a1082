"""A listening socket on one of the ports where a book's pages look for their sidecar."""

from __future__ import annotations

import errno
import socket
import sys

from ask_book.book.identity import ports
from ask_book.errors import AskBookError

BACKLOG = 128


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError when the port is taken, `AskBookError` when the address is not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there, SO_REUSEADDR would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise AskBookError(
                f"{host} is no address of this machine ({error.strerror}).",
                "Listen on 127.0.0.1, or on 0.0.0.0 for everybody who can reach this machine.",
                "host",
            ) from None
        raise
    return listener


def bind_one_of_the_books(book_id: str, host: str = "127.0.0.1", prefer: int = 0) -> socket.socket:
    """A socket on the book's preferred port, else on another of its four. Raises `AskBookError` if all are taken."""
    candidates = ports(book_id)
    for port in sorted(candidates, key=lambda candidate: candidate != prefer):
        try:
            return bind(host, port)
        except OSError:
            continue
    raise AskBookError(
        f"The four ports of this book ({candidates[0]}–{candidates[-1]}) are all taken by other programs.",
        "End one of them, or serve the book on another port: `ask-book serve --port 0`.",
        "ports",
    )
