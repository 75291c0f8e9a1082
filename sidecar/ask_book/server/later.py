"""What is made at its first use, so that a server answers `/health` before it has imported the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass
class Later:
    """ASGI: the application that `make` returns, made once, in a thread."""

    make: Callable[[], ASGIApp]
    _made: ASGIApp | None = None
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await (self._made or await self._make())(scope, receive, send)

    async def _make(self) -> ASGIApp:
        async with self._making:
            if self._made is None:
                self._made = await to_thread.run_sync(self.make)
            return self._made
