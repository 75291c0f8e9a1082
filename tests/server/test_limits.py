"""Rates, the queue and bodies: the laws on their own, then over real connections."""

import asyncio
import json
import threading
from array import array
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering import extractive
from ask_book.answering.ask import answer
from ask_book.answering.events import Event
from ask_book.server import limits, routes
from ask_book.server.access import Access
from ask_book.server.app import Service, create_app
from ask_book.server.holder import Holder
from ask_book.server.limits import Limits, Queue, Rate, reader_of
from ask_book.server.metrics import Metrics
from server.asgi import Asgi
from server.served import exchange, served
from waiting import wait_until

DRY = {"question": "¿Cuándo es la estación seca?"}
TOKEN = {"Authorization": "Bearer t0ken"}


def rate(per_minute: int, slots: int = 4096) -> Rate:
    return Rate(per_minute, array("d", bytes(8 * slots)), b"key")


def test_a_minutes_worth_at_once_and_then_evenly() -> None:
    ten = rate(10)
    for _ in range(10):
        assert ten.wait("ana", 1000.0) == 0
        ten.take("ana", 1000.0)
    assert ten.wait("ana", 1000.0) == pytest.approx(6)
    assert ten.wait("ana", 1004.0) == pytest.approx(2)
    assert ten.wait("ana", 1006.0) == 0
    assert ten.wait("bea", 1000.0) == 0


def test_no_limit_is_no_limit() -> None:
    none = rate(0, slots=1)
    for _ in range(1000):
        none.take("ana", 0.0)
    assert none.wait("ana", 0.0) == 0


@given(st.integers(1, 50), st.lists(st.floats(0, 30), max_size=300))
def test_never_more_than_two_minutes_worth_in_a_minute(per_minute: int, pauses: list[float]) -> None:
    """However requests come: in any minute at most the stored minute and the one that passes."""
    limit, now = rate(per_minute), 5000.0
    granted: list[float] = []
    for pause in pauses:
        now += pause
        if limit.wait("ana", now) == 0:
            limit.take("ana", now)
            granted.append(now)
    for start in granted:
        assert sum(start <= at < start + 60 for at in granted) <= 2 * per_minute


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (("192.0.2.7", 4000), "192.0.2.7"),
        (("2001:db8:1:2::1", 1), str(0x20010DB800010002)),
        (("2001:db8:1:2:ffff::9", 1), str(0x20010DB800010002)),
        (None, ""),
    ],
)
def test_who_is_one_reader(client: tuple[str, int] | None, name: str) -> None:
    assert reader_of({"client": client}) == name


