"""How much readers may ask: requests a minute, of one reader and of all, and answers at once, with a queue before them.

Who is over a rate gets 429, who finds the queue full or too slow 503; both with the seconds after which to try again.
A body has to come whole, in bounded size and time, before its request takes a place.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from array import array
from collections import deque
from collections.abc import MutableSequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ask_book.server.errors import RequestError, error_response
from ask_book.server.metrics import Metrics

WINDOW_SECONDS = 60.0
QUEUE_SECONDS = 20.0
SLOTS = 1 << 16
BODY_BYTES = 65_536
BODY_SECONDS = 10.0
LIMITED = re.compile("/(ask|search|passages/.*|feedback)")  # not the files in `/ask-book`


@dataclass(frozen=True)
class Limits:
    """`reader`, `total`: requests a minute. `at_once`: answers being written; `waiting`: how many more may wait.

    0 is no limit (for `waiting`: nobody waits).
    """

    reader: int = 0
    total: int = 0
    at_once: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Shared:
    """What the workers of one server have in common: when requests are due, of each reader and of all."""

    readers: MutableSequence[float]
    total: MutableSequence[float]
    key: bytes


@dataclass(frozen=True)
class Rate:
    """At most `per_minute` requests at once, and from then on one every 60 / `per_minute` seconds, for each name.

    The generic cell rate algorithm (ITU-T I.371): all that is kept of a name is when its next request would be due if
    they came evenly. Names share the slots of `due` by a keyed hash: memory does not grow with the number of readers,
    and several processes may share it (the clock is the system's, the same in all).
    """

    per_minute: int
    due: MutableSequence[float]
    key: bytes = b""

    def wait(self, name: str, now: float) -> float:
        """Seconds until `name` may ask; 0: now."""
        if not self.per_minute:
            return 0.0
        return max(0.0, self._due(name, now) + self._interval - now - WINDOW_SECONDS)

    def take(self, name: str, now: float) -> None:
        """Count one request."""
        if self.per_minute:
            self.due[self._slot(name)] = self._due(name, now) + self._interval

    @property
    def _interval(self) -> float:
        return WINDOW_SECONDS / self.per_minute

    def _due(self, name: str, now: float) -> float:
        return max(self.due[self._slot(name)], now)

    def _slot(self, name: str) -> int:
        hashed = hashlib.blake2b(name.encode(), digest_size=8, key=self.key).digest()
        return int.from_bytes(hashed) % len(self.due)


class Queue:
    """Lets `at_once` through, in order of arrival, and knows about how long the next one would wait."""

    def __init__(self, at_once: int, waiting: int, metrics: Metrics) -> None:
        self._at_once = at_once
        self._most_waiting = waiting
        self._metrics = metrics
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._mean_seconds = 1.0

    def wait(self) -> float:
        """Seconds that a newcomer would wait, judged by how long answers took; infinite when the queue is full."""
        if not self._at_once or self._under_way < self._at_once:
            return 0.0
        if len(self._waiting) >= self._most_waiting:
            return math.inf
        return self._estimate()

    def retry_after(self) -> int:
        """When it is worth to try again, in whole seconds from 1 to 60."""
        return math.ceil(min(60.0, max(1.0, self._estimate())))

    async def enter(self) -> bool:
        """Whether our turn came within `QUEUE_SECONDS`; who enters must leave."""
        if self._at_once and self._under_way >= self._at_once:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._count()
            try:
                async with asyncio.timeout(QUEUE_SECONDS):
                    await turn
            except BaseException as error:
                if turn.done() and not turn.cancelled():
                    self._pass_on()  # our turn came in the very moment in which we gave up
                elif turn in self._waiting:
                    self._waiting.remove(turn)
                self._count()
                if isinstance(error, TimeoutError):
                    return False
                raise
        else:
            self._under_way += 1
        self._count()
        return True

    def leave(self, seconds: float) -> None:
        """An answer is done, which took so long."""
        self._mean_seconds += (seconds - self._mean_seconds) / 8
        self._pass_on()
        self._count()

    def _estimate(self) -> float:
        return self._mean_seconds * (len(self._waiting) + 1) / max(1, self._at_once)

    def _pass_on(self) -> None:
        """Give our place to the first who waits, else free it."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._under_way -= 1

    def _count(self) -> None:
        self._metrics.gauge("answers_under_way", self._under_way)
        self._metrics.gauge("answers_waiting", len(self._waiting))


@dataclass(frozen=True)
class Limited:
    """ASGI: lets a request through when its reader's rate, the total and the queue allow it."""

    app: ASGIApp
    reader: Rate
    total: Rate
    queue: Queue

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not (LIMITED.fullmatch(scope["path"]) or scope["method"] == "POST"):
            await self.app(scope, receive, send)
            return
        now, name = time.monotonic(), reader_of(scope)
        if wait := max(self.reader.wait(name, now), self.total.wait("", now)):
            await _later(429, "rate", "Too many requests.", math.ceil(wait))(scope, receive, send)
            return
        self.reader.take(name, now)
        self.total.take("", now)
        if scope["method"] == "POST":
            try:
                body = await _body(receive)
            except RequestError as error:
                await error_response(error.status, error.code, error.message, error.hint)(scope, receive, send)
                return
            receive = _again(body, receive)
        if scope["path"] == "/ask" and scope["method"] == "POST":
            await self._in_turn(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _in_turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.queue.wait() > QUEUE_SECONDS or not await self.queue.enter():
            busy = _later(503, "busy", "Too many readers are asking at this moment.", self.queue.retry_after())
            await busy(scope, receive, send)
            return
        began = time.monotonic()
        try:
            await self.app(scope, receive, send)
        finally:
            self.queue.leave(time.monotonic() - began)


def limited(app: ASGIApp, limits: Limits, metrics: Metrics, shared: Shared | None = None) -> ASGIApp:
    """`app` within `limits`."""
    slots = shared or Shared(array("d", bytes(8 * (SLOTS if limits.reader else 1))), array("d", [0.0]), b"")
    reader, total = Rate(limits.reader, slots.readers, slots.key), Rate(limits.total, slots.total)
    return Limited(app, reader, total, Queue(limits.at_once, limits.waiting, metrics))


def reader_of(scope: Scope) -> str:
    """Who counts as one reader: an IPv4 address, or the network that one household has in IPv6."""
    host = str((scope.get("client") or ("", 0))[0])
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return str(int(address) >> 64) if isinstance(address, IPv6Address) else host


async def _body(receive: Receive) -> bytes:
    """All of a body. Raises `RequestError` when it is too large, too slow or not sent to its end."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestError(400, "The request broke off.", "Send it again.", "cut")
                body += message.get("body", b"")
                if len(body) > BODY_BYTES:
                    raise RequestError(413, "The request is too large.", "Send less history.", "too_large")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise RequestError(408, "The request did not come to its end.", "Send it again.", "slow") from None


def _again(body: bytes, receive: Receive) -> Receive:
    """What an application receives of a request whose body was read already."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _later(status: int, code: str, message: str, seconds: int) -> Response:
    hint = f"Try again in {seconds} second{'' if seconds == 1 else 's'}."
    return error_response(status, code, message, hint, {"Retry-After": str(seconds)})
