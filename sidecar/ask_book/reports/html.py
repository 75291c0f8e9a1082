"""A report as one HTML page: nothing is loaded, no script runs, it prints, it follows the reader's light or dark.

Every text goes through `escape`; the only addresses are those of the book, from `page.Where`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

from ask_book.reports.page import Page, PageNote, Part, Passage, Where
from ask_book.reports.tree import Node
from ask_book.reports.typeset import is_rtl

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TAGS = {"para": "p", "quote": "blockquote", "bullets": "ul", "item": "li"} | {
    "emphasis": "em",
    "strong": "strong",
    "strike": "del",
}


def html(page: Page) -> str:
    """The text of `report.html`."""
    many = len(page.parts) > 1
    language = page.lang or "und"
    direction = ' dir="rtl"' if is_rtl(language) else ""
    book = f'<a href="{escape(page.home)}">{escape(page.book)}</a>' if page.home else escape(page.book)
    remarks = "".join(f"<p>{escape(remark)}</p>\n" for remark in page.remarks)
    said = dict.fromkeys(remark for part in page.parts for remark in part.remarks)
    footer = "".join(f"<p>{escape(remark)}</p>\n" for remark in said)
    return f"""<!doctype html>
<html lang="{escape(language)}"{direction}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="ask-book">
<meta name="color-scheme" content="light dark">
<title>{escape(page.title)} · {escape(page.book)}</title>
<style>
{style()}</style>
</head>
<body>
<header>
<p class="book">{book}{f"<span>{escape(page.authors)}</span>" if page.authors else ""}</p>
<h1>{escape(page.title)}</h1>
<p class="asked">{escape(page.asked)}</p>
{remarks}</header>
<main>
{"".join(_part(part, page.said, number, many) for number, part in enumerate(page.parts, 1))}</main>
<footer>
{footer}<p><b>{escape(page.said["cite"])}:</b> {escape(page.cite)}</p>
</footer>
</body>
</html>
"""


@cache
def style() -> str:
    """The style sheet of reports and of their list."""
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _part(part: Part, said: dict[str, str], number: int, many: bool) -> str:
    prefix = f"{number}-" if many else ""
    first: set[int] = set()
    known = {note.n for note in part.notes}
    title = f"<h2>{escape(part.question)}</h2>\n" if many else ""
    body = _nodes(part.body, prefix, known, first)
    notes = "".join(_note(note, said, prefix, note.n in first) for note in part.notes)
    heading = "h3" if many else "h2"
    return "".join(
        (
            f'<article>\n{title}<div class="answer">\n{body}</div>\n',
            f'<p class="absent">{escape(part.absent)}</p>\n' if part.absent else "",
            _list(part.nearest, said["nearest"], heading, "nearest"),
            f'<section class="notes">\n<{heading}>{escape(said["notes"])}</{heading}>\n<ol>\n{notes}</ol>\n</section>\n'
            if notes
            else "",
            _list(part.sources, said["sources"], heading, "sources"),
            "</article>\n",
        )
    )


def _note(note: PageNote, said: dict[str, str], prefix: str, is_used: bool) -> str:
    back = f' <a class="back" href="#ref-{prefix}{note.n}" aria-label="{escape(said["back"])}">↩</a>' if is_used else ""
    remark = f' <span class="remark {note.where.fate or ""}">{escape(note.remark)}</span>' if note.remark else ""
    quote = _nodes(note.quote, prefix, set(), set())
    return (
        f'<li id="note-{prefix}{note.n}" value="{note.n}"><q>{quote}</q>'
        f'<span class="place">{_where(note.where)}{remark}{back}</span></li>\n'
    )


def _list(passages: tuple[Passage, ...], title: str, heading: str, kind: str) -> str:
    if not passages:
        return ""
    items = "".join(
        f"<li>{_where(passage.where)}{f'<br>{escape(passage.text)}' if passage.text else ''}</li>\n"
        for passage in passages
    )
    return f'<section class="{kind}">\n<{heading}>{escape(title)}</{heading}>\n<ul>\n{items}</ul>\n</section>\n'


def _where(where: Where) -> str:
    place = escape(where.place)
    return f'<a href="{escape(where.url)}">§ {place}</a>' if where.url else place


def _nodes(nodes: Iterable[Node], prefix: str, known: set[int], first: set[int]) -> str:
    return "".join(_node(node, prefix, known, first) for node in nodes)


def _node(node: Node, prefix: str, known: set[int], first: set[int]) -> str:
    inside = _nodes(node.children, prefix, known, first)
    match node.kind:
        case "text":
            return escape(node.text, quote=False)
        case "break":
            return "<br>"
        case "verbatim":
            return f"<code>{escape(node.text, quote=False)}</code>"
        case "math" | "display":
            return f'<code class="{node.kind}">{escape(node.text, quote=False)}</code>'
        case "mathml":
            return node.text  # of `mathml.draw`: the one thing here that is markup already
        case "note":
            return _reference(node.level, prefix, known, first)
        case "code":
            return f'<pre tabindex="0"><code>{escape(node.text, quote=False)}\n</code></pre>\n'
        case "rule":
            return "<hr>\n"
        case "heading":
            level = min(6, node.level + 1 + bool(prefix))
            return f"<h{level}>{inside}</h{level}>\n"
        case "numbers":
            return f'<ol start="{node.level}">\n{inside}</ol>\n'
        case "table":
            return f'<div class="table" tabindex="0"><table>\n{inside}</table></div>\n'
        case "row":
            return f"<tr>{inside}</tr>\n"
        case "cell":
            tag = "th" if node.level else "td"
            align = f' style="text-align: {node.align}"' if node.align else ""
            return f"<{tag}{align}>{inside}</{tag}>"
        case _:
            tag = _TAGS[node.kind]
            return f"<{tag}>{inside}</{tag}>"


def _reference(n: int, prefix: str, known: set[int], first: set[int]) -> str:
    if n not in known:
        return f"[{n}]"
    mark = "" if n in first else f' id="ref-{prefix}{n}"'
    first.add(n)
    return f'<sup><a class="note"{mark} href="#note-{prefix}{n}" role="doc-noteref">{n}</a></sup>'
