"""The routes of the HTTP contract."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from ask_book.answering.answer import Answer, source, sources_header, to_json
from ask_book.answering.ask import answer
from ask_book.answering.assistant import WITHOUT_MODEL, Assistant
from ask_book.answering.events import Event, collect, event_json
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question, question, question_text
from ask_book.book.manifest import Tag
from ask_book.errors import AskBookError, UsageError
from ask_book.server.access import Access
from ask_book.server.errors import OWN_PAGES, RequestError, error_json, json_response
from ask_book.server.feedback import keep_feedback
from ask_book.server.holder import Holder
from ask_book.server.passages import find_passage, fnv1a
from ask_book.server.reports import Reports
from ask_book.server.static import book_file

MOST_PASSAGES = 50

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Routes:
    """The handlers of one server. `state_dir` None: nothing is kept. `top_k`: how many passages an answer looks at.

    `records`: questions are kept there for the author, too.
    """

    holder: Holder
    access: Access
    assistant: Assistant = WITHOUT_MODEL
    state_dir: Path | None = None
    top_k: int = 7
    reports: Reports | None = None
    records: bool = False

    async def ask(self, request: Request) -> Response:
        """An answer: events when the client accepts them, else the whole as JSON."""
        data = await _body(request)
        asked = question(*(data.get(key) for key in ("question", "history", "mode", "scope", "report")))
        request.state.question = asked.text
        book = self._book()
        if "text/event-stream" in request.headers.get("accept", ""):
            return await self._stream(book, asked)
        self.holder.busy += 1
        try:
            done = await _unless_left(request, collect(self._answering(book, asked)))
        finally:
            self.holder.busy -= 1
        return json_response(to_json(done), {"X-Ask-Book-Sources": sources_header(done.sources)})

    async def search(self, request: Request) -> Response:
        """Passages with scores, and whether they are enough to answer."""
        words = request.state.question = question_text(request.query_params.get("q"))
        k = _whole(request.query_params.get("k"), self.top_k)
        book = self._book()
        found = await book.search(words, k, request.query_params.get("scope") or None)
        chunks = [(book.manifest.chunks[hit.chunk], hit.score) for hit in found.hits]
        passages = [source(book.manifest, Tag(chunk.chapter, chunk.start, chunk.end), score) for chunk, score in chunks]
        return json_response(
            {"passages": [vars(item) for item in passages if item], "evidence": vars(found.evidence)},
        )

    async def passage(self, request: Request) -> Response:
        """The words at a tag; with `?hash=`, wherever those words are now."""
        wanted = request.query_params.get("hash", "").lower()
        tag = Tag.parse(request.path_params["tag"])
        if tag is None:
            raise UsageError("That is no tag.", "A tag looks like f3-120-260.", "tag")
        book = self._book()
        found = await to_thread.run_sync(find_passage, book, tag, wanted)
        if found is None:
            raise RequestError(404, "The book no longer has these words.", "Search for them.", "stale")
        place, quote = book.manifest.place(found), book.manifest.text(found) or ""
        return json_response(
            {"tag": str(found), "quote": quote, "hash": fnv1a(quote), "moved": found != tag, **vars(place)}
        )

    async def feedback(self, request: Request) -> Response:
        """Keep what a reader thinks of an answer."""
        data = await _body(request)
        if self.state_dir is None:
            raise RequestError(404, "No feedback is kept here.", "", "feedback")
        try:
            await to_thread.run_sync(keep_feedback, self.state_dir, self.holder.book_id, data)
        except OSError:
            log.exception("Feedback was not kept")
            raise RequestError(503, "It could not be kept.", "The log of the server says why.", "feedback") from None
        return json_response({"kept": True}, status=201)

    async def reload(self, request: Request) -> Response:
        """Look for a newer edition of the book; the owner only."""
        if not self.access.has_token(request.headers):
            raise RequestError(
                401, "This needs the owner's token.", "Use the command `ask-book` on the same machine.", "token"
            )
        self.holder.reload()
        return json_response({"reloading": True}, status=202)

    async def page(self, request: Request) -> Response:
        """A page or file of the book."""
        return await to_thread.run_sync(book_file, request, self._book().site)

    async def _answering(self, book: OpenBook, asked: Question) -> AsyncGenerator[Event, None]:
        """The events of an answer; it is kept before it is done, so that `done` can say where."""
        async with aclosing(answer(book, asked, self.assistant, self.top_k)) as events:
            async for event in events:
                if self.reports and event.kind == "done":
                    event = Event("done", await self.reports.keep(event.data, asked, book))
                if self.records and self.state_dir and event.kind == "done":
                    await to_thread.run_sync(_record, self.state_dir, book, asked, event.data)
                yield event

    def _book(self) -> OpenBook:
        book = self.holder.current
        if book:
            return book
        if failure := self.holder.failure:
            raise RequestError(503, failure.message, failure.hint, failure.code, 5)
        raise RequestError(503, "The index of the book is being made.", "Try again in a moment.", "index", 1)

    async def _stream(self, book: OpenBook, asked: Question) -> Response:
        events = self._answering(book, asked)
        first = await anext(events)
        headers = {
            "X-Ask-Book-Sources": sources_header(first.data if first.kind == "sources" else ()),
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
            **OWN_PAGES,
        }
        return _EventStream(self._events(first, events), headers=headers, media_type="text/event-stream")

    async def _events(self, first: Event, events: AsyncGenerator[Event, None]) -> AsyncGenerator[bytes, None]:
        self.holder.busy += 1
        try:
            yield _sse(first.kind, event_json(first))
            async for event in events:
                yield _sse(event.kind, event_json(event))
        except AskBookError as error:
            yield _sse("error", error_json(error.code, error.message, error.hint))
        except Exception:  # the stream has begun: the reader learns of it by an event, its cause stays in the log
            log.exception("An answer broke off")
            yield _sse("error", error_json("failed", "The answer broke off.", "Ask again."))
        finally:
            await events.aclose()
            self.holder.busy -= 1


def _record(folder: Path, book: OpenBook, asked: Question, done: Answer) -> None:
    """Keep a question for the author. No answer is lost because that fails."""
    from ask_book.exam.asked import keep_question

    try:
        keep_question(folder, book, asked, done)
    except OSError:
        log.exception("A question was not recorded")


class _EventStream(StreamingResponse):
    """Closes its generator when the reader leaves, not when the garbage collector comes by."""

    async def stream_response(self, send: Send) -> None:
        assert isinstance(self.body_iterator, AsyncGenerator)
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


async def _unless_left(request: Request, answering: Coroutine[Any, Any, Answer]) -> Answer:
    """The whole answer; given up when the reader leaves, so that no model goes on for nobody."""
    whole = asyncio.ensure_future(answering)
    left = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({whole, left}, return_when=asyncio.FIRST_COMPLETED)
        if whole.done():
            return whole.result()
        raise RequestError(499, "The reader has left.", "", "left")
    finally:
        whole.cancel()
        left.cancel()
        await asyncio.gather(whole, left, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object of a request. How large and how slow it may be, `limits` has seen to."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "The request is not JSON.", "Send Content-Type: application/json.", "content_type")
    try:
        data = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise UsageError("The request is not valid JSON.", 'Send {"question": "…"}.', "json") from None
    if not isinstance(data, dict):
        raise UsageError("The request is not a JSON object.", 'Send {"question": "…"}.', "json")
    return data


def _whole(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_PASSAGES:
        raise UsageError(f"k is not a whole number from 1 to {MOST_PASSAGES}.", "Leave it out.", "k")
    return int(text)


def _sse(kind: str, data: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
