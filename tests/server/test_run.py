"""What only a real server shows: connections, streams that break, many readers, the end."""

import asyncio
import json
import threading
from pathlib import Path

import httpx
import pytest

from ask_book.answering import extractive
from ask_book.server import limits
from ask_book.server.holder import Holder
from server.served import exchange
from small_books import small_book
from waiting import wait_until

DRY = {"question": "¿Cuándo es la estación seca?"}
SSE = {"Accept": "text/event-stream"}


def port_of(client: httpx.Client) -> int:
    assert client.base_url.port
    return client.base_url.port


def test_a_body_that_nobody_reads_does_not_spoil_the_connection(client: httpx.Client) -> None:
    unread = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
    after = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = exchange(port_of(client), unread + after)
    assert answer.startswith(b"HTTP/1.1 405")
    assert answer.count(b"HTTP/1.1 200") == 1 or b"connection: close" in answer.lower()
    assert client.get("/health").status_code == 200


def test_a_refused_request_with_a_large_body_ends(client: httpx.Client) -> None:
    head = b"POST /ask HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n"
    assert exchange(port_of(client), head + b"x" * 1000).startswith(b"HTTP/1.1 403")


def test_headers_cannot_be_injected(client: httpx.Client) -> None:
    question = {"question": "lluvia \r\nX-Evil: 1\r\n\r\n<script>"}
    response = client.post("/ask", json=question, headers=SSE)
    assert "x-evil" not in response.headers
    assert response.status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
    assert exchange(port_of(client), head, until=b"}}").startswith(b"HTTP/1.1 408")


def test_an_answer_that_breaks_off_ends_with_an_error_event(
    client: httpx.Client, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("secret /path/of/the/machine")

    monkeypatch.setattr(extractive, "markdown", broken)
    text = client.post("/ask", json=DRY, headers=SSE).text
    assert text.startswith("event: sources\n")
    last = text.strip().split("\n\n")[-1]
    assert last.startswith("event: error\n")
    assert json.loads(last.split("data: ")[1])["error"]["code"] == "failed"
    assert "secret" not in text
    wait_until(lambda: holder.busy == 0)
    assert client.post("/ask", json=DRY).status_code == 500
    assert "secret" not in client.post("/ask", json=DRY).text


def test_a_reader_who_leaves_ends_the_answer(
    client: httpx.Client, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(extractive, "markdown", lambda *_: str(let_go.wait(20)))
    with client.stream("POST", "/ask", json=DRY, headers=SSE) as response:
        assert next(response.iter_text()).startswith("event: sources")
        assert holder.busy == 1
    let_go.set()
    wait_until(lambda: holder.busy == 0)


def test_many_readers_at_once_each_get_their_own_answer(client: httpx.Client) -> None:
    questions = [
        "¿Cuándo es la estación seca?",
        "¿Cómo se llama el viento del oeste?",
        "¿Cómo se leen los datos de lluvia?",
    ]
    expected = {text: client.post("/ask", json={"question": text}).json()["answer"] for text in questions}

    async def ask_all() -> list[tuple[str, str]]:
        async with httpx.AsyncClient(base_url=client.base_url, trust_env=False, timeout=60) as many:

            async def ask(text: str) -> tuple[str, str]:
                response = await many.post("/ask", json={"question": text}, headers=SSE)
                return text, json.loads(response.text.split("event: done\ndata: ")[1])["answer"]

            return await asyncio.gather(*(ask(text) for text in questions * 10))

    assert all(expected[text] == found for text, found in asyncio.run(ask_all()))


def test_a_new_edition_is_served_from_the_next_request_on(client: httpx.Client, holder: Holder, tmp_path: Path) -> None:
    assert client.get("/clima.html").status_code == 200
    holder.current = small_book(tmp_path, "en")
    assert client.get("/clima.html").status_code == 404
    assert client.get("/hives.html").status_code == 200
    assert client.post("/ask", json=DRY).json()["answer"] == "Not found in the book"
