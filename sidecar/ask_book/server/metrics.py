"""What a server counts, in the text format of Prometheus; and a line of log for each request, without what was asked.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

import logging
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterator, MutableSequence, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ask_book import __version__
from ask_book.server.access import Access
from ask_book.server.errors import OWN_PAGES, RequestError
from ask_book.server.holder import Holder

ROUTES = ("ask", "search", "passages", "feedback", "reports", "health", "other")
OUTCOMES = ("2xx", "3xx", "4xx", "429", "503", "5xx")
TIMED = ("ask", "search")
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
GAUGES = ("answers_under_way", "answers_waiting")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_CELLS = [
    *(("count", route, outcome) for route in ROUTES for outcome in OUTCOMES),
    *(("bucket", route, bound) for route in TIMED for bound in (*BOUNDS, "+Inf")),
    *(("seconds", route) for route in TIMED),
    *(("gauge", name) for name in GAUGES),
]
_AT: dict[tuple[object, ...], int] = {cell: place for place, cell in enumerate(_CELLS)}
SIZE = len(_CELLS)

log = logging.getLogger("ask_book.requests")


@dataclass(frozen=True)
class Metrics:
    """Numbers of this process (`rows[mine]`) beside those of the other workers: whichever is asked tells the sums."""

    rows: Sequence[MutableSequence[float]] = field(default_factory=lambda: (array("d", bytes(8 * SIZE)),))
    mine: int = 0

    def count(self, route: str, status: int, seconds: float) -> None:
        """One request is done."""
        row = self.rows[self.mine]
        outcome = str(status) if status in (429, 503) else f"{status // 100}xx"
        row[_AT["count", route, outcome]] += 1
        if route in TIMED and status < 400:
            place = bisect_left(BOUNDS, seconds)
            row[_AT["bucket", route, BOUNDS[place] if place < len(BOUNDS) else "+Inf"]] += 1
            row[_AT["seconds", route]] += seconds

    def gauge(self, name: str, value: float) -> None:
        """How many there are now."""
        self.rows[self.mine][_AT["gauge", name]] = value

    def total(self, *cell: object) -> float:
        """One number, summed over all workers."""
        return sum((row[_AT[cell]] for row in self.rows), 0.0)

    def lines(self, holder: Holder) -> Iterator[str]:
        """The whole page."""
        yield "# TYPE ask_book_info gauge"
        yield f'ask_book_info{{version="{__version__}",book="{holder.book_id}"}} 1'
        yield "# TYPE ask_book_index_ready gauge"
        yield f"ask_book_index_ready {int(holder.current is not None)}"
        yield "# TYPE ask_book_requests_total counter"
        for route in ROUTES:
            for outcome in OUTCOMES:
                count = self.total("count", route, outcome)
                yield f'ask_book_requests_total{{route="{route}",outcome="{outcome}"}} {count:.0f}'
        yield "# TYPE ask_book_request_seconds histogram"
        for route in TIMED:
            below = 0.0
            for bound in (*BOUNDS, "+Inf"):
                below += self.total("bucket", route, bound)
                yield f'ask_book_request_seconds_bucket{{route="{route}",le="{bound}"}} {below:.0f}'
            yield f'ask_book_request_seconds_sum{{route="{route}"}} {self.total("seconds", route):.6f}'
            yield f'ask_book_request_seconds_count{{route="{route}"}} {below:.0f}'
        for name in GAUGES:
            yield f"# TYPE ask_book_{name} gauge"
            yield f"ask_book_{name} {self.total('gauge', name):.0f}"


@dataclass(frozen=True)
class MetricsPage:
    """The handler of one server."""

    metrics: Metrics
    holder: Holder
    access: Access

    async def show(self, request: Request) -> Response:
        """Numbers for Prometheus: requests, their times, answers under way. Needs the owner's token."""
        if not self.access.has_token(request.headers):
            raise RequestError(401, "This needs the owner's token.", "Set ASK_BOOK_TOKEN for `serve`.", "token")
        text = "\n".join([*self.metrics.lines(self.holder), ""])
        return PlainTextResponse(text, headers={**OWN_PAGES, "Cache-Control": "no-store"}, media_type=CONTENT_TYPE)


@dataclass(frozen=True)
class Observed:
    """ASGI: counts and logs each request when it is done. What was asked is only logged if `questions`."""

    app: ASGIApp
    metrics: Metrics
    questions: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        scope["state"] = {}  # where a route leaves the question
        try:
            await self.app(scope, receive, watched)
        finally:
            seconds, route = time.monotonic() - began, route_of(scope["path"])
            self.metrics.count(route, status or 500, seconds)
            said = {"method": scope["method"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
            if self.questions and (question := scope["state"].get("question")):
                said["question"] = question
            log.info("request", extra={"said": said})


def route_of(path: str) -> str:
    """The name under which a path is counted."""
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    return first if first in ROUTES else "other"
