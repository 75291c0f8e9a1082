import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from ask_book.reports.document import Document, joined
from ask_book.reports.html import html
from ask_book.reports.page import saved_page, served_page
from reports.attacks import payloads
from reports.samples import DRY, SITE, citation, doubted, of_the_book, saying
from small_books import small_manifest

LOADS = "script, img, iframe, link, object, embed, svg, video, audio, form, input, base, meta[http-equiv=refresh]"


def tree_of(page: str) -> Any:
    return LexborHTMLParser(page)


def saved(document: Document) -> str:
    return html(saved_page(document))


def test_a_page_that_needs_nothing() -> None:
    page = saved(saying("Sí [1](#ask-book-1)."))
    assert page.startswith('<!doctype html>\n<html lang="es">')
    tree = tree_of(page)
    assert tree.css(LOADS) == []
    assert "url(" not in page
    assert "@import" not in page
    assert [node.text() for node in tree.css("h1")] == [DRY]
    assert tree.css_first("title").text() == f"{DRY} · Guía del valle de Aré"


def test_a_note_leads_to_its_quote_and_the_quote_to_the_book() -> None:
    tree = tree_of(saved(saying("Sí [1](#ask-book-1). También [1](#ask-book-1) y [7](#ask-book-7).")))
    assert [link.attributes["href"] for link in tree.css("a.note")] == ["#note-1", "#note-1"]
    note = tree.css_first("#note-1")
    assert note.css_first("q").text() == "La estación seca va de junio a septiembre."
    assert note.css_first(".place a").attributes["href"] == f"{SITE}/clima.html#sec-lluvia"
    assert note.css_first(".back").attributes["href"] == "#ref-1"
    assert len(tree.css("#ref-1")) == 1
    assert "y [7]." in tree.css_first(".answer").text()


def test_without_an_address_there_is_no_link() -> None:
    tree = tree_of(saved(saying("Sí [1](#ask-book-1).", site_url="")))
    assert {link.attributes["href"] for link in tree.css("a")} == {"#note-1", "#ref-1"}
    assert "El clima › La lluvia" in tree.css_first("#note-1 .place").text()


@pytest.mark.parametrize("site", ["javascript:alert(1)", "//evil.example", 'https://e.org/"><script>', "ftp://e.org"])
def test_a_site_that_is_none(site: str) -> None:
    page = saved(saying("Sí [1](#ask-book-1).", site_url=site))
    assert {link.attributes["href"] for link in tree_of(page).css("a")} == {"#note-1", "#ref-1"}


def test_beside_the_book_links_are_relative() -> None:
    manifest = small_manifest()
    tree = tree_of(html(served_page(of_the_book(), manifest, "../../")))
    assert tree.css_first("#note-1 .place a").attributes["href"] == "../../clima.html#sec-lluvia"


def test_what_is_verified_is_said() -> None:
    document = saying("Sí [1](#ask-book-1).", citations=(citation(), citation(2, verified=False)))
    text = tree_of(saved(document)).body.text()
    assert "1 de 2 citas están en el libro palabra por palabra (edición 0123456789)." in text
    assert "Redactado por un modelo de lenguaje (a-model)" in text
    assert "sin cotejar con el libro" in tree_of(saved(document)).css_first("#note-2").text()
    assert "Equipo ask-book. Guía del valle de Aré. https://example.org/valle Consultado el" in text


def test_doubts_stand_behind_the_sentences() -> None:
    tree = tree_of(saved(doubted()))
    text = tree.css_first(".answer").text().strip()
    assert text == "Llueve en mayo. (sin fuente) Hay tres ríos 1. (su fuente no lo dice)"
    assert "Frases sin fuente: 1; que su fuente no dice: 1." in tree.css_first("footer").text()


def test_a_conversation_has_notes_of_each_answer() -> None:
    whole = joined([saying("A [1](#ask-book-1)."), saying("B [1](#ask-book-1).", question="¿Y luego?")])
    tree = tree_of(saved(whole))
    assert [node.text() for node in tree.css("article > h2")] == [DRY, "¿Y luego?"]
    assert [link.attributes["href"] for link in tree.css("a.note")] == ["#note-1-1", "#note-2-1"]
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))


def test_every_kind_of_block() -> None:
    tree = tree_of(saved(saying("# a\n\n> b\n\n3. c\n   - d\n\n```\n<e>\n```\n\n|f|\n|-:|\n|g|\n\n---\n\n$x<y$")))
    answer = tree.css_first(".answer")
    assert [node.tag for node in answer.css("h2, blockquote, ol, ul, pre, th, td, hr, code.math")] == [
        "h2", "blockquote", "ol", "ul", "pre", "th", "td", "hr", "code",
    ]  # fmt: skip
    assert answer.css_first("ol").attributes["start"] == "3"
    assert answer.css_first("pre").text() == "<e>\n"
    assert answer.css_first("code.math").text() == "x<y"


@pytest.mark.parametrize("attack", payloads("/f", "/o", "https://evil.example").values())
def test_attacks_are_shown(attack: str) -> None:
    note = citation(quote=attack, chapter_title=attack, heading_path=(attack,), href=f'x"><script>{attack}')
    document = saying(attack, question=attack, citations=(note,), absent_terms=(attack,))
    tree = tree_of(saved(document))
    assert tree.css(LOADS) == []
    allowed = re.compile(r"(?:https://example\.org/valle/|#)")
    assert all(allowed.match(link.attributes["href"] or "") for link in tree.css("a"))
    assert not [name for node in tree.css("*") for name in node.attributes if name.startswith("on")]
    assert tree.body.css("style") == []


def test_right_to_left() -> None:
    assert '<html lang="ar" dir="rtl">' in saved(saying("نعم", lang="ar"))
