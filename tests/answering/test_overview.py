import asyncio
from pathlib import Path
from typing import Any

import pytest

from ask_book.answering.answer import Answer
from ask_book.answering.ask import answer
from ask_book.answering.events import collect
from ask_book.answering.open_book import OpenBook
from ask_book.answering.overview import Topic, look_over, telling, topic_of
from ask_book.answering.question import question
from ask_book.book.manifest import Tag
from retrieval.texts import index_of
from small_books import fixture, small_book


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpenBook]:
    return {lang: small_book(tmp_path_factory.mktemp(lang), lang) for lang in ("es", "en", "fr", "zh")}


def ask(book: OpenBook, text: str, **more: object) -> Answer:
    return asyncio.run(collect(answer(book, question(text, **more))))


def chapters(topic: Topic | None) -> list[int]:
    return [span.chapter for span in topic.spans] if topic else []


@pytest.mark.parametrize(
    ("lang", "text", "expected"),
    [
        ("es", "¿De qué trata el libro?", [0, 1, 2]), ("es", "Resume el libro", [0, 1, 2]),
        ("es", "Hazme un resumen", [0, 1, 2]), ("es", "¿Cuáles son las ideas principales?", [0, 1, 2]),
        ("es", "What is this book about?", [0, 1, 2]), ("es", "Worum geht es in diesem Buch?", [0, 1, 2]),
        ("es", "¿De qué trata El clima?", [1]), ("es", "Resume el capítulo sobre el viento", [1]),
        ("en", "Summarise the book", [0, 1, 2]), ("en", "What is the book about?", [0, 1, 2]),
        ("en", "Give me an overview, please", [0, 1, 2]), ("en", "Summary of “Counting bees”", [2]),
        ("zh", "这本书讲了什么？", [0, 1]), ("zh", "请总结全书的主要内容", [0, 1]),
    ],
)  # fmt: skip
def test_what_wants_an_overview(books: dict[str, OpenBook], lang: str, text: str, expected: list[int]) -> None:
    assert chapters(topic_of(books[lang], text)) == expected


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("es", "¿Qué viento trae la lluvia?"), ("es", "¿Qué dice el libro de la travesía?"), ("es", "hola"),
        ("es", "¿Qué dice el capítulo 99?"), ("es", "Resume la guerra de Troya"), ("es", "¿Y por qué?"),
        ("en", "What is a hive about 40 kg?"), ("en", "main idea of fondant"), ("zh", "绿茶用多少度的水？"),
    ],
)  # fmt: skip
def test_what_does_not(books: dict[str, OpenBook], lang: str, text: str) -> None:
    assert topic_of(books[lang], text) is None


@pytest.mark.parametrize("case", fixture("overview.json"), ids=lambda case: case["question"])
def test_the_vectors(books: dict[str, OpenBook], case: dict[str, Any]) -> None:
    book = books[case["book"].split(".")[1]]
    topic = topic_of(book, case["question"], case["scope"])
    assert (topic and [[span.chapter, span.start, span.end] for span in topic.spans]) == case["topic"]
    if topic:
        given = ask(book, case["question"], scope=case["scope"])
        assert (given.answer, [source.tag for source in given.sources]) == (case["answer"], case["sources"])


def test_a_section_with_nothing_that_sums_it_up_is_searched() -> None:
    index = index_of([("Naming rivers", "Names of rivers: short: in lower case."), ("Bridges", "They are of stone.")])
    book = OpenBook(index.manifest, index, Path())
    found = ask(book, "What does the book say about “Naming rivers”?")
    assert (found.status, found.citations[0].quote) == ("answered", "Names of rivers: short: in lower case.")


def test_a_book_is_summed_up_in_reading_order_with_notes(books: dict[str, OpenBook]) -> None:
    found = ask(books["es"], "¿De qué trata el libro?")
    assert (found.status, found.mode) == ("answered", "extractive")
    tags = [tag for citation in found.citations if (tag := Tag.parse(citation.tag))]
    assert tags == sorted(tags)
    assert {tag.chapter for tag in tags} == {0, 1, 2}
    assert all(citation.verified for citation in found.citations)
    assert "**Prefacio.** Esta guía cuenta cómo se vive en el valle de Aré. [1](#ask-book-1)" in found.answer
    assert found.sources
    assert not any("Imprenta" in citation.quote for citation in found.citations)


def test_a_chapter_is_summed_up_section_by_section(books: dict[str, OpenBook]) -> None:
    found = ask(books["en"], "What does the chapter Hives say?")
    assert {citation.href.split("#")[0] for citation in found.citations} == {"hives.html"}
    assert {"sec-hives", "sec-feeding"} == {citation.anchor for citation in found.citations}
    assert "**Feeding.** " in found.answer


def test_scope_narrows_an_overview(books: dict[str, OpenBook]) -> None:
    found = ask(books["en"], "What is it all about?", scope="counting.qmd")
    assert {citation.href for citation in found.citations} == {"counting.html#sec-counting"}


def test_a_summary_does_not_say_things_twice(books: dict[str, OpenBook]) -> None:
    book = books["es"]
    chapter = book.manifest.chapters[1]
    tags = telling(book, chapter, 0, len(chapter.text), 50)
    assert tags == sorted(set(tags))
    assert all(chapter.section_at(tag.start).start <= tag.start for tag in tags)
    assert telling(book, chapter, 5, 6, 3) == []


def test_an_empty_topic_is_nothing(books: dict[str, OpenBook]) -> None:
    assert look_over(books["es"], Topic(())).quotes == ()


def test_a_long_book_gives_a_bounded_summary(tmp_path: Path) -> None:
    from dataclasses import replace

    book = small_book(tmp_path, "en")
    hives = book.manifest.chapters[1]
    many = replace(book.manifest, chapters=tuple(replace(hives, index=at) for at in range(60)))
    found = look_over(replace(book, manifest=many), Topic(tuple(Tag(at, 0, len(hives.text)) for at in range(60))))
    assert 10 <= len(found.quotes) <= 14
    assert found.quotes[-1].tag.chapter > 50
