"""`ask-book serve`: the book in the foreground, for one reader or for many."""

from __future__ import annotations

import ipaddress
import logging
import math
import os
import re
import secrets
import socket
from argparse import Namespace
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from ask_book import __version__
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.commands.open import browse, with_token
from ask_book.daemon.ports import bind, bind_one_of_the_books
from ask_book.daemon.workers import Served, serve_alone, serve_with_workers
from ask_book.errors import AskBookError, UsageError
from ask_book.server.access import Access
from ask_book.server.app import Service
from ask_book.server.limits import Limits
from ask_book.server.proxy import proxy_of

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(options: Namespace) -> int:
    """Serve until Ctrl-C."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    proxy = proxy_of(options.trusted_proxy, options.root_path)
    token = _token(os.environ)
    listener = _listener(project, options.host, options.port)
    port = listener.getsockname()[1]
    is_local = options.host in LOOPBACK and not (options.name or options.trusted_proxy)
    access = Access(
        token,
        hosts=frozenset() if is_local else _hosts(options, project, settings, port),
        sites=frozenset() if is_local else frozenset(_origins(project)),
        local=is_local,
    )
    url = f"http://{_in_url('127.0.0.1' if _is_any(options.host) else options.host)}:{port}{proxy.root}/"
    if options.json:
        status = {"running": True, "url": url, "pid": os.getpid(), "port": port}
        terminal.say_json({**status, "book_id": project.book_id, "version": __version__})
    else:
        terminal.say(f"{project.title or 'The book'} at {url} (Ctrl-C ends it)")
    shown = (lambda: _open(url, access.token)) if options.open else (lambda: None)
    served = Served(
        project,
        settings,
        access,
        Service(_limits(settings, is_local, options.workers), proxy, log_questions=options.log_questions),
        options.grace,
        options.log or "text",
        logging.INFO if options.log or options.log_questions or options.verbose else logging.WARNING,
    )
    if options.workers == 1:
        serve_alone(served, listener, shown)
    else:
        serve_with_workers(served, listener, options.workers, shown)
    return 0


def _token(env: Mapping[str, str]) -> str:
    """The owner's token: the administrator's, else one that is nowhere but in this browser's hands."""
    given = env.get("ASK_BOOK_TOKEN", "")
    if given and not re.fullmatch(r"[\w~.+/=-]{16,200}", given, re.ASCII):
        raise UsageError(
            "ASK_BOOK_TOKEN is no good token.", "Take 16 or more letters and digits: `openssl rand -hex 24`.", "token"
        )
    return given or secrets.token_urlsafe(32)


def _limits(settings: Settings, is_local: bool, workers: int) -> Limits:
    """Answers are shared out among the workers; the rates count what all of them do."""
    return Limits(
        0 if is_local else settings.requests_per_reader,
        0 if is_local else settings.requests_per_minute,
        math.ceil(settings.answers_at_once / workers),
        math.ceil(settings.answers_waiting / workers),
    )


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
