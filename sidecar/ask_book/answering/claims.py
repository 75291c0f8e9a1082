"""What a finished answer claims, and whether the passages that it cites say so.

A sentence is compared with the quotes of its own notes, nothing else. It is marked `unsupported` when it has

* a number, a measure, a percentage, a date, a month or a weekday that they do not have (`quantities.py`);
* a proper name that is neither in them nor in the headings above them (scripts with capitals only);
* their words, but says no where they say yes, or less where they say more (`polarity.py`);
* no word of theirs, but most of those that another note of the answer quotes (swapped notes).

The check is one of words. It cannot tell that a sentence is wrong in words of its own: the guide says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from ask_book.answering.answer import Citation, Claims, Mark
from ask_book.answering.citations import NOTE
from ask_book.answering.polarity import STEM, contradicts, share, stems
from ask_book.answering.quantities import Facts, Quantity, quantities
from ask_book.answering.sentences import sentences
from ask_book.answering.vocabulary import vocabulary
from ask_book.book.manifest import Manifest, Tag
from ask_book.retrieval.evidence import is_one_slip
from ask_book.retrieval.language import language_of, locale
from ask_book.retrieval.places import is_name_of_place
from ask_book.retrieval.tokens import fold, is_unspaced, runs

NOUNS_CAPITALISED = frozenset({"de", "lb"})
NEAR = 0.72
ELSEWHERE = 0.5
COUNTED_UP_TO = 6

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_COUNTER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_CODE = re.compile(r"\d[-/_]\w+[-/_]\w|[^\W\d_]-?\d")
_PART = re.compile(r"[:：;；()（）—\n。]|\.(?=\s|$)|\s–\s")
_NUMBERED = re.compile(r"[^\W\d_]{2,}\d+")
_COMMA = "[,，、]"
_ENUMERATOR = re.compile(r"\(?\b(?:[ivx]{1,4}|[a-h]|\d)\)")
_NAME = re.compile(r"[^\W\d_]\w*")
_BEGINNING = re.compile(r"(?:^|[!?…:：\"“”„«»‹¿¡(\[|>\n—–])[\s*_\"“«'’]*$")
_APPOSITION = re.compile(r", [a-zà-ÿ][^,.;:]{2,40},\s")
_ADVERB = re.compile(r"(?:ly|ment|mente)$")
_INITIAL = re.compile(r"(?:^|\W)[^\W\d_]\.\s?$")
_ORDINALS = frozenset(f"{n}." for n in range(1, 32))
_NEAR = 12
_BEHIND = 24


@dataclass(frozen=True)
class _Word:
    """A word of a sentence, as written, and its folded form. `first`: a beginning explains its capital."""

    text: str
    run: str
    start: int
    first: bool


@dataclass(frozen=True)
class _Source:
    """What the notes of a sentence quote, and what stands around it: titles, headings, the head of a table."""

    quote: str
    around: str
    numbers: frozenset[str]
    langs: tuple[str, ...]

    @cached_property
    def facts(self) -> Facts:
        return Facts(f"{self.quote}\n{self.around}", self.langs)

    @cached_property
    def runs(self) -> frozenset[str]:
        return frozenset(runs(fold(f"{self.quote}\n{self.around}")))

    @cached_property
    def sentences(self) -> frozenset[tuple[str, ...]]:
        """What it says word by word."""
        said = (self.quote[start:end] for start, end in sentences(self.quote, locale(self.langs[-1]).abbreviations))
        return frozenset(tuple(runs(fold(text))) for text in said)

    @cached_property
    def lists(self) -> set[int]:
        return _lists(self.quote, self.langs[-1])

    @cached_property
    def acronyms(self) -> frozenset[str]:
        return frozenset(word.run for word in self.words if word.text.isupper() and len(word.run) > 2)

    @cached_property
    def initials(self) -> str:
        """The first letters of its words, those that tell little apart: an acronym may be made of them."""
        stop = locale(self.langs[-1]).stopwords
        return "".join(word.run[0] for word in self.words if word.run not in stop)

    @cached_property
    def words(self) -> list[_Word]:
        return list(_words(self.quote))

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(word.run for word in self.words if word.text[0].isupper() and not word.first)

    @cached_property
    def capitals(self) -> frozenset[str]:
        stop = locale(self.langs[-1]).stopwords
        return frozenset(word.run for word in self.words if word.text[0].isupper() and word.run not in stop)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stems(f"{self.quote}\n{self.around}", self.langs))


def check_claims(answer: str, citations: Iterable[Citation], manifest: Manifest, lang: str, dropped: int = 0) -> Claims:
    """Which sentences of a finished answer have a note, and whether what it quotes supports them.

    `lang` is the language of the book; that of the answer is found out. A note behind a sentence belongs to it, also
    after its full stop. Questions, headings, code and what only announces (`:`) claim nothing.
    """
    quoted = {citation.n: citation for citation in citations}
    bare = _blank(_FENCE, _blank(NOTE, answer))
    langs = tuple(dict.fromkeys((_spoken(bare, lang), lang)))
    # "13. Jahrhundert"
    ordinals = _ORDINALS if langs[0][:2] in NOUNS_CAPITALISED else frozenset()
    spans = sentences(bare, locale(langs[0]).abbreviations | ordinals)
    notes: list[list[Citation]] = [[] for _ in spans]
    for found in NOTE.finditer(answer):
        if spans and int(found[1]) in quoted:
            notes[_sentence_of(found.start(), spans, answer)].append(quoted[int(found[1])])
    sources = {n: _source([citation], manifest, langs) for n, citation in quoted.items()}
    marks: list[Mark] = []
    claiming = 0
    for (start, end), its_notes in zip(spans, notes, strict=True):
        sentence = bare[start:end]
        if not _claims_something(sentence, langs):
            continue
        claiming += 1
        if not its_notes:
            marks.append(Mark(start, end, "uncited"))
        elif not _is_supported(sentence, its_notes, sources, manifest, langs):
            marks.append(Mark(start, end, "unsupported"))
    uncited = sum(mark.kind == "uncited" for mark in marks)
    return Claims(claiming - len(marks), uncited, len(marks) - uncited, dropped, tuple(marks))


def _spoken(text: str, lang: str) -> str:
    """The language of an answer: that of the book if it has enough of its function words; few words tell little."""
    words, stop = runs(fold(text)), locale(lang).stopwords
    return lang if sum(word in stop for word in words) * 5 > len(words) else language_of(text, lang)


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """`text` with white space instead of what matches; offsets and lines stay."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _sentence_of(position: int, spans: Sequence[tuple[int, int]], answer: str) -> int:
    before = max(0, sum(start <= position for start, _ in spans) - 1)
    begins_a_paragraph = "\n" in answer[spans[before][1] : position]
    return min(before + begins_a_paragraph, len(spans) - 1)


