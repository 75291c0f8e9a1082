import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ask_book.llm import chat as chat_module
from ask_book.llm.chat import Chat, Message, Tool, ToolCall, Usage, estimated_tokens
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import ProviderError
from ask_book.llm.http import Http
from provider import CUT, HANG, Provider, Reply, Script, calls, chunk, fails, nobody, provider, says, sends, sse, usage

ASKED = (Message("system", "Be brief."), Message("user", "¿Cuándo?"))
SEARCH = Tool("search_book", "Search.", {"type": "object", "properties": {"question": {"type": "string"}}})
Part = str | ToolCall | Usage


def talk(base_url: str, *, silence: float = 20, key: str = "sk-secret-key", turns: int = 1, **more: Any) -> list[Part]:
    """The parts of the last of so many turns with one client."""

    async def run() -> list[Part]:
        http = Http()
        try:
            chat = Chat(Endpoint(base_url, key, silence), "m", http, seconds=more.pop("seconds", 60.0))
            for _ in range(turns):
                parts = [part async for part in chat.stream(ASKED, **more)]
            return parts
        finally:
            await http.aclose()

    return asyncio.run(run())


def text(parts: Sequence[Part]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def heard(*replies: Script, **more: Any) -> list[Part]:
    with provider(*replies) as model:
        return talk(model.base_url, **more)


def failure(*replies: Script, **more: Any) -> ProviderError:
    with pytest.raises(ProviderError) as error:
        heard(*replies, **more)
    assert error.value.hint
    assert "sk-" not in str(error.value)
    return error.value


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits between attempts are noted, not waited for."""
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", noted)
    return waits


def test_a_streamed_answer_and_what_it_took() -> None:
    with provider(says("Terminó en 106.", piece=3, tokens=(31, 7))) as model:
        parts = talk(model.base_url)
        asked = model.asked[0]
    assert parts == ["Ter", "min", "ó e", "n 1", "06.", Usage(31, 7)]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer sk-secret-key"
    assert asked.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "¿Cuándo?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
    }


@settings(max_examples=25)
@given(st.lists(st.integers(1, 700), max_size=6), st.sampled_from([1, 2, 5]))
def test_where_the_bytes_are_cut_does_not_matter(cuts: list[int], piece: int) -> None:
    whole = says("El año 106 — 日本 🐝.", piece=piece)
    stream = b"".join(step for step in whole.steps if isinstance(step, bytes))
    borders = [0, *sorted(set(cuts)), len(stream)]
    parts = heard(sends(*(stream[start:end] for start, end in pairwise(borders) if stream[start:end])))
    assert text(parts) == "El año 106 — 日本 🐝."
    assert parts[-1] == Usage(100, 20)


def test_a_proxy_is_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with nobody() as dead:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, dead.removesuffix("/v1"))
        assert text(heard(says("Yes."))) == "Yes."


def test_without_a_key_no_key_is_sent() -> None:
    with provider(says("Yes.")) as model:
        talk(model.base_url, key="")
        assert "authorization" not in model.asked[0].headers


def test_a_connection_is_used_again() -> None:
    with provider(says("Yes.")) as model:
        talk(model.base_url, turns=5)
        assert (len(model.asked), model.connections) == (5, 1)


def test_usage_is_estimated_where_the_host_does_not_count() -> None:
    counted = heard(says("x" * 40, tokens=None))[-1]
    assert isinstance(counted, Usage)
    assert (counted.estimated, counted.completion, 10 < counted.prompt < 60) == (True, 10, True)
    texts = ("a" * 40, "日本語", "[f1-204-246]", "")
    assert [estimated_tokens(one) for one in texts] == [10, 3, 6, 0]


def test_tool_calls_come_whole() -> None:
    with provider(calls(("search_book", {"question": "puente"}), ("book_overview", {}), tokens=(9, 4))) as model:
        parts = talk(model.base_url, tools=[SEARCH], tool_choice="required", thinking=False)
        sent = model.asked[0].json
    assert parts == [
        ToolCall("c0", "search_book", '{"question": "puente"}'), ToolCall("c1", "book_overview", "{}"),
        Usage(9, 4, "tool_calls"),
    ]  # fmt: skip
    assert sent["tools"][0]["function"]["name"] == "search_book"
    assert sent["tool_choice"] == "required"
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_conversation_with_tools_is_sent_back_as_the_interface_wants_it() -> None:
    call = ToolCall("c0", "search_book", "{}")
    with provider(says("Yes.")) as model:
        messages = [Message("assistant", "", (call,)), Message("tool", "found", tool_call_id="c0")]

        async def run() -> None:
            http = Http()
            async for _ in Chat(Endpoint(model.base_url), "m", http).stream(messages):
                pass
            await http.aclose()

        asyncio.run(run())
        sent = model.asked[0].json["messages"]
    function = {"name": "search_book", "arguments": "{}"}
    assert sent == [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c0", "type": "function", "function": function}]},
        {"role": "tool", "content": "found", "tool_call_id": "c0"},
    ]


WHOLE_CALL = {"id": "a", "function": {"name": "one", "arguments": '{"x": 1}'}}
SECOND_CALL = {"id": "b", "function": {"name": "two", "arguments": {"y": 2}}}
DIALECTS: dict[str, tuple[tuple[Any, ...], list[Part]]] = {
    "no usage, no [DONE]": ((chunk("Yes."), chunk(finish="stop")), ["Yes."]),
    "[DONE] and no finish_reason": ((chunk("Yes."), sse("[DONE]")), ["Yes."]),
    "data: without a space": (
        (b'data:{"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n',),
        ["Yes."],
    ),
    "comments, names, ids, CRLF": (
        (b": keep-alive\r\n\r\nevent: message\r\nid: 7\r\n" + sse(chunk("Yes.", "stop")).replace(b"\n", b"\r\n"),),
        ["Yes."],
    ),
    "a byte order mark": ((b"\xef\xbb\xbf" + sse(chunk("Yes.", "stop")),), ["Yes."]),
    "control words of a wrong template": (
        (chunk("<|im_start|>assistant\nYes"), chunk("."), chunk("<|im_"), chunk("end|>\n<|im_start|>user\nAnd now?")),
        ["Yes", "."],
    ),
    "a turn that ends aloud": ((chunk("Yes.<end_of_"), chunk("turn>"), HANG), ["Yes."]),
    "what only begins like a control word": (
        (chunk("a <"), chunk("b [I"), chunk(" see] <|"), chunk(finish="stop")), ["a ", "<b ", "[I see] ", "<|"],
    ),
    "pieces cut inside a letter": (
        (b'data: {"choices":[{"delta":{"content":"\xc3', b'\xb3"}}]}\n\n', sse("[DONE]")),
        ["ó"],
    ),
    "events without blank lines": (
        (sse(chunk("Y")).rstrip() + b"\n" + sse(chunk("es.")).rstrip() + b"\n" + sse(chunk(finish="stop")).rstrip(),),
        ["Y", "es."],
    ),
    "reasoning beside the content": (
        (chunk(reasoning_content="Hm."), chunk(thinking="Hm."), chunk(reasoning="x"), chunk("Yes.", "stop")), ["Yes."],
    ),
    "thinking aloud": (
        (chunk("<th"), chunk("ink>No"), chunk(" way</thi"), chunk("nk>\n\n"), chunk("Yes."), chunk(finish="stop")),
        ["Yes."],
    ),
    "nothing but thinking": ((chunk("<think>Hm"), chunk(finish="stop")), []),
    "a text that only begins like thinking": ((chunk("<th"), chunk("is>"), chunk(finish="stop")), ["<this>"]),
    "a short text that begins like thinking": ((chunk("<"), chunk(finish="stop")), ["<"]),
    "content in parts": (
        (chunk(content=[{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "Yes."}], finish="stop"),),
        ["Yes."],
    ),
    "null everywhere": (
        ({"choices": None, "usage": None}, {"choices": [{"delta": None}]}, chunk("Yes.", "stop", role=None)),
        ["Yes."],
    ),
    "usage in every object": (
        ({**chunk("Yes."), "usage": {"prompt_tokens": 1, "completion_tokens": 1}}, chunk(finish="stop"), usage(5, 2)),
        ["Yes.", Usage(5, 2)],
    ),
    "cut at its greatest length": ((chunk("Yes"), chunk(finish="length"), usage(5, 2)), ["Yes", Usage(5, 2, "length")]),
    "calls without index": (
        (chunk(tool_calls=[WHOLE_CALL]), chunk(tool_calls=[SECOND_CALL]), chunk(finish="stop"), usage(1, 1)),
        [ToolCall("a", "one", '{"x": 1}'), ToolCall("b", "two", '{"y": 2}'), Usage(1, 1)],
    ),
    "calls that all have index 0": (
        (chunk(tool_calls=[{"index": 0, **WHOLE_CALL}, {"index": 0, **SECOND_CALL}], finish="tool_calls"), usage(1, 1)),
        [ToolCall("a", "one", '{"x": 1}'), ToolCall("b", "two", '{"y": 2}'), Usage(1, 1, "tool_calls")],
    ),
    "a call without id and arguments": (
        (chunk(tool_calls=[{"index": 0, "function": {"name": "one"}}], finish="stop"), usage(1, 1)),
        [ToolCall("call_0", "one", "{}"), Usage(1, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_dialects_of_servers(dialect: str) -> None:
    steps, expected = DIALECTS[dialect]
    parts = heard(sends(*steps))
    assert parts[: len(expected)] == expected
    assert len(parts) == len(expected) + (0 if any(isinstance(part, Usage) for part in expected) else 1)


def test_a_server_that_does_not_stream() -> None:
    message = {"role": "assistant", "content": "Yes.", "tool_calls": [WHOLE_CALL]}
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    parts = heard(Reply(steps=(json.dumps(body).encode(),)))
    assert parts == ["Yes.", ToolCall("a", "one", '{"x": 1}'), Usage(3, 2)]


def test_a_server_that_hangs_after_its_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_module, "SECONDS_AFTER_THE_END", 0.05)
    assert text(heard(sends(chunk("Yes.", "stop"), HANG))) == "Yes."
    assert text(heard(sends(chunk("Yes.", "stop"), CUT))) == "Yes."


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.2 with this model."),
        ("stream_options", '{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}'),
        ("chat_template_kwargs", "Unrecognized request argument supplied: chat_template_kwargs"),
        ("reasoning_effort", "Unknown parameter: reasoning_effort"),
    ],
)
def test_what_a_host_does_not_accept_is_left_out_from_then_on(name: str, words: str) -> None:
    with provider(fails(400, words), says("Yes.")) as model:
        assert text(talk(model.base_url, turns=2, thinking=False)) == "Yes."
        assert [name in one.json for one in model.asked] == [True, False, False]


def test_the_newer_name_of_the_greatest_length() -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    with provider(fails(400, words), says("Yes.")) as model:
        talk(model.base_url, max_tokens=50)
        assert [one.json.get("max_completion_tokens") for one in model.asked] == [None, 50]
        assert "max_tokens" not in model.asked[1].json


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401, "Incorrect API key provided: sk-secret-key"), "provider_key"),
        (fails(403, "not yours"), "provider_key"),
        (fails(404, "The model `m` does not exist", code="model_not_found"), "provider_model"),
        (fails(404, "model 'm' not found"), "provider_model"),
        (fails(400, "Invalid model: m"), "provider_model"),
        (Reply(404, "text/html", steps=(b"<h1>Not found</h1>",)), "provider_model"),
        (fails(302, ""), "provider_model"),
        (fails(400, "This model's maximum context length is 4096 tokens."), "provider_context"),
        (fails(400, "the request exceeds the available context size"), "provider_context"),
        (fails(413, "Prompt is too long"), "provider_context"),
        (fails(400, "what?"), "provider_request"),
        (fails(422, "what?"), "provider_request"),
        (fails(402, "Insufficient credits"), "provider_rate"),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), "provider_rate"),
        (fails(429, "slow down", retry_after="3600"), "provider_rate"),
    ],
)  # fmt: skip
def test_refusals_are_told_apart_and_not_repeated(reply: Reply, code: str) -> None:
    with provider(reply) as model:
        with pytest.raises(ProviderError) as error:
            talk(model.base_url)
        assert (error.value.code, error.value.status, len(model.asked)) == (code, 502, 1)
    assert error.value.hint
    assert "sk-secret-key" not in str(error.value) + error.value.said


def test_tools_that_are_not_there_are_noticed_once() -> None:
    for reply in (
        fails(400, "registry.ollama.ai/library/tiny does not support tools"),
        fails(400, '"auto" tool choice requires --enable-auto-tool-choice'),
        fails(500, "tools param requires --jinja flag"),
        fails(404, "No endpoints found that support tool use"),
        fails(422, '{"detail":[{"type":"extra_forbidden","loc":["body","tools"]}]}'),
        fails(400, "Unrecognized request argument supplied: tools"),
    ):
        assert failure(reply, tools=[SEARCH], tool_choice="auto").code == "provider_tools"


def test_a_failure_in_which_a_function_happens_to_be_named_is_only_a_failure(patient: list[float]) -> None:
    assert failure(fails(500, "Traceback: in function run"), tools=[SEARCH]).code == "provider_server"
    assert patient


def test_a_choice_of_tools_that_is_refused_is_left_to_the_model() -> None:
    with provider(fails(400, "tool_choice 'required' is not supported"), calls(("search_book", {}))) as model:
        parts = talk(model.base_url, tools=[SEARCH], tool_choice="required")
        assert ["tool_choice" in one.json for one in model.asked] == [True, False]
    assert isinstance(parts[0], ToolCall)


@pytest.mark.parametrize(
    ("replies", "waits"),
    [
        ((fails(429, "slow down", retry_after="2"), says("Yes.")), [2.0]),
        ((fails(429, "slow down"), says("Yes.")), [1.0]),
        ((fails(429, "slow down", retry_after="soon"), says("Yes.")), [1.0]),
        ((fails(500), fails(503), says("Yes.")), [0.5, 1.0]),
    ],
)
def test_what_passes_is_tried_again(replies: tuple[Reply, ...], waits: list[float], patient: list[float]) -> None:
    assert text(heard(*replies)) == "Yes."
    assert [seconds for seconds in patient if seconds] == waits


def test_what_does_not_pass_is_given_up(patient: list[float]) -> None:
    with provider(fails(503)) as model:
        with pytest.raises(ProviderError) as error:
            talk(model.base_url)
        assert (error.value.code, len(model.asked)) == ("provider_server", 3)
    with nobody() as base_url, pytest.raises(ProviderError) as error:
        talk(base_url)
    assert (error.value.code, error.value.status) == ("provider_unreachable", 502)
    assert "Start it" in error.value.hint


def test_an_answer_that_has_begun_is_never_asked_for_again() -> None:
    with provider(sends(chunk("The answer "), CUT), says("Yes.")) as model:
        with pytest.raises(ProviderError) as error:
            talk(model.base_url)
        assert (error.value.code, len(model.asked)) == ("provider_stream", 1)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (sends(chunk("The answer ")), "provider_stream"),
        (sends(chunk("The answer "), b"data: {not json}\n\n"), "provider_stream"),
        (sends(b"data: [1]\n\n"), "provider_stream"),
        (sends(b"data: " + b"[" * 100_000 + b"\n\n"), "provider_stream"),
        (sends(b"data: " + b"x" * 1_200_000), "provider_stream"),
        (sends(), "provider_stream"),
        (Reply(steps=(b"{}",)), "provider_stream"),
        (Reply(content_type="text/html", steps=(b"<h1>Log in to the wifi</h1>",)), "provider_stream"),
        (Reply(steps=(b"\xff\xfe",)), "provider_stream"),
        (sends(chunk("The "), {"error": {"message": "context size exceeded"}}), "provider_context"),
        (sends(chunk("The "), {"error": "out of memory"}), "provider_server"),
        (Reply(steps=(b'{"error": {"message": "model not found"}}',)), "provider_model"),
        (Reply(200, "text/event-stream", (("Content-Encoding", "gzip"),), (b"no gzip",)), "provider_stream"),
    ],
)  # fmt: skip
def test_answers_that_cannot_be_read(reply: Reply, code: str) -> None:
    assert failure(reply).code == code


def test_silence_and_slowness_end_in_a_time_out() -> None:
    for reply in (sends(HANG), sends(chunk("The "), HANG)):
        error = failure(reply, silence=0.2)
        assert (error.code, error.status) == ("provider_timeout", 504)
    drip = sends(*(step for _ in range(40) for step in (chunk("x"), 0.05)))
    assert failure(drip, seconds=0.3).code == "provider_timeout"


def test_who_leaves_closes_the_connection_at_once() -> None:
    async def leave(model: Provider) -> float:
        http = Http()
        parts: AsyncGenerator[Part, None] = Chat(Endpoint(model.base_url), "m", http).stream(ASKED)
        async with aclosing(parts):
            await anext(parts)
        left = time.monotonic()
        await http.aclose()
        return left

    with provider(sends(chunk("The "), HANG)) as model:
        left = asyncio.run(leave(model))
        deadline = time.monotonic() + 5
        while not model.left and time.monotonic() < deadline:
            time.sleep(0.01)
        assert model.left
        assert model.left[0] - left < 1


def test_an_answer_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_module, "ANSWER_CHARACTERS", 100)
    monkeypatch.setattr(chat_module, "SECONDS_AFTER_THE_END", 0.05)
    parts = heard(sends(*[chunk("x" * 30)] * 20, HANG))
    assert len(text(parts)) == 120
    assert isinstance(parts[-1], Usage)
    assert parts[-1].finish == "length"
