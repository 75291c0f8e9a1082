"""The one HTTP client that talks to models: connections kept, retries only where nothing can happen twice."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import httpx

from ask_book import __version__
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import (
    BrokenStreamError,
    ContextTooLongError,
    NoAnswerError,
    ProviderError,
    RateLimitError,
    RejectedError,
    ServerFailedError,
    ToolsUnsupportedError,
    UnknownModelError,
    UnreachableError,
    WrongKeyError,
)

CONNECT_SECONDS = 5.0
ATTEMPTS = 3
LONGEST_WAIT = 8.0
LINE_BYTES = 1_000_000
BODY_BYTES = 50_000_000
SAID_CHARACTERS = 500
DRAIN_SECONDS = 0.25
DONE = {"done": True}

_CONTEXT = re.compile(
    r"context.{0,40}(?:length|size|window|limit|exceed)|exceed.{0,40}context|too many tokens"
    r"|(?:prompt|input).{0,20}too long|maximum.{0,30}tokens",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    r"model_not_found|model[^.]{0,80}(?:not found|not exist)|(?:invalid|unknown|no such) model", re.IGNORECASE
)
_TOOLS = re.compile(
    r"\b(?:tool|function)s?\b[^.]{0,60}(?:support|enable|requir|permit|unexpected)"
    r"|(?:support|argument|parameter|extra)[^.]{0,60}\b(?:tool|function)s?\b",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"quota|credit|billing|payment", re.IGNORECASE)

log = logging.getLogger(__name__)


class Http:
    """Made once for a server or a command, and closed at its end; used on one event loop."""

    def __init__(self) -> None:
        # A proxy of the environment is for the world outside, never for this machine.
        here = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
        self._client = httpx.AsyncClient(
            mounts=here,
            limits=httpx.Limits(max_connections=200, max_keepalive_connections=20),
            headers={"User-Agent": f"ask-book/{__version__}"},
        )

    async def aclose(self) -> None:
        """Close what connections are open."""
        await self._client.aclose()

    async def post_json(self, endpoint: Endpoint, path: str, body: dict[str, Any]) -> Any:
        """The JSON that the endpoint answers. Raises `ProviderError`."""
        async with self._answered(endpoint, path, body) as response:
            return _json(endpoint, await _whole(endpoint, response))

    async def stream(
        self, endpoint: Endpoint, path: str, body: dict[str, Any], seconds: float = 300.0
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The JSON objects of a stream of events, `DONE` for `[DONE]`; of an answer in one piece, that object.

        Closing the generator closes the connection at once. Raises `ProviderError`, also after `seconds` in all.
        """
        deadline = time.monotonic() + seconds
        async with self._answered(endpoint, path, body) as response:
            kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
            if kind == "application/json":
                yield _object(endpoint, await _whole(endpoint, response))
                return
            if kind not in ("text/event-stream", "text/plain", "application/x-ndjson", ""):
                raise _no_interface(endpoint, f"Content-Type: {kind}")
            async with aclosing(_lines(endpoint, response, deadline)) as lines:
                async for line in lines:
                    data = line.removeprefix(b"data:").strip() if line.startswith((b"data:", b"{")) else b""
                    if data == b"[DONE]":
                        yield DONE
                        # What follows is the end of the body: read, the connection can be used again.
                        with anyio.move_on_after(DRAIN_SECONDS):
                            async for _ in lines:
                                pass
                        return
                    if data:
                        yield _object(endpoint, data)

    @asynccontextmanager
    async def _answered(self, endpoint: Endpoint, path: str, body: dict[str, Any]) -> AsyncIterator[httpx.Response]:
        """The response once its status is good; an attempt that failed before an answer began is made again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await self._send(endpoint, path, body)
                break
            except (RateLimitError, ServerFailedError, UnreachableError) as error:
                wait = _wait(error, attempt)
                if attempt == ATTEMPTS or wait is None:
                    raise
                log.info("%s Trying again in %.1f s.", error.message, wait)
                await asyncio.sleep(wait)
        try:
            yield response
        except httpx.TimeoutException:
            raise _timed_out(endpoint) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _broken(endpoint, type(error).__name__) from None
        finally:
            await response.aclose()

    async def _send(self, endpoint: Endpoint, path: str, body: dict[str, Any]) -> httpx.Response:
        request = self._client.build_request(
            "POST",
            f"{endpoint.base_url}{path}",
            json=body,
            headers={"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {},
            timeout=httpx.Timeout(endpoint.silence, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS),
        )
        try:
            response = await self._client.send(request, stream=True)
        except (httpx.ConnectTimeout, httpx.PoolTimeout):
            raise _unreachable(endpoint, "no connection in time") from None
        except httpx.TimeoutException:
            raise _timed_out(endpoint) from None
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise _unreachable(endpoint, type(error).__name__) from None
        if response.status_code == 200:
            return response
        try:
            said = (await _whole(endpoint, response, LINE_BYTES)).decode("utf-8", "replace")
        except (httpx.HTTPError, ProviderError):
            said = ""
        finally:
            await response.aclose()
        raise _refusal(endpoint, response, _redacted(said, endpoint), body)


async def _lines(endpoint: Endpoint, response: httpx.Response, deadline: float) -> AsyncGenerator[bytes, None]:
    held, is_first = b"", True
    async for piece in response.aiter_bytes():
        if time.monotonic() > deadline:
            raise _timed_out(endpoint)
        *lines, held = (held + piece).split(b"\n")
        if len(held) > LINE_BYTES or any(len(line) > LINE_BYTES for line in lines):
            raise _broken(endpoint, "a line without end")
        for line in lines:
            yield (line.removeprefix(BOM_UTF8) if is_first else line).strip()
            is_first = False
    if held.strip():
        yield held.strip()


async def _whole(endpoint: Endpoint, response: httpx.Response, most: int = BODY_BYTES) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > most:
            raise _broken(endpoint, "an answer without end")
    return bytes(body)


def _json(endpoint: Endpoint, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise _broken(endpoint, "no JSON") from None


def _object(endpoint: Endpoint, data: bytes) -> dict[str, Any]:
    """One object of a stream; an error that a host reports inside a stream is raised."""
    found = _json(endpoint, data)
    if not isinstance(found, dict):
        raise _broken(endpoint, "no JSON object")
    if error := found.get("error"):
        said = _redacted(json.dumps(error, ensure_ascii=False), endpoint)
        log.warning("%s reports: %s", endpoint.host, said)
        raise _by_words(endpoint, said) or ServerFailedError(
            f"The model at {endpoint.host} broke off with an error.", "Try again; the log has its words.", said
        )
    return found


def _refusal(endpoint: Endpoint, response: httpx.Response, said: str, body: dict[str, Any]) -> ProviderError:
    status, host = response.status_code, endpoint.host
    log.warning("%s answered %d: %s", host, status, said)
    if status in (401, 403):
        key = "The key" if endpoint.key else "No key was sent, and that"
        return WrongKeyError(
            f"{key} was refused by {host} ({status}).",
            "Check the key set beside the base URL, and that it may use this model.",
            said,
        )
    if status == 402 or (status == 429 and _CREDIT.search(said)):
        return RateLimitError(f"The account at {host} has no credit left ({status}).", "Its owner can add some.", said)
    if status == 429:
        wait = _retry_after(response.headers.get("retry-after"))
        return RateLimitError(f"{host} gets too many requests ({status}).", "Wait a moment and ask again.", said, wait)
    if "tools" in body and _TOOLS.search(said) and not ("tool_choice" in body and "tool_choice" in said):
        return ToolsUnsupportedError(f"The model at {host} cannot use tools.", "Set `mode: grounded`.", said)
    if status >= 500:
        return ServerFailedError(f"{host} failed ({status}).", "Try again later.", said)
    if status in (301, 302, 303, 307, 308):
        return UnknownModelError(f"{host} points to another address ({status}).", "Correct the base URL.", said)
    if found := _by_words(endpoint, said):
        return found
    if status in (404, 405):
        return UnknownModelError(
            f"{host} knows no such model, or no such interface ({status}).",
            "Check `chat-model` and the base URL.",
            said,
        )
    return RejectedError(f"{host} does not accept the request ({status}).", "The log has its words.", said)


def _by_words(endpoint: Endpoint, said: str) -> ProviderError | None:
    if _CONTEXT.search(said):
        return ContextTooLongError(
            f"The passages are more than the model at {endpoint.host} reads at once.",
            "Set a smaller `top-k` or `passage-characters`, or a model with a longer context.",
            said,
        )
    if _NO_MODEL.search(said):
        return UnknownModelError(f"{endpoint.host} has no such model.", "Check the name in `chat-model`.", said)
    return None


def _timed_out(endpoint: Endpoint) -> NoAnswerError:
    return NoAnswerError(f"The model at {endpoint.host} took too long.", "Ask again, or set a longer `model-seconds`.")


def _broken(endpoint: Endpoint, why: str) -> BrokenStreamError:
    log.warning("%s broke off: %s", endpoint.host, why)
    return BrokenStreamError(
        f"The answer of the model at {endpoint.host} broke off or cannot be read.", "Ask again.", why
    )


def _no_interface(endpoint: Endpoint, why: str) -> BrokenStreamError:
    log.warning("%s answered with %s", endpoint.host, why)
    return BrokenStreamError(
        f"What {endpoint.host} answered is not from a model's interface.",
        "Check the base URL: it often ends in /v1.",
        why,
    )


def _unreachable(endpoint: Endpoint, why: str) -> UnreachableError:
    hint = "Start it" if endpoint.is_loopback else "Check the base URL and the network"
    return UnreachableError(f"The model at {endpoint.host} cannot be reached.", f"{hint}, and ask again.", why)


def _wait(error: ProviderError, attempt: int) -> float | None:
    """Seconds until the next attempt; None when it would be too long or of no use."""
    if isinstance(error, RateLimitError):
        return None if error.wait is None or error.wait > LONGEST_WAIT else error.wait
    return None if isinstance(error, UnreachableError) and attempt > 1 else 0.25 * float(2**attempt)


def _retry_after(value: str | None) -> float:
    """Seconds, from seconds or a date (RFC 9110, 10.2.3); one second when the host does not say."""
    try:
        return max(0.0, float(value or 1))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value or "") - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 1.0


def _redacted(said: str, endpoint: Endpoint) -> str:
    text = said.replace(endpoint.key, "…") if endpoint.key else said
    return " ".join(re.sub(r"\b(?:sk|key|org|proj)-[\w*-]{4,}", "…", text).split())[:SAID_CHARACTERS]
