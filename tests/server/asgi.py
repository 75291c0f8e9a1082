"""An application without a network around it, for the many small cases of access."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Asgi:
    """A client of `app` that believes to talk to `base`."""

    app: ASGIApp
    base: str

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request and its response."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def options(self, path: str, **options: Any) -> httpx.Response:
        return self.request("OPTIONS", path, **options)

    def websocket(self, path: str) -> list[Message]:
        """What the application says to a WebSocket that wants to open."""
        said: list[Message] = []

        async def connect() -> None:
            async def receive() -> Message:
                return {"type": "websocket.connect"}

            async def send(message: Message) -> None:
                said.append(message)

            scope = {
                "type": "websocket", "path": path, "raw_path": path.encode(), "headers": [(b"host", b"localhost")],
                "scheme": "ws", "query_string": b"", "extensions": {"websocket.http.response": {}},
            }  # fmt: skip
            await self.app(scope, receive, send)

        asyncio.run(connect())
        return said
