"""An answer without a model: the best sentences of the best passages, word for word, each with its note.

The rules, which `widget/extractive.js` follows too (vectors: `tests/fixtures/extractive.json`):

1. Candidates are the units (`sentences.units`) of the retrieved passages, lists of references left out. Headings,
   table heads, defined terms and bare titles answer nothing, nor does a table row without a term of its own. A unit
   longer than `LONGEST` is cut at a line or word border.
2. A term of the question counts its idf when the unit has it, and `AROUND` of it when only its surroundings do: the
   headings above, the words that describe the block (`context`), the units before and behind it in the block. The
   sum, as a share of all the question's terms, times the passage's score as a share of the best one's, times `ASIDE`
   for a question, what only announces (`:`) and code, is its score.
3. The best one is taken; terms that it has count half from then on; again, until there are `MOST`, `CHARS` are
   full, or the next scores less than `ENOUGH` of the first. Ties (to nine decimals): the better passage, then
   reading order.
4. A sentence that begins with a word leaning on what comes before (`leans_on` of the locale) takes the sentence
   before it along, and neighbours become one quote, up to `LONGEST`.
5. Quotes of one section stand together, and those of one block in reading order; sections and blocks come in the
   order in which they were first taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ask_book.answering.sentences import Span, units
from ask_book.book.manifest import Block, Manifest, Section, Tag
from ask_book.retrieval.tokens import fold, runs, tokens

MOST = 4
CHARS = 1200
LONGEST = 600
TITLE = 40
ENOUGH = 0.35
AROUND = 0.75
ASIDE = 0.5
CODE = frozenset({"code", "output"})
ALONE = CODE | {"table", "math", "figure", "list"}

_MARKDOWN = re.compile(r"[\\`*_\[\]<>&$~^|@]|(?<=http):|(?<=https):|(?<=www)\.")
_BEGINNING = re.compile(r"(?m)^([ \t]*)((?:\d{1,9}(?=[.)]))?)([-+#=:%.)])")
_STOPS = ".!?…。！？｡؟۔।॥"


@dataclass(frozen=True)
class Passage:
    """A retrieved passage and how well it fits, 0..1."""

    tag: Tag
    score: float


@dataclass(frozen=True)
class Quote:
    """A span of the book that goes into the answer. `lead`: what it sums up, shown before it."""

    tag: Tag
    block: Block
    section: Section
    text: str
    lead: str = ""


@dataclass(frozen=True)
class Asked:
    """The question as search sees it: its terms with their weights. `marks` and `short` as in `tokens.tokens`."""

    weights: dict[str, float]
    marks: bool = False
    short: bool = False

    def share(self, inside: Iterable[str], around: Iterable[str], taken: Collection[str]) -> float:
        """How much of the question a unit has, 0..1. `inside` and `around` are in the question's order."""
        found = sum(self.weights[term] * (0.5 if term in taken else 1) for term in inside)
        found += AROUND * sum(self.weights[term] * (0.5 if term in taken else 1) for term in around)
        return found / self.total if self.total else 0.0

    @cached_property
    def total(self) -> float:
        """What a unit with every term would have."""
        return sum(self.weights.values())

    def terms_in(self, text: str) -> set[str]:
        """The terms of the question that a text has."""
        return set(filter(self.weights.__contains__, tokens(text, self.marks, self.short)))

    def ordered(self, terms: Collection[str]) -> tuple[str, ...]:
        """Those terms in the question's order, so that sums come out the same every time."""
        return tuple(term for term in self.weights if term in terms)


@dataclass(frozen=True)
class _Candidate:
    tag: Tag
    block: Block
    section: Section
    factor: float
    inside: tuple[str, ...]
    around: tuple[str, ...]


def asked(
    question: str, weight: Callable[[str], float], stopwords: Collection[str], marks: bool = False, short: bool = False
) -> Asked:
    """The terms of a question, without its function words unless it has no others."""
    words = runs(fold(question, marks))
    telling = [word for word in words if fold(word) not in stopwords] or words
    return Asked({term: weight(term) for word in telling for term in tokens(word, marks, short)}, marks, short)


def choose(
    manifest: Manifest,
    passages: Sequence[Passage],
    question: Asked,
    abbreviations: Collection[str],
    leans_on: Collection[str] = (),
) -> list[Quote]:
    """The quotes that answer, in the order in which they are shown; none if no unit has a term of the question."""
    candidates = list(_candidates(manifest, passages, question, abbreviations))
    chosen: list[_Candidate] = []
    taken: set[str] = set()
    first = chars = 0.0
    while candidates and len(chosen) < MOST:
        scores = [round(item.factor * question.share(item.inside, item.around, taken), 9) for item in candidates]
        best = max(range(len(scores)), key=scores.__getitem__)
        first = first or scores[best]
        item = candidates.pop(best)
        chars += item.tag.end - item.tag.start
        if not scores[best] or scores[best] < ENOUGH * first or (chosen and chars > CHARS):
            break
        chosen.append(item)
        taken.update(item.inside)
    sections = list(dict.fromkeys((item.tag.chapter, item.section.start) for item in chosen))
    blocks = list(dict.fromkeys((item.tag.chapter, item.block.start) for item in chosen))

    def place(item: _Candidate) -> tuple[int, int, Tag]:
        chapter = item.tag.chapter
        return sections.index((chapter, item.section.start)), blocks.index((chapter, item.block.start)), item.tag

    chosen.sort(key=place)
    spans = [_with_what_it_leans_on(manifest, item, abbreviations, leans_on) for item in chosen]
    return [_quote(manifest, tag) for tag in _joined(manifest, spans)]