def _claims_something(sentence: str, langs: Iterable[str]) -> bool:
    text = sentence.rstrip(" *_")
    if text.startswith("#") or text.endswith((":", "?", "？", "：")) or not any(map(str.isalnum, text)):
        return False
    return all(runs(fold(text)) != runs(fold(locale(lang).not_found)) for lang in langs)


def _source(citations: Sequence[Citation], manifest: Manifest, langs: tuple[str, ...]) -> _Source:
    around = [manifest.book.title, *manifest.book.authors]
    numbers: set[str] = set()
    for citation in citations:
        around += [citation.chapter_title, *citation.heading_path]
        if tag := Tag.parse(citation.tag):
            chapter = manifest.chapters[tag.chapter]
            blocks = chapter.blocks_in(tag.start, tag.end)
            around += [block.context for block in blocks]
            labels = [manifest.labels[block.label].text for block in blocks if block.label in manifest.labels]
            numbers.update(word for label in labels for word in label.split()[-1:])
            # Section 2.6.1 is in section 2.6 and in chapter 2.
            parts = chapter.section_at(tag.start).number.split(".")
            numbers.update((chapter.number, *(".".join(parts[:length]) for length in range(1, len(parts) + 1))))
    quote = "\n".join(citation.quote for citation in citations)
    return _Source(quote, "\n".join(dict.fromkeys(around)), frozenset(numbers), langs)


def _is_supported(
    sentence: str, notes: Sequence[Citation], sources: dict[int, _Source], manifest: Manifest, langs: tuple[str, ...]
) -> bool:
    source = sources[notes[0].n] if len(notes) == 1 else _source(notes, manifest, langs)
    mine = {note.n for note in notes}
    others = [other for n, other in sources.items() if n not in mine]
    sentence = sentence[_COUNTER.match(sentence).end() :]  # type: ignore[union-attr]
    if tuple(runs(fold(sentence))) in source.sentences:
        return True
    found = quantities(sentence, langs[0])
    return (
        all(_has_quantity(item, sentence, source, len(notes)) for item in found)
        and not _foreign_names(sentence, found, source, others, langs)
        and not _renumbers_names(sentence, source)
        and not (len(langs) == 1 and _contradicts(sentence, source))
        and not _is_of_another(sentence, source, others)
    )


