import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.reports.document import Document
from ask_book.reports.maths import is_harmless
from ask_book.reports.page import Page, saved_page
from ask_book.reports.typeset import HEADER, Glyphs, is_visible, named, pandoc_tree
from reports.attacks import payloads
from reports.samples import SITE, citation, saying

ATTACKS = payloads("/canary/file", "/canary/out", "https://canary.example")
FONTS = Glyphs((("Some Sans", frozenset("α≤العربية")), ("Some CJK", frozenset("中文字"))), frozenset("😀\ufe0f"))
NO_OTHER_FONT = Glyphs()
OWN = re.compile(
    r"\\askbook(?:break|piece|rtl|ltr|[AB](?:Arabic|Hebrew)?)(?![A-Za-z])|\\small |\\\\\{\}\n\\mbox\{\}"
    r"|\\hyper(?:target|link)\{note-[\d-]+\}\{\[\d+\]\}|\\text(?:backslash|asciitilde|asciicircum)\{\}|\\[#$%&_{}]"
)


def page_of(document: Document) -> Page:
    return saved_page(document)


def nodes(item: Any) -> Iterator[dict[str, Any]]:
    if isinstance(item, dict):
        if "t" in item:
            yield item
        for part in item.values():
            yield from nodes(part)
    elif isinstance(item, list):
        for part in item:
            yield from nodes(part)


def is_safe(tree: dict[str, Any]) -> None:
    """The law: raw TeX is ours alone, formulas are harmless, links lead to the book or inside, nothing is loaded."""
    for node in nodes(tree["blocks"]):
        match node["t"]:
            case "RawBlock" | "Image" | "CodeBlock" | "Note" | "Cite":
                raise AssertionError(node)
            case "RawInline":
                assert node["c"][0] == "latex"
                assert "\\" not in OWN.sub("", node["c"][1]), node
            case "Math":
                assert is_harmless(node["c"][1]), node
            case "Link":
                assert re.match(rf"{re.escape(SITE)}/", node["c"][2][0]), node
    header = tree["meta"]["header-includes"]["c"][0]["c"][1]
    assert set(tree["meta"]) == {"header-includes"}
    rest = header.removeprefix(HEADER)
    assert rest != header
    family = r"\\newfontfamily\\askbook[AB](?:Arabic|Hebrew)?\{[\w ]+\}\[(?:Script=\w+)?\]\n"
    family = r"\\newfontfamily\\askbook[AB](?:Arabic|Hebrew)?\{[\w ]+\}\[(?:Script=\w+)?\]\n"
    rest = re.sub(family + r"|\\AtBeginDocument\{|\\hypersetup(?=\{pdftitle=)", "", rest)
    assert "\\" not in OWN.sub("", rest), rest


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_attack_becomes_tex(attack: str) -> None:
    note = citation(quote=attack, chapter_title=attack, heading_path=(attack, attack))
    document = saying(attack, question=attack, citations=(note,), absent_terms=(attack,))
    for glyphs in (Glyphs(), FONTS, Glyphs(has_maths=False)):
        is_safe(pandoc_tree(page_of(document), glyphs))


@given(st.text(alphabet="\\{}[]()$`~^_#%&*|!<>-\n \"'abcinputα≤中العربية😀\ufe0f0123./:", max_size=120))
def test_no_text_becomes_tex(words: str) -> None:
    document = saying(words, question=words, citations=(citation(quote=words, chapter_title=words),))
    is_safe(pandoc_tree(page_of(document), FONTS))


def raw(text: str, glyphs: Glyphs = FONTS) -> list[str]:
    tree = pandoc_tree(page_of(saying(text, citations=(), sources=())), glyphs)
    return [node["c"][1] for node in nodes(tree["blocks"][2]) if node["t"] == "RawInline"]


def test_letters_of_another_font() -> None:
    assert raw("es α aquí") == [r"{\askbookA α}"]
    assert raw("es α aquí", Glyphs()) == []


def test_a_script_from_right_to_left_is_one_run() -> None:
    """Word by word, their order would be turned around."""
    assert raw("dice العربية 12 العربية.") == [r"\askbookrtl{{\askbookAArabic العربية 12 العربية}}"]
    assert raw("dice العربية", Glyphs()) == [r"\askbookrtl{العربية}"]


def test_on_a_page_from_right_to_left_other_words_keep_their_order() -> None:
    tree = pandoc_tree(page_of(saying("نعم one two", lang="ar", citations=(), sources=())), Glyphs())
    assert [node["c"][1] for node in nodes(tree["blocks"][2]) if node["t"] == "RawInline"] == [
        r"\askbookrtl{نعم}", r"\askbookltr{", "}",
    ]  # fmt: skip


