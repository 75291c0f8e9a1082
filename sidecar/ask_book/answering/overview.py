"""Questions about a whole: what the book, a part of it or a chapter says, answered in reading order.

Such a question has no word that search could look for ("What is this book about?", "Resume el capítulo 5"): what is
left of it without function words, words of asking for an overview (`overview` of the locale) and the name of a place
is nothing, or the title of one chapter or section.

An extractive summary is the sentences that say most of what their surroundings say: the sum of tf · idf of the words
of a sentence, those of the headings above it twice, over the square root of their number, the opening sentence of a
section a little ahead; a sentence that repeats a better one is left out (Luhn 1958; Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ask_book.answering.answer import source
from ask_book.answering.extractive import ALONE, TITLE, Passage, Quote
from ask_book.answering.open_book import OpenBook
from ask_book.answering.prompt import harmless
from ask_book.answering.round import Found, Round
from ask_book.answering.sentences import units
from ask_book.answering.summaries import TAG, kept, segments
from ask_book.book.manifest import Block, Chapter, Section, Tag
from ask_book.retrieval import places, query
from ask_book.retrieval.language import Locale, languages, locale
from ask_book.retrieval.tokens import fold, is_unspaced, runs, tokens

QUOTES = 14
OPENING_CHARACTERS = 8000
CATALOGUE_SENTENCES = 60
CATALOGUE_CHARACTERS = 24_000
SHORTEST, LONGEST = 40, 320
OPENING = 1.25
ALIKE = 0.5

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Topic:
    """What an overview is asked of: stretches of chapters, in reading order."""

    spans: tuple[Tag, ...]


def topic_of(book: OpenBook, text: str, scope: str | None = None) -> Topic | None:
    """What a question wants an overview of; None when it is any other question."""
    words = [word.run for word in query.read(text, frozenset()).words]
    tables = [table for table in map(locale, languages()) if not _triggers(table).isdisjoint(words)]
    triggers = frozenset().union(*map(_triggers, tables))
    left = _unexplained(words, triggers.union(book.index.stopwords, *(table.stopwords for table in tables)))
    named = places.named(book.manifest, text)
    telling = [word for word in left if not places.is_name_of_place(word)]
    within = places.in_scope(book.manifest, scope) if scope else None
    if telling:
        return _titled(book, telling) if triggers and not scope else None
    if left or named.any():
        is_chapter_or_section = bool(triggers) or named.max(initial=0.0) < places.HELD
        chosen = named > 0 if within is None else (named > 0) & within
        return Topic(tuple(_stretches(book, chosen))) if chosen.any() and is_chapter_or_section else None
    if not triggers:
        return None
    if within is not None:
        return Topic(tuple(_stretches(book, within))) if within.any() else None
    return Topic(tuple(Tag(chapter.index, 0, len(chapter.text)) for chapter in book.manifest.chapters if chapter.text))


def _triggers(table: Locale) -> frozenset[str]:
    return frozenset(table.answer.get("overview", "").split())


def _unexplained(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words that are not known; in a script without spaces, those with a character of no known one."""
    covered = {char for word in words if word in known and is_unspaced(word) for char in word}
    covered |= {word for word in known if len(word) == 1}
    return [word for word in words if word not in known and not (is_unspaced(word) and covered.issuperset(word))]


def look_over(book: OpenBook, topic: Topic) -> Found:
    """The summary as quotes, each with the passage around it."""
    quotes = list(summary(book, topic))
    tags = dict.fromkeys(tag for quote in quotes for tag in _passages_with(book, quote.tag))
    passages = tuple(Passage(tag, 1.0) for tag in tags)
    sources = tuple(filter(None, (source(book.manifest, item.tag, item.score) for item in passages)))
    return Found(passages, sources, tuple(quotes))


