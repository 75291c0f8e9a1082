"""From tags in a text to numbered notes, each verified against the manifest.

A tag counts only if it was offered in this round: as a position `[f3-120-260]`, or as the anchor `[#sec-map]` of the
one offered passage that has it. Every other thing that looks like a tag or like a note is removed and counted,
wherever the text was cut while it was streamed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ask_book.answering.answer import Citation, cite
from ask_book.book.manifest import Manifest, Tag

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
_BARE = rf"(?:(?:f|(?<![A-Za-z])F)\d+{_PARTS}{{2,}}|(?<![A-Za-z0-9_])f\d+{_PARTS})(?:f\d+{_PARTS}+)*"
_TAG = (
    rf"(?:\[\d{{0,3}}\](?=\(\[?[fF#]))?(?P<open>{_OPEN})"
    rf"(?:(?<={_L})(?P<inside>{_BEGINS_LIKE_A_TAG}{_IN_BRACKETS})(?={_R})"
    rf"|(?P<bare>{_BARE}))"
    rf"(?P<close>{_CLOSE})"
)
_FORGED_NOTE = (
    rf"!?\[{_IN_BRACKETS}\]\([^)\n]{{0,9}}\#ask-book[^)\n]{{0,80}}\)"
    r"|(?<![A-Za-z0-9_)\]`])(?:\[\d{1,2}\])+(?![\[(:])"
    r"|\#ask-book[-A-Za-z0-9_]*"
)
_SUSPECT = re.compile(rf"{_LEAD}(?:(?P<forged>{_FORGED_NOTE})|{_TAG})")

NOTE = re.compile(r"\[(\d+)\]\(#ask-book-\1\)")

_COULD_JOIN = re.compile(r"[\w#-]", re.ASCII)
_BRACKET = rf"{_L}{_IN_BRACKETS}(?:{_R}(?:\([^)\n]{{0,100}}\)?)?|\Z)"
_NO_BORDER = r"[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
_COULD_GO_ON = re.compile(rf"(?:(?<!{_SPACE}){_SPACE}++|(?<!{_NO_BORDER}))(?>{_BRACKET}|{_NO_BORDER})*+\Z")


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


def _peel(opening: str, closing: str) -> tuple[str, str]:
    """What is left around a tag without the pairs that enclose it and without single brackets."""
    while opening and closing and _PAIRS[opening[-1]] == closing[0]:
        opening, closing = opening[:-1], closing[1:]
    return re.sub(_L, "", opening), re.sub(_R, "", closing)
