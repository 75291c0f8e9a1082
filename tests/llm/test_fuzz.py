"""Streams of any bytes, cut anywhere: words, or an error with a name."""

import asyncio
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ask_book.llm.chat import Chat, Message, ToolCall, Usage
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import ProviderError
from ask_book.llm.http import Http
from provider import Reply, chunk, provider, sse, usage

GOOD = (
    sse(chunk("El puente ")), sse(chunk("ñ\U0001f309.")), sse(chunk(finish="stop")), sse(usage(3, 4)), sse("[DONE]"),
)  # fmt: skip
EVENTS = (
    "{", "[]", "null", '{"choices": []}', '{"choices": [{}]}', '{"choices": [null]}', '{"error": {"message": "x"}}',
    '{"choices": [{"delta": {"content": 5}}]}', '{"choices": [{"delta": {"tool_calls": [{}]}}]}', '{"error": 5}',
)  # fmt: skip
LINES = (b"data:\n\n", b": a comment\n\n", b"event: x\n", b"\r\n\r\n", b"\xff\xfe\n\n", b"id: 1\nretry: x\n\n")
PIECES = st.sampled_from([*GOOD, *map(sse, EVENTS), *LINES]) | st.binary(max_size=30)
FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)


async def heard(base_url: str) -> tuple[list[object], ProviderError | None]:
    """What came, and the error that ended it."""
    http = Http()
    said: list[object] = []
    try:
        async for piece in Chat(Endpoint(base_url, "", 5), "m", http).stream([Message("user", "x")]):
            said.append(piece)  # noqa: PERF401 - what came before an error counts, too
    except ProviderError as error:
        return said, error
    finally:
        await http.aclose()
    return said, None


def streamed(pieces: list[bytes]) -> Reply:
    return Reply(content_type="text/event-stream", steps=tuple(filter(None, pieces)))


def test_any_stream_is_words_or_an_error() -> None:
    body: list[bytes] = []
    with provider(lambda _: streamed(body)) as model:

        @FEW
        @given(st.lists(PIECES, max_size=8))
        def holds(pieces: list[bytes]) -> None:
            body[:] = pieces
            said, error = asyncio.run(heard(model.base_url))
            assert all(isinstance(piece, str | Usage | ToolCall) for piece in said)
            assert error is None or (error.code.startswith("provider") and error.message)

        holds()


def test_where_a_stream_is_cut_does_not_matter() -> None:
    whole = b"".join(GOOD)
    body: list[bytes] = []
    with provider(lambda _: streamed(body)) as model:

        @FEW
        @given(st.lists(st.integers(0, len(whole)), max_size=6))
        def holds(cuts: list[int]) -> None:
            body[:] = [whole[start:end] for start, end in pairwise([0, *sorted(cuts), len(whole)])]
            said, error = asyncio.run(heard(model.base_url))
            assert "".join(piece for piece in said if isinstance(piece, str)) == "El puente ñ\U0001f309."
            assert error is None

        holds()