def _has_quantity(item: Quantity, sentence: str, source: _Source, notes: int) -> bool:
    if item.weak or _is_in_code(item, sentence, source):
        return True
    if source.facts.support(item) and not _counts_otherwise(item, sentence, source):
        return True
    before = re.search(r"([^\W\d_]{2,20})\W{0,2}$", sentence[max(0, item.start - _BEHIND) : item.start])
    if before and not item.word and is_name_of_place(fold(before[1])):
        is_named = re.search(rf"\b{fold(before[1])}\W{{1,2}}\d", fold(source.quote))
        return not is_named and sentence[item.start : item.end].strip() in source.numbers
    counts = [value for value in item.values if 2 <= value <= COUNTED_UP_TO and item.unit is None]
    is_count = item.word or is_unspaced(sentence[item.start])
    listed = {notes} | _lists(sentence, source.langs[0]) | source.lists
    return is_count and not _counts_otherwise(item, sentence, source) and not listed.isdisjoint(counts)


def _is_in_code(item: Quantity, sentence: str, source: _Source) -> bool:
    """Whether a number belongs to something like "2023-1-3A13", which the source has, too."""
    end = sentence.find(" ", item.end)
    whole = sentence[sentence.rfind(" ", 0, item.start + 1) + 1 : end if end >= 0 else None]
    return _CODE.search(whole) is not None and whole.strip(".,;:()") in source.quote


def _counts_otherwise(item: Quantity, sentence: str, source: _Source) -> bool:
    """Whether the source counts the same things, and nowhere that many: "three keepers" and "four hours"."""
    if item.unit or item.dates or item.weekday:
        return False
    thing = _counted(sentence, item)
    facts = [fact for fact in source.facts.all if not (fact.unit or fact.dates or fact.weekday)]
    same = [fact for fact in facts if thing and _counted(source.facts.text, fact) == thing]
    near = [fact for fact in facts if any(0 <= other.start - fact.end < _NEAR for other in same)]
    return bool(same) and item.hedge is None and not any(item.values & fact.values for fact in (*same, *near))


def _counted(text: str, item: Quantity) -> str:
    found = re.match(r" ([^\W\d_]{4,})", text[item.end :])
    return fold(found[1])[:STEM] if found else ""


def _lists(text: str, lang: str) -> set[int]:
    """How many things may be listed in a text: between commas, with or without the last "and", or in brackets."""
    words = vocabulary(lang)
    last = rf"|\b(?:{words.lists})\b" if words.numbers else f"|{words.lists or '、'}"
    sizes = {len(_ENUMERATOR.findall(text)), text.count(";") + 1}
    for part in _PART.split(text):
        for between in (_COMMA, _COMMA + last):
            size = sum(bool(piece.strip(" .。")) for piece in re.split(between, part))
            # What stands before the first comma may tell what is listed.
            sizes |= {size, size - 1}
    return sizes


def _words(text: str) -> Iterator[_Word]:
    for found in _NAME.finditer(text):
        if run := "".join(runs(fold(found[0]))):
            first = _BEGINNING.search(text, max(0, found.start() - _BEHIND), found.start()) is not None
            yield _Word(found[0], run, found.start(), first)


def _foreign_names(
    sentence: str, found: Sequence[Quantity], source: _Source, others: Sequence[_Source], langs: tuple[str, ...]
) -> list[str]:
    """The names of a sentence that its source does not have."""
    counted = {at for item in found for at in range(item.start, item.end)}
    words = [word for word in _words(sentence) if word.start not in counted]
    stop = locale(langs[0]).stopwords
    names: list[str] = []
    for at, word in enumerate(words):
        if not word.text[0].isupper() or word.run in stop or word.run in vocabulary(langs[0]).titles:
            continue
        if _has_name(word.run, source) or _is_short_for(words, at, source):
            continue
        if _is_name(sentence, words, at, source, others, langs):
            names.append(word.text)
    return names


def _renumbers_names(sentence: str, source: _Source) -> bool:
    """Whether a name that ends in digits ends in others in the source: "roxygen2"."""
    numbered = {run for run in runs(fold(sentence)) if _NUMBERED.fullmatch(run)} - source.runs
    known = {run.rstrip("0123456789") for run in source.runs if _NUMBERED.fullmatch(run)}
    return any(run.rstrip("0123456789") in known for run in numbered)


def _has_name(run: str, source: _Source) -> bool:
    if len(run) == 1:
        return any(known.startswith(run) for known in source.runs)
    return bool({run, f"{run}s", run.removesuffix("s"), run.removesuffix("n")} & source.runs)


