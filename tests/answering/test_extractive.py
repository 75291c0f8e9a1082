import json
import os
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.answering.extractive import Passage, Quote, asked, between, choose, escape, markdown, paragraphs
from ask_book.book.manifest import Manifest, Tag
from ask_book.book.pandoc import find_pandoc
from ask_book.retrieval.bm25 import build
from ask_book.retrieval.language import locale
from small_books import fixture, small_manifest

CASES = fixture("extractive.json")


def quotes_for(manifest: Manifest, question: str, passages: list[Passage]) -> list[Quote]:
    """As in the vectors: the weight of a term is its length."""
    table = locale(manifest.book.lang)
    terms = asked(question, lambda term: float(len(term)), table.stopwords)
    return choose(manifest, passages, terms, table.abbreviations, table.answer["leans_on"].split())


def answer_of(quotes: list[Quote]) -> str:
    parts: list[str] = []
    for paragraph in paragraphs(quotes):
        for at, quote in enumerate(paragraph):
            n = sum(part.count("](#ask-book-") for part in parts) + 1
            parts.append((between(paragraph, at) if parts else "") + markdown(quote, f"[{n}](#ask-book-{n})"))
    return "".join(parts)


@pytest.mark.parametrize("case", CASES, ids=[case["question"] for case in CASES])
def test_the_vectors(case: dict[str, object]) -> None:
    manifest = small_manifest(str(case["book"]).split(".")[1])
    passages = [Passage(tag, score) for text, score in list(case["passages"]) if (tag := Tag.parse(text))]  # type: ignore[call-overload]
    quotes = quotes_for(manifest, str(case["question"]), passages)
    assert [[str(quote.tag), quote.text] for quote in quotes] == case["quotes"]
    assert answer_of(quotes) == case["answer"]


def test_the_words_of_a_very_large_book_are_told_apart_by_its_own_terms() -> None:
    """There 4-grams are in no passage: they would all weigh the most, whatever the word."""
    postings = build(["The hive has bees.", "The hive is full.", "Bees fly."], short=True)
    terms = asked("hives full of bees", postings.weight, {"of"}, short=postings.short)
    assert list(terms.weights) == ["_hives_", "_hives", "_full_", "_bees_"]
    assert terms.weights["_bees_"] < terms.weights["_full_"] < terms.weights["_hives_"]
    assert terms.terms_in("Bees in full hives") == {"_bees_", "_full_", "_hives_", "_hives"}


def test_a_table_row_comes_with_its_head_but_quotes_itself_only() -> None:
    manifest = small_manifest("en")
    quotes = quotes_for(manifest, "How much syrup in March?", [Passage(tag, 1.0) for tag in manifest.tags()])
    assert quotes[0].text == "March syrup 2.5"
    shown = "*Month · Food · Kilograms per hive*: March syrup 2.5 [1](#ask-book-1)"
    assert markdown(quotes[0], "[1](#ask-book-1)") == shown


def test_a_sentence_that_leans_on_the_one_before_takes_it_along() -> None:
    manifest = small_manifest("en")
    quotes = quotes_for(manifest, "most common mistake of beginners", [Passage(tag, 1.0) for tag in manifest.tags()])
    assert "They take sugar syrup" in quotes[0].text
    assert quotes[0].text.endswith("mistake of beginners.")


def test_the_block_that_fits_best_comes_first_and_rows_without_a_word_of_the_question_do_not_come() -> None:
    manifest = small_manifest("es")
    passages = [Passage(tag, 1.0) for tag in manifest.tags()]
    rain = [quote.text for quote in quotes_for(manifest, "¿Cuántos días de lluvia tiene julio?", passages)]
    assert rain[0] == "Julio 11 2"
    assert not {"Enero 112 9", "Abril 204 16"} & set(rain)


def test_no_word_of_the_question_no_quote() -> None:
    manifest = small_manifest("en")
    assert quotes_for(manifest, "zzzzz", [Passage(tag, 1.0) for tag in manifest.tags()]) == []
    assert quotes_for(manifest, "bees", []) == []


@given(st.text(alphabet="abeéilorstu ", max_size=30), st.lists(st.integers(0, 20), max_size=7, unique=True))
def test_a_quote_is_the_text_at_its_tag(question: str, positions: list[int]) -> None:
    manifest = small_manifest()
    tags = list(manifest.tags())
    quotes = quotes_for(manifest, question, [Passage(tags[at], 1 / (1 + at)) for at in positions if at < len(tags)])
    assert len(quotes) <= 4
    assert all(manifest.text(quote.tag) == quote.text and quote.text.strip() for quote in quotes)
    assert len({quote.tag for quote in quotes}) == len(quotes)


NASTY = [
    "*a* _b_ **c** ~d~ ~~e~~ `f` [g](http://h.i) ![j](k) <b>l</b> &amp; $m$ n^o^ p|q",
    "# not a heading", "1. not a list", "12) nor this", "- nor this", "+ x", "> no quote", "=== x", ": no definition",
    "https://example.org www.example.org me@example.org", "[^1] [@key] @key {.class} \\alpha \\(x\\)",
    "a\n===\nb\n---\nc",
    "[f1-2-3] no tag", "% no title", "``` x ```", "<!-- no comment -->", "a \\ b \\", "1986\\. A",
    "“quotes” – it's…", "~~~ z",
]  # fmt: skip


def rendered(texts: list[str], pandoc_format: str) -> Iterator[str]:
    """What pandoc's reader shows of each text, as plain text. Each is a div of one document."""
    source = "\n\n".join(f"::: {{.t}}\n{text}\n:::" if "markdown" in pandoc_format else text for text in texts)
    command = [*find_pandoc(os.environ).argv, "-f", pandoc_format, "-t", "json"]
    for block in json.loads(subprocess.run(command, input=source.encode(), capture_output=True, check=True).stdout)[
        "blocks"
    ]:
        yield "".join(words(block))


def words(node: object) -> Iterator[str]:
    """The text of a piece of pandoc's tree; anything but plain paragraphs shows up as its name."""
    if isinstance(node, list):
        for child in node:
            yield from words(child)
    elif isinstance(node, dict):
        match node.get("t"):
            case "Str":
                yield node["c"]
            case "Space":
                yield " "
            case "SoftBreak":
                yield "\n"
            case "Para" | "Plain":
                yield from words(node["c"])
            case "Div":
                yield from words(node["c"][1])
            case other:
                yield f"<{other}>"


@pytest.mark.parametrize("reader", ["commonmark", "gfm", "markdown-smart"])
def test_escaped_text_is_shown_literally(reader: str) -> None:
    assert list(rendered([escape(text) for text in NASTY], reader)) == NASTY


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=60))
def test_escaping_adds_backslashes_before_punctuation_only(text: str) -> None:
    escaped, back, at = escape(text), "", 0
    while at < len(escaped):
        at += escaped[at] == "\\"
        assert at < len(escaped)
        back += escaped[at]
        at += 1
    assert back == text
    assert not any(before == "[" and not escaped[:i].endswith("\\") for i, before in enumerate(escaped))


def test_code_is_fenced_even_when_it_has_fences() -> None:
    manifest = small_manifest("en")
    code = next(block for block in manifest.chapters[2].blocks if block.kind == "code")
    quote = Quote(Tag(2, code.start, code.end), code, manifest.chapters[2].sections[0], "a\n````\nb")
    assert markdown(quote, "[1](#ask-book-1)") == "`````\na\n````\nb\n`````\n\n[1](#ask-book-1)"
