"""The Markdown of an answer as a small tree of what a report may have: the one gate that model output goes through.

Kinds of blocks: `para`, `heading`, `quote`, `bullets`, `numbers`, `item`, `code`, `rule`, `table`, `row`, `cell`.
Kinds of inlines: `text`, `emphasis`, `strong`, `strike`, `verbatim`, `math`, `display`, `note`, `break`.
Everything else becomes the text that it is written with: HTML is not interpreted, an image is its description, and
an address that somebody wrote into an answer is shown, not linked. Links lead to the book, from its notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ask_book.answering.answer import Mark

_NOTE = re.compile(r"#ask-book-(\d{1,4})")
_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
_FORMULA = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_IN_CODE_OR_FORMULA = re.compile(
    r"(?ms)^(?P<fence>`{3,}|~{3,}).*?(?:^(?P=fence)|\Z)|(?P<tick>(?<!`)`+(?!`)).+?(?<!`)(?P=tick)(?!`)"
    r"|(?<!\\)\\\((?P<inline>[^\n]+?)(?<!\\)\\\)|(?<!\\)\\\[(?P<display>.+?)(?<!\\)\\\]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_SAME = {"paragraph": "para", "block_text": "para", "block_quote": "quote", "list_item": "item"}
_ENDS_A_WORD = frozenset({"para", "heading", "code", "cell", "break"})
_INLINE = {"emphasis": "emphasis", "strong": "strong", "strikethrough": "strike"}


@dataclass(frozen=True)
class Node:
    """`text` is that of a leaf; `level` a heading's depth, a list's first number, a note's number, 1 in a table's head.

    `align` is that of a cell: `left`, `right`, `center` or "".
    """

    kind: str
    children: tuple[Node, ...] = ()
    text: str = ""
    level: int = 0
    align: str = ""


def parse(markdown: str) -> tuple[Node, ...]:
    """The blocks of an answer. Never fails: what is too deep to be read is shown as it is written."""
    text = _CONTROLS.sub("\ufffd", markdown.replace("\r\n", "\n").replace("\r", "\n"))
    try:
        return tuple(_blocks(_parser()(_IN_CODE_OR_FORMULA.sub(_with_dollars, text))))
    except RecursionError:
        return tuple(Node("para", (Node("text", text=part),)) for part in text.split("\n\n") if part.strip())


def plain(text: str) -> tuple[Node, ...]:
    """A text of the book as inlines: its formulas, its lines."""
    nodes: list[Node] = []
    for number, line in enumerate(_CONTROLS.sub("\ufffd", text).split("\n")):
        body = line.lstrip(" ")
        indent = "\u00a0" * (len(line) - len(body))
        nodes += [Node("break")] * bool(number)
        nodes += _with_formulas(indent + body)
    return tuple(nodes)


def ranked(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same with headings that begin at 1 and go down one level at a time, as an outline must."""
    depths: list[int] = []

    def rank(node: Node) -> Node:
        if node.kind != "heading":
            return replace(node, children=tuple(map(rank, node.children))) if node.children else node
        while depths and depths[-1] >= node.level:
            depths.pop()
        depths.append(node.level)
        return replace(node, level=len(depths))

    return tuple(map(rank, nodes))


def words_of(nodes: Iterable[Node]) -> str:
    """What is to be read, without its form."""
    return "".join(node.text + words_of(node.children) + " " * (node.kind in _ENDS_A_WORD) for node in nodes)


def labelled(answer: str, marks: Sequence[Mark], labels: Mapping[str, str]) -> str:
    """The answer with a label behind each sentence that is to be doubted."""
    for mark in sorted(marks, key=lambda mark: mark.end, reverse=True):
        if 0 <= mark.end <= len(answer) and mark.kind in labels:
            answer = f"{answer[: mark.end]} *({labels[mark.kind]})*{answer[mark.end :]}"
    return answer


@cache
def _parser() -> Any:
    import mistune

    return mistune.create_markdown(renderer=None, plugins=["table", "strikethrough", "math"])


