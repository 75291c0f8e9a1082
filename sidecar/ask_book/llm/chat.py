"""Chat completions, streamed, in the dialects of those who speak OpenAI's interface."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import anyio

from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import BrokenStreamError, ProviderError, RejectedError, ToolsUnsupportedError
from ask_book.llm.http import DONE, Http

SECONDS_AFTER_THE_END = 2.0
ANSWER_CHARACTERS = 200_000
# A host may be started again, with tools; a model that did not use them may another time.
SECONDS_WITHOUT_TOOLS = 600.0

# What a host may refuse by name and the answer does not depend on.
_OPTIONAL = ("stream_options", "temperature", "max_tokens", "max_completion_tokens", "tool_choice")
_THOUGHTLESS = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "none"}

# What a host with a wrong template for its chats lets through: behind it a model talks to itself.
_CONTROL = re.compile(r"<[|｜][^<>|｜\n]{1,40}[|｜]>|<(?:start|end)_of_turn>|\[/?INST\]")
_CONTROL_SO_FAR = re.compile(r"(?:<(?:[|｜][^<>|｜\n]{0,40}[|｜]?|[a-z_]{0,14})|\[/?(?:I(?:N(?:ST?)?)?)?)\Z")
_ROLE = re.compile(r"\s*(?:assistant|model)\b\s*|\s+")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ToolCall:
    """`arguments` is JSON as the model wrote it, which may be none."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """`role` is system, user, assistant or tool (then `tool_call_id` says which call it answers)."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True)
