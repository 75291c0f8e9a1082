"""`ask-book serve`: the book in the foreground, for one reader or for many."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import secrets
import socket
from argparse import Namespace
from collections.abc import Iterable
from urllib.parse import urlsplit

from ask_book import __version__
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.commands.open import browse, with_token
from ask_book.daemon.ports import bind, bind_one_of_the_books
from ask_book.daemon.run import serve_book
from ask_book.errors import AskBookError
from ask_book.server.access import Access

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(options: Namespace) -> int:
    """Serve until Ctrl-C."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    listener = _listener(project, options.host, options.port)
    port = listener.getsockname()[1]
    is_local = options.host in LOOPBACK
    # Nothing on disk and in nobody's hands but this browser's: whoever serves can restart the server anyway.
    access = Access(
        secrets.token_urlsafe(32),
        hosts=frozenset() if is_local else _hosts(options, project, settings, port),
        sites=frozenset() if is_local else frozenset(_origins(project)),
        local=is_local,
    )
    url = f"http://{_in_url('127.0.0.1' if _is_any(options.host) else options.host)}:{port}/"
    if options.json:
        status = {"running": True, "url": url, "pid": os.getpid(), "port": port}
        terminal.say_json({**status, "book_id": project.book_id, "version": __version__})
    else:
        terminal.say(f"{project.title or 'The book'} at {url} (Ctrl-C ends it)")
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, format="%(levelname)s %(message)s")
    shown = (lambda: _open(url, access.token)) if options.open else (lambda: None)
    asyncio.run(serve_book(project, settings, os.environ, access, listener, on_listening=shown))
    return 0


def _listener(project: Project, host: str, port: int | None) -> socket.socket:
    if port is None:
        return bind_one_of_the_books(project.book_id, host)
    try:
        return bind(host, port)
    except OSError as error:
        raise AskBookError(
            f"{host} port {port} cannot be used ({error.strerror or error}).",
            "Take another port with --port, or 0 for any free one.",
            "ports",
        ) from None


def _hosts(options: Namespace, project: Project, settings: Settings, port: int) -> frozenset[str]:
    """The names that readers may use for this server: its own, and those that the author or administrator gave."""
    own = {socket.gethostname(), *([] if _is_any(options.host) else [options.host])}
    given = {urlsplit(address).netloc for address in (settings.endpoint, project.site_url) if address}
    return frozenset(name.lower() for name in (*given, *options.name, *(f"{_in_url(name)}:{port}" for name in own)))


def _origins(project: Project) -> Iterable[str]:
    if project.site_url:
        site = urlsplit(project.site_url)
        yield f"{site.scheme}://{site.netloc}"


def _is_any(host: str) -> bool:
    """Whether this is no address of its own but all of this machine's."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _open(url: str, token: str) -> None:
    if not browse(with_token(url, token)):
        terminal.tell("No browser could be opened: open that address yourself.")
