"""Embedding a book with a host over real HTTP: batches, prefixes, patience, and what a failure leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ask_book.errors import AskBookError
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import ProviderError
from ask_book.retrieval import remote
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.remote import RemoteEmbedder
from ask_book.retrieval.vectors import embed, plan
from provider import CUT, HANG, Json, Provider, Reply, Script, _embeddings, fails, nobody, provider, vector
from retrieval.texts import manifest_of

BOOK = manifest_of([(f"Chapter {number}", f"The text of number {number}") for number in range(150)])


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between attempts are noted, not waited for; giving others their turn is no wait."""
    noted: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        noted.extend(filter(None, [seconds]))
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    return noted


def good(data: Json) -> Reply:
    return _embeddings(data)


def using(base_url: str, work: Callable[[RemoteEmbedder], Any], model: str = "some-model", key: str = "") -> Any:
    async def run() -> Any:
        embedder = RemoteEmbedder(Endpoint(base_url, key, 5), model)
        try:
            return await work(embedder)
        finally:
            await embedder.aclose()

    return asyncio.run(run())


def embed_book(host: Provider, folder: Path) -> Any:
    async def work(embedder: RemoteEmbedder) -> Any:
        kept = Kept("host/some-model", folder)
        return await embed(plan(BOOK, kept), embedder, kept)

    return using(host.base_url, work)


def missing(folder: Path) -> int:
    return len(plan(BOOK, Kept("host/some-model", folder)).missing)


def sizes(host: Provider) -> list[int]:
    return sorted(len(asked.json["input"]) for asked in host.asked)


def test_a_book_goes_out_in_batches_of_64(tmp_path: Path) -> None:
    with provider() as host:
        vectors = embed_book(host, tmp_path)
        assert sizes(host) == [22, 64, 64]
    np.testing.assert_allclose(vectors.matrix[149], vector("Chapter 149. The text of number 149"), atol=1e-6)


def test_e5_is_told_what_is_a_question_and_what_a_passage() -> None:
    async def work(embedder: RemoteEmbedder) -> None:
        await embedder.passages(["text"])
        await embedder.query("question?")

    with provider() as host:
        using(host.base_url, work, "intfloat/multilingual-e5-small")
        assert [asked.json["input"] for asked in host.asked] == [["passage: text"], ["query: question?"]]


def test_its_name_has_the_address_and_the_model_but_no_key() -> None:
    embedder = RemoteEmbedder(Endpoint("https://api.example.org/v1", "sk-secret"), "text-embedding-3-small")
    assert embedder.name == "api.example.org/v1/text-embedding-3-small"
    assert not embedder.unasked
    assert RemoteEmbedder(Endpoint("http://127.0.0.1:11434/v1"), "nomic-embed-text").unasked


def test_a_limit_is_waited_for_as_long_as_the_host_says(tmp_path: Path, waits: list[float]) -> None:
    with provider(fails(429, retry_after="30"), good, good, good, good) as host:
        embed_book(host, tmp_path)
    assert waits == [30]
    assert missing(tmp_path) == 0


def test_a_limit_of_an_hour_is_not_waited_for(tmp_path: Path, waits: list[float]) -> None:
    with provider(*[fails(429, retry_after="3600")] * 5) as host, pytest.raises(ProviderError):
        embed_book(host, tmp_path)
    assert waits == []


def test_a_text_that_is_too_long_for_the_model_is_cut(waits: list[float]) -> None:
    def picky(data: Json) -> Reply:
        too_long = max(map(len, data["input"])) > 1000
        return fails(500, "input is too large to process") if too_long else _embeddings(data)

    with provider(*[picky] * 20) as host:
        vectors = using(host.base_url, lambda embedder: embedder.passages(["word " * 700, "short"]))
        assert host.asked[-1].json["input"] == [("word " * 700)[:875], "short"]
    assert vectors.shape == (2, 8)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fails(401), id="401"),
        pytest.param(fails(404), id="404"),
        pytest.param(fails(500), id="500"),
        pytest.param(Reply(steps=(b'{"data": [{"index": 0, "embedding": [0.1', CUT)), id="cut"),
        pytest.param(Reply(steps=(b'{"data": [{"index": 0, "embedding": [NaN]}]}',)), id="NaN"),
        pytest.param(Reply(steps=(b"nonsense",)), id="not JSON"),
    ],
)
def test_after_a_failure_only_what_is_missing_is_asked_for(tmp_path: Path, waits: list[float], fault: Script) -> None:
    with provider(good, *[fault] * 40) as host, pytest.raises(ProviderError):
        embed_book(host, tmp_path)
    left = missing(tmp_path)
    assert left in (150 - 64, 150 - 22)
    with provider() as host:
        vectors = embed_book(host, tmp_path)
        assert sum(sizes(host)) == left
    assert vectors.matrix.shape == (150, 8)


def test_a_host_that_changes_its_dimension_half_way_is_not_believed(tmp_path: Path) -> None:
    def shorter(data: Json) -> Reply:
        rows = ",".join(f'{{"index": {at}, "embedding": [1, 0.5]}}' for at in range(len(data["input"])))
        return Reply(steps=(f'{{"data": [{rows}]}}'.encode(),))

    with provider(good, shorter, good, good) as host, pytest.raises(AskBookError, match="2 and 8 dimensions"):
        embed_book(host, tmp_path)
    assert {len(row) for row in plan(BOOK, Kept("host/some-model", tmp_path)).known.values()} < {2, 8}


def test_after_a_failure_questions_do_not_wait_for_the_host() -> None:
    async def work(embedder: RemoteEmbedder) -> list[str]:
        codes = []
        for _ in range(3):
            try:
                await embedder.query("who?")
            except ProviderError as error:
                codes.append(error.code)
        return codes

    with provider(*[fails(401)] * 3) as host:
        assert using(host.base_url, work) == ["provider_key"] * 3
        assert len(host.asked) == 1


def test_a_host_that_hangs_is_not_waited_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(embedder: RemoteEmbedder) -> list[str]:
        codes = []
        await embedder.passages(["to be connected"])
        for _ in range(3):
            with pytest.raises(ProviderError) as error:
                await embedder.query("who?")
            codes.append(error.value.code)
        return codes

    monkeypatch.setattr(remote, "QUESTION_SECONDS", 0.2)
    with provider(good, *[Reply(steps=(HANG,))] * 3) as host:
        assert using(host.base_url, work) == ["provider_timeout"] * 3
        assert len(host.asked) == 2


def test_a_limit_of_tokens_a_minute_does_not_cut_texts(waits: list[float]) -> None:
    busy = fails(429, "Request too large for tokens per min (TPM)", retry_after="5")
    with provider(busy, good, good, good) as host:
        using(host.base_url, lambda embedder: embedder.passages(["word " * 700]))
        assert {len(asked.json["input"][0]) for asked in host.asked} == {3500}


def test_a_host_that_is_not_there_is_not_waited_for(waits: list[float]) -> None:
    with nobody() as base_url, pytest.raises(ProviderError) as error:
        using(base_url, lambda embedder: embedder.passages(["text"]))
    assert error.value.code == "provider_unreachable"
    assert sum(waits) < 2


def test_a_host_that_goes_away_half_way_is_waited_for(waits: list[float]) -> None:
    async def work(embedder: RemoteEmbedder) -> None:
        await embedder.passages(["text"])
        stopping.__exit__(None, None, None)
        await embedder.passages(["more text"])

    stopping = provider()
    with pytest.raises(ProviderError) as error:
        using(stopping.__enter__().base_url, work)
    assert error.value.code == "provider_unreachable"
    assert sum(waits) > 20