def markdown(quote: Quote, note: str) -> str:
    """A quote as Markdown that shows exactly its text, and its note; a table row comes with the table's head."""
    if quote.block.kind in CODE:
        fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", quote.text)), default=0))
        return f"{fence}\n{quote.text}\n{fence}\n\n{note}"
    lead = f"**{escape(quote.lead)}.** " if quote.lead else ""
    shown = f"{lead}{escape(quote.text)} {note}"
    return f"*{escape(quote.block.context)}*: {shown}" if quote.block.kind == "table" and quote.block.context else shown


def paragraphs(quotes: Iterable[Quote]) -> Iterator[list[Quote]]:
    """The quotes that share a section, together."""
    for _, group in groupby(quotes, key=lambda quote: (quote.tag.chapter, quote.section.start)):
        yield list(group)


def between(paragraph: Sequence[Quote], position: int) -> str:
    """What separates a quote from the one before it: code and table rows stand alone."""
    if not position or any(quote.block.kind in ALONE for quote in paragraph[position - 1 : position + 1]):
        return "\n\n"
    return " "


def escape(text: str) -> str:
    """Markdown (CommonMark, GFM and pandoc's) that shows `text` literally."""
    return _BEGINNING.sub(r"\1\2\\\3", _MARKDOWN.sub(r"\\\g<0>", text))


def _candidates(
    manifest: Manifest, passages: Sequence[Passage], question: Asked, abbreviations: Collection[str]
) -> Iterator[_Candidate]:
    best = max((passage.score for passage in passages), default=0.0)
    seen: set[Tag] = set()
    for passage in passages:
        chapter = manifest.chapters[passage.tag.chapter]
        for block in chapter.blocks_in(passage.tag.start, passage.tag.end):
            section = chapter.section_at(block.start)
            if block.kind == "heading" or _is_head(block, section):
                continue
            around = question.terms_in(" ".join((chapter.title, *section.heading_path, block.context)))
            spans = [_cut(chapter.text, span) for span in units(block, abbreviations)]
            inside = [question.terms_in(chapter.text[start:end]) for start, end in spans]
            for at, (start, end) in enumerate(spans):
                tag, text = Tag(chapter.index, start, end), chapter.text[start:end]
                if tag in seen or not passage.tag.start <= start < passage.tag.end or _is_title(block, text):
                    continue
                if block.kind == "table" and not inside[at]:
                    continue
                seen.add(tag)
                factor = passage.score / best if best else 1.0
                factor *= ASIDE if text[-1] in ":?：？" or block.kind in CODE else 1
                nearby = around.union(*inside[max(0, at - 1) : at + 2]) - inside[at]
                has, near = question.ordered(inside[at]), question.ordered(nearby)
                yield _Candidate(tag, block, section, factor, has, near)


def _is_head(block: Block, section: Section) -> bool:
    """A row or a term that others have as their context: alone it says nothing."""
    return block.kind in {"table", "list"} and any(
        block.text in other.context.replace(" · ", " ")
        for other in section.blocks
        if other.kind == block.kind and other is not block
    )


def _is_title(block: Block, text: str) -> bool:
    """A few words without a full stop, such as the title of a callout."""
    return (
        block.kind in {"para", "callout", "quote"} and len(text) < TITLE and text.rstrip("\"'”’»)")[-1:] not in _STOPS
    )


def _cut(text: str, span: Span) -> Span:
    start, end = span
    if end - start <= LONGEST:
        return span
    piece = text[start : start + LONGEST + 1]
    border = piece.rfind("\n") if "\n" in piece else max(piece.rfind(" "), 0)
    return start, start + len(text[start : start + (border or LONGEST)].rstrip())


def _with_what_it_leans_on(
    manifest: Manifest, item: _Candidate, abbreviations: Collection[str], leans_on: Collection[str]
) -> Tag:
    tag = item.tag
    words = runs(fold((manifest.text(tag) or "")[:40]))
    before = [start for start, end in units(item.block, abbreviations) if end <= tag.start]
    if words and words[0] in leans_on and before and tag.end - before[-1] <= LONGEST:
        return Tag(tag.chapter, before[-1], tag.end)
    return tag


def _joined(manifest: Manifest, tags: Iterable[Tag]) -> list[Tag]:
    joined: list[Tag] = []
    for tag in tags:
        last = joined[-1] if joined else None
        if last and last.chapter == tag.chapter and last.start <= tag.start:
            between = manifest.chapters[tag.chapter].text[last.end : tag.start]
            both = Tag(tag.chapter, last.start, max(last.end, tag.end))
            if tag.start < last.end or (not between.strip(" ") and both.end - both.start <= LONGEST):
                joined[-1] = both
                continue
        joined.append(tag)
    return joined


def _quote(manifest: Manifest, tag: Tag) -> Quote:
    chapter = manifest.chapters[tag.chapter]
    return Quote(tag, chapter.blocks_in(tag.start, tag.end)[0], chapter.section_at(tag.start), manifest.text(tag) or "")
