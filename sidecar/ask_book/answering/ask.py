"""Asking an open book: a question comes in, events go out, the last of them the whole answer."""

from __future__ import annotations

import re
import secrets
import time
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ask_book.answering import extractive
from ask_book.answering.answer import Answer, Citation, Claims, Source, source, to_json
from ask_book.answering.citations import Notes
from ask_book.answering.extractive import Passage
from ask_book.book.manifest import Manifest, Tag, read_manifest
from ask_book.book.notice import Notice
from ask_book.errors import AskBookError, UsageError
from ask_book.retrieval.language import Locale, languages, locale
from ask_book.retrieval.tokens import fold, runs

# What needs numpy is imported where it is used: a sidecar answers before it has read its book.
if TYPE_CHECKING:
    from ask_book.book.edition import Edition
    from ask_book.retrieval.index import Hit, Index, Retrieval

LONGEST_QUESTION = 500
LONGEST_SCOPE = 300
TURNS = 4
NEAREST = 3
WORDS_OF_A_GREETING = 8
MODES = ("extractive", "grounded", "tools")


@dataclass(frozen=True)
class OpenBook:
    """A book ready to be asked. Immutable: a new edition is a new `OpenBook`.

    `site` is the folder with its pages; `kind` is `rendered` or `plain`.
    """

    manifest: Manifest
    index: Index
    site: Path
    kind: str = "rendered"
    notices: tuple[Notice, ...] = ()

    @cached_property
    def locale(self) -> Locale:
        """The table of the book's language."""
        return locale(self.index.lang)

    @cached_property
    def references(self) -> frozenset[Tag]:
        """The passages that are lists of references: they help to find, but answer nothing."""
        from ask_book.retrieval.places import lists_of_references

        is_one = lists_of_references(self.manifest)
        return frozenset(tag for tag, yes in zip(self.manifest.tags(), is_one, strict=True) if yes)

    def search(self, words: str, k: int, scope: str | None = None) -> Retrieval:
        """The best `k` passages. Raises `UsageError` when the book has no such `scope`."""
        from ask_book.retrieval.places import in_scope

        if scope and not in_scope(self.manifest, scope).any():
            raise UsageError(f"The book has no {scope!r}.", "Name a chapter file, a part or an anchor.", "scope")
        return self.index.search(words, k, scope)


