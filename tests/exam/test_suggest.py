"""Drafting an exam from a book without a model."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.book.manifest import Block, Chapter, Chunk, Section
from ask_book.exam.draft import to_yaml, write_new
from ask_book.exam.format import Question, read_exam
from ask_book.exam.report import Results, shares, to_lines
from ask_book.exam.run import Quotes, examine
from ask_book.exam.suggest import _tables, suggest, to_refuse
from ask_book.retrieval.index import open_index
from ask_book.retrieval.language import languages
from retrieval.texts import index_of, manifest_of
from small_books import small_book


def asked(book: OpenBook, most: int = 30) -> list[Question]:
    return [one.draft.question for one in suggest(book, most)]


def book_of(lang: str, *passages: tuple[str, str]) -> OpenBook:
    """Sections without numbers: one a chapter."""
    index = index_of(passages, lang)
    return OpenBook(index.manifest, index, Path())


def test_headings_and_tables_are_asked_for_with_words_of_the_book(tmp_path: Path) -> None:
    book = small_book(tmp_path, "en")
    found = {question.text: question for question in asked(book)}
    assert list(found) == [
        "What does the book say about “Welcome”?",
        "What does Table 1.1 show?",
        "What does the book say about “Hives”?",
        "What does the book say about “Feeding”?",
        "What does the book say about “Counting bees”?",
    ]
    table = found["What does Table 1.1 show?"]
    (place,) = table.places
    assert (table.type, place.quote, place.file, place.anchor) == (
        "table", "Table 1.1: What to feed", "hives.qmd", "sec-feeding",
    )  # fmt: skip
    quotes = Quotes(book.manifest)
    passages = list(book.manifest.tags())
    for question in found.values():
        (place,) = question.places
        chapter = next(one for one in book.manifest.chapters if one.file == place.file)
        assert place.quote in chapter.text
        assert any(quotes.are_in(tag, place.quote) for tag in passages)
        assert place.anchor in {section.anchor for section in chapter.sections}


@pytest.mark.parametrize(
    ("lang", "text", "question"),
    [
        ("en", "A smoker is a tin with bellows that calms bees.", "What is a smoker?"),
        ("en", "Drones are called the fathers of the whole hive.", "What are Drones?"),
        ("es", "La colmena es una caja de madera para las abejas.", "¿Qué es la colmena?"),
        ("fr", "La ruche est une caisse en bois pour les abeilles.", "Qu'est-ce que c'est, la ruche ?"),
        ("pt", "A colmeia é uma caixa de madeira para as abelhas.", "O que é a colmeia?"),
        ("de", "Der Smoker ist ein Gerät, das die Bienen beruhigt.", "Was ist der Smoker?"),
        ("it", "L'arnia è una cassa di legno che ospita le api.", "Che cosa è l'arnia?"),
        ("zh", "蜂箱是一种用木板做的给蜜蜂住的箱子。", "什么是“蜂箱”?"),
        ("ja", "巣箱とは、蜜蜂が住む木でできた箱のことである。", "「巣箱」とは何ですか。"),
    ],
)
def test_what_is_defined_is_asked_for(lang: str, text: str, question: str) -> None:
    book = book_of(lang, ("1", text))
    (found,) = asked(book)
    assert (found.text, found.type, found.places[0].quote) == (question, "definition", text)


@pytest.mark.parametrize(
    "text",
    [
        "This is a sentence that defines nothing at all.", "It is an old custom that nobody understands.",
        "There are an endless number of bees in this place.", "Bees are busy.",
        "What everybody in the village says about bees is a legend.",
    ],
)  # fmt: skip
def test_what_is_no_definition(text: str) -> None:
    assert asked(book_of("en", ("7", text))) == []


def test_titles_that_come_twice_or_say_nothing_ask_nothing() -> None:
    said = "Bees collect nectar from the flowers of the roof."
    assert asked(book_of("en", ("Exercises", said), ("exercises", said), ("7", said), ("The", said))) == []
    (question,) = asked(book_of("en", ("Why do bees dance?", "They tell the others where the flowers on roofs are.")))
    assert question.text == "Why do bees dance?"


def test_a_quote_that_is_not_the_only_one_of_its_kind_is_said_so() -> None:
    said = "Bees collect nectar from the flowers of the roof."
    notes = [one.draft.note for one in suggest(book_of("en", ("Nectar", said), ("Flowers", said)))]
    assert notes == ["The book has these words more than once."] * 2
    only = "Bees sleep in the hive from dusk until the dawn."
    (own, _) = suggest(book_of("en", ("Nectar", f"{said} {only}"), ("Flowers", said)))
    assert (own.draft.note, own.draft.question.places[0].quote) == ("", only)


def test_a_heading_is_cited_where_it_stands_and_in_other_passages_of_its_section() -> None:
    section = Section("s", "sec-bees", 1, "Bees", "1", ("Bees",), 0, 130, ())
    parts = (
        "The roof is full of bees and of their hives.",
        "plot(bees)",
        "Bees like clover, and bees like lime trees.",
    )
    blocks = [Block(kind, 0, 0, text) for kind, text in zip(("para", "code", "para"), parts, strict=True)]

    def questions(order: list[Block]) -> list[Question]:
        at, placed = 0, []
        for block in order:
            placed.append(replace(block, start=at, end=at + len(block.text)))
            at += len(block.text) + 1
        chapter = Chapter(
            0, "a.qmd", "a.html", "Bees", "1", "", "", (replace(section, end=at - 1, blocks=tuple(placed)),)
        )
        chunks = tuple(Chunk(f"c{one.start}", 0, "s", one.start, one.end) for one in placed)
        manifest = replace(manifest_of([("x", "y")]), chapters=(chapter,), chunks=chunks)
        with tempfile.TemporaryDirectory() as folder:
            return asked(OpenBook(manifest, open_index(manifest, Path(folder)), Path()))

    (question,) = questions(blocks)
    assert [place.quote for place in question.places] == [parts[0], parts[2]]
    assert questions([blocks[1], blocks[0], blocks[2]]) == []


def test_questions_are_spread_over_the_chapters_and_the_same_each_time() -> None:
    book = book_of("en", *((f"Bees of roof {n}", f"The bees of roof {n} fly to garden number {n}.") for n in range(40)))
    questions = asked(book, 10)
    assert [question.places[0].file for question in questions] == [f"{4 * n}.qmd" for n in range(10)]
    assert asked(book, 10) == questions
    assert len(asked(book)) == 30


def test_what_is_to_be_refused_uses_words_that_the_book_never_uses(tmp_path: Path) -> None:
    drafts = to_refuse(small_book(tmp_path, "en"))
    assert [draft.question.kind for draft in drafts] == ["offtopic"] * 4
    assert all(draft.note.startswith("Draft") for draft in drafts)
    about_cellos = to_refuse(book_of("en", ("Cellos", "A cello has four strings.")))
    texts = [draft.question.text for draft in about_cellos]
    assert not [text for text in texts if "cello" in text]
    assert "When did the dinosaurs die out?" in texts


def test_each_language_has_its_texts() -> None:
    assert set(_tables()) == set(languages())
    shape = {name: len(value) if isinstance(value, list) else 1 for name, value in _tables()["en"].items()}
    assert {table["about"].count("{term}") for table in _tables().values()} == {1}
    for table in _tables().values():
        assert {name: len(value) if isinstance(value, list) else 1 for name, value in table.items()} == shape
        for question, word in table["offtopic"]:
            assert word.lower() in question.lower()


@pytest.mark.parametrize("lang", ["en", "es", "fr", "zh"])
def test_the_small_books_pass_what_is_drafted_from_them(tmp_path: Path, lang: str) -> None:
    book = small_book(tmp_path, lang)
    drafts = [*(one.draft for one in suggest(book)), *to_refuse(book)]
    path = tmp_path / "exam.yml"
    write_new(path, to_yaml(book.manifest.book.title, lang, drafts, "Check them."))
    exam = read_exam(path)

    async def ask() -> Results:
        return Results(((exam, tuple([outcome async for outcome in examine(book, exam, 7)])),), 7)

    results = asyncio.run(ask())
    found = {name: share.fraction or 0.0 for name, share in shares(results.outcomes).items()}
    told = "\n".join(to_lines(results))
    assert found["evidence_at_k"] >= 0.9, told
    assert found["false_refusals"] <= 0.1 or lang == "zh", told  # a word of two characters is little to go by
    assert found["refused_offtopic"] == 1, told
