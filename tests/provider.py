"""A provider of models that says what a script tells it to: a real HTTP server, OpenAI's interface, on loopback.

    with provider(says("The dam [f1-0-20] is old."), fails(429, retry_after=1)) as model:
        chat = Chat(Endpoint(model.base_url), "any", http)

Each request to `/chat/completions` takes the next reply, the last one again and again; a reply may also be a function
of the request's JSON. `/embeddings` gives unit vectors made from the words of each text. `model.asked` are the
requests; `model.left` the moments (monotonic) at which a client went away before its answer was whole.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Step = bytes | float | str | Callable[["Provider"], bool]
HANG = "hang"
CUT = "cut"
DIMENSION = 8


@dataclass(frozen=True)
class Reply:
    """What is sent back.

    `steps`: bytes to send, seconds to wait, what to wait for, `HANG` (until the client leaves) or `CUT`.
    """

    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] = ()


Script = Reply | Callable[[Json], Reply]


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    json: Json
    at: float


@dataclass
class Provider:
    """The running server."""

    port: int
    replies: list[Script]
    asked: list[Asked] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    connections: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def prompts(self) -> list[str]:
        """The last message of each request for chat."""
        return [str(one.json["messages"][-1]["content"]) for one in self.asked if "messages" in one.json]

    def next_reply(self, data: Json) -> Reply:
        script = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return script if isinstance(script, Reply) else script(data)


def sse(data: Json | str) -> bytes:
    """One event."""
    return f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n".encode()


def chunk(text: str = "", finish: str | None = None, **delta: Any) -> Json:
    """One object of a streamed completion."""
    content: Json = {"content": text} if text else {}
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": content | delta, "finish_reason": finish}],
    }


def usage(prompt: int, completion: int) -> Json:
    """The object that tells what it took."""
    counted = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"object": "chat.completion.chunk", "choices": [], "usage": counted}


def says(
    text: str, *, piece: int = 7, pause: float = 0.0, first: float = 0.0, tokens: tuple[int, int] | None = (100, 20),
    finish: str = "stop",
) -> Reply:  # fmt: skip
    """A good answer, streamed in pieces of so many characters, `pause` seconds apart, the first after `first`."""
    steps: list[Step] = [first] if first else []
    steps.append(sse(chunk(role="assistant")))
    for start in range(0, len(text), piece):
        steps.append(sse(chunk(text[start : start + piece])))
        steps += [pause] if pause else []
    steps.append(sse(chunk(finish=finish)))
    steps += [sse(usage(*tokens))] if tokens else []
    return Reply(content_type="text/event-stream", steps=(*steps, sse("[DONE]")))


def calls(*wanted: tuple[str, Json | str], text: str = "", tokens: tuple[int, int] | None = (100, 20)) -> Reply:
    """An answer that calls tools, the arguments in two pieces."""
    steps = [sse(chunk(text, role="assistant"))]
    for index, (name, given) in enumerate(wanted):
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        head = {"index": index, "id": f"c{index}", "type": "function", "function": {"name": name, "arguments": ""}}
        steps.append(sse(chunk(tool_calls=[head])))
        halves = (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :])
        steps += [sse(chunk(tool_calls=[{"index": index, "function": {"arguments": half}}])) for half in halves]
    steps.append(sse(chunk(finish="tool_calls")))
    steps += [sse(usage(*tokens))] if tokens else []
    return Reply(content_type="text/event-stream", steps=(*steps, sse("[DONE]")))


def fails(status: int, message: str = "it failed", *, retry_after: str | None = None, **more: Any) -> Reply:
    """An error as OpenAI words it."""
    headers = (("Retry-After", retry_after),) if retry_after is not None else ()
    body = json.dumps({"error": {"message": message, "type": "error", **more}}, ensure_ascii=False)
    return Reply(status, headers=headers, steps=(body.encode(),))


def sends(*steps: Step | Json, content_type: str = "text/event-stream") -> Reply:
    """Whatever bytes, waits and cuts: the body of a stream; an object becomes an event."""
    return Reply(
        content_type=content_type, steps=tuple(sse(step) if isinstance(step, dict) else step for step in steps)
    )


@contextmanager
def provider(*replies: Script) -> Iterator[Provider]:
    """The server, in a thread; at the end it is stopped, with every connection."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    running = Provider(listener.getsockname()[1], list(replies) or [says("Hello.")])
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(_serve(running, listener, stop),))
    thread.start()
    try:
        yield running
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
        assert not thread.is_alive()


@contextmanager
def nobody() -> Iterator[str]:
    """A base URL at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


async def _serve(running: Provider, listener: socket.socket, stop: asyncio.Event) -> None:
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.connections += 1
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            while await _exchange(running, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(connected, sock=listener)
    await stop.wait()
    server.close()
    for task in list(tasks):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # A transport lets go of its socket in the next turns of the loop.
    for _ in range(5):
        await asyncio.sleep(0)


async def _exchange(running: Provider, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """One request and its reply. Whether the connection may be used again."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    path = head[0].split(" ")[1]
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    data = json.loads(body) if body else {}
    running.asked.append(Asked(path, headers, data, time.monotonic()))
    is_embedding = path.endswith("/embeddings") and "input" in data
    reply = _embeddings(data) if is_embedding and len(running.replies) < 2 else running.next_reply(data)
    if "messages" in data and not data.get("stream") and reply.content_type == "text/event-stream":
        reply = _in_one_piece(reply)
    lines = [f"HTTP/1.1 {reply.status} Reply", f"Content-Type: {reply.content_type}", "Transfer-Encoding: chunked"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    # Reading tells that the client is gone, also while nothing is written.
    gone = asyncio.ensure_future(reader.read(1))
    try:
        for step in reply.steps:
            if gone.done():
                break
            if step == CUT:
                await writer.drain()
                writer.transport.abort()
                return False
            if callable(step):
                while not (step(running) or gone.done()):
                    await asyncio.sleep(0.01)
            elif isinstance(step, bytes):
                writer.write(f"{len(step):x}\r\n".encode() + step + b"\r\n")
                await writer.drain()
            else:
                seconds = step if isinstance(step, float | int) else 60.0
                await asyncio.wait({gone}, timeout=float(seconds))
        if gone.done():
            running.left.append(time.monotonic())
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    except ConnectionError:
        running.left.append(time.monotonic())
        return False
    finally:
        if not gone.done():
            gone.cancel()
        with suppress(asyncio.CancelledError, ConnectionError):
            await gone
    return True


def _in_one_piece(reply: Reply) -> Reply:
    """A streamed reply for a client that did not ask for a stream."""
    text, finish = "", "stop"
    counted: Json = {}
    for step in reply.steps:
        if isinstance(step, bytes) and step.startswith(b"data: {"):
            data = json.loads(step.removeprefix(b"data: "))
            counted = data.get("usage") or counted
            for choice in data["choices"]:
                text += choice["delta"].get("content", "")
                finish = choice["finish_reason"] or finish
    message = {"role": "assistant", "content": text}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": counted}
    return Reply(reply.status, headers=reply.headers, steps=(json.dumps(whole).encode(),))


def _embeddings(data: Json) -> Reply:
    texts: Sequence[str] = [data["input"]] if isinstance(data["input"], str) else data["input"]
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
    body = {
        "object": "list",
        "data": rows,
        "model": data.get("model"),
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
    return Reply(steps=(json.dumps(body).encode(),))


def vector(text: str) -> list[float]:
    """A unit vector in which texts that share words are alike."""
    values = [1e-6] * DIMENSION
    for word in text.lower().split():
        values[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]
