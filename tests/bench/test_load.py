"""Many readers at once: what they get, how long it takes beside a bare route, and whether memory stays flat.

    READERS=50 SECONDS=20 pytest tests/bench/test_load.py -m bench -s

Readers ask (streamed, from a scripted provider), search, open passages and pages, and leave in the middle of answers,
each from an address of its own behind one trusted proxy. A deliberate 429 or 503 counts as such, everything else that
is no good answer as an error. Between them, the same client asks a bare Starlette route, in a process of its own on the
same machine: what `/search` takes more than that is ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from provider import Json, Reply, provider, says

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]

READERS = int(os.environ.get("READERS", "200"))
SECONDS = float(os.environ.get("SECONDS", "120"))
TOKEN = "0123456789abcdef-token"
QUESTIONS = ("¿Cuándo se terminó el puente de Alcántara?", "¿De qué son las dovelas?", "¿De qué trata este libro?")

BARE = """
import asyncio, socket, sys
from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def search(_):
    return JSONResponse({"passages": []})

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
config = Config()
config.bind = [f"fd://{listener.detach()}"]
config.accesslog = config.errorlog = None
config.keep_alive_timeout = 60  # else it hangs up on a client that a busy machine keeps waiting
asyncio.run(serve(Starlette(routes=[Route("/search", search)]), config))
"""


@contextmanager
def process(*command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=90)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def resident(pid: int) -> float:
    """Memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def reply(asked: Json) -> Reply:
    """Copies the first tag it is offered, in about half a second."""
    tag = re.search(r"\[f\d+-\d+-\d+\]", asked["messages"][-1]["content"])
    return says(f"Lo dice el libro {tag[0] if tag else ''}.", piece=4, pause=0.05)


class Load:
    """What all readers saw."""

    def __init__(self, url: str, bare_url: str) -> None:
        self.url = url
        self.bare_url = bare_url
        self.seen: Counter[str] = Counter()
        self.errors: list[str] = []
        self.took: dict[str, list[float]] = {"search": [], "bare": [], "ask": []}

    async def reader(self, number: int, until: float) -> None:
        chance = random.Random(number)
        headers = {"X-Forwarded-For": f"198.51.{number // 250}.{number % 250}", "Host": "ask.example.org"}
        # No old connection is used again: the server may be closing it in that very moment.
        limits = httpx.Limits(max_connections=4, keepalive_expiry=1.0)
        async with httpx.AsyncClient(trust_env=False, timeout=60, limits=limits, verify=False) as client:
            while time.monotonic() < until:
                did = chance.choice(("ask", "search", "search", "bare", "bare", "page", "passage", "leave"))
                began = time.monotonic()
                try:
                    status = await getattr(self, did)(client, headers, chance)
                except (httpx.HTTPError, ValueError) as error:
                    self.errors.append(f"{did}: {error!r}")
                    continue
                if status not in (200, 429, 503):
                    self.errors.append(f"{did}: {status}")
                self.seen[f"{did} {status}"] += 1
                if did in self.took and status == 200:
                    self.took[did].append(time.monotonic() - began)
                await asyncio.sleep(chance.uniform(2, 20))  # a human pace

    async def ask(self, client: httpx.AsyncClient, headers: dict[str, str], chance: random.Random) -> int:
        response = await client.post(
            f"{self.url}ask",
            json={"question": chance.choice(QUESTIONS)},
            headers={**headers, "Accept": "text/event-stream"},
        )
        if response.status_code == 200:
            done = json.loads(response.text.split("event: done\ndata: ")[1])
            if done["status"] not in ("answered", "not_found"):
                raise ValueError(done["status"])
        return response.status_code

    async def leave(self, client: httpx.AsyncClient, headers: dict[str, str], chance: random.Random) -> int:
        question, streamed = {"question": chance.choice(QUESTIONS)}, {**headers, "Accept": "text/event-stream"}
        async with client.stream("POST", f"{self.url}ask", json=question, headers=streamed) as response:
            async for _ in response.aiter_bytes():
                break
        return response.status_code

    async def search(self, client: httpx.AsyncClient, headers: dict[str, str], _: random.Random) -> int:
        return (await client.get(f"{self.url}search?q=dovelas+granito", headers=headers)).status_code

    async def bare(self, client: httpx.AsyncClient, _: dict[str, str], __: random.Random) -> int:
        return (await client.get(f"{self.bare_url}search?q=dovelas+granito")).status_code

    async def page(self, client: httpx.AsyncClient, headers: dict[str, str], _: random.Random) -> int:
        return (await client.get(f"{self.url}index.html", headers=headers)).status_code

    async def passage(self, client: httpx.AsyncClient, headers: dict[str, str], _: random.Random) -> int:
        return (await client.get(f"{self.url}passages/f1-0-20", headers=headers)).status_code


def percentile(values: list[float], share: float) -> float:
    """In milliseconds."""
    return 1000 * statistics.quantiles(values, n=100)[round(share * 100) - 1]


async def run(load: Load, pid: int) -> list[float]:
    """Let them all read; the server's memory, measured ten times."""
    until = time.monotonic() + SECONDS
    readers = [asyncio.create_task(load.reader(number, until)) for number in range(READERS)]
    memory = []
    for _ in range(10):
        await asyncio.sleep(SECONDS / 10)
        memory.append(resident(pid))
    await asyncio.gather(*readers)
    return memory


def test_many_readers(small_book: Path) -> None:
    command = [sys.executable, "-m", "ask_book", "serve", str(small_book), "--port", "0", "--json"]
    public = ("--name", "ask.example.org", "--trusted-proxy", "127.0.0.1")
    bare_port = free_port()
    with provider(reply) as model:
        settings = {
            "ASK_BOOK_BASE_URL": model.base_url,
            "ASK_BOOK_CHAT_MODEL": "m",
            "ASK_BOOK_MODE": "grounded",
            "ASK_BOOK_CACHE": "false",
            "ASK_BOOK_TOKENS_PER_DAY": "999999999",
            "ASK_BOOK_REQUESTS_PER_MINUTE": "0",
            "ASK_BOOK_TOKEN": TOKEN,
        }
        with (
            process(*command, *public, **settings) as server,
            process(sys.executable, "-P", "-c", BARE, str(bare_port)),
        ):
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["url"]
            named = {"Host": "ask.example.org"}
            while httpx.get(f"{url}health?ready", headers=named, trust_env=False).status_code != 200:
                time.sleep(0.2)
            load = Load(url, f"http://127.0.0.1:{bare_port}/")
            memory = asyncio.run(run(load, server.pid))
            numbers = httpx.get(f"{url}metrics", headers={**named, "Authorization": f"Bearer {TOKEN}"}, trust_env=False)
            under_way = re.findall(r"ask_book_answers_(?:under_way|waiting) (\d+)", numbers.text)
    total = sum(load.seen.values())
    print(f"\n{READERS} readers for {SECONDS:.0f} s: {total} requests, {total / SECONDS:.0f} a second")
    print(f"  {dict(sorted(load.seen.items()))}, errors: {Counter(load.errors).most_common(5)}")
    for name, took in load.took.items():
        p50, p95, p99 = (percentile(took, share) for share in (0.5, 0.95, 0.99))
        print(f"  {name:6} p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms ({len(took)})")
    print(f"  memory of the server: {', '.join(f'{megabytes:.0f}' for megabytes in memory)} MB")
    assert load.errors == []
    assert under_way == ["0", "0"], "every place was given back"
    assert memory[-1] < 1.15 * memory[2] + 5