def from_the_right(text: str, glyphs: Glyphs = NO_OTHER_FONT) -> str:
    """What stands on a page from right to left; within ⟨ and ⟩, from left to right."""
    tree = pandoc_tree(page_of(saying(text, lang="he", citations=(), sources=())), glyphs)
    shown = {"\\askbookltr{": "⟨", "}": "⟩"}
    said = (
        shown.get(node["c"][1], "") if node["t"] == "RawInline" else node.get("c", " ")
        for node in nodes(tree["blocks"][2]["c"])
    )
    return "".join(said)


@pytest.mark.parametrize(
    ("text", "from_left_to_right"),
    [
        ("נ abc (def) נ", "abc (def)"), ("נ one [1]. נ", "one [1]"), ("נ (one two) נ", "one two"),
        ("נ one (two [three] four). נ", "one (two [three] four)"), ("נ (one נ", "one"), ("נ one) נ", "one"),
    ],
)  # fmt: skip
def test_brackets_around_words_go_with_them(text: str, from_left_to_right: str) -> None:
    assert re.findall("⟨(.*?)⟩", from_the_right(text)) == [from_left_to_right]


def test_other_brackets_of_a_page_from_right_to_left_are_turned_around_unless_the_engine_does_it() -> None:
    assert from_the_right("x (נ) y") == "⟨x⟩ )( ⟨y⟩"
    assert from_the_right("x (נ) y", Glyphs(turns_brackets=True)) == "⟨x⟩ () ⟨y⟩"


def test_signs_do_not_get_the_script_of_letters() -> None:
    """In a font that is told to be Arabic, ≤ becomes ≥."""
    assert raw("a ≤ b") == [r"{\askbookA ≤}"]


def test_chinese_may_break_between_characters_but_not_before_a_stop() -> None:
    assert raw("中文。字") == [
        r"{\askbookB 中\askbookbreak{}文}", r"。\askbookbreak{}", r"{\askbookB 字\askbookbreak{}}",
    ]  # fmt: skip


def test_a_character_that_no_font_has_is_shown_by_its_number() -> None:
    tree = pandoc_tree(page_of(saying("a 😀\ufe0f b", citations=(), sources=())), FONTS)
    words = "".join(node.get("c", " ") for node in nodes(tree["blocks"][2]["c"]) if node["t"] in ("Str", "Space"))
    assert words == "a [U+1F600] b"
    said = "".join(node["c"] for node in nodes(tree["blocks"]) if node["t"] == "Str")
    assert "U+1F600grinningface" in said
    assert "FE0F" not in said


def test_a_long_address_may_break() -> None:
    assert raw("https://example.org/a/very/long/address/without/a/single/space") == ["\\askbookpiece{}"] * 12
    assert raw("Donaudampfschifffahrtsgesellschaft") == []


def test_code_is_set_line_by_line() -> None:
    tree = pandoc_tree(page_of(saying("```\nif a:\n    b\n```", citations=(), sources=())), Glyphs())
    (paragraph,) = tree["blocks"][2]["c"]
    assert [node["c"][-1] for node in nodes(paragraph["c"]) if node["t"] == "Code"] == ["if", " ", "a:", "    ", "b"]


def test_lists_are_no_deeper_than_tex_can() -> None:
    deep = "\n".join(f"{'  ' * depth}- {depth}" for depth in range(6))
    tree = pandoc_tree(page_of(saying(deep, citations=(), sources=())), Glyphs())

    def depth(item: Any) -> int:
        inner = max((depth(part) for part in (item.values() if isinstance(item, dict) else item)), default=0) \
            if isinstance(item, dict | list) else 0  # fmt: skip
        return inner + (isinstance(item, dict) and item.get("t") == "BulletList")

    assert depth(tree["blocks"]) == 3
    assert {"0", "1", "2", "3", "4", "5"} <= {node["c"] for node in nodes(tree["blocks"]) if node["t"] == "Str"}


def test_a_wide_table_fills_the_line() -> None:
    def widths(text: str) -> list[Any]:
        tree = pandoc_tree(page_of(saying(text, citations=(), sources=())), Glyphs())
        return [width for _, width in tree["blocks"][2]["c"][2]]

    assert widths("|a|b|\n|-|-|\n|c|d|") == [{"t": "ColWidthDefault"}] * 2
    wide = widths(f"|a|b|\n|-|-|\n|{'c ' * 60}|d|")
    assert sum(width["c"] for width in wide) == pytest.approx(1, abs=0.001)


def test_characters_for_people() -> None:
    assert named("α😀") == "U+03B1 greek small letter alpha, U+1F600 grinning face"
    assert named(map(chr, range(0x4E00, 0x4E00 + 30))).endswith("U+4E17 cjk unified ideograph-4e17 (+6)")
    assert [is_visible(char) for char in "a\u200d\ufe0f\u0301"] == [True, False, False, True]
