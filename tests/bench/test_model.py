"""What the sidecar adds to a model's answer, and how many readers it streams to at once.

    pytest tests/bench/test_model.py -m bench -s

The model is the scripted provider, which answers at once: what is left is our own time. That of a bare client to the
same provider is taken off, for it is the provider's and the network's.
"""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from answering.with_model import tagged
from ask_book.answering.ask import answer
from ask_book.answering.assistant import Assistant
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question
from ask_book.llm.chat import Chat
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.http import Http
from provider import Provider, provider, says
from small_books import small_book

pytestmark = pytest.mark.bench

TIMES = 40
GOAL_MS = 10.0
# Where a bare client waits long, the machine has others to serve.
ON_A_BUSY_MACHINE = 1.5
READERS = 50
# So many readers at once may take so many times as long as bare clients, with a search and checks of claims each.
AT_ONCE = 5.0
DRY = "¿Cuándo es la estación seca?"


@pytest.fixture(scope="module")
def valley(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("valley"))


def good(book: OpenBook) -> str:
    return tagged(book.manifest, "De junio a septiembre {La estación seca va de junio a septiembre.}. " * 6)


def test_our_time_before_the_first_words(valley: OpenBook) -> None:
    with provider(says(good(valley), piece=12)) as model:
        ours, bare = asyncio.run(_times(valley, model))
    client = sorted(bare)[TIMES // 2]
    added = sorted(one - two for one, two in zip(sorted(ours), sorted(bare), strict=True))[TIMES // 2]
    print(f"\nbefore the first words: {added:.1f} ms of our own (a bare client waits {client:.1f} ms)")
    assert added <= max(GOAL_MS, ON_A_BUSY_MACHINE * client)


async def _times(book: OpenBook, model: Provider) -> tuple[list[float], list[float]]:
    """Milliseconds from the end of retrieval to the first words, and of a bare client to the first bytes."""
    assistant = Assistant(Chat(Endpoint(model.base_url), "m", Http()), "grounded")
    ours, bare = [], []
    async with httpx.AsyncClient(trust_env=False) as client:
        for _ in range(TIMES):
            async for event in answer(book, question(DRY), assistant):
                last = event
            ours.append(last.data.timings["first"] - last.data.timings["retrieval"])
            body = {**model.asked[-1].json}
            began = time.perf_counter()
            async with client.stream("POST", f"{model.base_url}/chat/completions", json=body) as response:
                async for text in response.aiter_text():
                    if "Dur" in text or "De " in text:
                        bare.append((time.perf_counter() - began) * 1000)
                        break
    await assistant.aclose()
    return ours, bare


def test_nobody_waits_for_another(valley: OpenBook) -> None:
    with provider(says(good(valley), piece=40, pause=0.2)) as model:
        alone, together, bare = asyncio.run(_alone_and_together(valley, model))
    print(
        f"\none reader {alone:.2f} s, {READERS} at once {together:.2f} s, as many bare clients {bare:.2f} s;"
        f" one after the other would take {READERS * alone:.0f} s"
    )
    assert together <= AT_ONCE * bare


async def _alone_and_together(book: OpenBook, model: Provider) -> tuple[float, float, float]:
    """Seconds for one reader, for many, and for as many clients that only read what the provider sends."""
    assistant = Assistant(Chat(Endpoint(model.base_url), "m", Http()), "grounded")

    async def ask() -> float:
        events = [event async for event in answer(book, question(DRY), assistant)]
        assert events[-1].data.mode == "grounded"
        return time.perf_counter()

    async def read(client: httpx.AsyncClient) -> float:
        async with client.stream("POST", f"{model.base_url}/chat/completions", json=model.asked[-1].json) as response:
            async for _ in response.aiter_lines():
                pass
        return time.perf_counter()

    await ask()
    began = time.perf_counter()
    alone = await ask() - began
    began = time.perf_counter()
    together = max(await asyncio.gather(*(ask() for _ in range(READERS)))) - began
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        began = time.perf_counter()
        bare = max(await asyncio.gather(*(read(client) for _ in range(READERS)))) - began
    await assistant.aclose()
    return alone, together, bare
