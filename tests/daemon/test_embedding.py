"""A sidecar embeds its book in the background, with a host over real HTTP, and answers by words until then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from ask_book.answering.open_book import PENDING
from ask_book.book.project import Project, find_project
from ask_book.cli import main
from ask_book.daemon import embedding, watch
from ask_book.retrieval.choice import URL_VARIABLE
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.remote import RemoteEmbedder
from ask_book.server.health import Health
from ask_book.server.holder import Holder
from daemon.test_watch import watching
from provider import HANG, Json, Provider, Reply, _embeddings, fails, provider, vector
from waiting import until

MODEL = "nomic-embed-text"


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(embedding, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(embedding, "FIRST_RETRY", 0.2)


@pytest.fixture
def project(small_book: Path) -> Project:
    return find_project(small_book, {})


def serving(project: Project, host: Provider, scenario: Callable[[Holder], Awaitable[None]]) -> None:
    env = {"ASK_BOOK_EMBEDDING_MODEL": MODEL, URL_VARIABLE: host.base_url, "ASK_BOOK_EMBEDDING_API_KEY": "k"}
    assert watching(project, scenario, env) is False


async def embedded(holder: Holder) -> None:
    await until(lambda: holder.current is not None and holder.current.index.vectors is not None)


async def health(holder: Holder) -> Any:
    response = await Health(holder).health(Request({"type": "http"}))
    return json.loads(bytes(response.body))


def test_a_model_on_this_machine_embeds_unasked(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await embedded(holder)
        said = await health(holder)
        assert said["works"]["embeddings"] is True
        assert said["index"]["vectors"]["state"] == "ready"
        assert said["index"]["vectors"]["model"].endswith(f"/v1/{MODEL}")
        assert said["notices"] == []

    with provider() as host:
        serving(project, host, scenario)
        texts = [text for asked in host.asked for text in asked.json["input"]]
    assert len(texts) == 2
    assert all(text.startswith("search_document: ") for text in texts)


def test_the_next_sidecar_finds_the_vectors(project: Project) -> None:
    with provider() as host:
        serving(project, host, embedded)
        asked = len(host.asked)
        serving(project, host, embedded)
        assert len(host.asked) == asked


def test_answers_do_not_wait_for_it(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.embedding.state == "building")
        assert holder.current is not None
        assert (await holder.current.search("¿Cuándo se terminó el puente?", 3)).hits
        said = await health(holder)
        assert (said["index"]["state"], said["index"]["vectors"]["state"]) == ("ready", "building")
        assert said["works"]["embeddings"] is False
        assert [notice["code"] for notice in said["notices"]] == [PENDING]

    silent = Reply(steps=(HANG,))
    with provider(silent, silent) as host:
        serving(project, host, scenario)


def test_a_host_that_fails_is_tried_again_and_the_reason_told_meanwhile(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.embedding.state == "failed")
        [notice] = (await health(holder))["notices"]
        assert notice["code"] == PENDING
        assert "The key was refused" in notice["message"]
        await embedded(holder)
        assert (await health(holder))["notices"] == []

    with provider(fails(401), lambda data: _embeddings(data), fails(500)) as host:
        serving(project, host, scenario)


def test_a_model_elsewhere_waits_for_the_command_of_the_author(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = RemoteEmbedder.__init__

    def elsewhere(self: RemoteEmbedder, *given: Any) -> None:
        make(self, *given)
        self.unasked = False

    monkeypatch.setattr(RemoteEmbedder, "__init__", elsewhere)

    async def scenario(holder: Holder) -> None:
        await until(lambda: holder.embedding.state == "waiting")
        assert host.asked == []
        [notice] = (await health(holder))["notices"]
        assert "ask-book index --yes" in notice["message"]
        assert holder.current is not None
        assert holder.current.embedder is not None
        Consent(project.key).give(holder.current.embedder.name, 100_000)
        await asyncio.sleep(0.1)
        meta = project.cache_dir / "index" / "index.meta.json"
        meta.write_bytes(meta.read_bytes())
        await embedded(holder)

    with provider() as host:
        serving(project, host, scenario)


def test_a_changed_chapter_is_embedded_and_nothing_else(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await embedded(holder)
        first = holder.current
        before = len(host.asked)
        chapter = project.root / "puentes.qmd"
        chapter.write_text(chapter.read_text(encoding="utf-8").replace("granito", "caliza"), encoding="utf-8")
        await until(lambda: holder.current is not first)
        await embedded(holder)
        texts = [text for asked in host.asked[before:] for text in asked.json["input"]]
        assert len(texts) == 1
        assert "caliza" in texts[0]

    with provider() as host:
        serving(project, host, scenario)


def test_a_sidecar_that_ends_does_not_wait_for_the_host(project: Project) -> None:
    async def scenario(holder: Holder) -> None:
        await until(lambda: host.asked)

    def slowly(_: Json) -> Reply:
        return Reply(steps=(HANG,))

    with provider(slowly, slowly) as host:
        serving(project, host, scenario)
        asyncio.run(until(lambda: host.left))


def test_vectors_that_a_command_made_anew_are_taken_over(project: Project) -> None:
    def longer(data: Json) -> Reply:
        rows = [{"index": at, "embedding": [1.0, *vector(text)]} for at, text in enumerate(data["input"])]
        return Reply(steps=(json.dumps({"data": rows}).encode(),))

    def dimension(holder: Holder) -> int:
        return holder.current.index.vectors.matrix.shape[1] if holder.current and holder.current.index.vectors else 0

    async def scenario(holder: Holder) -> None:
        await until(lambda: dimension(holder) == 8)
        await asyncio.sleep(0.2)
        code = await asyncio.to_thread(main, ["index", str(project.root)])
        assert code == 0
        await until(lambda: dimension(holder) == 9)

    with provider(_embeddings, *[longer] * 9) as host, pytest.MonkeyPatch.context() as environment:
        environment.setenv("ASK_BOOK_EMBEDDING_MODEL", MODEL)
        environment.setenv(URL_VARIABLE, host.base_url)
        serving(project, host, scenario)
