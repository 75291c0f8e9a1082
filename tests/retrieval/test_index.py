"""Searching a book, end to end."""

from __future__ import annotations

from pathlib import Path

from ask_book.retrieval.index import open_index
from retrieval.texts import manifest_of
from small_books import small_manifest


def test_the_language_of_the_book_is_found_when_it_does_not_say(tmp_path: Path) -> None:
    text = "El río crece en abril porque la nieve se funde en las montañas."
    assert open_index(manifest_of([("Ríos", text)], lang=""), tmp_path).lang == "es"
    assert open_index(manifest_of([("Ríos", text)], lang="en"), tmp_path).lang == "en"


def test_a_vietnamese_book_keeps_its_accents(tmp_path: Path) -> None:
    index = open_index(manifest_of([("Một", "con má"), ("Hai", "con mà")], lang="vi"), tmp_path)
    assert [hit.chunk for hit in index.search("má").hits] == [0]


def test_scope_narrows_the_search(tmp_path: Path) -> None:
    index = open_index(small_manifest("es"), tmp_path)
    assert {hit.chunk for hit in index.search("lluvia", scope="clima.qmd").hits} == {2, 3}
    assert index.search("lluvia", scope="no-hay").hits == ()


def test_a_question_in_another_language_has_its_stop_words_set_aside(tmp_path: Path) -> None:
    evidence = open_index(small_manifest("es"), tmp_path).search("What is the weather like in the mountains?").evidence
    assert evidence.absent_terms == ("weather", "mountains")
    assert not evidence.enough


def test_a_long_or_odd_question_does_no_harm(tmp_path: Path) -> None:
    index = open_index(small_manifest("es"), tmp_path)
    for question in ("lluvia " * 500, "\ud800", "\x00", "«»", '""', "@", "#", "第章", "tabla " * 50 + "1.1"):
        index.search(question)
