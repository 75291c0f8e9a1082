"""The formulas of a report as MathML, which browsers draw without a script; by pandoc, after the answer.

Only formulas that are harmless are given to pandoc, and only elements and attributes that draw are taken from it.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from ask_book.book.pandoc import Pandoc
from ask_book.reports.maths import is_harmless
from ask_book.reports.page import Page
from ask_book.reports.process import Runner
from ask_book.reports.tree import Node
from ask_book.reports.typeset import API_VERSION

SECONDS = 30.0

Drawn = Mapping[tuple[str, str], str]

_FORMULA = re.compile(r'<div id="formula-(\d+)">\s*(<math .*?</math>)\s*</div>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_HARMLESS_TAG = re.compile(
    r"</?(?:math|semantics|annotation|m(?:row|i|n|o|s|text|space|frac|sqrt|root|sub|sup|subsup|under|over|underover"
    r"|table|tr|td|style|padded|phantom|enclose|multiscripts|prescripts))"
    r"(?: (?:display|xmlns|encoding|stretchy|form|accent|accentunder|mathvariant|width|height|depth|columnalign"
    r"|rowspacing|columnspacing|displaystyle|scriptlevel|linethickness|minsize|maxsize|symmetric|separator|fence|lspace"
    r'|rspace|notation|class|style|largeop|movablelimits|columnlines)="[\w\s.:;/%#-]*")*\s*/?>'
)


def draw(
    page: Page, pandoc: Pandoc, env: Mapping[str, str], runner: Runner | None = None
) -> dict[tuple[str, str], str]:
    """The MathML of each formula, by its kind and TeX; those that cannot be drawn are left out."""
    wanted = list(dict.fromkeys((node.kind, node.text) for node in _formulas(page) if is_harmless(node.text)))
    if not wanted:
        return {}
    with tempfile.TemporaryDirectory(prefix="ask-book-maths-", ignore_cleanup_errors=True) as name:
        tree = {"pandoc-api-version": API_VERSION, "meta": {}, "blocks": [_block(*item) for item in enumerate(wanted)]}
        (Path(name) / "maths.json").write_text(json.dumps(tree), encoding="utf-8")
        argv = (*pandoc.argv, "--from", "json", "maths.json", "--to", "html", "--mathml")
        said = (runner or Runner()).run(argv, Path(name), {**env, "TMPDIR": name}, SECONDS).said
    found = {wanted[int(number)]: markup for number, markup in _FORMULA.findall(said) if int(number) < len(wanted)}
    return {
        formula: markup for formula, markup in found.items() if all(map(_HARMLESS_TAG.fullmatch, _TAG.findall(markup)))
    }


def with_drawn(item: Any, drawn: Drawn) -> Any:
    """A page, or a part of one, with its formulas drawn."""
    match item:
        case Node(kind="math" | "display") if markup := drawn.get((item.kind, item.text)):
            return Node("mathml", text=markup)
        case tuple():
            return tuple(with_drawn(part, drawn) for part in item)
        case _ if is_dataclass(item) and not isinstance(item, type):
            kept = ("said", "where")
            parts = {field.name: getattr(item, field.name) for field in fields(item) if field.name not in kept}
            return replace(item, **{name: with_drawn(part, drawn) for name, part in parts.items()})
        case _:
            return item


def _formulas(item: object) -> Iterator[Node]:
    match item:
        case Node(kind="math" | "display"):
            yield item
        case tuple():
            for part in item:
                yield from _formulas(part)
        case _ if is_dataclass(item):
            yield from _formulas(tuple(getattr(item, field.name) for field in fields(item)))


def _block(number: int, formula: tuple[str, str]) -> dict[str, Any]:
    kind = "InlineMath" if formula[0] == "math" else "DisplayMath"
    plain = {"t": "Plain", "c": [{"t": "Math", "c": [{"t": kind}, formula[1]]}]}
    return {"t": "Div", "c": [[f"formula-{number}", [], []], [plain]]}
