"""Tool mode: the model looks things up in the book itself, and may quote only what it was shown.

The first turn must call a tool. Results are the words of the book with their tags; a passage is shown once. Rounds,
calls, passages, seconds and, in `Round.speak`, tokens are bounded. A model that cannot call tools, does not do it, or
comes to no end answers from the passages that were found (`grounded.py`). What it says between two calls is not shown:
a text is held back until it proves something by its first note.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from itertools import zip_longest
from typing import Any

from anyio import to_thread

from ask_book.answering import overview
from ask_book.answering.answer import source
from ask_book.answering.citations import Notes
from ask_book.answering.events import Event
from ask_book.answering.extractive import Passage
from ask_book.answering.grounded import finish, grounded_answer
from ask_book.answering.prompt import Shown, earlier, harmless, rendered, rules, show, unambiguous
from ask_book.answering.question import LONGEST_QUESTION
from ask_book.answering.round import Found, Round
from ask_book.answering.sentences import units
from ask_book.answering.summaries import pick
from ask_book.answering.writing import Writing
from ask_book.book.manifest import Chapter, Tag
from ask_book.errors import UsageError
from ask_book.llm.chat import Message, Tool, ToolCall
from ask_book.llm.errors import ContextTooLongError, ToolsUnsupportedError
from ask_book.retrieval.tokens import fold, runs

ROUNDS = 6
CALLS = 4
PASSAGES = 24
SECTION = 8
SECONDS = 90.0
PICKING_SEARCHES = 2
MOST_HITS = 60

_TEXT = {"type": "string"}
TOOLS = (
    Tool(
        "search_book",
        "Search the book. Ask in the words that the book itself would use, in its language, without pronouns: one "
        "thing at a time. Returns passages of the book with their tags.",
        {"type": "object", "properties": {"question": _TEXT}, "required": ["question"], "additionalProperties": False},
    ),
    Tool(
        "read_section",
        "Read a section of the book from its beginning, with its tags. The ids are those of book_overview; a title or "
        "an anchor such as #sec-map works, too.",
        {"type": "object", "properties": {"id": _TEXT}, "required": ["id"], "additionalProperties": False},
    ),
    Tool(
        "book_overview",
        "The chapters and sections of the book in reading order, with ids and what each says. For questions about the "
        "book, or a chapter, as a whole.",
        {"type": "object", "properties": {}, "additionalProperties": False},
    ),
)


async def tool_answer(now: Round) -> AsyncGenerator[Event, None]:
    """The events after the first `sources`. Raises as `grounded_answer` does."""
    desk = Desk(now)
    asked = filter(None, (earlier(now.asked.history), f"<question>\n{harmless(now.asked.text)}\n</question>"))
    messages = [Message("system", rules(now, with_tools=True)), Message("user", "\n\n".join(asked))]
    ends = time.monotonic() + SECONDS
    for turn in range(ROUNDS):
        is_last = turn == ROUNDS - 1 or time.monotonic() > ends or len(desk.shown) >= PASSAGES
        choice = "required" if turn == 0 else "none" if is_last else "auto"
        writing = Writing(Notes(now.book.manifest, desk.offered, desk.anchors), now.locale.not_found)
        held: list[Event] = []
        calls: list[ToolCall] = []
        try:
            async with aclosing(now.speak(messages, TOOLS, tool_choice=choice, thinking=False)) as parts:
                async for part in parts:
                    if isinstance(part, ToolCall):
                        calls.append(part)
                        continue
                    now.lap("model")
                    held += writing.feed(part)
                    if writing.notes.citations:
                        for event in held:
                            now.lap("first")
                            yield event
                        held = []
        except (ToolsUnsupportedError, ContextTooLongError):
            break
        if not calls:
            held += writing.close()
        if writing.notes.citations or (turn and not calls and writing.says_not_found):
            for event in (*held, *await finish(now, writing, "tools")):
                yield event
            return
        if not calls:
            if turn == 0 and now.assistant.chat:
                now.assistant.chat.does_without_tools()
            break
        messages.append(Message("assistant", writing.said, tuple(calls)))
        known = len(now.found.sources)
        for at, call in enumerate(calls):
            result = await desk.run(call) if at < CALLS else f"Only {CALLS} calls at once: ask again."
            messages.append(Message("tool", result, tool_call_id=call.id))
        if len(now.found.sources) > known:
            yield Event("sources", now.found.sources)
    async with aclosing(grounded_answer(now)) as events:
        async for event in events:
            yield event


@dataclass
class Desk:
    """What lies before the model: the passages it was `shown`, by their place, and the calls it `asked` already."""

    now: Round
    shown: dict[Tag, Shown] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)
    _in_overview: frozenset[Tag] = frozenset()
    _searches: int = 0

    @property
    def offered(self) -> frozenset[Tag]:
        """The tags that count."""
        return frozenset().union(
            self._in_overview, self.anchors.values(), *(passage.offered for passage in self.shown.values())
        )

    @property
    def anchors(self) -> Mapping[str, Tag]:
        """The passages that anchors stand for."""
        return unambiguous(self.shown.values())

    async def run(self, call: ToolCall) -> str:
        """The result of a call, for the model; what is wrong with it, if something is."""
        tool = next((tool for tool in TOOLS if tool.name == call.name), None)
        if tool is None:
            names = ", ".join(tool.name for tool in TOOLS)
            return f"There is no tool {harmless(call.name[:40])!r}. The tools are {names}."
        given = _arguments(call.arguments)
        needed = next(iter(tool.parameters["properties"]), None)
        value = _value(given, needed) if needed else ""
        if value is None:
            return f'The arguments are not as they should be. Write {{"{needed}": "…"}}.'
        key = (tool.name, " ".join(runs(fold(value))))
        if key in self.asked:
            return "You have this result already: answer from what you have, or look for something else."
        self.asked.add(key)
        match tool.name:
            case "search_book":
                return await self._search(value)
            case "read_section":
                return await to_thread.run_sync(self._read, value)
            case _:
                return await to_thread.run_sync(self._overview)

    async def _search(self, question: str) -> str:
        now = self.now
        try:
            found = await now.book.search(question[:LONGEST_QUESTION], now.k + len(self.shown), now.asked.scope)
        except UsageError as error:
            return error.message
        chunks = [(now.book.manifest.chunks[hit.chunk], hit.score) for hit in found.hits]
        hits = [Passage(Tag(chunk.chapter, chunk.start, chunk.end), score) for chunk, score in chunks]
        telling = [hit for hit in hits if hit.tag not in now.book.references]
        if not found.evidence.enough or not telling:
            never = ", ".join(found.evidence.absent_terms)
            return "(No passage of the book says that.)" + (
                f" The book never uses: {harmless(never)}." if never else ""
            )
        chosen = await self._chosen(question)
        return await to_thread.run_sync(partial(self._show, _alternating(telling, chosen), now.k + len(chosen)))

    async def _chosen(self, question: str) -> list[Passage]:
        """The passages of the parts that the model chooses from the catalogue of summaries, if there is one."""
        now = self.now
        if self._searches >= PICKING_SEARCHES or now.asked.scope:
            return []
        self._searches += 1
        parts = [segment.tag for segment in await pick(now, question)]
        if not parts:
            return []
        found = await now.book.search(question, MOST_HITS)
        tags = [Tag(chunk.chapter, chunk.start, chunk.end) for chunk in now.book.manifest.chunks]
        hits = [Passage(tags[hit.chunk], hit.score) for hit in found.hits]
        hits += [Passage(tag, 0.0) for tag in tags]
        inside = [
            next((hit for hit in hits if _is_in(hit.tag, part) and not self._is_known(hit.tag)), None) for part in parts
        ]
        return [hit for hit in inside if hit]

    def _read(self, name: str) -> str:
        place = overview.section_named(self.now, name)
        if place is None:
            titles = [part.title for chapter in self.now.book.manifest.chapters for part in chapter.sections]
            near = ", ".join(get_close_matches(name, titles, 3, 0.4))
            return f"There is no section {harmless(name[:80])!r}." + (
                f" Did you mean: {harmless(near)}?" if near else ""
            )
        chapter, section = place
        pieces = pieces_of(self.now, chapter, section.start, section.end)
        fresh = [piece for piece in pieces if not self._is_known(piece)]
        rest = len(fresh) - SECTION
        shown = self._show([Passage(piece, 1.0) for piece in fresh], SECTION)
        return shown + (f"\n({rest} more passages of this section: search for what you need.)" if rest > 0 else "")

    def _overview(self) -> str:
        text, offered = overview.catalogue(self.now)
        self._in_overview = offered
        return text

    def _is_known(self, tag: Tag) -> bool:
        return any(
            tag.chapter == other.chapter and tag.start < other.end and other.start < tag.end for other in self.shown
        )

    def _show(self, passages: Iterable[Passage], most: int) -> str:
        """The passages that were not shown yet, at most so many; they become sources too."""
        now = self.now
        texts: list[str] = []
        for passage in passages:
            if len(texts) >= most or len(self.shown) >= PASSAGES or self._is_known(passage.tag):
                continue
            if (seen := show(now, passage.tag)) is None:
                continue
            self.shown[passage.tag] = seen
            texts.append(rendered(now.book.manifest, seen, len(self.shown), self.anchors))
            if passage.tag not in [known.tag for known in now.found.passages]:
                now.found = _with(now, passage)
        return "\n".join(texts) or "(Nothing that you have not seen already.)"


def _alternating(found: Sequence[Passage], chosen: Sequence[Passage]) -> list[Passage]:
    """What search found and what the model chose, taking turns, each once."""
    pairs = zip_longest(found, chosen)
    return list({passage.tag: passage for pair in pairs for passage in pair if passage}.values())


def _is_in(tag: Tag, part: Tag) -> bool:
    return tag.chapter == part.chapter and part.start <= tag.start < part.end


def pieces_of(now: Round, chapter: Chapter, start: int, end: int) -> list[Tag]:
    """A stretch in pieces that the model may read whole, cut between sentences."""
    pieces: list[Tag] = []
    for block in chapter.blocks_in(start, end):
        for first, last in units(block, now.book.locale.abbreviations) if block.kind != "heading" else ():
            if pieces and last - pieces[-1].start <= now.assistant.passage_characters:
                pieces[-1] = Tag(chapter.index, pieces[-1].start, last)
            else:
                pieces.append(Tag(chapter.index, first, last))
    return pieces


def _with(now: Round, passage: Passage) -> Found:
    shown = source(now.book.manifest, passage.tag, passage.score)
    sources = (*now.found.sources, *([shown] if shown else []))
    return replace(now.found, passages=(*now.found.passages, passage), sources=sources)


def _arguments(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _value(given: Mapping[str, Any], name: str) -> str | None:
    """The argument of that name, or the only text there is under another one."""
    texts = [value for value in given.values() if isinstance(value, str | int | float)]
    value = given.get(name, texts[0] if len(texts) == 1 else None)
    text = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return text or None
