"""A book as an ASGI application, for hosts that run such applications themselves: Posit Connect, uvicorn, hypercorn.

# app.py
from ask_book.daemon.hosted import HostedBook

app = HostedBook("hydrology", names=["connect.example.org"])
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.daemon.run import running_app
from ask_book.server.access import Access
from ask_book.server.app import Service
from ask_book.server.limits import Limits


class HostedBook:
    """`folder`: an exported book, or the folder of a book. `names`: those that readers use for the host.

    The book is opened when the host starts the application, and followed until it ends it.
    """

    def __init__(self, folder: str | Path, names: Collection[str] = ()) -> None:
        self._project = find_project(Path(folder), os.environ)
        self._settings = settings_of(self._project.configuration, os.environ)
        addresses = [urlsplit(address) for address in (self._settings.endpoint, self._project.site_url) if address]
        site = urlsplit(self._project.site_url)
        self._access = Access(
            os.environ.get("ASK_BOOK_TOKEN") or secrets.token_urlsafe(32),
            hosts=frozenset(name.lower() for name in (*names, *(address.netloc for address in addresses))),
            sites=frozenset([f"{site.scheme}://{site.netloc}"] if site.netloc else []),
            local=False,
        )
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request, or the life of the application."""
        if scope["type"] == "lifespan":
            settings = self._settings
            limits = Limits(
                settings.requests_per_reader,
                settings.requests_per_minute,
                settings.answers_at_once,
                settings.answers_waiting,
            )
            running = running_app(
                self._project, settings, os.environ, self._access, asyncio.Event(), service=Service(limits)
            )
            async with running as self._app:
                await self._app(scope, receive, send)
            return
        if self._app is None:
            raise RuntimeError("The host has not started the application: it must speak ASGI's lifespan protocol.")
        # Hosts name the path that they show the application under, and some leave it in the path.
        root = scope.get("root_path", "").rstrip("/")
        inside = {"path": scope["path"].removeprefix(root) or "/", "root_path": ""} if root else {}
        await self._app({**scope, **inside}, receive, send)
