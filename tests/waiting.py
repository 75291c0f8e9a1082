"""Waiting for what another thread, task or process is about to do: however slow the machine is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

SECONDS = 60.0


def wait_until(condition: Callable[[], object]) -> None:
    """Until it holds."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


async def until(condition: Callable[[], object]) -> None:
    """The same on an event loop."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.02)