def test_the_queue_keeps_its_order_and_its_bounds() -> None:
    async def scenario() -> list[str]:
        metrics = Metrics()
        queue = Queue(1, 2, metrics)
        done: list[str] = []

        async def answer(name: str) -> None:
            assert await queue.enter()
            done.append(name)
            await asyncio.sleep(0)
            queue.leave(2.0)

        assert await queue.enter()
        first, second = asyncio.create_task(answer("first")), asyncio.create_task(answer("second"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert queue.wait() == float("inf")
        assert (metrics.total("gauge", "answers_under_way"), metrics.total("gauge", "answers_waiting")) == (1, 2)
        queue.leave(9.0)
        await asyncio.gather(first, second)
        assert queue.wait() == 0
        assert (metrics.total("gauge", "answers_under_way"), metrics.total("gauge", "answers_waiting")) == (0, 0)
        return done

    assert asyncio.run(scenario()) == ["first", "second"]


def test_who_leaves_the_queue_takes_no_place() -> None:
    async def scenario() -> None:
        queue = Queue(1, 5, Metrics())
        assert await queue.enter()
        waiting = [asyncio.create_task(queue.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        queue.leave(1.0)
        waiting[1].cancel()  # in the very moment in which it is its turn
        assert await waiting[2]
        queue.leave(1.0)
        assert queue.wait() == 0
        assert await queue.enter()

    asyncio.run(scenario())


def test_a_queue_too_slow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUEUE_SECONDS", 0.01)

    async def scenario() -> tuple[bool, float, int]:
        queue = Queue(2, 5, Metrics())
        for _ in range(40):
            assert await queue.enter()
            queue.leave(30.0)
        assert await queue.enter()
        assert await queue.enter()
        return await queue.enter(), queue.wait(), queue.retry_after()

    entered, wait, retry_after = asyncio.run(scenario())
    assert entered is False
    assert wait == pytest.approx(15, abs=0.2)
    assert retry_after == 15


def limited_app(holder: Holder, **given: int) -> Any:
    return create_app(holder, Access("t0ken"), service=Service(Limits(**given)))


def test_a_reader_over_the_rate_is_told_when_to_come_back(holder: Holder) -> None:
    app = limited_app(holder, reader=2)
    client = Asgi(app, "http://127.0.0.1:4321")
    assert [client.get("/search?q=lluvia").status_code for _ in range(2)] == [200, 200]
    late = client.get("/search?q=lluvia", headers={"Origin": "http://localhost:5555"})
    assert (late.status_code, late.json()["error"]["code"], late.headers["retry-after"]) == (429, "rate", "30")
    assert late.json()["error"]["hint"] == "Try again in 30 seconds."
    assert late.headers["access-control-allow-origin"] == "http://localhost:5555", "the page may read it"
    assert late.headers["x-content-type-options"] == "nosniff"
    for path in ("/clima.html", "/ask-book/book.js", "/search.json"):
        assert client.get(path).status_code != 429, "pages and their files are not counted"
    assert client.get("/health").status_code == 200


def test_all_readers_together_have_a_rate(holder: Holder) -> None:
    app = limited_app(holder, total=3)
    client = Asgi(app, "http://127.0.0.1:4321")
    codes = [client.post("/ask", json=DRY).status_code for _ in range(4)]
    assert codes == [200, 200, 200, 429]


def test_a_refused_host_uses_nothing_up(holder: Holder) -> None:
    client = Asgi(limited_app(holder, total=1), "http://127.0.0.1:4321")
    assert client.post("/ask", json=DRY, headers={"Host": "evil.example"}).status_code == 403
    assert client.post("/ask", json=DRY).status_code == 200


def test_one_answer_at_once_one_waits_the_third_comes_back_later(
    holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go, began = threading.Event(), threading.Event()
    quick = answer

    async def slow(*given: Any) -> AsyncGenerator[Event, None]:
        began.set()
        while not let_go.is_set():
            await asyncio.sleep(0.01)
        async for event in quick(*given):
            yield event

    monkeypatch.setattr(routes, "answer", slow)
    with (
        served(limited_app(holder, at_once=1, waiting=1)) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client,
    ):
        codes: list[int] = []

        def ask() -> None:
            codes.append(client.post("/ask", json=DRY).status_code)

        readers = [threading.Thread(target=ask) for _ in range(2)]
        for reader in readers:
            reader.start()
        assert began.wait(20)

        def waiting() -> str:
            return client.get("/metrics", headers=TOKEN).text

        wait_until(lambda: "ask_book_answers_waiting 1" in waiting())
        assert "ask_book_answers_under_way 1" in waiting()
        third = client.post("/ask", json=DRY)
        assert (third.status_code, third.json()["error"]["code"]) == (503, "busy")
        assert int(third.headers["retry-after"]) >= 1
        let_go.set()
        for reader in readers:
            reader.join()
        assert codes == [200, 200]
        assert "ask_book_answers_under_way 0" in waiting()


def test_a_slow_body_takes_no_place(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.3)
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
    with served(limited_app(holder, at_once=1)) as port:
        slow: list[bytes] = []
        loris = threading.Thread(target=lambda: slow.append(exchange(port, head, until=b"}}")))
        loris.start()
        answer = httpx.post(f"http://127.0.0.1:{port}/ask", json=DRY, trust_env=False)
        assert answer.status_code == 200
        loris.join()
    assert slow[0].startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("path", ["/ask", "/feedback", "/search", "/reports/x"])
def test_a_large_body_is_refused_everywhere(holder: Holder, path: str) -> None:
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    answer = client.post(path, content=b"x" * 70_000, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_numbers_for_prometheus_need_the_token(holder: Holder) -> None:
    client = Asgi(limited_app(holder, reader=2), "http://127.0.0.1:4321")
    assert client.get("/metrics").status_code == 401
    assert client.get("/metrics", headers={**TOKEN, "Origin": "http://localhost:1"}).status_code == 403
    for _ in range(3):
        client.get("/search?q=lluvia")
    client.get("/search?q=")
    client.get("/nothing.html")
    page = client.get("/metrics", headers=TOKEN)
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    numbers = dict(line.rsplit(" ", 1) for line in page.text.splitlines() if not line.startswith("#"))
    assert numbers['ask_book_requests_total{route="search",outcome="2xx"}'] == "2"
    assert numbers['ask_book_requests_total{route="search",outcome="429"}'] == "2"
    assert numbers['ask_book_requests_total{route="other",outcome="4xx"}'] == "3"
    assert numbers['ask_book_request_seconds_count{route="search"}'] == "2"
    assert numbers['ask_book_request_seconds_bucket{route="search",le="+Inf"}'] == "2"
    assert float(numbers['ask_book_request_seconds_sum{route="search"}']) > 0
    assert numbers["ask_book_index_ready"] == "1"


def test_numbers_of_all_workers_are_added() -> None:
    one = Metrics((Metrics().rows[0], Metrics().rows[0]), 0)
    other = replace(one, mine=1)
    one.count("ask", 200, 0.02)
    other.count("ask", 200, 99)
    other.gauge("answers_waiting", 3)
    for metrics in (one, other):
        assert metrics.total("count", "ask", "2xx") == 2
        assert metrics.total("bucket", "ask", 0.025) == 1
        assert metrics.total("bucket", "ask", "+Inf") == 1
        assert metrics.total("gauge", "answers_waiting") == 3


def test_a_bug_is_told_with_every_protection(holder: Holder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("secret")

    monkeypatch.setattr(extractive, "markdown", broken)
    with served(create_app(holder, Access("t0ken"))) as port:
        answer = httpx.post(f"http://127.0.0.1:{port}/ask", json=DRY, trust_env=False)
    assert (answer.status_code, json.loads(answer.text)["error"]["code"]) == (500, "failed")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
