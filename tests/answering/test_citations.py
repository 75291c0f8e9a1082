"""Scripted texts, as a model might write them, and what the reader sees of them.

In the texts, `{winter}` stands for the tag of the sentence about winter, and so on.
"""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.answer import Citation
from ask_book.answering.citations import Notes
from ask_book.book.manifest import Tag
from small_books import small_manifest

BEES = small_manifest("en")
HIVES = BEES.chapters[1].text


def tag_of(words: str) -> Tag:
    start = HIVES.index(words)
    return Tag(1, start, start + len(words))


TAGS = {
    "winter": tag_of("Bees need feeding in late winter."),
    "weight": tag_of("It should weigh at least 40 kg, or be tied down."),
    "ames": tag_of("Dr. Ames ties hers with straps, e.g. the ones that movers use."),
    "feeding": Tag(1, BEES.chunks[2].start, BEES.chunks[2].end),
}
NAMED = {name: str(tag)[1:-1] for name, tag in TAGS.items()}
RAW_TAG = re.compile(r"f\d+-\d+")


def show(text: str, cut: int | None = None) -> tuple[str, list[str], int]:
    """What is shown, the quotes in the order of their numbers, how many tags were dropped."""
    notes = Notes(BEES, frozenset(TAGS.values()))
    pieces = [text] if cut is None else [text[at : at + cut] for at in range(0, len(text), cut)]
    parts = [part for piece in pieces for part in notes.feed(piece)] + list(notes.close())
    seen = [part.n for part in parts if isinstance(part, Citation)]
    assert seen == list(range(1, len(seen) + 1))
    assert all(citation.verified and citation.quote == BEES.text(tag_in(citation)) for citation in notes.citations)
    shown = re.sub(r"\[(\d+)\]\(#ask-book-\1\)", r"⟨\1⟩", "".join(part for part in parts if isinstance(part, str)))
    return shown, [citation.quote for citation in notes.citations], notes.dropped


def tag_in(citation: Citation) -> Tag:
    tag = Tag.parse(citation.tag)
    assert tag is not None
    return tag


SCRIPTS = [
    ("Feed them late in winter [{winter}].", "Feed them late in winter ⟨1⟩.", 0),
    ("It is heavy. [{weight}] Feed it [{winter}]. Heavy [{weight}].", "It is heavy. ⟨1⟩ Feed it ⟨2⟩. Heavy ⟨1⟩.", 0),
    ("Twice [{winter}][{winter}] [{winter}].", "Twice ⟨1⟩.", 0),
    ("Both [{winter}, {weight}].", "Both ⟨1⟩⟨2⟩.", 0),
    ("Both [{winter}; {weight} and f9-1-2].", "Both ⟨1⟩⟨2⟩.", 1),
    ("Odd 【{winter}】 and ［{weight}］ and ({winter}).", "Odd ⟨1⟩ and ⟨2⟩ and ⟨1⟩.", 0),
    ("Bold **[{winter}]** and `[{weight}]`, [[{winter}]].", "Bold ⟨1⟩ and ⟨2⟩, ⟨1⟩.", 0),
    ("**Bold claim [{winter}]** ends.", "**Bold claim ⟨1⟩** ends.", 0),
    ("A link [1]([{winter}]) as in the seed.", "A link ⟨1⟩ as in the seed.", 0),
    ("Words [{winter}: bees need food] inside.", "Words ⟨1⟩ inside.", 0),
    ("Anchor [#sec-feeding].", "Anchor ⟨1⟩.", 1),
    ("Two parts [f1-293]. Gone.", "Two parts. Gone.", 1),
    ("Never offered [f0-0-12]. Far away [f99-1-2] or [f1-5-999999999].", "Never offered. Far away or.", 3),
    ("Four parts [f1-2-3-4]; one part [f12]; backwards [f1-9-3].", "Four parts; one part; backwards.", 3),
    ("Bare {winter} in text.", "Bare ⟨1⟩ in text.", 0),
    ("Unclosed [{winter}", "Unclosed ⟨1⟩", 0),
    ("Upper [F1-2-3] case.", "Upper case.", 1),
    ("Forged [1](#ask-book-1) and [here](#ask-book-2), [3].", "Forged and,.", 3),
    ("Reference\n\n[x]: #ask-book-1", "Reference\n\n[x]:", 1),
    ("Unknown anchor [#sec-nowhere].", "Unknown anchor.", 1),
    ("Not tags: x[1], a [link](http://a.b), [F1 score], [1, 2, 3], # Heading", "", 0),
    ("中文[{winter}]。没有[f1-2]了", "中文⟨1⟩。没有了", 1),
]


@pytest.mark.parametrize(("script", "expected", "dropped"), SCRIPTS)
def test_what_the_reader_sees(script: str, expected: str, dropped: int) -> None:
    text = script.format(**NAMED)
    notes = Notes(BEES, frozenset(TAGS.values()))
    if "#sec-feeding" in script:
        # Two offered passages have that anchor: it means neither.
        assert show(text) == ("Anchor.", [], 1)
        notes = Notes(BEES, frozenset({TAGS["feeding"]}))
        quotes = [part.quote for part in notes.feed(text + " ") if isinstance(part, Citation)]
        assert quotes == [BEES.text(TAGS["feeding"])]
        return
    assert show(text) == (expected or text, show(text)[1], dropped)
    assert not RAW_TAG.search(show(text)[0])


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("script", [script for script, _, _ in SCRIPTS])
def test_cutting_the_stream_anywhere_changes_nothing(script: str, cut: int) -> None:
    text = script.format(**NAMED)
    assert show(text, cut) == show(text)


PIECES = st.sampled_from(
    [f"[{tag}]" for tag in NAMED.values()]
    + ["[f1-2-3]", "[f1-2", "f3-4-5", "[", "]", "(", ")", "**", "`", " ", "\n", "word", "é", "中", "f", "1", "-", "#"]
    + ["【", "】", "[1](#ask-book-1)", "[#sec-feeding]", "#ask-book-9", "[2]", ", ", ".", "!", "x[3]", "[a b]"]
)


@given(st.lists(PIECES, max_size=25).map("".join), st.integers(1, 9))
def test_no_raw_tag_survives_however_it_is_cut(text: str, cut: int) -> None:
    whole, in_pieces = show(text), show(text, cut)
    assert in_pieces == whole
    shown = whole[0]
    assert not re.search(r"f\d+-\d+-\d+", shown)
    assert "#ask-book" not in shown


ODD = [" ", "[", "[]", "f1-", "f1-2", "*", "[f1-2 ", "a", ". ", "[a](", "..", "1", "![", "【", "#ask-book", "[1] "]


@pytest.mark.parametrize("piece", ODD)
def test_no_text_takes_long(piece: str) -> None:
    """Quadratic time would take minutes here: the test's own timeout is the measure."""
    text = piece * (30_000 // len(piece))
    assert show(text, 4)[0] == show(text)[0]
    assert not RAW_TAG.search(show(text)[0])


def test_a_note_that_code_asks_for_must_be_offered_too() -> None:
    notes = Notes(BEES, frozenset({TAGS["winter"]}))
    assert list(notes.cite(Tag(1, 0, 5))) == []
    assert notes.dropped == 1
    citation, note = notes.cite(TAGS["winter"])
    assert isinstance(citation, Citation)
    assert citation.href == "hives.html#sec-feeding"
    assert citation.heading_path == ("Hives", "Feeding")
    assert note == "[1](#ask-book-1)"
