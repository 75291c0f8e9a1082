"""What readers asked and did not find: refused questions and those with a thumb down, like ones together.

Two questions are alike when of all their telling words (the first letters of each; the characters in scripts without
spaces) the share `ALIKE` is in both. Each group is searched for again, so that it names the sections that come
nearest in the book as it is now, and says when the book now has enough to answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ask_book.answering.open_book import OpenBook
from ask_book.book.manifest import Tag, link
from ask_book.exam.asked import Asked
from ask_book.exam.run import letters
from ask_book.retrieval.tokens import fold, is_unspaced, runs

ALIKE = 0.4
BEGINNING = 4
NEAREST = 3
LOOKED_AT = 20
MOST_QUESTIONS = 2000
MOST = 100


@dataclass(frozen=True)
class Near:
    """A section that comes near; `href` from the book's first page."""

    chapter_title: str
    heading_path: tuple[str, ...]
    file: str
    href: str


@dataclass(frozen=True)
class Gap:
    """Like questions, the most frequent first. `count`: how often they were asked; `answered`: the book now has it."""

    questions: tuple[str, ...]
    count: int
    refused: int
    down: int
    reasons: tuple[str, ...]
    absent_terms: tuple[str, ...]
    answered: bool
    nearest: tuple[Near, ...]


async def gaps(book: OpenBook, asked: Iterable[Asked]) -> list[Gap]:
    """The `MOST` largest gaps of a book, what was asked most often first."""
    missed = [one for one in asked if one.status == "not_found" or one.value == "down"]
    groups = sorted(_groups(missed, book.index.stopwords), key=len, reverse=True)[:MOST]
    found = [await _gap(book, group) for group in groups]
    return sorted(found, key=lambda gap: (-gap.count, gap.questions))


def _groups(missed: list[Asked], stopwords: Collection[str]) -> list[list[Asked]]:
    by_words: dict[str, list[Asked]] = {}
    for one in missed:
        by_words.setdefault(letters(one.question, marks=False), []).append(one)
    groups: list[tuple[frozenset[str], list[Asked]]] = []
    often = sorted(by_words.items(), key=lambda item: (-len(item[1]), item[0]))
    for _, same in often[:MOST_QUESTIONS]:
        telling = _telling(same[0].question, stopwords)
        likeness, at = max(((_likeness(telling, words), -at) for at, (words, _) in enumerate(groups)), default=(0.0, 0))
        if likeness >= ALIKE:
            groups[-at][1].extend(same)
        else:
            groups.append((telling, same))
    return [group for _, group in groups]


def _telling(question: str, stopwords: Collection[str]) -> frozenset[str]:
    words = runs(fold(question))
    told = [word for word in words if word not in stopwords] or words
    return frozenset(part for word in told for part in _parts(word, stopwords))


def _parts(word: str, stopwords: Collection[str]) -> Iterable[str]:
    if not is_unspaced(word):
        return (word[:BEGINNING],)
    for stop in filter(is_unspaced, stopwords):
        word = word.replace(stop, "")
    return word


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


async def _gap(book: OpenBook, group: list[Asked]) -> Gap:
    questions = Counter(one.question for one in group)
    often = [question for question, _ in questions.most_common()]
    found = await book.search(often[0], LOOKED_AT)
    return Gap(
        tuple(often),
        len(group),
        sum(one.status == "not_found" for one in group),
        sum(one.value == "down" for one in group),
        tuple(dict.fromkeys(one.reason for one in group if one.reason)),
        found.evidence.absent_terms,
        found.evidence.enough,
        _nearest(book, [hit.chunk for hit in found.hits]),
    )


def _nearest(book: OpenBook, chunks: Iterable[int]) -> tuple[Near, ...]:
    """The sections of these passages, each once."""
    sections: dict[str, Near] = {}
    for chunk in map(book.manifest.chunks.__getitem__, chunks):
        if Tag(chunk.chapter, chunk.start, chunk.end) not in book.references:
            chapter = book.manifest.chapters[chunk.chapter]
            section = chapter.section_at(chunk.start)
            href = link(chapter.href, section.anchor)
            sections.setdefault(href, Near(chapter.title, section.heading_path, chapter.file, href))
    return tuple(sections.values())[:NEAREST]
