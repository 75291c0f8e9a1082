"""From tags in a text to numbered notes, each verified against the manifest; and what the text claims without one.

A tag counts only if it was offered in this round: as a position `[f3-120-260]`, or as the anchor `[#sec-map]` of the
one offered passage that has it. Every other thing that looks like a tag or like a note is removed and counted,
wherever the text was cut while it was streamed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ask_book.answering.answer import Citation, Claims, Mark, cite
from ask_book.answering.sentences import sentences
from ask_book.book.manifest import Manifest, Tag
from ask_book.retrieval.tokens import fold, runs

LANGUAGES_THAT_CAPITALISE_NOUNS = frozenset({"de", "lb"})

_LONGEST_BRACKET = 300
_PAIRS = {"[": "]", "【": "】", "［": "］", "〔": "〕", "(": ")", "（": "）", "{": "}", "*": "*", "_": "_", "`": "`"}
_LEFT, _RIGHT = "[【［〔", "]】］〕"
_DASH = r"\-‐‑‒–—−－"
# Runs are entered at their start only, so that no text, however odd, takes more than linear time.
_SPACE = r"[ \t\u00a0]"
_LEAD = rf"(?:(?<!{_SPACE})(?P<lead>{_SPACE}++))?+"
_OPEN = f"[{re.escape(''.join(_PAIRS))}]{{0,8}}"
_CLOSE = f"[{re.escape(''.join(_PAIRS.values()))}]*"
_L, _R = f"[{re.escape(_LEFT)}]", f"[{re.escape(_RIGHT)}]"
_IN_BRACKETS = rf"[^{re.escape(_LEFT + _RIGHT)}\n]{{0,{_LONGEST_BRACKET}}}"

_POSITION = rf"[fF][ _{_DASH}]?\d+(?: ?[_{_DASH}] ?\d+)*"
_ANCHOR = r"#[^\s()<>{}\"'*`,;|]+"
_ITEM = re.compile(f"{_POSITION}|{_ANCHOR}")

_BEGINS_LIKE_A_TAG = rf"\s*(?:[fF][ _{_DASH}]*\d+ *(?=[_{_DASH},;:{re.escape(_RIGHT)}])|\#)"
_PARTS = rf"(?:[{_DASH}]\d+)"
_BARE = rf"(?:f\d+{_PARTS}{{2,}}|(?<![A-Za-z0-9_])(?:f\d+{_PARTS}|F\d+{_PARTS}{{2,}}))(?:f\d+{_PARTS}+)*"
_TAG = (
    rf"(?:\[\d{{0,3}}\](?=\(\[?[fF#]))?(?P<open>{_OPEN})"
    rf"(?:(?<={_L})(?P<inside>{_BEGINS_LIKE_A_TAG}{_IN_BRACKETS})(?={_R})"
    rf"|(?P<bare>{_BARE}))"
    rf"(?P<close>{_CLOSE})"
)
_FORGED_NOTE = (
    rf"!?\[{_IN_BRACKETS}\]\([^)\n]{{0,9}}\#ask-book[^)\n]{{0,80}}\)"
    r"|(?<![A-Za-z0-9_)\]`])\[\d{1,2}\](?![\[(:])"
    r"|\#ask-book[-A-Za-z0-9_]*"
)
_SUSPECT = re.compile(rf"{_LEAD}(?:(?P<forged>{_FORGED_NOTE})|{_TAG})")

_COULD_JOIN = re.compile(r"[\w#-]", re.ASCII)
_BRACKET = rf"{_L}{_IN_BRACKETS}(?:{_R}(?:\([^)\n]{{0,100}}\)?)?|\Z)"
_NO_BORDER = r"[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_COULD_GO_ON = re.compile(rf"(?:(?<!{_SPACE}){_SPACE}++|(?<!{_NO_BORDER}))(?>{_BRACKET}|{_NO_BORDER})*+\Z")

_NOTE = re.compile(r"\[(\d+)\]\(#ask-book-\1\)")
_NUMBER = re.compile(r"\d+(?:[.,'’ \u00a0\u202f]\d{3}(?!\d))*(?:[.,]\d+)?")
_NAME = re.compile(r"[^\W\d_][\w'’-]*")


def note(n: int) -> str:
    """The Markdown of a note."""
    return f"[{n}](#ask-book-{n})"


@dataclass
class Notes:
    """The notes of one answer while it is written.

    `offered` are the tags of this round; `anchors` say which of them an anchor stands for where many have the same.
    `feed` takes the text as it comes and gives what may be shown: pieces of
    text and, before its first use, each citation. `close` gives what was still held back. `cite` is for code that
    chooses its sources itself.
    """

    manifest: Manifest
    offered: Collection[Tag]
    anchors: Mapping[str, Tag] = field(default_factory=dict)
    citations: list[Citation] = field(default_factory=list)
    dropped: int = 0
    _numbers: dict[Tag, int] = field(default_factory=dict)
    _held: str = ""
    _look_again_at: int = 0
    _last: int = 0

    def feed(self, text: str) -> Iterator[str | Citation]:
        """Take the next piece of the text."""
        self._held += text
        if len(self._held) < self._look_again_at:
            return
        tail = _COULD_GO_ON.search(self._held)
        yield from self._show(tail.start() if tail else len(self._held))
        self._look_again_at = len(self._held) * 11 // 10 if len(self._held) > _LONGEST_BRACKET else 0

    def close(self) -> Iterator[str | Citation]:
        """The end of the text."""
        yield from self._show(len(self._held))

    def cite(self, tag: Tag) -> Iterator[str | Citation]:
        """The note on `tag`; nothing, and counted, if it was not offered."""
        yield from self._note(tag)

    def _show(self, end: int) -> Iterator[str | Citation]:
        text, self._held = self._held[:end], self._held[end:]
        shown = 0
        for suspect in _SUSPECT.finditer(text):
            yield from self._plain(text[shown : suspect.start()])
            shown = suspect.end()
            yield from self._replace(suspect) or ([" "] if _COULD_JOIN.match(text, shown) else [])
        yield from self._plain(text[shown:])

    def _plain(self, text: str) -> Iterator[str]:
        if text:
            self._last = 0
            yield text

    def _replace(self, suspect: re.Match[str]) -> list[str | Citation]:
        if suspect["forged"]:
            self.dropped += 1
            return []
        opening, closing = _peel(suspect["open"], suspect["close"])
        items = _ITEM.findall(suspect["inside"] or suspect["bare"])
        notes = [part for item in items or [""] for part in self._note(self._meant(item))]
        return list(
            filter(None, [(suspect["lead"] or "") + opening, *notes, closing] if notes else [opening + closing])
        )

    def _meant(self, item: str) -> Tag | None:
        if item.startswith("#"):
            anchor = item[1:].rstrip(".:")
            if self.anchors:
                return self.anchors.get(anchor)
            named = [tag for tag in self.offered if self.manifest.place(tag).anchor == anchor]
            return named[0] if len(named) == 1 else None
        return Tag.parse(re.sub(f"[{_DASH}]", "-", item.lower().replace(" ", "")))

    def _note(self, tag: Tag | None) -> Iterator[str | Citation]:
        if tag is None or tag not in self.offered or not (self.manifest.text(tag) or "").strip():
            self.dropped += 1
            return
        n = self._numbers.setdefault(tag, len(self._numbers) + 1)
        if n > len(self.citations):
            self.citations.append(cite(self.manifest, n, tag, verified=True))
            yield self.citations[-1]
        if n != self._last:
            self._last = n
            yield note(n)


def check_claims(
    answer: str, citations: Iterable[Citation], *, lang: str, abbreviations: Collection[str], dropped: int = 0
) -> Claims:
    """Which sentences of a finished answer have a note, and whether their numbers and names are in what it quotes.

    A note behind a sentence belongs to it, also after its full stop. Questions, headings and what only announces
    (`:`) claim nothing. Names are looked for where the language marks them with a capital.
    """
    quoted = {citation.n: citation for citation in citations}
    without_notes = _NOTE.sub(lambda found: " " * len(found[0]), answer)
    spans = sentences(without_notes, abbreviations)
    notes: list[list[Citation]] = [[] for _ in spans]
    for found in _NOTE.finditer(answer):
        if spans and int(found[1]) in quoted:
            notes[_sentence_of(found.start(), spans, answer)].append(quoted[int(found[1])])
    marks: list[Mark] = []
    claiming = 0
    for (start, end), its_notes in zip(spans, notes, strict=True):
        sentence = without_notes[start:end]
        if not _claims_something(sentence):
            continue
        claiming += 1
        if not its_notes:
            marks.append(Mark(start, end, "uncited"))
        elif not _supported(sentence, its_notes, with_names=lang[:2] not in LANGUAGES_THAT_CAPITALISE_NOUNS):
            marks.append(Mark(start, end, "unsupported"))
    uncited = sum(mark.kind == "uncited" for mark in marks)
    return Claims(claiming - len(marks), uncited, len(marks) - uncited, dropped, tuple(marks))


def _peel(opening: str, closing: str) -> tuple[str, str]:
    """What is left around a tag without the pairs that enclose it and without single brackets."""
    while opening and closing and _PAIRS[opening[-1]] == closing[0]:
        opening, closing = opening[:-1], closing[1:]
    return re.sub(_L, "", opening), re.sub(_R, "", closing)


def _sentence_of(position: int, spans: Sequence[tuple[int, int]], answer: str) -> int:
    before = max(0, sum(start <= position for start, _ in spans) - 1)
    begins_a_paragraph = "\n" in answer[spans[before][1] : position]
    return min(before + begins_a_paragraph, len(spans) - 1)


def _claims_something(sentence: str) -> bool:
    text = sentence.rstrip(" *_")
    return not (text.startswith("#") or text.endswith((":", "?", "？", "："))) and any(map(str.isalnum, text))


def _supported(sentence: str, notes: Iterable[Citation], with_names: bool) -> bool:
    notes = list(notes)
    quote = "\n".join(item.quote for item in notes)
    if any(not readings & _all_readings(quote) for readings in map(_readings, _NUMBER.findall(sentence))):
        return False
    around = " ".join([quote, *(" ".join((item.chapter_title, *item.heading_path)) for item in notes)])
    return not with_names or _names(sentence) <= set(runs(fold(around)))


def _readings(number: str) -> frozenset[str]:
    """The values that a number may have: `1.234` is 1234 in one language and 1.234 in another."""
    groups = re.split(r"\D", number)
    whole = "".join(groups).lstrip("0") or "0"
    if len(groups) == 1:
        return frozenset({whole})
    decimal = f"{''.join(groups[:-1]).lstrip('0') or '0'}.{groups[-1].rstrip('0')}".rstrip(".")
    if len(groups[-1]) != 3 or groups[0] == "0":
        return frozenset({decimal})
    return frozenset({whole} if groups[-1].endswith("0") else {whole, decimal})


def _all_readings(text: str) -> frozenset[str]:
    return frozenset().union(*map(_readings, _NUMBER.findall(text)))


def _names(sentence: str) -> set[str]:
    """Folded words with a capital that no beginning explains."""
    names: set[str] = set()
    for found in _NAME.finditer(sentence):
        before = sentence[: found.start()].rstrip(" *_")
        if found[0][0].isupper() and before and before[-1] not in '!?…:"“«‹¿¡([-–—•\n':
            names.update(runs(fold(found[0])))
    return names
