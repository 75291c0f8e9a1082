"""Embeddings over real HTTP, from hosts that behave and hosts that do not."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from ask_book.llm.embeddings import embed
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import ProviderError
from ask_book.llm.http import Http
from provider import CUT, HANG, Reply, Script, fails, provider, vector

TEXTS = ("the dam", "the river", "bread")
GOOD = [[1.0, 0.0], [0.0, 2.0], [3, 4]]


def embedded(*replies: Script, silence: float = 20, key: str = "sk-secret-key") -> Any:
    async def run(base_url: str) -> Any:
        http = Http()
        try:
            return await embed(http, Endpoint(base_url, key, silence), "some-model", TEXTS)
        finally:
            await http.aclose()

    with provider(*replies) as host:
        return asyncio.run(run(host.base_url))


def failure(reply: Script, silence: float = 20) -> ProviderError:
    with pytest.raises(ProviderError) as error:
        embedded(*[reply] * 4, silence=silence)
    assert error.value.hint
    assert "sk-" not in str(error.value)
    return error.value


def rows(*vectors: Any, order: tuple[Any, ...] | None = None) -> Reply:
    """A reply with these vectors."""
    numbers = range(len(vectors)) if order is None else order
    data = [{"index": at, "embedding": one} for at, one in zip(numbers, vectors, strict=True)]
    return Reply(steps=(json.dumps({"data": data}).encode(),))


def body(text: str | bytes) -> Reply:
    return Reply(steps=(text.encode() if isinstance(text, str) else text,))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda _: sleep(0))


def test_each_text_has_its_vector() -> None:
    np.testing.assert_allclose(embedded(), [vector(text) for text in TEXTS], rtol=1e-6)


def test_rows_are_put_in_the_order_of_their_index() -> None:
    np.testing.assert_array_equal(embedded(rows(GOOD[2], GOOD[0], GOOD[1], order=(2, 0, 1)), fails(500)), GOOD)


def test_hosts_that_number_nothing_are_believed() -> None:
    data = json.dumps({"data": [{"embedding": one} for one in GOOD]})
    np.testing.assert_array_equal(embedded(body(data), fails(500)), GOOD)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401), "provider_key"),
        (fails(403), "provider_key"),
        (fails(404, "model 'some-model' not found"), "provider_model"),
        (fails(429, retry_after="3600"), "provider_rate"),
        (fails(500), "provider_server"),
        (fails(400, "maximum context length is 512 tokens"), "provider_context"),
    ],
)
def test_refusals_are_told_apart(reply: Reply, code: str) -> None:
    assert failure(reply).code == code


def test_an_unknown_model_is_named_with_its_setting() -> None:
    error = failure(fails(404))
    assert "some-model" in error.message
    assert "embedding-model" in error.hint


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(rows(*GOOD[:2]), id="fewer than asked"),
        pytest.param(rows(*GOOD, GOOD[0]), id="more than asked"),
        pytest.param(rows(*GOOD, order=(0, 1, 1)), id="an index twice"),
        pytest.param(rows(*GOOD, order=(0, 1, "x")), id="an index that is none"),
        pytest.param(rows(GOOD[0], GOOD[1], [1.0]), id="dimensions that differ"),
        pytest.param(rows([], [], []), id="no dimension"),
        pytest.param(rows(GOOD[0], GOOD[1], [0.0, 0.0]), id="zeros"),
        pytest.param(rows(GOOD[0], GOOD[1], [float("nan"), 1.0]), id="not a number"),
        pytest.param(rows(GOOD[0], GOOD[1], [1e300, 1.0]), id="too large for a float"),
        pytest.param(rows(GOOD[0], GOOD[1], ["1", "2"]), id="texts"),
        pytest.param(rows(GOOD[0], GOOD[1], "AACAPwAAAAA="), id="base64"),
        pytest.param(rows(GOOD[0], GOOD[1], None), id="nothing"),
        pytest.param(body("<html>Not Found</html>"), id="a page"),
        pytest.param(body("[1, 2, 3]"), id="a list"),
        pytest.param(body('{"data": {"0": [1]}}'), id="an object"),
        pytest.param(body(""), id="empty"),
        pytest.param(body('{"data": [{"index": 0, "emb'), id="cut, but closed as if whole"),
        pytest.param(body(b"\xff\xfe\x00"), id="no text"),
        pytest.param(Reply(steps=(b'{"data": [', CUT)), id="cut in the middle"),
        pytest.param(Reply(steps=tuple([b" " * 2_000_000] * 30)), id="huge"),
    ],
)
def test_what_is_no_good_list_of_vectors_is_refused(reply: Reply) -> None:
    assert failure(reply).code == "provider_stream"


def test_a_host_that_says_nothing_is_given_up() -> None:
    silent = Reply(steps=(HANG,))
    assert failure(silent, silence=0.2).code == "provider_timeout"