class Tool:
    """`parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Usage:
    """Tokens of one completion, `estimated` where the host does not count; `finish` is why it ended."""

    prompt: int
    completion: int
    finish: str = "stop"
    estimated: bool = False


@dataclass
class Chat:
    """A model. What its host does not accept is learned once and left out from then on."""

    endpoint: Endpoint
    model: str
    http: Http = field(repr=False)
    seconds: float = 300.0
    _tools_from: float = field(default=0.0, repr=False)
    _left_out: set[str] = field(default_factory=set, repr=False)

    @property
    def has_tools(self) -> bool:
        """Whether tools are worth a try; when they came to nothing, not for a while."""
        return time.monotonic() >= self._tools_from

    def does_without_tools(self) -> None:
        """It was given tools in vain."""
        log.info("%s at %s was given tools in vain.", self.model, self.endpoint.host)
        self._tools_from = time.monotonic() + SECONDS_WITHOUT_TOOLS

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        temperature: float = 0.2,
        max_tokens: int | None = None,
        thinking: bool = True,
    ) -> AsyncGenerator[str | ToolCall | Usage, None]:
        """The text as it comes, then the tool calls, whole, and at last the usage.

        Closing the generator closes the connection. Raises `ProviderError`, `ToolsUnsupportedError` before any text.
        """
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [_message(message) for message in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": temperature,
            "max_tokens": max_tokens,
            "tools": [_tool(tool) for tool in tools] or None,
            "tool_choice": tool_choice if tools else None,
            **({} if thinking else _THOUGHTLESS),
        }
        body = {name: value for name, value in asked.items() if value is not None}
        while True:
            try:
                async with aclosing(self._completion(self._accepted(body))) as parts:
                    async for part in parts:
                        yield part
                return
            except RejectedError as error:
                self._learn(error, self._accepted(body))
            except ToolsUnsupportedError:
                self.does_without_tools()
                raise

    async def _completion(self, body: dict[str, Any]) -> AsyncGenerator[str | ToolCall | Usage, None]:
        reply = _Reply()
        async with aclosing(self.http.stream(self.endpoint, "/chat/completions", body, self.seconds)) as objects:
            while True:
                try:
                    # Behind the end there may be the usage, or nothing at all for as long as the host likes.
                    with anyio.fail_after(SECONDS_AFTER_THE_END if reply.finish else None):
                        found = await anext(objects)
                except (StopAsyncIteration, TimeoutError):
                    break
                except ProviderError:
                    if reply.finish:
                        break
                    raise
                if text := reply.take(found):
                    yield text
                if reply.characters > ANSWER_CHARACTERS:
                    reply.finish, reply.is_whole = "length", True
                if reply.characters > ANSWER_CHARACTERS or reply.is_over:
                    break
        if not reply.is_whole:
            raise BrokenStreamError(
                f"The answer of the model at {self.endpoint.host} broke off.", "Ask again.", "no end"
            )
        if text := reply.held():
            yield text
        for call in reply.tool_calls():
            yield call
        yield reply.counted(body)

    def _accepted(self, body: dict[str, Any]) -> dict[str, Any]:
        accepted = {name: value for name, value in body.items() if name not in self._left_out}
        if "max_tokens" in self._left_out and "max_completion_tokens" not in self._left_out and "max_tokens" in body:
            accepted["max_completion_tokens"] = body["max_tokens"]
        return accepted

    def _learn(self, error: RejectedError, body: dict[str, Any]) -> None:
        """Leave out what the host names in its refusal; raise the error when that is nothing of ours."""
        named = [name for name in (*_THOUGHTLESS, *_OPTIONAL) if name in body and name in error.said]
        if not named:
            raise error
        log.info("%s does not accept %s: left out from now on.", self.endpoint.host, named[0])
        self._left_out.add(named[0])


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: four letters each, two digits or marks, one character of a dense script."""
    wide = sum(char >= "\u2e80" for char in text)
    dense = sum(not (char.isalpha() or char.isspace()) for char in text if char < "\u2e80")
    return wide + -(-(2 * dense + len(text) - wide - dense) // 4)


@dataclass
class _Reply:
    """What has come of one completion."""

    finish: str = ""
    is_whole: bool = False
    characters: int = 0
    usage: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, str]] = field(default_factory=list)
    _by_index: dict[int, dict[str, str]] = field(default_factory=dict)
    is_over: bool = False
    _text: str = ""
    _begun: bool = False
    _tail: str = ""
    _said: bool = False

    def take(self, data: dict[str, Any]) -> str:
        """One object of the stream; gives the text in it that may be shown."""
        self.is_whole = self.is_whole or data is DONE
        self.usage = _dict(data.get("usage")) or _dict(_dict(data.get("x_groq")).get("usage")) or self.usage
        choices = data.get("choices")
        choice = _dict(choices[0]) if isinstance(choices, list) and choices else {}
        delta = _dict(choice.get("delta")) or _dict(choice.get("message"))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._call(_dict(call))
        if choice.get("finish_reason"):
            self.finish = str(choice["finish_reason"])
            self.is_whole = True
        text = _text(delta.get("content"))
        self.characters += len(text)
        return self._before_control(self._without_thinking(text))

    def held(self) -> str:
        """What was held back and is no thinking after all."""
        text = "" if self._begun or self._text.lstrip().startswith("<think>") else self._text
        text, self._text, self._tail = self._tail + text, "", ""
        return "" if self.is_over else text

    def tool_calls(self) -> list[ToolCall]:
        """The calls, put together."""
        return [
            ToolCall(call["id"] or f"call_{at}", call["name"], call["arguments"] or "{}")
            for at, call in enumerate(self.calls)
            if call["name"]
        ]

    def counted(self, body: dict[str, Any]) -> Usage:
        """The usage, estimated where the host is silent."""
        prompt, completion = (self.usage.get(f"{name}_tokens") for name in ("prompt", "completion"))
        if isinstance(prompt, int) and isinstance(completion, int):
            return Usage(prompt, completion, self.finish or "stop")
        sent = estimated_tokens(json.dumps([body["messages"], body.get("tools")], ensure_ascii=False))
        return Usage(sent, -(-self.characters // 4), self.finish or "stop", estimated=True)

    def _call(self, data: dict[str, Any]) -> None:
        """A call comes whole, or in pieces that its index holds together; some hosts give no index, or 0 to all."""
        function = _dict(data.get("function"))
        index = data.get("index")
        known = self._by_index.get(index) if isinstance(index, int) else (self.calls[-1] if self.calls else None)
        if known is None or (data.get("id") and known["id"] and data["id"] != known["id"]):
            known = {"id": "", "name": "", "arguments": ""}
            self.calls.append(known)
            if isinstance(index, int):
                self._by_index[index] = known
        known["id"] = known["id"] or str(data.get("id") or "")
        known["name"] = known["name"] or str(function.get("name") or "")
        given = function.get("arguments") or ""
        arguments = json.dumps(given) if isinstance(given, dict) else str(given)
        known["arguments"] += arguments
        self.characters += len(arguments)

    def _before_control(self, text: str) -> str:
        """A control word ends the text; one before it begins is left out, with the role that it names."""
        if self.is_over:
            return ""
        self._tail += text
        while found := _CONTROL.search(self._tail):
            before = self._tail[: found.start()]
            if self._said or before.strip():
                self.is_over = self.is_whole = True
                self.finish = self.finish or "stop"
                self._tail = ""
                return before
            rest = self._tail[found.end() :]
            self._tail = rest[role.end() :] if (role := _ROLE.match(rest)) else rest
        held = _CONTROL_SO_FAR.search(self._tail)
        shown = self._tail[: held.start()] if held else self._tail
        self._tail = self._tail[len(shown) :]
        self._said = self._said or bool(shown.strip())
        return shown

    def _without_thinking(self, text: str) -> str:
        """A model that thinks aloud does so first, between `<think>` and `</think>`."""
        if self._begun:
            return text
        self._text += text
        shown = self._text.lstrip()
        if "<think>".startswith(shown[:7]) and len(shown) < 7:
            return ""
        if shown.startswith("<think>"):
            _, end, rest = shown.partition("</think>")
            if not end:
                return ""
            shown = rest.lstrip()
            if not shown:
                self._text = f"<think></think>{rest}"
                return ""
        self._begun = True
        self._text = ""
        return shown


def _text(content: object) -> str:
    """A text, or a list of parts of which those of type text count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(_dict(part).get("text") or "") for part in parts if _dict(part).get("type") == "text")


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _message(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        data["tool_call_id"] = message.tool_call_id
    return data


def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
