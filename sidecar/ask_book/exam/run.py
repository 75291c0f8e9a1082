"""Asking a book the questions of an exam, and what came of each.

Texts are compared by their letters and digits, compatibility forms and case aside: white space, typography and markup
do not matter. A place is where the book has its quote, wherever that is.

- evidence: one of the first k passages has the whole quote (of each place, where the question needs all);
- cited: a note of the answer overlaps a quote, or is in the section that the place's `anchor` names (likewise);
- refused: the answer is "not found".

A question is passed when it has its evidence and is not refused, or must be refused and is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ask_book.answering.answer import Answer, Citation
from ask_book.answering.ask import answer
from ask_book.answering.assistant import WITHOUT_MODEL, Assistant
from ask_book.answering.events import collect
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import question as checked
from ask_book.book.manifest import Manifest, Tag
from ask_book.exam.format import Exam, Place, Question
from ask_book.retrieval.tokens import fold, runs

FAR = 50


@dataclass(frozen=True)
class Outcome:
    """What came of a question; `evidence` and `cited` are None when it must be refused.

    `rank` is that of the passage that completes the evidence, from 1, None when it is not among the first `FAR`.
    `reason` says what went wrong, "" when nothing did.
    """

    question: Question
    refused: bool
    evidence: bool | None = None
    cited: bool | None = None
    rank: int | None = None
    reason: str = ""


async def examine(
    book: OpenBook, exam: Exam, k: int, assistant: Assistant = WITHOUT_MODEL, mode: str | None = "extractive"
) -> AsyncIterator[Outcome]:
    """Ask the questions, one after the other. `assistant` and `mode` are for the answers."""
    quotes = Quotes(book.manifest)
    for question in exam.questions:
        reply = await collect(answer(book, checked(question.text, mode=mode), assistant, k))
        if question.kind:
            refused = reply.status == "not_found"
            yield Outcome(question, refused, reason="" if refused else "answered, and must be refused")
        else:
            yield await _outcome(book, quotes, question, reply, k)


@dataclass(frozen=True)
class Quotes:
    """Finds quotes in a book."""

    manifest: Manifest

    @cached_property
    def _chapters(self) -> tuple[str, ...]:
        return tuple(letters(chapter.text) for chapter in self.manifest.chapters)

    def are_in(self, tag: Tag, quote: str) -> bool:
        """Whether a passage has the whole quote."""
        return letters(quote) in letters(self.manifest.text(tag) or "")

    def touch(self, tag: Tag, quote: str) -> bool:
        """Whether a passage overlaps the quote, wherever the book has it."""
        text, wanted = self.manifest.chapters[tag.chapter].text, letters(quote)
        start, end = (len(letters(text[:offset])) for offset in (tag.start, tag.end))
        around = self._chapters[tag.chapter][max(0, start - len(wanted) + 1) : end + len(wanted) - 1]
        return wanted in around

    def exist(self, quote: str) -> bool:
        """Whether the book has the quote at all."""
        return any(letters(quote) in text for text in self._chapters)


def letters(text: str, marks: bool = True) -> str:
    """What is compared of a text; `marks`: accents matter."""
    return "".join(runs(fold(text, marks)))


async def _outcome(book: OpenBook, quotes: Quotes, question: Question, reply: Answer, k: int) -> Outcome:
    rank = _rank(quotes, question, await _passages(book, question.text, k))
    evidence = rank is not None
    quorum = all if question.needs_all else any
    cited = quorum(any(_cites(quotes, note, place) for note in reply.citations) for place in question.places)
    reasons = []
    if not evidence:
        rank = _rank(quotes, question, await _passages(book, question.text, FAR))
        reasons.append(_why_not_found(book, quotes, question, rank))
    if refused := reply.status == "not_found":
        reasons.append(f"wrongly refused{_listed(': the book never uses', reply.absent_terms)}")
    return Outcome(question, refused, evidence, cited, rank, "; ".join(reasons))


async def _passages(book: OpenBook, question: str, k: int) -> list[Tag]:
    tags = list(book.manifest.tags())
    return [tags[hit.chunk] for hit in (await book.search(question, k)).hits]


def _rank(quotes: Quotes, question: Question, passages: Sequence[Tag]) -> int | None:
    """From which passage on the evidence is complete."""
    ranks = [
        next((rank for rank, tag in enumerate(passages, 1) if quotes.are_in(tag, place.quote)), None)
        for place in question.places
    ]
    found = [rank for rank in ranks if rank is not None]
    if not found or (question.needs_all and len(found) < len(ranks)):
        return None
    return max(found) if question.needs_all else min(found)


def _cites(quotes: Quotes, note: Citation, place: Place) -> bool:
    tag = Tag.parse(note.tag)
    return (bool(place.anchor) and note.anchor == place.anchor) or (tag is not None and quotes.touch(tag, place.quote))


def _why_not_found(book: OpenBook, quotes: Quotes, question: Question, rank: int | None) -> str:
    """Where the right passage is instead, and which words of the question it does not have."""
    gone = [place for place in question.places if not quotes.exist(place.quote)]
    if gone and (question.needs_all or len(gone) == len(question.places)):
        return f"the book has no “{gone[0].quote}”"
    where = f"the right passage is number {rank}" if rank else f"the right passage is not among the first {FAR}"
    right = [
        at for at, tag in enumerate(book.manifest.tags()) if any(quotes.are_in(tag, p.quote) for p in question.places)
    ]
    if not right:
        return "no passage has a whole quote: it is cut in two"
    lacking = min((book.index.lacking(question.text, at) for at in right), key=len)
    return f"{where}{_listed(', and lacks', lacking)}"


def _listed(before: str, words: Sequence[str]) -> str:
    return f"{before} {', '.join(words)}" if words else ""
