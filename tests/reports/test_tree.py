import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.answer import Mark
from ask_book.answering.extractive import escape
from ask_book.reports.tree import Node, labelled, parse, plain, ranked, words_of
from reports.attacks import payloads

BLOCKS = {"para", "heading", "quote", "bullets", "numbers", "item", "code", "rule", "table", "row", "cell"}
KINDS = BLOCKS | {"text", "emphasis", "strong", "strike", "verbatim", "math", "display", "note", "break"}


def text(words: str) -> Node:
    return Node("text", text=words)


def para(*inlines: Node) -> Node:
    return Node("para", inlines)


def test_inlines() -> None:
    assert parse("*a* **b** `c` ~~d~~ $x^2$ [3](#ask-book-3)  \ne\nf") == (
        para(
            Node("emphasis", (text("a"),)), text(" "), Node("strong", (text("b"),)), text(" "),
            Node("verbatim", text="c"), text(" "), Node("strike", (text("d"),)), text(" "), Node("math", text="x^2"),
            text(" "), Node("note", level=3), Node("break"), text("e f"),
        ),
    )  # fmt: skip


def test_blocks() -> None:
    found = parse("## T\n\n> q\n\n3. a\n   - b\n\n```py\nx = 1\n```\n\n---\n\n| h |\n|--:|\n| $z$ |\n\n$$\ny\n$$\n")
    assert found == (
        Node("heading", (text("T"),), level=2),
        Node("quote", (para(text("q")),)),
        Node(
            "numbers", (Node("item", (para(text("a")), Node("bullets", (Node("item", (para(text("b")),)),)))),), level=3
        ),
        Node("code", text="x = 1"),
        Node("rule"),
        Node(
            "table",
            (
                Node("row", (Node("cell", (text("h"),), level=1, align="right"),), level=1),
                Node("row", (Node("cell", (Node("math", text="z"),), align="right"),)),
            ),
        ),
        para(Node("display", text="y")),
    )


@pytest.mark.parametrize("formula", [r"\(x_1\)", "$x_1$", escape(r"\(x_1\)")])
def test_formulas_however_they_are_written(formula: str) -> None:
    """The last is how an answer of quotes writes the formulas of the book."""
    assert parse(f"a {formula} b") == (para(text("a "), Node("math", text="x_1"), text(" b")),)
    assert parse(f"`{formula}`")[0].children[0].kind == "verbatim"


def test_an_address_is_shown_not_linked() -> None:
    assert parse("[here](https://e.org/x) [b](javascript:alert(1)) ![c](https://e.org/y.png) <https://e.org>") == (
        para(text("here (https://e.org/x) b [c] https://e.org")),
    )


def test_html_is_shown_as_it_is_written() -> None:
    assert words_of(parse("a <b onclick=x>c</b>\n\n<div>\nd\n</div>")) == "a <b onclick=x>c</b> <div>\nd\n</div> "


def test_a_text_of_the_book() -> None:
    assert plain("a \\(x\\)\n  b") == (
        text("a "), Node("math", text="x"), Node("break"), text("\u00a0\u00a0b"),
    )  # fmt: skip


def test_sentences_that_are_to_be_doubted_say_so() -> None:
    labels = {"uncited": "no source", "unsupported": "not said"}
    marks = [Mark(0, 2, "uncited"), Mark(3, 5, "unsupported"), Mark(3, 99, "uncited")]
    assert labelled("A. B.", marks, labels) == "A. *(no source)* B. *(not said)*"


@pytest.mark.parametrize("attack", payloads("/f", "/o", "https://e.org").values())
def test_attacks_become_text(attack: str) -> None:
    check(parse(attack))


def check(nodes: tuple[Node, ...]) -> None:
    for node in nodes:
        assert node.kind in KINDS
        check(node.children)


@given(st.text(max_size=200))
def test_any_text_has_a_tree(words: str) -> None:
    check(parse(words))


@pytest.mark.parametrize("deep", ["*" * 3000, "[" * 3000, ">" * 3000 + "a", "- " * 800 + "a", "`" * 3000, "$" * 3000])
def test_odd_texts_come_to_an_end(deep: str) -> None:
    check(parse(deep))


def test_headings_are_an_outline() -> None:
    found = ranked(parse("### a\n\n# b\n\n### c\n\n> ###### d\n\n## e"))
    levels = [node.level for node in (*found[:3], *found[3].children, found[4])]
    assert levels == [1, 1, 2, 3, 2]
