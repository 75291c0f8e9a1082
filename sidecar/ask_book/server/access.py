"""Who may talk to the sidecar: rules on `Host`, `Origin` and the owner's token, and the headers that browsers obey.

| Origin | may |
|---|---|
| none (a command, a page of the book itself, a link) | everything; what changes or lists needs the token |
| the sidecar's own | the same |
| another loopback origin (`quarto preview`) | the reader's routes, on a local sidecar |
| one of `sites` | the reader's routes |
| `null` (`file://`) | the reader's routes, with the token |
| any other | nothing |

`Host` is checked first: a name that somebody else's DNS points at this machine is refused.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ask_book.server.errors import error_response

MAX_AGE = "600"
PROTECTING = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}
EXPOSED = "X-Ask-Book-Sources, Retry-After"

_LOOPBACK = r"(?:localhost|127\.0\.0\.1|\[::1\])"
_PORT = r"(?::[1-9]\d{0,4})?"
_LOOPBACK_HOST = re.compile(_LOOPBACK + _PORT, re.IGNORECASE | re.ASCII)
_LOOPBACK_ORIGIN = re.compile(rf"https?://{_LOOPBACK}{_PORT}", re.ASCII)
_READERS_ROUTES = re.compile(
    r"/(?:health|ask|search|feedback|passages/[^/]+|reports/[\w-]{16,}(?:/report\.(?:html|md|pdf))?)", re.ASCII
)
_ALLOWED_METHODS = frozenset({"GET", "HEAD", "POST"})
_ALLOWED_HEADERS = frozenset({"accept", "authorization", "content-type"})


@dataclass(frozen=True)
class Access:
    """The rules of one server. `hosts` are names (with port, if it is not the scheme's) besides those of loopback.

    `sites` are origins such as `https://book.example.org`. `local`: other loopback origins may ask.
    """

    token: str
    hosts: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    local: bool = True

    def knows_host(self, host: str) -> bool:
        """Whether `Host` names this server."""
        return host.lower() in self.hosts or _LOOPBACK_HOST.fullmatch(host) is not None

    def has_token(self, headers: Headers) -> bool:
        """Whether the request carries the owner's token."""
        given = headers.get("authorization", "")
        return bool(self.token) and hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode())

    def welcomes(self, origin: str, path: str) -> bool:
        """Whether a page of another origin may use this route."""
        known = origin in self.sites or (self.local and _LOOPBACK_ORIGIN.fullmatch(origin) is not None)
        return known and _READERS_ROUTES.fullmatch(path) is not None


@dataclass(frozen=True)
class AccessRules:
    """ASGI: refuses what `Access` does not allow, answers preflights, adds the protective headers."""

    app: ASGIApp
    access: Access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["type"] == "http":
            refusal, shared_with = self._judge(scope, headers)
        else:
            refusal, shared_with = _refuse("protocol", "Only plain HTTP requests are answered.", ""), ""
        if refusal is None and scope["method"] == "OPTIONS" and shared_with:
            refusal = _preflight(headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"].endswith("http.response.start"):  # also of a WebSocket that is refused
                _protect(MutableHeaders(scope=message), shared_with)
            await send(message)

        await (refusal or self.app)(scope, receive, send_with_headers)

    def _judge(self, scope: Scope, headers: Headers) -> tuple[Response | None, str]:
        """The refusal, or None with the origin that the response is shared with ("" for our own)."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self.access.knows_host(hosts[0]):
            todo = "Open it as http://127.0.0.1:<port>/." if self.access.local else "Its owner may name it: `--name`."
            return _refuse("host", "This server does not go by that name.", todo), ""
        if not origins or (len(origins) == 1 and origins[0] in _own_origins(scope, hosts[0])):
            return None, ""
        origin, path = origins[0], scope["path"]
        if len(origins) == 1 and self.access.welcomes(origin, path):
            return None, origin
        if origins == ["null"] and _READERS_ROUTES.fullmatch(path) and self._promises_token(scope, headers):
            return None, "null"
        return _refuse("origin", "Pages of that origin may not ask here.", "Open the book from this server."), ""

    def _promises_token(self, scope: Scope, headers: Headers) -> bool:
        """A preflight cannot carry the token: it has to announce it. It is answered without any content."""
        if scope["method"] == "OPTIONS":
            return "authorization" in _listed(headers.get("access-control-request-headers", ""))
        return self.access.has_token(headers)


def _own_origins(scope: Scope, host: str) -> tuple[str, ...]:
    """Where a page of this very server comes from: a public one is reached through a proxy that speaks TLS for it."""
    own = f"{scope['scheme']}://{host}"
    return (own,) if _LOOPBACK_HOST.fullmatch(host) else (own, f"https://{host}")


def _refuse(code: str, message: str, hint: str) -> Response:
    return error_response(403, code, message, hint)


def _preflight(headers: Headers) -> Response:
    method = headers.get("access-control-request-method", "")
    wanted = _listed(headers.get("access-control-request-headers", ""))
    if method not in _ALLOWED_METHODS or not _ALLOWED_HEADERS.issuperset(wanted):
        return _refuse("preflight", "Such a request is not allowed from another origin.", "Send plain JSON.")
    allowed = {"Access-Control-Allow-Methods": "GET, POST", "Access-Control-Allow-Headers": ", ".join(sorted(wanted))}
    return Response(status_code=204, headers={**allowed, "Access-Control-Max-Age": MAX_AGE})


def _protect(headers: MutableHeaders, shared_with: str) -> None:
    headers.update(PROTECTING)
    headers.add_vary_header("Origin")
    if shared_with:
        headers["Access-Control-Allow-Origin"] = shared_with
        headers["Access-Control-Expose-Headers"] = EXPOSED


def _listed(header: str) -> Iterable[str]:
    return frozenset(filter(None, (name.strip().lower() for name in header.split(","))))
