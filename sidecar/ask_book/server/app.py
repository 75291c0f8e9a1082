"""The sidecar as one ASGI application."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from ask_book.errors import AskBookError
from ask_book.server.access import Access, AccessRules
from ask_book.server.errors import error_page, error_response, on_error
from ask_book.server.health import Health
from ask_book.server.holder import Holder
from ask_book.server.later import Later
from ask_book.server.limits import Limits, Shared, limited
from ask_book.server.metrics import Metrics, MetricsPage, Observed
from ask_book.server.openapi import openapi
from ask_book.server.proxy import BehindProxy, Proxy

if TYPE_CHECKING:
    from ask_book.answering.assistant import Assistant
    from ask_book.server.reports import Reports
    from ask_book.server.routes import Routes


@dataclass(frozen=True)
class Service:
    """How a server is run: behind which proxy, within which limits, sharing what with its other workers."""

    limits: Limits = field(default_factory=Limits)
    proxy: Proxy = field(default_factory=Proxy)
    shared: Shared | None = None
    metrics: Metrics = field(default_factory=Metrics)
    log_questions: bool = False


@dataclass(frozen=True)
class CountsUse:
    """ASGI: notes when a reader was last here; a look at `/health` by a command is none."""

    app: ASGIApp
    holder: Holder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "http":
            by_a_page = any(name == b"origin" for name, _ in scope["headers"])
            if scope["path"] != "/health" or by_a_page:
                self.holder.last_used = time.monotonic()
        await self.app(scope, receive, send)


def create_app(
    holder: Holder,
    access: Access,
    state_dir: Path | None = None,
    top_k: int = 7,
    assistant: Callable[[], Assistant] | None = None,
    reports: Callable[[Assistant], Reports] | None = None,
    service: Service | None = None,
    records: bool = False,
) -> ASGIApp:
    """The application that serves what `holder` has. `state_dir` is where feedback is kept; None: nowhere.

    `assistant` is called once, at the first request that is more than a look at `/health`; its connections are closed
    when the server ends. `reports` makes what keeps answers as documents; None keeps none. `records`: questions are
    kept beside the feedback.
    """
    service = service or Service()
    metrics = service.metrics
    used: list[Assistant | Reports] = []

    def readers() -> ASGIApp:
        from ask_book.answering.assistant import WITHOUT_MODEL
        from ask_book.server.routes import Routes

        model = assistant() if assistant else WITHOUT_MODEL
        kept = reports(model) if reports else None
        used.extend(filter(None, (model, kept)))
        routes = Routes(holder, access, model, state_dir, top_k, kept, records)
        return Router([*(kept.routes() if kept else ()), *readers_routes(routes)])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for one in used:
            await one.aclose()

    app = Starlette(
        lifespan=lifespan,
        routes=[*own_routes(holder, access, metrics), Mount("", Later(readers))],
        exception_handlers={AskBookError: on_error, HTTPException: _on_http_error, Exception: _on_bug},
    )
    # Around it, not among its middleware: so that its last resort, the response 500, obeys the rules too.
    ruled = AccessRules(CountsUse(limited(app, service.limits, metrics, service.shared), holder), access)
    return BehindProxy(Observed(ruled, metrics, service.log_questions), service.proxy)


def own_routes(holder: Holder, access: Access, metrics: Metrics) -> list[Route]:
    """What is answered at once."""
    return [
        Route("/health", Health(holder).health),
        Route("/metrics", MetricsPage(metrics, holder, access).show),
        Route("/openapi.json", openapi),
    ]


def readers_routes(routes: Routes) -> list[Route]:
    """What needs a book."""
    return [
        Route("/ask", routes.ask, methods=["POST"]),
        Route("/search", routes.search),
        Route("/passages/{tag}", routes.passage),
        Route("/feedback", routes.feedback, methods=["POST"]),
        Route("/reload", routes.reload, methods=["POST"]),
        *(Route(path, _only_posted) for path in ("/ask", "/feedback", "/reload")),
        Route("/{path:path}", routes.page),
    ]


async def _only_posted(_: Request) -> Response:
    """A path that takes POST only is no page of the book either."""
    raise HTTPException(405, headers={"Allow": "POST"})


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = AskBookError(f"{error.detail}.", "See the list of routes in the guide.", f"http_{error.status_code}")
    return error_page(request, error.status_code, said, dict(error.headers or {}))


async def _on_bug(_: Request, __: Exception) -> Response:
    return error_response(500, "failed", "Something went wrong in ask-book itself.", "Its log says what.")
