"""A report as Markdown: notes are footnotes, links are absolute or plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ask_book.answering.extractive import escape
from ask_book.reports.page import Page, Part, Passage, Where
from ask_book.reports.tree import Node

_MARKS = {"emphasis": "*", "strong": "**", "strike": "~~"}
_RULES = {"left": ":---", "right": "---:", "center": ":---:", "": "---"}


def markdown(page: Page) -> str:
    """The text of `report.md`."""
    many = len(page.parts) > 1
    blocks = [f"# {_line(page.title)}", _byline(page), *map(_line, page.remarks)]
    for number, part in enumerate(page.parts, 1):
        blocks += _part(part, page.said, number, many)
    blocks += ["---", *dict.fromkeys(_line(remark) for part in page.parts for remark in part.remarks)]
    blocks.append(f"{_line(page.said['cite'])}: {_line(page.cite)}")
    return "\n\n".join(filter(None, blocks)) + "\n"


def _byline(page: Page) -> str:
    return " · ".join(filter(None, (f"*{_line(page.book)}*" if page.book else "", _line(page.authors), page.asked)))


def _part(part: Part, said: dict[str, str], number: int, many: bool) -> Iterator[str]:
    label = f"{number}-" if many else ""
    if many:
        yield f"## {number}. {_line(part.question)}"
    known = {note.n for note in part.notes}
    yield from _blocks(part.body, label, known)
    yield _line(part.absent)
    for title, passages in ((said["nearest"], part.nearest), (said["sources"], part.sources)):
        if passages:
            yield f"{'##' + '#' * many} {_line(title)}"
            yield "\n".join(f"- {_passage(passage)}" for passage in passages)
    for note in part.notes:
        remark = f" ({_line(note.remark)})" if note.remark else ""
        yield f"[^{label}{note.n}]: “{_inlines(note.quote, label, set())}” — {_where(note.where)}{remark}"


def _passage(passage: Passage) -> str:
    return _where(passage.where) + (f": {_line(passage.text)}" if passage.text else "")


def _where(where: Where) -> str:
    return f"[{_line(where.place)}](<{where.url}>)" if where.url else _line(where.place)


def _line(text: str) -> str:
    """Plain text on one line, shown as it is."""
    return escape(" ".join(text.split()))


def _blocks(nodes: Iterable[Node], label: str, known: set[int]) -> Iterator[str]:
    for node in nodes:
        match node.kind:
            case "para":
                yield _inlines(node.children, label, known)
            case "heading":
                yield f"{'#' * min(6, node.level + 1 + bool(label))} {_inlines(node.children, label, known)}"
            case "quote":
                yield _indented("\n\n".join(_blocks(node.children, label, known)), "> ", "> ")
            case "bullets" | "numbers":
                yield "\n".join(_items(node, label, known))
            case "code":
                ticks = _fence(node.text, 3)
                yield f"{ticks}\n{node.text}\n{ticks}"
            case "rule":
                yield "* * *"
            case "table":
                yield "\n".join(_table(node, label, known))


def _items(node: Node, label: str, known: set[int]) -> Iterator[str]:
    for number, item in enumerate(node.children, node.level):
        mark = f"{number}. " if node.kind == "numbers" else "- "
        yield _indented("\n\n".join(_blocks(item.children, label, known)), mark, " " * len(mark))


def _table(node: Node, label: str, known: set[int]) -> Iterator[str]:
    for row in node.children:
        cells = [_inlines(cell.children, label, known).replace("\n", " ") for cell in row.children]
        yield f"| {' | '.join(cells)} |"
        if row.level:
            yield f"|{'|'.join(_RULES[cell.align] for cell in row.children)}|"


def _inlines(nodes: Iterable[Node], label: str, known: set[int]) -> str:
    parts: list[str] = []
    for node in nodes:
        # what means something at the beginning of a line means nothing later on
        after = "x" if node.kind == "text" and parts and not parts[-1].endswith("\n") else ""
        parts.append(escape(after + node.text)[len(after) :] if node.kind == "text" else _inline(node, label, known))
    return "".join(parts)


def _inline(node: Node, label: str, known: set[int]) -> str:
    match node.kind:
        case "note":
            return f"[^{label}{node.level}]" if node.level in known else f"[{node.level}]"
        case "verbatim":
            ticks = _fence(node.text, 1)
            pad = " " * (node.text.startswith("`") or node.text.endswith("`"))
            return f"{ticks}{pad}{node.text}{pad}{ticks}"
        case "math":
            return f"${node.text}$"
        case "display":
            return f"$${node.text}$$"
        case "break":
            return "\\\n"
        case _:
            mark = _MARKS[node.kind]
            return f"{mark}{_inlines(node.children, label, known)}{mark}"


def _indented(text: str, first: str, others: str) -> str:
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((others + line).rstrip() for line in lines[1:])])


def _fence(text: str, least: int) -> str:
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))
