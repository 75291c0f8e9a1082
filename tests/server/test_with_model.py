"""Readers, the sidecar and a provider, each on its own connection."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from answering.with_model import tagged
from ask_book.answering.assistant import Assistant
from ask_book.answering.budget import Budget
from ask_book.answering.open_book import OpenBook
from ask_book.answering.round import SET_ASIDE
from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.llm.chat import Chat
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.http import Http
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from provider import HANG, Provider, Script, chunk, fails, provider, says, sends
from server.served import served
from waiting import wait_until

DRY = {"question": "¿Cuándo es la estación seca?"}
SSE = {"Accept": "text/event-stream"}


@pytest.fixture(scope="module")
def good(book: OpenBook) -> str:
    return tagged(book.manifest, "De junio a septiembre {La estación seca va de junio a septiembre.}.")


@contextmanager
def sidecar(
    holder: Holder, *replies: Script, silence: float = 20, budget: Budget | None = None
) -> Iterator[tuple[httpx.Client, Provider]]:
    """A client of a server that has a model."""
    with provider(*replies) as model:
        chat = Chat(Endpoint(model.base_url, "sk-secret-key", silence), "m", Http())
        assistant = Assistant(chat, "grounded", budget=budget or Budget())
        app = create_app(holder, Access("t0ken"), assistant=lambda: assistant)
        with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            yield client, model


def events(text: str) -> list[tuple[str, Any]]:
    pairs = (event.split("\n") for event in text.strip().split("\n\n"))
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in pairs]


def test_a_written_answer_over_http(holder: Holder, good: str) -> None:
    with sidecar(holder, says(good)) as (client, model):
        whole = client.post("/ask", json=DRY)
        streamed = events(client.post("/ask", json=DRY, headers=SSE).text)
        assert len(model.asked) == 2
    answer = whole.json()
    assert (answer["mode"], answer["answer"]) == ("grounded", "De junio a septiembre [1](#ask-book-1).")
    assert answer["timings"]["prompt_tokens"] == 100
    kinds = [kind for kind, _ in streamed]
    assert (kinds[0], kinds[-1]) == ("sources", "done")
    assert "".join(data["text"] for kind, data in streamed if kind == "delta") == answer["answer"]
    assert "[f1" not in str([data for kind, data in streamed if kind == "delta"])


def test_sources_are_out_before_the_model_speaks(holder: Holder) -> None:
    with (
        sidecar(holder, sends(HANG)) as (client, _),
        client.stream("POST", "/ask", json=DRY, headers=SSE) as response,
    ):
        assert json.loads(response.headers["x-ask-book-sources"])
        assert next(response.iter_text()).startswith("event: sources\n")


@pytest.mark.parametrize("steps", [(chunk("Dura de "), HANG), (HANG,)])
def test_a_reader_who_leaves_ends_what_the_provider_does(holder: Holder, steps: tuple[Any, ...]) -> None:
    with sidecar(holder, sends(*steps)) as (client, model):
        with client.stream("POST", "/ask", json=DRY, headers=SSE) as response:
            pieces = response.iter_text()
            next(pieces)
            wait_until(lambda: model.asked)
        wait_until(lambda: model.left)
        wait_until(lambda: holder.busy == 0)


def ask_and_leave(client: httpx.Client, model: Provider) -> None:
    """As a reader who wants the whole answer as JSON, and goes while the model is at it."""
    request = client.build_request("POST", "/ask", json=DRY)
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    assert client.base_url.port
    with socket.create_connection(("127.0.0.1", client.base_url.port)) as reader:
        reader.sendall(f"POST /ask HTTP/1.1\r\n{head}\r\n".encode() + request.content)
        wait_until(lambda: model.asked)


def test_a_reader_of_json_who_leaves_ends_it_too(holder: Holder) -> None:
    with sidecar(holder, sends(HANG)) as (client, model):
        ask_and_leave(client, model)
        wait_until(lambda: model.left)


def test_what_a_reader_who_leaves_has_used_is_counted(holder: Holder, tmp_path: Path) -> None:
    budget = Budget(100_000, tmp_path)
    with sidecar(holder, sends(HANG), budget=budget) as (client, model):
        ask_and_leave(client, model)
        wait_until(lambda: model.left)
        wait_until(lambda: json.loads((tmp_path / "tokens.json").read_text())["tokens"] != SET_ASIDE)
    assert 200 < json.loads((tmp_path / "tokens.json").read_text())["tokens"] < SET_ASIDE


def test_a_failing_model_is_a_notice_and_an_answer(holder: Holder) -> None:
    with sidecar(holder, fails(401, "bad key sk-secret-key")) as (client, _):
        response = client.post("/ask", json=DRY)
        streamed = client.post("/ask", json=DRY, headers=SSE).text
    assert response.status_code == 200
    answer = response.json()
    assert (answer["mode"], answer["notices"][0]["code"]) == ("extractive", "provider_key")
    assert "sk-secret-key" not in response.text + streamed
    assert [kind for kind, _ in events(streamed)][1] == "notice"


@pytest.mark.parametrize(
    ("reply", "status", "code"), [(fails(401), 502, "provider_key"), (sends(HANG), 504, "provider_timeout")]
)
def test_a_failure_with_nothing_to_quote_is_the_providers(
    holder: Holder, reply: Script, status: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr("ask_book.answering.extractive.choose", lambda *_: [])
    with sidecar(holder, reply, silence=0.2) as (client, _):
        response = client.post("/ask", json=DRY)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert response.json()["error"]["hint"]
        last = events(client.post("/ask", json=DRY, headers=SSE).text)[-1]
        assert (last[0], last[1]["error"]["code"]) == ("error", code)


def test_fifty_readers_stream_at_once(holder: Holder, good: str) -> None:
    """The model says nothing to anybody before all fifty have asked."""

    async def ask_all(url: httpx.URL) -> list[str]:
        limits = httpx.Limits(max_connections=60)
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60, limits=limits) as many:
            answers = await asyncio.gather(*(many.post("/ask", json=DRY, headers=SSE) for _ in range(50)))
            return [events(one.text)[-1][1]["answer"] for one in answers]

    reply = sends(lambda model: len(model.asked) == 50, chunk(good, "stop"))
    with sidecar(holder, reply) as (client, _):
        answers = asyncio.run(ask_all(client.base_url))
    assert set(answers) == {"De junio a septiembre [1](#ask-book-1)."}


def test_a_daemon_answers_with_the_model_of_the_environment(small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(asked: dict[str, Any]) -> Any:
        sentence = asked["messages"][-1]["content"].split("se terminó en el año 106. ")[1]
        return says(f"En el año 106 {sentence.split()[0]}.")

    with provider(reply) as model:
        env = {
            **os.environ,
            "ASK_BOOK_BASE_URL": model.base_url,
            "ASK_BOOK_CHAT_MODEL": "m",
            "ASK_BOOK_MODE": "grounded",
        }
        project = find_project(small_book, env)
        state = control.start(project, settings_of(project.configuration, env), env)
        wait_until(lambda: (control.health(state.port) or {})["index"]["state"] == "ready")
        wait_until(lambda: bool((control.health(state.port) or {})["works"]["chat"]))
        assert (control.health(state.port) or {})["model_host"] == model.base_url.split("/")[2]
        answer = httpx.post(
            f"{state.url}ask",
            json={"question": "¿Cuándo se terminó el puente de Alcántara?"},
            trust_env=False,
            timeout=60,
        ).json()
        control.stop(project)
    assert (answer["mode"], answer["answer"]) == ("grounded", "En el año 106 [1](#ask-book-1).")
    assert answer["citations"][0]["quote"] == "El puente de Alcántara se terminó en el año 106."