def _is_short_for(words: Sequence[_Word], at: int, source: _Source) -> bool:
    """Whether a word is an acronym of words of the source, or one of those that an acronym there is short for."""
    word = words[at]
    if word.text.isupper() and len(word.run) > 2:
        return word.run in source.initials
    for start in range(max(0, at - 5), at + 1):
        capitals = [other.run[0] for other in words[start : start + 6] if other.text[0].isupper()]
        names = {"".join(capitals[:length]) for length in range(max(3, at - start + 1), 7)}
        if not names.isdisjoint(source.acronyms):
            return True
    return False


def _is_name(
    sentence: str, words: Sequence[_Word], at: int, source: _Source, others: Sequence[_Source], langs: tuple[str, ...]
) -> bool:
    """Whether a capital makes a name: not at a beginning, not of a German noun, and not in a translation, unless
    something else says so: a title or an initial before it, a name of the source in the same place or nearly the same.
    """
    word = words[at]
    nouns_too = langs[0][:2] in NOUNS_CAPITALISED
    known = [
        other
        for place, other in enumerate(source.words)
        if other.text[0].isupper() and not other.first and (not nouns_too or _is_called(source, place))
    ]
    if any(_is_near(word.run, other.run) for other in known) or (nouns_too and _is_misspelt(word.run, source.names)):
        return True
    if word.text.isupper() and len(word.text) == 1:
        return len(langs) == 1 and sentence[word.start + 1 : word.start + 2] == "."
    is_called = _INITIAL.search(sentence, max(0, word.start - _BEHIND), word.start) or (
        at and words[at - 1].run in vocabulary(langs[0]).titles
    )
    if is_called:
        return True
    if len(langs) > 1:
        return False
    if nouns_too and at and _is_partner(sentence, words[at - 1], word, source):
        return True
    if not word.first and not nouns_too:
        return True
    if langs[0] == "en" and re.match(r"['’]s\b", sentence[word.start + len(word.text) :]):
        return True
    if not nouns_too and any(word.run in other.names for other in others):
        return True
    said = {item.run for item in words}
    behind = words[at + 1] if at + 1 < len(words) else None
    if behind and behind.run in source.capitals and _adjoin(sentence, word, behind):
        return True
    missing = [other for other in known if other.run not in said]
    if missing and _APPOSITION.match(sentence[word.start + len(word.text) :]) and not _ADVERB.search(word.run):
        return True
    return any(
        behind and behind.run in [later.run for later in source.words[place + 1 : place + 3]]
        for place, other in enumerate(source.words)
        if other in missing
    )


def _adjoin(text: str, one: _Word, two: _Word) -> bool:
    return text[one.start + len(one.text) : two.start] == " "


def _is_partner(sentence: str, before: _Word, word: _Word, source: _Source) -> bool:
    """Whether the source has another capitalised word behind the same one: "Bischof Ulrich", "Anna Berger"."""
    if not before.text[0].isupper() or before.run in locale(source.langs[0]).stopwords:
        return False
    return _adjoin(sentence, before, word) and any(
        one.run == before.run and two.text[0].isupper() and _adjoin(source.quote, one, two)
        for one, two in pairwise(source.words)
    )


def _is_near(run: str, name: str) -> bool:
    """Whether a word may be a name, misspelt."""
    if len(run) < 4 or is_one_slip(run, name):
        return len(run) > 3
    return len(run) > 5 and run[:3] == name[:3] and SequenceMatcher(None, run, name).ratio() >= NEAR


def _is_misspelt(run: str, nouns: Iterable[str]) -> bool:
    """The same for German, where the endings of nouns differ anyway."""
    return any(
        len(run) > 5 and run[-2:] == noun[-2:] and is_one_slip(run, noun) and not noun.startswith(run) for noun in nouns
    )


def _is_called(source: _Source, place: int) -> bool:
    word = source.words[place]
    before = source.words[place - 1].run if place else ""
    return (
        before in vocabulary(source.langs[-1]).titles
        or _INITIAL.search(source.quote, max(0, word.start - _BEHIND), word.start) is not None
    )


def _contradicts(sentence: str, source: _Source) -> bool:
    lang = source.langs[0]
    return contradicts(sentence, source.quote, lang, () if lang[:2] in NOUNS_CAPITALISED else source.names)


def _is_of_another(sentence: str, source: _Source, others: Iterable[_Source]) -> bool:
    mine = stems(sentence, source.langs)
    own = share(mine, source.stems)
    return len(mine) > 2 and any(share(mine, other.stems) >= ELSEWHERE + own for other in others)
