"""What a reverse proxy in front says of a request, if it is one we know: who asks, over what, under which path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ask_book.errors import UsageError
from ask_book.server.access import PROTECTING

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Proxy:
    """`trusted`: networks whose `X-Forwarded-For` and `X-Forwarded-Proto` count. `root`: the path in front of ours."""

    trusted: tuple[Network, ...] = ()
    root: str = ""

    def client(self, peer: str, forwarded: str) -> str:
        """The nearest address that no trusted proxy has: what stands further left, anybody may have written."""
        chain = [*forwarded.split(","), peer]
        for said in reversed(chain):
            address = _address(said.strip())
            if address is None:
                break
            peer = str(address)
            if not any(address in network for network in self.trusted):
                break
        return peer

    def trusts(self, peer: str) -> bool:
        """Whether what this peer says of its client counts."""
        address = _address(peer)
        return address is not None and any(address in network for network in self.trusted)


def proxy_of(trusted: Sequence[str], root: str) -> Proxy:
    """From what was typed. Raises `UsageError` for what is no address, network or path."""
    try:
        networks = tuple(ip_network(text, strict=False) for text in trusted)
    except ValueError as error:
        raise UsageError(f"--trusted-proxy: {error}.", "Give an address or network: 127.0.0.1, 10.0.0.0/8.") from None
    path = root.strip("/")
    if not re.fullmatch(r"(?:[\w.-]*[\w-](?:/|$))*", path, re.ASCII):
        raise UsageError(f"--root-path {root} is no path.", "Use letters, digits, - and _: /books/hydrology.", "usage")
    return Proxy(networks, f"/{path}" if path else "")


@dataclass(frozen=True)
class BehindProxy:
    """ASGI: puts the real client, scheme and path in the scope; everything further in knows of no proxy."""

    app: ASGIApp
    proxy: Proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, root = Headers(scope=scope), self.proxy.root
        peer, port = scope.get("client") or ("", 0)
        seen = dict(scope)
        if self.proxy.trusts(peer):
            seen["client"] = (self.proxy.client(peer, ",".join(headers.getlist("x-forwarded-for"))), port)
            if headers.get("x-forwarded-proto") in ("http", "https"):
                seen["scheme"] = headers["x-forwarded-proto"]
        if root and scope["path"] == root:
            await RedirectResponse(f"{root}/", 307, PROTECTING)(scope, receive, send)
            return
        # A proxy may also have taken the path off already.
        if root and scope["path"].startswith(f"{root}/"):
            seen["path"] = scope["path"].removeprefix(root)
        await self.app(seen, receive, send)


def _address(text: str) -> Address | None:
    """An address as proxies write it, with or without a port; IPv4 in IPv6 is IPv4."""
    bare = text[1:].partition("]")[0] if text.startswith("[") else text
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ip_address(bare)
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address
