"""Questions for an exam, drafted from a book without a model: the same book gives the same questions.

Of each chapter in turn: what it defines, its numbered figures, tables and theorems, its headings. A draft cites words
that the book has in one passage, and nowhere else if that can be; the words of a title that come twice are of no use.
Questions to be refused are about other things, with words that the book never uses; near misses only an author can
write. The texts of eight languages, with the words to look for, are in `questions.json`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ask_book.answering.extractive import CODE
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import LONGEST_QUESTION
from ask_book.answering.sentences import units
from ask_book.book.manifest import Chapter, Section, Tag
from ask_book.exam.draft import Draft, shortened, unique
from ask_book.exam.format import Place, Question
from ask_book.exam.run import letters
from ask_book.retrieval.language import FALLBACK, code_of
from ask_book.retrieval.tokens import fold, is_unspaced, runs

MOST = 30
OFFTOPIC = 4
SHORTEST_QUOTE = 30
WORDS_OF_A_TERM = 5
TRIED = 5
PLACES = 3
STATED = ("thm", "lem", "cor", "prp", "cnj", "def", "exm", "exr", "sol", "rem")
PROSE = ("para", "list", "callout", "quote")


@dataclass(frozen=True)
class Suggested:
    """A draft and the section that it was drafted from."""

    draft: Draft
    chapter: Chapter
    section: Section


def suggest(book: OpenBook, most: int = MOST) -> list[Suggested]:
    """Up to `most` questions with their places, in reading order, spread over the chapters."""
    reader = _Reader(book, _texts(book.index.lang))
    chapters = [found for chapter in book.manifest.chapters if (found := list(reader.of_chapter(chapter)))]
    if len(chapters) > most:
        chapters = [chapters[at * len(chapters) // most] for at in range(most)]
    in_turn = [one for row in zip_longest(*chapters) for one in row if one is not None]
    kept = {id(draft) for draft in unique(one.draft for one in in_turn)}
    chosen = [one for one in in_turn if id(one.draft) in kept][:most]
    return sorted(chosen, key=lambda one: one.chapter.index)


def to_refuse(book: OpenBook) -> list[Draft]:
    """Questions with words that the book never uses, for its author to check."""
    texts = _texts(book.index.lang)
    text = " ".join(chapter.text for chapter in book.manifest.chapters)
    has = letters(text, marks=False)
    away = [Question(asked, 0, kind="offtopic") for asked, word in texts["offtopic"] if letters(word, False) not in has]
    return [Draft(one, "Draft: does the book really not say it?") for one in away[:OFFTOPIC]]


@dataclass(frozen=True)
class _Reader:
    """Finds what can be asked."""

    book: OpenBook
    texts: dict[str, Any]

    @cached_property
    def _letters(self) -> str:
        return "\n".join(letters(chapter.text) for chapter in self.book.manifest.chapters)

    @cached_property
    def _titles(self) -> Counter[str]:
        sections = (section for chapter in self.book.manifest.chapters for section in chapter.sections)
        return Counter(letters(section.title, marks=False) for section in sections)

    @cached_property
    def _passages(self) -> dict[int, list[Tag]]:
        passages: dict[int, list[Tag]] = {}
        for tag in self.book.manifest.tags():
            if tag not in self.book.references:
                passages.setdefault(tag.chapter, []).append(tag)
        return passages

    def of_chapter(self, chapter: Chapter) -> Iterator[Suggested]:
        """What a chapter gives, the kinds in turn."""
        kinds: tuple[list[Suggested], ...] = ([], [], [])
        for section in chapter.sections:
            for kind, found in zip(kinds, (self._defined, self._labelled, self._titled), strict=True):
                kind += [Suggested(draft, chapter, section) for draft in found(chapter, section)]
        first = chapter.index % len(kinds)  # else every chapter would give its first table
        for row in zip_longest(*kinds[first:], *kinds[:first]):
            yield from (one for one in row if one)

    def _defined(self, chapter: Chapter, section: Section) -> Iterator[Draft]:
        for quote, _ in self._sentences(chapter, section):
            match = re.match(self.texts["definition"], quote)
            if match and (term := self._term(match["term"])):
                verb = match.groupdict().get("verb") or ""
                yield self._draft(self.texts["is"].format(term=term, verb=verb), "definition", chapter, section, quote)

    def _labelled(self, chapter: Chapter, section: Section) -> Iterator[Draft]:
        for label in dict.fromkeys(block.label for block in section.blocks if block.label):
            named = self.book.manifest.labels.get(label)
            kind = label.split("-")[0]
            if named is None or not named.text or kind not in ("fig", "tbl", *STATED):
                continue
            own = [block.text for block in section.blocks if block.label == label and block.kind not in CODE]
            own.sort(key=lambda text: named.text not in text)  # the caption, if it is there
            quote = next((text for text in own if self._is_quote(chapter, text)), "")
            if quote:
                form = self.texts["states" if kind in STATED else "shows"]
                type_ = {"fig": "figure", "tbl": "table"}.get(kind, "statement")
                yield self._draft(form.format(term=named.text), type_, chapter, section, quote)

    def _titled(self, chapter: Chapter, section: Section) -> Iterator[Draft]:
        title = " ".join(section.title.split())
        if self._titles[letters(title, marks=False)] > 1 or not self._tells(title):
            return
        wanted = set(runs(fold(title)))
        quotes = self._best(chapter, section, wanted)
        asks = title if title.endswith(("?", "\uff1f")) else self.texts["about"].format(term=title)
        if quotes and len(asks) <= LONGEST_QUESTION:
            yield self._draft(asks, "heading", chapter, section, *quotes)

    def _best(self, chapter: Chapter, section: Section, wanted: set[str]) -> list[str]:
        """Of a few passages of a section the sentence that has most of its title: any of them answers.

        None when the passage with the heading has only code: others of a long section are not what its title finds.
        """
        found: dict[Tag, list[str]] = {}
        for quote, passage in self._sentences(chapter, section):
            found.setdefault(passage, []).append(quote)
        if self._passage(chapter, section.start, section.start + 1) not in found:
            return []
        best: list[tuple[int, str]] = []
        for quotes in found.values():
            has = {quote: len(wanted.intersection(runs(fold(quote)))) for quote in quotes}
            tried = sorted(quotes, key=lambda quote: -has[quote])[:TRIED]
            chosen = next(filter(self._is_unique, tried), tried[0])
            best.append((has[chosen], chosen))
        others = sorted(best[1:], key=lambda one: -one[0])
        return [quote for _, quote in [best[0], *others][:PLACES]]

    def _sentences(self, chapter: Chapter, section: Section) -> Iterator[tuple[str, Tag]]:
        """What can be quoted of a section's own prose, each with the passage that has it."""
        for block in section.blocks:
            if block.kind in PROSE:
                for start, end in units(block, self.book.locale.abbreviations):
                    quote, passage = chapter.text[start:end], self._passage(chapter, start, end)
                    if passage and len(quote) >= _shortest(quote) and not quote.endswith((":", "\uff1a")):
                        yield quote, passage

    def _is_quote(self, chapter: Chapter, text: str) -> bool:
        start = chapter.text.find(text)
        return bool(letters(text)) and "\n" not in text and self._passage(chapter, start, start + len(text)) is not None

    def _passage(self, chapter: Chapter, start: int, end: int) -> Tag | None:
        passages = self._passages.get(chapter.index, ())
        return next((tag for tag in passages if tag.start <= start and end <= tag.end), None)

    def _is_unique(self, quote: str) -> bool:
        return self._letters.count(letters(shortened(quote))) == 1

    def _term(self, written: str) -> str:
        """What is defined, as it stands in a question; "" when it is nothing that can be asked for."""
        article = re.match(self.texts["articles"], written, re.IGNORECASE)
        bare = written[article.end() :] if article else written
        words = bare.split()
        if not 1 <= len(words) <= WORDS_OF_A_TERM or not self._tells(bare):
            return ""
        if fold(words[0]) in self.book.index.stopwords:
            return ""
        return f"{article[0].lower() if article else ''}{bare}"

    def _tells(self, text: str) -> bool:
        """Whether a text has a word that is neither a function word nor a number."""
        return any(
            len(word) > 1 and not word.isdecimal() and word not in self.book.index.stopwords
            for word in runs(fold(text))
        )

    def _draft(self, asks: str, type_: str, chapter: Chapter, section: Section, *quotes: str) -> Draft:
        note = "" if all(map(self._is_unique, quotes)) else "The book has these words more than once."
        places = tuple(Place(shortened(quote), chapter.file, section.title, section.anchor) for quote in quotes)
        return Draft(Question(asks, 0, type_, places), note)


def _shortest(quote: str) -> int:
    return SHORTEST_QUOTE // 3 if is_unspaced(quote) else SHORTEST_QUOTE


def _texts(lang: str) -> dict[str, Any]:
    tables = _tables()
    return tables.get(code_of(lang), tables[FALLBACK])


@cache
def _tables() -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("questions.json").read_bytes())
    return tables
