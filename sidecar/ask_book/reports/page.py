"""A report as it is to be set, whatever the format: every text in its language, every link decided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ask_book.answering.answer import Answer, Citation, Source
from ask_book.book.manifest import Book, Manifest, Tag, breadcrumb
from ask_book.excerpt import excerpt
from ask_book.reports.check import Fate, standing
from ask_book.reports.document import Document, Exchange
from ask_book.reports.tree import Node, labelled, parse, plain, ranked
from ask_book.reports.words import words, written_date

EDITION_DIGITS = 10
NEAREST_CHARACTERS = 300


@dataclass(frozen=True)
class Where:
    """A passage of the book: its breadcrumb, its address ("" when none is known) and what became of it since."""

    place: str
    url: str = ""
    fate: Fate | None = None


@dataclass(frozen=True)
class PageNote:
    """A numbered note. `remark` says what a reader must know of it, or is ""."""

    n: int
    quote: tuple[Node, ...]
    where: Where
    remark: str = ""


@dataclass(frozen=True)
class Passage:
    """A passage that was looked at, or came near. `text` is a part of it, or ""."""

    where: Where
    text: str = ""


@dataclass(frozen=True)
class Part:
    """A question with all that belongs to its answer."""

    question: str
    body: tuple[Node, ...]
    notes: tuple[PageNote, ...]
    sources: tuple[Passage, ...]
    nearest: tuple[Passage, ...]
    absent: str
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """The whole report. `home` is the address of the book, or ""; `said` are the words of its language."""

    title: str
    lang: str
    book: str
    authors: str
    asked: str
    parts: tuple[Part, ...]
    cite: str
    home: str
    said: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


Link = Callable[[Citation | Source], Where]


def saved_page(document: Document) -> Page:
    """A report for a file that may lie anywhere: its links lead to the book's site, if it has one."""
    site = _site(document.book)
    home = f"{site}/" if site else ""
    return _page(
        document,
        lambda where: Where(breadcrumb(where), site and f"{site}/{where.href}"),
        home,
    )


def served_page(document: Document, manifest: Manifest, root: str) -> Page:
    """A report beside the book as it is now, `root` (such as `../../`) below its first page."""
    is_same = manifest.book.hash == document.book.hash
    changed = words(document.lang)["edition"].format(edition=manifest.book.hash[:EDITION_DIGITS])

    def link(where: Citation | Source) -> Where:
        quote = where.quote if isinstance(where, Citation) else where.text
        now = standing(manifest, Tag.parse(where.tag), quote)
        if now.tag is None:
            return Where(breadcrumb(where), "", now.fate)
        place = manifest.place(now.tag)
        return Where(breadcrumb(place), root + place.href, None if is_same else now.fate)

    return _page(document, link, root, () if is_same else (changed,))


def _page(document: Document, link: Link, home: str, remarks: tuple[str, ...] = ()) -> Page:
    lang, book = document.lang, document.book
    said = words(lang)
    return Page(
        title=document.title,
        lang=lang,
        book=book.title,
        authors=", ".join(book.authors),
        asked=said["asked"].format(date=written_date(document.created, lang)),
        parts=tuple(_part(exchange, document, link, said) for exchange in document.exchanges),
        cite=_citation(document, said, lang),
        home=home,
        said=said,
        remarks=remarks,
    )


def _part(exchange: Exchange, document: Document, link: Link, said: dict[str, str]) -> Part:
    answer = exchange.answer
    body = labelled(answer.answer, answer.claims.marks, {kind: said[kind] for kind in ("uncited", "unsupported")})
    return Part(
        question=exchange.question,
        body=ranked(parse(body)),
        notes=tuple(_note(citation, link, said) for citation in answer.citations),
        sources=tuple(dict.fromkeys(Passage(link(source)) for source in answer.sources)),
        nearest=tuple(Passage(link(source), excerpt(source.text, NEAREST_CHARACTERS)) for source in answer.nearest),
        absent=said["absent"].format(terms=", ".join(answer.absent_terms)) if answer.absent_terms else "",
        remarks=tuple(_remarks(answer, document, said)),
    )


def _note(citation: Citation, link: Link, said: dict[str, str]) -> PageNote:
    where = link(citation)
    remark = "" if citation.verified else said["unverified"]
    return PageNote(citation.n, plain(citation.quote), where, remark or (said[where.fate] if where.fate else ""))


def _remarks(answer: Answer, document: Document, said: dict[str, str]) -> Iterator[str]:
    """What is verified, and by whom the text was written."""
    edition = document.book.hash[:EDITION_DIGITS]
    if answer.status == "answered":
        yield said["quoted"] if answer.mode == "extractive" else said["written"].format(model=document.model or "?")
    if answer.citations:
        verified = sum(citation.verified for citation in answer.citations)
        yield said["verified"].format(n=verified, total=len(answer.citations), edition=edition)
    else:
        yield said["no_quotes"].format(edition=edition)
    if answer.claims.uncited or answer.claims.unsupported:
        yield said["doubted"].format(uncited=answer.claims.uncited, unsupported=answer.claims.unsupported)
    yield from (notice.message for notice in answer.notices)


def _citation(document: Document, said: dict[str, str], lang: str) -> str:
    book = document.book
    who = ", ".join(book.authors)
    title = book.title if not who or who.endswith(".") else f". {book.title}"
    consulted = said["consulted"].format(date=written_date(document.created, lang))
    return " ".join(filter(None, (f"{who}{' ' if who.endswith('.') else ''}{title}.", _site(book), consulted)))


def _site(book: Book) -> str:
    return book.site_url.rstrip("/") if re.fullmatch(r"https?://[^\s<>\"/]+(/[^\s<>\"]*)?", book.site_url) else ""
