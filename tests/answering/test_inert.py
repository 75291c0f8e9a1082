"""What a model writes can be read by any reader of Markdown: no links but notes, no images, no HTML."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import Any

import mistune
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ask_book.answering.inert import Inert
from ask_book.book.pandoc import find_pandoc

NOTE = "[1](#ask-book-1)"


def inert(*parts: str) -> str:
    state = Inert()
    return "".join(map(state.feed, parts)) + state.close()


def cut(text: str, size: int) -> str:
    """The same in small pieces; notes come whole, as `Notes` gives them."""
    parts = [piece for piece in re.split(r"(\[1\]\(#ask-book-1\))", text) if piece]
    small = [[part] if part == NOTE else [part[at : at + size] for at in range(0, len(part), size)] for part in parts]
    return inert(*(piece for pieces in small for piece in pieces))


def whole(text: str) -> str:
    return cut(text, 10**6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain *text*, **bold** and `code`.", None),
        (f"A claim {NOTE}. Another {NOTE}{NOTE}.", None),
        ("See [the site](http://evil.example/x?y) now.", "See the site now."),
        ("![a cat](http://evil.example/cat.png)", "a cat"),
        ("![](http://evil.example/pixel.png)", ""),
        ("[a](b(c)d) [e](<f g>) [h](i 'j')", "a e h"),
        (f"[{NOTE}](http://evil.example)", f"[{NOTE}]\\(http\\://evil.example)"),
        ("[x]: http://evil.example", "[x]\\: http\\://evil.example"),
        ("At http://e.x, www.e.x or me@e.x", "At http\\://e.x, www\\.e.x or me\\@e.x"),
        ("<http://evil.example> <b>bold</b> <!-- x -->", "\\<http\\://evil.example> \\<b>bold\\</b> \\<!-- x -->"),
        ("a < b and \\<i>", "a \\< b and \\<i>"),
        ("\\\\<i>", "\\\\\\<i>"),
        ("`a <b> [c](d) http://e`", None),
        ("``a ` b`` and ` alone <b>", "``a ` b`` and \\` alone \\<b>"),
        ("$a < b$ and $$x_1 \\in [0, 1]$$", "$a \\lt  b$ and $$x_1 \\in [0, 1]$$"),
        ("It costs $5 <b>", "It costs \\$5 \\<b>"),
        ("\\(a<b\\)", "\\(a\\lt b\\)"),
        ("\\[a<b\\] and\n\\[\na < b\n\\]\n", "\\[a\\lt b\\] and\n\\[\na \\lt  b\n\\]\n"),
        ("\\[no link\\](http://e.x)", "\\[no link\\]\\(http\\://e.x)"),
        ("$$\na < b\n$$\nand $$ x $$", "$$\na \\lt  b\n$$\nand $$ x $$"),
        ("$http://e.x$ $a ` b$ `<b>`", "$http{}://e.x$ $a ‘ b$ `<b>`"),
        ("Text\n```\n<b>\n```\n", "Text\n\n```\n<b>\n```\n"),
        ("```python\nx < 1  # [a](b)\n```\n", None),
        ("```{=html}\n<script>\n```\n", "```html\n<script>\n```\n"),
        ("`<b>`{=html}", "`<b>`\\{=html}"),
        ("> ```\n<b>", "> \\`\\`\\`\n\\<b>"),
        ("```\nnever closed <b>", "```\nnever closed <b>\n```\n"),
        ("| `a | <b>` |", "| `a | ‹b>` |"),
        (f"!{NOTE} and \\{NOTE}", f"\\!{NOTE} and \\\\{NOTE}"),
        (f"```\nx = 1 {NOTE}\n```\nDone.", f"```\nx = 1 \n```\n\n{NOTE}\nDone."),
        ("[http](x)://evil.example", "http\\://evil.example"),
        ("[a](javascript:alert(1)) javascript:alert(1)", "a javascript:alert(1)"),
        ("[text]{.x onclick=y}", "[text]\\{.x onclick=y}"),
        ("Ratio 3:4, at 7:30, e.g. x[1], f(x), 5 > 3", None),
    ],
)  # fmt: skip
def test_what_stays_and_what_goes(text: str, expected: str | None) -> None:
    assert whole(text) == (text if expected is None else expected)


MARKS = re.findall(
    r"\S+",
    "[ ] ( ) ]( ![ < > http :// http://e.x www . e.x : @ ` `` ``` ~~~ $ $$ \\ \\( \\) { } {=html} | - # a bc 1. * ** _ "
    "! &lt; mailto: <!-- --> --- é [x]: [^1]: <b> </b> <img/src=x>",
)
SPACES = [
    NOTE,
    "\n",
    "\n\n",
    " ",
    "- ",
    "> ",
    "   ",
    "    ",
    "# ",
    "1. ",
    "[x]: ",
    "\n```\n",
    "\n~~~\n",
    "\n$$\n",
    "\\[",
    "\\]\n",
    "\\[\n",
]
PIECES = st.sampled_from(MARKS + SPACES)
TEXTS = st.lists(PIECES, max_size=24).map("".join)


@given(TEXTS, st.integers(1, 7))
def test_cutting_the_stream_changes_nothing(text: str, size: int) -> None:
    assert cut(text, size) == whole(text)


@cache
def reader() -> mistune.Markdown:
    return mistune.create_markdown(
        renderer=None, plugins=["url", "table", "footnotes", "strikethrough", "math", "task_lists"]
    )


def tokens(nodes: Any) -> Iterator[dict[str, Any]]:
    for node in nodes if isinstance(nodes, list) else []:
        yield node
        yield from tokens(node.get("children"))


@settings(max_examples=600)
@given(TEXTS)
@example(f"!{NOTE}")
@example("``` \n- `\n<img src=x> `")
@example("a\n```\n\n    <b>\n- ```\n<b>")
def test_one_reader_finds_no_link_no_image_and_no_html(text: str) -> None:
    parsed, _ = reader().parse(whole(text))
    for token in tokens(parsed):
        assert token["type"] not in ("image", "block_html", "inline_html", "footnote_ref"), (token, whole(text))
        if token["type"] == "link":
            assert token["attrs"]["url"] == "#ask-book-1", (token, whole(text))


ATTACKS = [
    "See [the site](http://evil.example) and ![p](http://evil.example/p.png)", "[x][y]\n\n[y]: http://evil.example",
    "<a href=http://evil.example>x</a>", "<http://evil.example>", "http://evil.example www.evil.example a@evil.example",
    "```{=html}\n<script>alert(1)</script>\n```", "`<b>`{=html}", "> ```\n<b>x</b>", "- ```\n<b>x</b>",
    "`a\n- <b> `", "\\` <b> `", "| a |\n|---|\n| ` | <b>` |", "[a](javascript:alert(1))", f"![{NOTE}](http://evil.example)",
    "[http](x)://evil.example", "[^1]\n\n[^1]: http://evil.example", "<script>\nx\n</script>", "[a]{.b onclick=c}",
    "a\n===\n<div>\n\n</div>", "~~~ {.x}\n<b>\n~~~\n<i>", "````\n```\n<b>\n````\n<i>", "[a\\](http://evil.example)",
    "$a <b>$5</b>", "[a](http://evil.example\n'title')", "[a [b](c)](http://evil.example)", "![[x]](http://evil.example)",
    "   ~~~\n```\n~~~\n<b>\n```", "a\n~~~\n<b>\n~~~", "$$\n<b>\n\n<i>\n$$", "$http://evil.example$", "$a ` b$ `<b>`",
    "<img\nsrc=x\nonerror=y>", "&lt;b&gt; <b>", "[a](<http://evil.example>)", f"`{NOTE} <b>`",
]  # fmt: skip


@pytest.mark.parametrize("name", ["commonmark", "gfm", "markdown", "commonmark_x"])
def test_pandoc_finds_none_either(name: str) -> None:
    document = "\n\n".join(whole(f"{text}\n\n") + "\n\n***" for text in ATTACKS)
    command = [*find_pandoc(os.environ).argv, "-f", name, "-t", "json"]
    parsed = json.loads(subprocess.run(command, input=document.encode(), capture_output=True, check=True).stdout)
    found = list(elements(parsed["blocks"]))
    assert {kind for kind, _ in found} & {"Image", "RawInline", "RawBlock"} == set()
    # Pandoc links a heading's words in brackets to the heading.
    assert {content[2][0] for kind, content in found if kind == "Link"} <= {"#ask-book-1", "#a"}
    assert "HorizontalRule" in {kind for kind, _ in found}


def elements(node: Any) -> Iterator[tuple[str, Any]]:
    """Every element of pandoc's tree: its kind and its content."""
    if isinstance(node, dict):
        if "t" in node:
            yield node["t"], node.get("c")
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        yield from elements(child)


@pytest.mark.parametrize("piece", ["[", "`", "$", "![", "[a](", "\\", "```\n", "<", "[a", "~", "$a", "(", "`a\n"])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert cut(text, 50) == whole(text)
