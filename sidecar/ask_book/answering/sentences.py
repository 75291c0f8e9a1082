"""Where the sentences of a text are.

The rules, in order, which `widget/extractive.js` follows too (vectors: `tests/fixtures/sentences.json`):

1. A line break ends a sentence.
2. `。！？｡` end one wherever they stand; `. ! ? … ؟ ۔ । ॥` do when a space or the end of the text follows.
   Closing quotes and brackets behind the mark belong to the sentence, `»` also after a space.
3. A mark ends nothing when the next word begins with a lower-case letter.
4. One full stop ends nothing after an abbreviation of the language, after initials (`J.`, `U.S.`), or after a
   number that is all there is so far (`3. Results`).
5. A sentence begins and ends with a character that is not white space.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ask_book.book.manifest import Block

Span = tuple[int, int]

WHOLE = frozenset({"heading", "table", "code", "output", "math", "figure"})

_CLOSING = "\"'”’»›)]」』）】》〉"
_OPENING = "\"'“‘«‹([{¿¡—–-"
_FULL_WIDTH = "。！？｡"
_SPACES = " \u00a0\u202f"
_BEHIND = f"[{re.escape(_CLOSING)}]*(?:[{_SPACES}]»)?"
_MARK = re.compile(rf"[{_FULL_WIDTH}]+{_BEHIND}|(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++{_BEHIND}(?=\s|$)")
_BETWEEN = re.compile(rf"[\s{re.escape(_OPENING)}]*")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def sentences(text: str, abbreviations: Collection[str] = ()) -> list[Span]:
    """Spans of the sentences of `text`, in order, not overlapping; only white space is in none."""
    spans: list[Span] = []
    for line in re.finditer(r"[^\n]+", text):
        start = line.start()
        for mark in _MARK.finditer(text, line.start(), line.end()):
            if _ends(text, start, mark, line.end(), abbreviations):
                spans.append((start, mark.end()))
                start = mark.end()
        spans.append((start, line.end()))
    return [trimmed for span in spans if (trimmed := _trim(text, span))]


def units(block: Block, abbreviations: Collection[str] = ()) -> Iterator[Span]:
    """What may be quoted of a block, as offsets in its chapter: sentences, or all of a table row, code or formula."""
    if block.kind in WHOLE:
        span = _trim(block.text, (0, len(block.text)))
        spans = [span] if span else []
    else:
        spans = sentences(block.text, abbreviations)
    for start, end in spans:
        yield block.start + start, block.start + end


def _ends(text: str, start: int, mark: re.Match[str], limit: int, abbreviations: Collection[str]) -> bool:
    if mark[0][0] in _FULL_WIDTH:
        return True
    between = _BETWEEN.match(text, mark.end(), limit)
    following = between.end() if between else mark.end()
    if following < limit and text[following].islower():
        return False
    if mark[0].rstrip(_CLOSING + _SPACES) != ".":
        return True
    so_far = text[start : mark.start()].rsplit(None, 1)
    word = so_far[-1].lstrip(_OPENING) if so_far else ""
    is_initial = word.isupper() and _INITIALS.fullmatch(word) is not None
    is_counter = len(so_far) == 1 and re.fullmatch(r"[\d.]+", word) is not None
    return not (is_initial or is_counter or f"{word}." in abbreviations)


def _trim(text: str, span: Span) -> Span | None:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