def _with_dollars(found: re.Match[str]) -> str:
    r"""`\(x\)` as the parser knows formulas: `$x$`; code stays."""
    if found["inline"]:
        return f"${found['inline'].strip()}$"
    return f"$${found['display'].strip()}$$" if found["display"] else found[0]


def _blocks(tokens: Iterable[Mapping[str, Any]]) -> Iterator[Node]:
    for token in tokens:
        kind, inside = token["type"], token.get("children", [])
        match kind:
            case "blank_line":
                pass
            case "paragraph" | "block_text":
                yield Node("para", _inlines(inside))
            case "block_quote" | "list_item":
                yield Node(_SAME[kind], tuple(_blocks(inside)))
            case "heading":
                yield Node("heading", _inlines(inside), level=token["attrs"]["level"])
            case "list":
                attributes = token["attrs"]
                is_counted = attributes.get("ordered", False)
                start = int(attributes.get("start", 1)) if is_counted else 0
                yield Node("numbers" if is_counted else "bullets", tuple(_blocks(inside)), level=start)
            case "block_code":
                yield Node("code", text=token["raw"].rstrip("\n"))
            case "block_math":
                yield Node("para", (Node("display", text=token["raw"].strip()),))
            case "thematic_break":
                yield Node("rule")
            case "table":
                yield Node("table", tuple(_rows(inside)))
            case _:
                yield Node("para", tuple(_text(token)))


def _rows(parts: Iterable[Mapping[str, Any]]) -> Iterator[Node]:
    for part in parts:
        rows = [part] if part["type"] == "table_head" else part["children"]
        for row in rows:
            yield Node("row", tuple(map(_cell, row["children"])), level=int(part["type"] == "table_head"))


def _cell(token: Mapping[str, Any]) -> Node:
    attributes = token["attrs"]
    return Node("cell", _inlines(token["children"]), level=int(attributes["head"]), align=attributes["align"] or "")


def _inlines(tokens: Iterable[Mapping[str, Any]]) -> tuple[Node, ...]:
    nodes: list[Node] = []
    for token in tokens:
        for node in _inline(token):
            if node.kind == "text" and nodes and nodes[-1].kind == "text":
                node = Node("text", text=nodes.pop().text + node.text)
            nodes.append(node)
    return tuple(part for node in nodes for part in (_with_formulas(node.text) if node.kind == "text" else [node]))


def _inline(token: Mapping[str, Any]) -> Iterator[Node]:
    kind = token["type"]
    match kind:
        case "emphasis" | "strong" | "strikethrough":
            yield Node(_INLINE[kind], _inlines(token["children"]))
        case "codespan":
            yield Node("verbatim", text=token["raw"])
        case "inline_math" | "block_math":
            yield Node("math" if kind == "inline_math" else "display", text=token["raw"].strip())
        case "softbreak":
            yield Node("text", text=" ")
        case "linebreak":
            yield Node("break")
        case "link":
            yield from _link(token)
        case "image":
            yield Node("text", text=f"[{words_of(_inlines(token['children']))}]")
        case _:
            yield from _text(token)


def _link(token: Mapping[str, Any]) -> Iterator[Node]:
    url, inside = token["attrs"]["url"], _inlines(token["children"])
    if note := _NOTE.fullmatch(url):
        yield Node("note", level=int(note[1]))
        return
    yield from inside
    if _ADDRESS.fullmatch(url) and url not in words_of(inside):
        yield Node("text", text=f" ({url})")


def _text(token: Mapping[str, Any]) -> Iterator[Node]:
    if said := token.get("raw", "").rstrip("\n"):
        yield Node("text", text=said)
    else:
        yield from _inlines(token.get("children", []))


def _with_formulas(text: str) -> list[Node]:
    r"""A text that has formulas between `\(` and `\)`, as the manifest writes them."""
    nodes, done = [], 0
    for found in _FORMULA.finditer(text):
        nodes += [Node("text", text=text[done : found.start()])] if found.start() > done else []
        nodes.append(Node("math", text=found[1].strip()) if found[1] else Node("display", text=found[2].strip()))
        done = found.end()
    return nodes + ([Node("text", text=text[done:])] if done < len(text) else [])
