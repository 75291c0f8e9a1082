"""A report as pandoc's own tree, so that no reader of Markdown, HTML or TeX ever sees a text of it.

Every text is a `Str`, which pandoc escapes; formulas pass `maths`; and the only raw TeX is what this module writes: the
commands of `HEADER` around letters that need another font, another direction or a place to break.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ask_book.reports.fonts import CJK
from ask_book.reports.maths import is_harmless
from ask_book.reports.page import Page, PageNote, Part, Passage, Where
from ask_book.reports.tree import Node

API_VERSION = [1, 23]
DEEPEST = 3
LONG_WORD = 40
PIECE = 16
WIDE_TABLE = 70
MOST_NAMED = 24

HEADER = r"""
\usepackage{iftex}
\makeatletter
\ifXeTeX
  \TeXXeTstate=1
  \newcommand\askbookrtl[1]{\beginR #1\endR}
  \newcommand\askbookltr[1]{\beginL #1\endL}
\else\ifLuaTeX
  \newcommand\askbookrtl[1]{{\textdir TRT #1}}
  \newcommand\askbookltr[1]{{\textdir TLT #1}}
\else
  \newcommand\askbookrtl[1]{#1}
  \newcommand\askbookltr[1]{#1}
\fi\fi
\makeatother
\newcommand\askbookbreak{\hskip 0pt plus 0.4pt\relax}
\newcommand\askbookpiece{\penalty0\hskip 0pt plus 0.1pt\relax}
\setlength{\emergencystretch}{4em}
"""

_RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})
_FAMILY = "\\newfontfamily\\askbook{letter}{{{family}}}[{features}]\n"
_NOT_BEFORE = "、。，．！？：；）」』】》〉〕］｝ー々’”!?),.:;]}ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
_NOT_AFTER = "（「『【《〈〔［｛‘“([{"
_OPENING, _CLOSING = "([{«‹“‘<", ")]}»›”’>"
_MIRRORED = str.maketrans(_OPENING + _CLOSING, _CLOSING + _OPENING)
_SPECIAL = {char: f"\\{char}" for char in "#$%&_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"
}  # fmt: skip
_WORD_BORDER = re.compile(r"(?<=[/._&?=+,;:-])")

Json = dict[str, Any]
_NONE = ["", [], []]


@dataclass(frozen=True)
class Glyphs:
    """What to do about characters that the main font lacks. `families`: other fonts with the characters they draw.

    `unprintable` ones are shown by their number, if they are visible at all. `has_maths`: formulas are drawn.
    `turns_brackets`: the engine does it by itself, on a page from right to left.
    """

    families: tuple[tuple[str, frozenset[str]], ...] = ()
    unprintable: frozenset[str] = frozenset()
    has_maths: bool = True
    turns_brackets: bool = False


@dataclass(frozen=True)
class _Class:
    """How a character is set: in which other family, from right to left, and with breaks between characters."""

    family: int = -1
    rtl: bool = False
    cjk: bool = False


def pandoc_tree(page: Page, glyphs: Glyphs) -> Json:
    """The document for `pandoc --from json`."""
    setter = _Setter(glyphs, is_rtl(page.lang))
    blocks = list(setter.page(page))
    header = "".join((HEADER, *setter.families(), _properties(page)))
    meta = {"header-includes": {"t": "MetaBlocks", "c": [{"t": "RawBlock", "c": ["latex", header]}]}}
    return {"pandoc-api-version": API_VERSION, "meta": meta, "blocks": blocks}


def named(chars: Iterable[str]) -> str:
    """Characters for people: `U+1F600 grinning face`; the first of them, and how many more there are."""
    known = [f"U+{ord(char):04X} {unicodedata.name(char, '').lower()}".strip() for char in sorted(chars)]
    more = len(known) - MOST_NAMED
    return ", ".join(known[:MOST_NAMED]) + (f" (+{more})" if more > 0 else "")


def is_rtl(lang: str) -> bool:
    """Whether a language is written from right to left."""
    return lang.split("-")[0].lower() in _RIGHT_TO_LEFT


def is_visible(char: str) -> bool:
    """Whether something is lost when it is not drawn: joiners, marks of direction and variants draw nothing."""
    return unicodedata.category(char) not in ("Cf", "Cc") and not "\ufe00" <= char <= "\ufe0f"


def _properties(page: Page) -> str:
    """What the PDF says of itself. Commands that draw mean nothing there."""
    title, book = (
        "".join(_SPECIAL.get(char, char) for char in text if char.isprintable()) for text in (page.title, page.book)
    )
    return f"\\AtBeginDocument{{\\hypersetup{{pdftitle={{{title}}},pdfsubject={{{book}}},pdfcreator={{ask-book}}}}}}\n"


@dataclass(frozen=True)
class _Setter:
    glyphs: Glyphs
    page_is_rtl: bool

    def families(self) -> Iterator[str]:
        for number, (family, chars) in enumerate(self.glyphs.families):
            yield _FAMILY.format(letter=_letter(number), family=family, features="")
            # A script turns the signs of a font around (≤ becomes ≥): only its own letters may have it.
            for script in sorted(set(map(_script, chars)) - {""}):
                yield _FAMILY.format(letter=_letter(number) + script, family=family, features=f"Script={script}")

    def page(self, page: Page) -> Iterator[Json]:
        yield _header(1, self.text(page.title))
        book = self._linked(page.book, page.home)
        yield _para([*book, *self.text("".join(f" · {part}" for part in (page.authors, page.asked) if part))])
        for remark in page.remarks:
            yield _para(self.text(remark))
        many = len(page.parts) > 1
        for number, part in enumerate(page.parts, 1):
            yield from self._part(part, page.said, f"{number}-" if many else "", many)
        yield {"t": "HorizontalRule"}
        for remark in dict.fromkeys(remark for part in page.parts for remark in part.remarks):
            yield _para(self.text(remark))
        if lost := {char for char in self.glyphs.unprintable if is_visible(char)}:
            yield _para(self.text(page.said["glyphs"].format(glyphs=named(lost))))
        yield _para([*self.text(f"{page.said['cite']}: "), *self.text(page.cite)])

    def _part(self, part: Part, said: dict[str, str], prefix: str, many: bool) -> Iterator[Json]:
        level = 3 if many else 2
        if many:
            yield _header(2, self.text(part.question))
        yield from self.blocks(part.body, prefix, {note.n for note in part.notes}, 0)
        if part.absent:
            yield _para(self.text(part.absent))
        if part.nearest:
            yield _header(level, self.text(said["nearest"]))
            yield _bullets([self._passage(passage) for passage in part.nearest])
        if part.notes:
            yield _header(level, self.text(said["notes"]))
            yield from (self._note(note, prefix) for note in part.notes)
        if part.sources:
            yield _header(level, self.text(said["sources"]))
            yield _bullets([self._passage(passage) for passage in part.sources])

    def _note(self, note: PageNote, prefix: str) -> Json:
        anchor = self._ltr([_raw(f"\\hypertarget{{note-{prefix}{note.n}}}{{[{note.n}]}}")])
        quote = self.inlines(note.quote, prefix, set())
        place = self._where(note.where)
        remark = self.text(f" ({note.remark})") if note.remark else []
        return _para([*anchor, _SPACE, _str("“"), *quote, _str("”"), _LINE_BREAK, _str("—"), _SPACE, *place, *remark])

    def _passage(self, passage: Passage) -> list[Json]:
        return [_para([*self._where(passage.where), *(self.text(f": {passage.text}") if passage.text else [])])]

    def _where(self, where: Where) -> list[Json]:
        return self._linked(where.place, where.url)

    def _linked(self, text: str, url: str) -> list[Json]:
        inside = self.text(text)
        return self._ltr([{"t": "Link", "c": [_NONE, inside, [url, ""]]}]) if url else inside

    def blocks(self, nodes: Iterable[Node], prefix: str, known: set[int], depth: int) -> Iterator[Json]:
        for node in nodes:
            yield from self._block(node, prefix, known, depth)

    def _block(self, node: Node, prefix: str, known: set[int], depth: int) -> Iterator[Json]:
        match node.kind:
            case "para":
                yield _para(self.inlines(node.children, prefix, known))
            case "heading":
                yield _header(min(4, node.level + 1 + bool(prefix)), self.inlines(node.children, prefix, known))
            case "code":
                yield self._code(node.text)
            case "rule":
                yield {"t": "HorizontalRule"}
            case "table":
                yield self._table(node, prefix, known)
            case _ if depth >= DEEPEST:
                # TeX has four levels of a kind at most: what is deeper stands beside.
                yield from self.blocks(_leaves(node), prefix, known, depth)
            case "quote":
                yield {"t": "BlockQuote", "c": list(self.blocks(node.children, prefix, known, depth + 1))}
            case _:
                items = [list(self.blocks(item.children, prefix, known, depth + 1)) for item in node.children]
                style = [node.level, {"t": "Decimal"}, {"t": "Period"}]
                yield _bullets(items) if node.kind == "bullets" else {"t": "OrderedList", "c": [style, items]}

    def _code(self, text: str) -> Json:
        """Line by line: an environment that takes what it is given could be ended by it."""
        inlines: list[Json] = [_raw("\\small ")]
        for number, line in enumerate(text.expandtabs(4).split("\n")):
            inlines += [_LINE_BREAK] * bool(number)
            inlines += self._verbatim(line) if line.strip() else [_str("\u00a0")]
        return {"t": "BlockQuote", "c": [_para(inlines)]}

    def _table(self, node: Node, prefix: str, known: set[int]) -> Json:
        rows = node.children
        columns = max(len(row.children) for row in rows)
        longest = [
            max((len(_flat(row.children[at])) for row in rows if at < len(row.children)), default=1) or 1
            for at in range(columns)
        ]
        total = sum(longest)
        widths: list[Json] = [{"t": "ColWidthDefault"}] * columns
        if total > WIDE_TABLE:
            shares = [max(0.08, length / total) for length in longest]
            widths = [{"t": "ColWidth", "c": round(share / sum(shares), 4)} for share in shares]
        aligns = [_ALIGN[cell.align] for cell in rows[0].children] + [_ALIGN[""]] * (columns - len(rows[0].children))
        specs = [[{"t": align}, width] for align, width in zip(aligns, widths, strict=True)]
        heads = [self._row(row, prefix, known, columns) for row in rows if row.level]
        bodies = [self._row(row, prefix, known, columns) for row in rows if not row.level]
        body = [_NONE, 0, [], bodies]
        return {"t": "Table", "c": [_NONE, [None, []], specs, [_NONE, heads], [body], [_NONE, []]]}

    def _row(self, row: Node, prefix: str, known: set[int], columns: int) -> list[Any]:
        cells = [self._cell(cell, prefix, known) for cell in row.children]
        empty = [_NONE, {"t": "AlignDefault"}, 1, 1, []]
        return [_NONE, cells + [empty] * (columns - len(cells))]

    def _cell(self, cell: Node, prefix: str, known: set[int]) -> list[Any]:
        flat = tuple(Node("text", text=" ") if child.kind == "break" else child for child in cell.children)
        inside = [{"t": "Plain", "c": self.inlines(flat, prefix, known)}]
        return [_NONE, {"t": "AlignDefault"}, 1, 1, inside]

    def inlines(self, nodes: Iterable[Node], prefix: str, known: set[int]) -> list[Json]:
        return [inline for node in nodes for inline in self._inline(node, prefix, known)]

    def _inline(self, node: Node, prefix: str, known: set[int]) -> list[Json]:
        match node.kind:
            case "text":
                return self.text(node.text)
            case "break":
                return [_LINE_BREAK]
            case "verbatim":
                return self._verbatim(node.text)
            case "math" | "display":
                return self._formula(node)
            case "note" if node.level in known:
                return self._ltr([_raw(f"\\hyperlink{{note-{prefix}{node.level}}}{{[{node.level}]}}")])
            case "note":
                return [_str(f"[{node.level}]")]
            case "strike":
                return [_str("~~"), *self.inlines(node.children, prefix, known), _str("~~")]
            case _:
                return [{"t": _EMPHASIS[node.kind], "c": self.inlines(node.children, prefix, known)}]

    def _formula(self, node: Node) -> list[Json]:
        special = self.glyphs.unprintable.union(*(chars for _, chars in self.glyphs.families))
        if self.glyphs.has_maths and is_harmless(node.text) and not special.intersection(node.text):
            kind = "InlineMath" if node.kind == "math" else "DisplayMath"
            return [{"t": "Math", "c": [{"t": kind}, node.text]}]
        return self._verbatim(node.text)

    def text(self, text: str) -> list[Json]:
        """A text that is to be read: words, spaces, and what needs help."""
        return self._inlines(text, r"([ \n\t]+)", lambda part: _SPACE if part.isspace() else _str(part))

    def _verbatim(self, text: str) -> list[Json]:
        """A text in the form of a typewriter, which may break at its spaces."""
        return self._inlines(" ".join(text.split("\n")), "( +)", _code_of)

    def _inlines(self, text: str, between: str, make: Callable[[str], Json]) -> list[Json]:
        inlines: list[Json] = []
        for style, run, after in self._runs(text):
            if style != _Class():
                inlines.append(_raw(self._set(style, run, after)))
                continue
            first, last = self._words_from_left_to_right(run)
            turned = {} if self.glyphs.turns_brackets else _MIRRORED
            made = [
                [piece for part in re.split(between, each) for piece in _pieces(part, make)]
                for each in (run[:first].translate(turned), run[first:last], run[last:].translate(turned))
            ]
            inlines += [*made[0], *self._ltr(made[1]), *made[2]]
        return inlines

    def _words_from_left_to_right(self, run: str) -> tuple[int, int]:
        """Where the words of a run begin and end: on a page from right to left, signs around them are the page's."""
        if not self.page_is_rtl:
            return 0, len(run)
        words = [at for at, char in enumerate(run) if char.isalnum()]
        if not words:
            return len(run), len(run)
        first, last = words[0], words[-1] + 1
        for opening, closing in () if self.glyphs.turns_brackets else _brackets(run):
            # Brackets around some of the words are theirs: rule N0 of Unicode's algorithm for two directions.
            if first <= opening < last or first <= closing < last:
                first, last = min(first, opening), max(last, closing + 1)
        return first, last

    def _ltr(self, inlines: list[Json]) -> list[Json]:
        """On a page from right to left: words from left to right keep their order, and links their colour."""
        return [_raw("\\askbookltr{"), *inlines, _raw("}")] if self.page_is_rtl and inlines else inlines

    def _runs(self, text: str) -> Iterator[tuple[_Class, str, str]]:
        """Stretches of characters that are set alike, and what follows; what no font has is replaced by its number."""
        shown = "".join(self._shown(char) for char in text)
        classes = [self._class(char) for char in shown]
        for at, char in enumerate(shown):
            if at and unicodedata.category(char).startswith("M"):
                classes[at] = classes[at - 1]
        _join_neutrals(shown, classes)
        at = 0
        for style, group in groupby(classes):
            end = at + len(list(group))
            yield style, shown[at:end], shown[end : end + 1]
            at = end

    def _shown(self, char: str) -> str:
        if char not in self.glyphs.unprintable:
            return char
        return f"[U+{ord(char):04X}]" if is_visible(char) else ""

    def _class(self, char: str) -> _Class:
        families = self.glyphs.families
        family = next((at for at, (_, chars) in enumerate(families) if char in chars), -1)
        return _Class(family, _is_rtl_char(char), CJK.match(char) is not None)

    def _set(self, style: _Class, run: str, after: str) -> str:
        text = "".join(_SPECIAL.get(char, char) for char in run)
        if style.cjk:
            text = "".join(
                char + ("\\askbookbreak{}" if _may_break(char, following) else "")
                for char, following in zip(text, [*text[1:], after], strict=True)
            )
        if style.family >= 0:
            script = next(filter(None, map(_script, run)), "")
            text = f"{{\\askbook{_letter(style.family)}{script} {text}}}"
        return f"\\askbookrtl{{{text}}}" if style.rtl else text


def _brackets(text: str) -> Iterator[tuple[int, int]]:
    """Where brackets open and where they close, inner ones first."""
    opened: list[int] = []
    for at, char in enumerate(text):
        if char in _OPENING:
            opened.append(at)
        elif char in _CLOSING:
            while opened:
                if text[opened[-1]].translate(_MIRRORED) == char:
                    yield opened.pop(), at
                    break
                opened.pop()


def _join_neutrals(text: str, classes: list[_Class]) -> None:
    """Spaces, digits and signs between two words that run from right to left belong to them, or words change places."""
    at = 0
    while at < len(text):
        if not classes[at].rtl:
            at += 1
            continue
        end = at + 1
        while end < len(text) and not classes[end].rtl and not (text[end].isalpha() or classes[end].family >= 0):
            end += 1
        if end < len(text) and classes[end].rtl:
            classes[at + 1 : end] = [classes[at]] * (end - at - 1)
            classes[end] = _Class(max(classes[at].family, classes[end].family), True)
        at = end


def _pieces(word: str, make: Any) -> list[Json]:
    """A word; a very long one with places where a line may end."""
    if not word:
        return []
    if len(word) <= LONG_WORD or word.isspace():
        return [make(word)]
    parts = [part[at : at + PIECE] for part in _WORD_BORDER.split(word) for at in range(0, len(part), PIECE)]
    inlines: list[Json] = []
    for number, part in enumerate(parts):
        inlines += [_raw("\\askbookpiece{}")] * bool(number) + [make(part)]
    return inlines


def _may_break(char: str, after: str) -> bool:
    return char not in _NOT_AFTER and (not after or after not in _NOT_BEFORE) and CJK.match(char) is not None


def _is_rtl_char(char: str) -> bool:
    return unicodedata.bidirectional(char) in ("R", "AL", "AN")


def _leaves(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.kind in ("item", "quote", "bullets", "numbers"):
            yield from _leaves(child)
        else:
            yield child


def _flat(node: Node) -> str:
    return node.text + "".join(map(_flat, node.children))


def _script(char: str) -> str:
    """The name that fontspec has for the script of a letter that runs from right to left."""
    return {"R": "Hebrew", "AL": "Arabic"}.get(unicodedata.bidirectional(char), "")


def _letter(number: int) -> str:
    return chr(ord("A") + number)


def _str(text: str) -> Json:
    return {"t": "Str", "c": text}


def _code_of(text: str) -> Json:
    return {"t": "Code", "c": [_NONE, text]}


def _raw(text: str) -> Json:
    return {"t": "RawInline", "c": ["latex", text]}


def _para(inlines: Iterable[Json]) -> Json:
    return {"t": "Para", "c": list(inlines)}


def _header(level: int, inlines: list[Json]) -> Json:
    return {"t": "Header", "c": [level, ["", ["unnumbered"], []], inlines]}


def _bullets(items: list[list[Json]]) -> Json:
    return {"t": "BulletList", "c": items}


_SPACE: Json = {"t": "Space"}
# Not pandoc's own: behind that one a star or a bracket would be taken for its argument, and spaces vanish.
_LINE_BREAK = _raw("\\\\{}\n\\mbox{}")
_ALIGN = {"left": "AlignLeft", "right": "AlignRight", "center": "AlignCenter", "": "AlignDefault"}
_EMPHASIS = {"emphasis": "Emph", "strong": "Strong"}