def summary(book: OpenBook, topic: Topic, most: int = QUOTES) -> Iterator[Quote]:
    """Sentences in reading order: of several chapters one or more each, of one chapter of each section."""
    chapters = [book.manifest.chapters[span.chapter] for span in topic.spans]
    if len(topic.spans) > 1:
        each = max(1, most // len(topic.spans))
        for chapter, span in _spread(list(zip(chapters, topic.spans, strict=True)), most):
            tags = telling(book, chapter, span.start, min(span.end, span.start + OPENING_CHARACTERS), min(each, 3))
            yield from _led(chapter, tags, chapter.title)
    for chapter, span in zip(chapters, topic.spans, strict=True) if len(topic.spans) == 1 else ():
        sections = [part for part in chapter.sections if part.start < span.end and part.end > span.start]
        each = max(1, min(4, most // max(1, len(sections))))
        for part in _spread(sections, most):
            tags = telling(book, chapter, max(part.start, span.start), min(part.end, span.end), each)
            yield from _led(chapter, tags, part.title)


def catalogue(now: Round) -> tuple[str, frozenset[Tag]]:
    """The chapters and sections in reading order, with their ids and what they say, for a model; the tags in it.

    What the chat model summed up (`summaries.py`) stands where its part begins; else the most telling sentence does.
    """
    lines: list[str] = []
    listed = list(sections(now))
    parts = [(part.tag, text) for part in segments(now.book.manifest) if (text := kept(part))]
    summed_up = {id(section) for _, section, _ in _spread(listed, CATALOGUE_SENTENCES)}
    for chapter, section, number in listed:
        title = harmless(" ".join(filter(None, (section.number, section.title))))
        lines.append(f"{'  ' * (section.level > 1)}{number} {title}")
        within = [(tag, text) for tag, text in parts if tag.chapter == chapter.index and tag.end > section.start]
        begins = [text for tag, text in within if section.start <= tag.start < section.end]
        lines += [f"    {text}" for text in begins]
        if id(section) in summed_up and not any(tag.start < section.end for tag, _ in within):
            end = min(section.end, section.start + OPENING_CHARACTERS)
            for tag in telling(now.book, chapter, section.start, end, 1):
                lines.append(f"    {harmless(chapter.text[tag.start : tag.end])} {tag}")
    most = next((n for n in range(len(lines)) if sum(map(len, lines[: n + 1])) > CATALOGUE_CHARACTERS), len(lines))
    text = "\n".join(lines[:most])
    return text, frozenset(filter(None, (Tag.parse(tag[0]) for tag in TAG.finditer(text))))


def section_named(now: Round, name: str) -> tuple[Chapter, Section] | None:
    """The section with an id of the overview (`s3.2`), an anchor, a number or a title, in what may be asked about."""
    wanted = " ".join(runs(fold(name)))
    for chapter, section, number in sections(now):
        names = (number, section.anchor, section.id, section.number, section.title, f"{section.number} {section.title}")
        if name.strip().lstrip("#") in names or wanted in {" ".join(runs(fold(one))) for one in names if one}:
            return chapter, section
    return None


def sections(now: Round) -> Iterator[tuple[Chapter, Section, str]]:
    """The sections that the question may be about, each with its id."""
    scope = now.asked.scope
    chosen = places.in_scope(now.book.manifest, scope) if scope else None
    spans = [tag for at, tag in enumerate(now.book.manifest.tags()) if chosen is None or chosen[at]]
    for chapter in now.book.manifest.chapters:
        for at, section in enumerate(chapter.sections):
            if any(
                tag.chapter == chapter.index and tag.start < section.end and tag.end > section.start for tag in spans
            ):
                yield chapter, section, f"s{chapter.index}.{at}"


def telling(book: OpenBook, chapter: Chapter, start: int, end: int, most: int) -> list[Tag]:
    """The sentences of a stretch that say most of it, in reading order."""
    weight, stop = book.index.postings.weight, book.index.stopwords
    spans: list[tuple[Tag, Counter[str], float]] = []
    whole: Counter[str] = Counter()
    for block in chapter.blocks_in(start, end):
        if not _may_sum_up(block):
            continue
        for at, (first, last) in enumerate(units(block, book.locale.abbreviations)):
            text = chapter.text[first:last]
            if first < start or last > end or not SHORTEST <= last - first <= LONGEST or _is_aside(text):
                continue
            words = Counter(
                term for term in tokens(text, book.index.marks) if _is_word(term) and term[1:-1] not in stop
            )
            whole.update(words)
            is_opening = at == 0 and (
                not spans or chapter.section_at(first) is not chapter.section_at(spans[-1][0].start)
            )
            spans.append((Tag(chapter.index, first, last), words, OPENING if is_opening else 1.0))
    for title in {chapter.title, *(part.title for part in chapter.sections if part.start < end and part.end > start)}:
        whole.update({term: whole[term] for term in set(tokens(title, book.index.marks)) & whole.keys()})
    scored = [(_score(words, whole, weight) * factor, tag, words) for tag, words, factor in spans]
    chosen: list[tuple[Tag, Counter[str]]] = []
    for _, tag, words in sorted(scored, key=lambda item: (-item[0], item[1])):
        if len(chosen) < most and not any(_overlap(words, other) > ALIKE for _, other in chosen):
            chosen.append((tag, words))
    return sorted(tag for tag, _ in chosen)


def _score(words: Counter[str], whole: Counter[str], weight: Callable[[str], float]) -> float:
    return sum(math.log1p(whole[word]) * weight(word) for word in words) / math.sqrt(len(words) or 1)


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    return len(one.keys() & other.keys()) / (min(len(one), len(other)) or 1)


def _is_word(term: str) -> bool:
    """Not a piece of a word: a whole one, or a bigram of a script without spaces."""
    return (term[0] == "_" and term[-1] == "_") or (not term.isascii() and len(term) == 2)


def _is_aside(text: str) -> bool:
    """A question, an announcement, a row of names and values, mathematics."""
    return text[-1] in ":?：？" or text.count(":") > 1 or "\\(" in text


def _may_sum_up(block: Block) -> bool:
    return block.kind not in ALONE and block.kind not in ("heading", "footnote") and len(block.text) > TITLE


def _led(chapter: Chapter, tags: Iterable[Tag], title: str) -> Iterator[Quote]:
    """Quotes, the first of them led by what they sum up."""
    for at, tag in enumerate(tags):
        block = chapter.blocks_in(tag.start, tag.end)[0]
        text = chapter.text[tag.start : tag.end]
        yield Quote(tag, block, chapter.section_at(tag.start), text, "" if at else title)


def _spread(items: Sequence[_Item], most: int) -> list[_Item]:
    """At most so many of them, from beginning to end."""
    if len(items) <= most:
        return list(items)
    return [items[at * len(items) // most] for at in range(most)]


def _passages_with(book: OpenBook, tag: Tag) -> Iterator[Tag]:
    for passage in book.manifest.tags():
        if passage.chapter == tag.chapter and passage.start <= tag.start < passage.end:
            yield passage


def _stretches(book: OpenBook, chosen: Iterable[bool]) -> Iterator[Tag]:
    """Neighbouring passages as one."""
    held: Tag | None = None
    for passage, yes in zip(book.manifest.tags(), chosen, strict=True):
        if held and (not yes or passage.chapter != held.chapter):
            yield held
            held = None
        if yes:
            held = Tag(passage.chapter, held.start if held else passage.start, passage.end)
    if held:
        yield held


def _titled(book: OpenBook, words: Sequence[str]) -> Topic | None:
    """The one chapter, or else section, whose title is these words."""
    asked = set(words)

    def is_meant(title: str) -> bool:
        return bool(asked) and asked == {word for word in runs(fold(title)) if word not in book.index.stopwords}

    chapters = [
        Tag(chapter.index, 0, len(chapter.text)) for chapter in book.manifest.chapters if is_meant(chapter.title)
    ]
    sections = [
        Tag(chapter.index, part.start, _end_of(chapter, part))
        for chapter in book.manifest.chapters
        for part in chapter.sections
        if is_meant(part.title)
    ]
    meant = chapters or sections
    return Topic((meant[0],)) if len(meant) == 1 and meant[0].start < meant[0].end else None


def _end_of(chapter: Chapter, section: Section) -> int:
    """Where a section ends, its subsections included."""
    after = (later.start for later in chapter.sections if later.start > section.start and later.level <= section.level)
    return min(after, default=len(chapter.text))