@dataclass(frozen=True)
class Turn:
    """An earlier question of the same reader, and what was answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True)
class Question:
    """A question that may be asked. `mode` None: the best there is; `scope`: a chapter file, part or anchor."""

    text: str
    history: tuple[Turn, ...] = ()
    mode: str | None = None
    scope: str | None = None
    report: bool | None = None


@dataclass(frozen=True)
class Event:
    """`kind` is `sources`, `citation`, `delta`, `notice` or `done`; `data` as in the HTTP contract, not yet JSON."""

    kind: str
    data: Any


def open_book(edition: Edition) -> OpenBook:
    """Read the manifest of an edition and open its index. Raises `AskBookError` if the manifest cannot be used."""
    from ask_book.retrieval.index import open_index

    manifest = read_manifest(edition.manifest_path)
    return OpenBook(manifest, open_index(manifest, edition.index_dir), edition.site, edition.kind, edition.notices)


def question(
    text: object,
    history: object = None,
    mode: object = None,
    scope: object = None,
    report: object = None,
) -> Question:
    """Check what somebody asks. Raises `UsageError` that says what is wrong with it."""
    if not isinstance(mode, str | None) or (mode is not None and mode not in MODES):
        raise UsageError(f"There is no mode {mode!r}.", f"Use one of {', '.join(MODES)}, or none.", "mode")
    if not isinstance(scope, str | None) or len(scope or "") > LONGEST_SCOPE:
        raise UsageError("The scope is not a text.", "Name a chapter file, a part or an anchor.", "scope")
    if not isinstance(report, bool | None):
        raise UsageError("`report` is neither true nor false.", "Leave it out, or say true or false.", "report")
    return Question(question_text(text), _history(history), mode, scope or None, report)


def question_text(text: object) -> str:
    """The words of a question, white space collapsed. Raises `UsageError` when they cannot be asked."""
    if not isinstance(text, str):
        raise UsageError("The question is not a text.", 'Send {"question": "…"}.', "question")
    words = re.sub(r"\s+", " ", text).strip()
    if not words:
        raise UsageError("The question is empty.", "Write what you want to know.", "question_empty")
    if len(words) > LONGEST_QUESTION:
        raise UsageError(
            f"The question has {len(words)} characters; {LONGEST_QUESTION} are the most.",
            "Ask it in fewer words, or in two questions.",
            "question_too_long",
        )
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in words):
        raise UsageError("The question has control characters in it.", "Type it again.", "question_characters")
    return words


def answer(book: OpenBook, asked: Question, k: int = 7) -> Generator[Event, None, None]:
    """Answer a question from the book: sources first, then the text with its citations, at last `done`.

    Raises `UsageError` before the first event when the book has no such `scope`.
    """
    started = time.perf_counter()
    if small_talk := _small_talk(book, asked.text):
        yield from _tell(book, small_talk, started)
        return
    search = _with_what_went_before(book, asked)
    retrieval = book.search(search, k, asked.scope)
    retrieved = time.perf_counter()
    passages = [Passage(_tag(book, hit), hit.score) for hit in retrieval.hits]
    sources = tuple(dict.fromkeys(filter(None, (source(book.manifest, item.tag, item.score) for item in passages))))
    quotes = []
    if retrieval.evidence.enough:
        terms = extractive.asked(search, book.index.postings.weight, book.locale.stopwords, book.index.marks)
        leans_on = book.locale.answer.get("leans_on", "").split()
        telling = [item for item in passages if item.tag not in book.references]
        quotes = extractive.choose(book.manifest, telling, terms, book.locale.abbreviations, leans_on)
    timings = {"retrieval": _ms(retrieved - started)}
    if quotes:
        yield Event("sources", sources)
        yield from _quote(book, quotes, sources, timings, started)
    else:
        absent = retrieval.evidence.absent_terms
        yield from _tell(book, book.locale.not_found, started, absent, sources[:NEAREST], timings)


def collect(events: Iterable[Event]) -> Answer:
    """The whole answer, when nobody waits for its parts."""
    for event in events:
        if event.kind == "done":
            return event.data  # type: ignore[no-any-return]
    raise AskBookError("The answer did not come to its end.", "Ask again.", "cut")


def event_json(event: Event) -> Any:
    """The data of an event as JSON can say it."""
    match event.data:
        case Answer():
            return to_json(event.data)
        case Citation() | Notice():
            return vars(event.data)
        case tuple():
            return [vars(item) for item in event.data]
        case str():
            return {"text": event.data}
        case _:
            return event.data


def _quote(
    book: OpenBook,
    quotes: list[extractive.Quote],
    sources: tuple[Source, ...],
    timings: dict[str, float],
    started: float,
) -> Iterator[Event]:
    notes = Notes(book.manifest, frozenset(quote.tag for quote in quotes))
    text = ""
    for number, paragraph in enumerate(extractive.paragraphs(quotes)):
        for position, quote in enumerate(paragraph):
            note = ""
            for part in notes.cite(quote.tag):
                if isinstance(part, Citation):
                    yield Event("citation", part)
                else:
                    note = part
            between = "" if not number and not position else extractive.between(paragraph, position)
            piece = between + extractive.markdown(quote, note)
            text += piece
            yield Event("delta", piece)
    yield from (Event("notice", notice) for notice in book.notices)
    claims = Claims(cited=len(notes.citations), dropped_tags=notes.dropped)
    timings = {**timings, "total": _ms(time.perf_counter() - started)}
    yield Event(
        "done",
        Answer(
            _new_id(),
            "answered",
            "extractive",
            text,
            tuple(notes.citations),
            sources,
            claims=claims,
            notices=book.notices,
            timings=timings,
        ),
    )


def _tell(
    book: OpenBook,
    text: str,
    started: float,
    absent: tuple[str, ...] = (),
    nearest: tuple[Source, ...] = (),
    timings: Mapping[str, float] | None = None,
) -> Iterator[Event]:
    """An answer that says nothing from the book: no sources, no notes."""
    yield Event("sources", ())
    yield Event("delta", text)
    yield from (Event("notice", notice) for notice in book.notices)
    timings = {**(timings or {}), "total": _ms(time.perf_counter() - started)}
    yield Event(
        "done",
        Answer(
            _new_id(),
            "not_found",
            "extractive",
            text,
            absent_terms=absent,
            nearest=nearest,
            notices=book.notices,
            timings=timings,
        ),
    )


def _small_talk(book: OpenBook, text: str) -> str | None:
    """A short reply when the words only greet or thank, in any language that has a table; else None."""
    words = runs(fold(text))
    if len(words) > WORDS_OF_A_GREETING:
        return None
    for table in map(locale, languages()):
        phrases = sorted(filter(None, table.answer.get("small_talk", "").split("|")), key=len, reverse=True)
        pattern = rf"(?<!\S)(?:{'|'.join(map(re.escape, phrases))})(?!\S)"
        rest, greetings = re.subn(pattern, "", " ".join(words)) if phrases else ("", 0)
        if greetings and all(word in table.stopwords for word in rest.split()):
            return book.locale.answer.get("small_talk_reply", book.locale.not_found)
    return None


def _with_what_went_before(book: OpenBook, asked: Question) -> str:
    """The words to search for: a question that leans on the one before it takes that one's words along."""
    if not asked.history:
        return asked.text
    words = runs(fold(asked.text))
    telling = [word for word in words if word not in book.locale.stopwords]
    leans_on = book.locale.answer.get("leans_on", "").split()
    if len(telling) > 2 and words[0] not in leans_on:
        return asked.text
    return f"{asked.text} {asked.history[-1].question}"


def _history(history: object) -> tuple[Turn, ...]:
    if history is None:
        return ()
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        raise UsageError("The history is not a list of turns.", 'Send [{"question": "…", "answer": "…"}].', "history")
    turns = [Turn(question_text(turn.get("question")), str(turn.get("answer") or "")) for turn in history[-TURNS:]]
    return tuple(turns)


def _tag(book: OpenBook, hit: Hit) -> Tag:
    chunk = book.manifest.chunks[hit.chunk]
    return Tag(chunk.chapter, chunk.start, chunk.end)


def _new_id() -> str:
    return secrets.token_urlsafe(9)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
