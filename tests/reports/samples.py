"""Reports to test with: an answer of the small book, and one made of whatever text."""

from __future__ import annotations

from dataclasses import replace

from ask_book.answering.answer import Answer, Citation, Claims, Mark, Source, cite
from ask_book.book.manifest import Book, Manifest, Tag
from ask_book.reports.document import Document, Exchange, new_document
from small_books import small_manifest

SITE = "https://example.org/valle"
DRY = "¿Cuándo es la estación seca?"
QUOTE = Tag.parse("[f1-204-246]")


def book(site_url: str = SITE) -> Book:
    return Book("a1e5b0c4d2f3", "Guía del valle de Aré", ("Equipo ask-book",), "es", site_url, "0123456789abcdef")


def citation(n: int = 1, **changes: object) -> Citation:
    known = Citation(n, "[f1-204-246]", "clima.html#sec-lluvia", "sec-lluvia", "El clima", ("El clima", "La lluvia"),
                     "La estación seca va de junio a septiembre.", True)  # fmt: skip
    return replace(known, **changes)  # type: ignore[arg-type]


def source(n: int = 1) -> Source:
    return Source(f"[f0-{n}-9]", f"c{n}.html#s", "s", f"Capítulo {n}", (f"Capítulo {n}", "Sección"), 0.5, "Un pasaje.")


def saying(text: str, question: str = DRY, lang: str = "es", site_url: str = SITE, **changes: object) -> Document:
    """A report of an answer that a model wrote."""
    answer = Answer("a1", "answered", "grounded", text, (citation(),), (source(),))
    answer = replace(answer, **changes)  # type: ignore[arg-type]
    return new_document([Exchange(question, answer)], book(site_url), lang, "a-model")


def of_the_book(manifest: Manifest | None = None) -> Document:
    """A report of an answer from the book about a valley, with one note."""
    manifest = manifest or small_manifest()
    assert QUOTE is not None
    note = cite(manifest, 1, QUOTE, True)
    answer = Answer("a1", "answered", "extractive", f"{note.quote} [1](#ask-book-1)", (note,), (source(),))
    return new_document([Exchange(DRY, answer)], manifest.book, "es")


def doubted() -> Document:
    text = "Llueve en mayo. Hay tres ríos [1](#ask-book-1)."
    marks = (Mark(0, 15, "uncited"), Mark(16, len(text), "unsupported"))
    return saying(text, claims=Claims(cited=0, uncited=1, unsupported=1, marks=marks))
