"""A report as data: what was asked and answered, of which edition of which book, by what."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from ask_book import __version__
from ask_book.answering.answer import Answer, Citation, Claims, Mark, Source, to_json
from ask_book.book.manifest import Book
from ask_book.book.notice import Notice

VERSION = 1


@dataclass(frozen=True)
class Exchange:
    """A question and its answer."""

    question: str
    answer: Answer


@dataclass(frozen=True)
class Document:
    """One answer, or the answers of a conversation in their order. `created` is UTC, ISO 8601.

    `lang` is the language that it is set in; `model` the language model that wrote, "" when none did.
    """

    id: str
    created: str
    book: Book
    exchanges: tuple[Exchange, ...]
    lang: str
    model: str = ""
    made_by: str = __version__

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All that it quotes, in its order."""
        return tuple(citation for exchange in self.exchanges for citation in exchange.answer.citations)

    @property
    def title(self) -> str:
        """The first question, and how many came after it."""
        first, more = self.exchanges[0].question, len(self.exchanges) - 1
        return f"{first} (+{more})" if more else first


def new_document(exchanges: Iterable[Exchange], book: Book, lang: str, model: str = "") -> Document:
    """A document made now, with an id of 128 random bits."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Document(secrets.token_hex(16), now, book, tuple(exchanges), lang, model)


def joined(documents: Sequence[Document]) -> Document:
    """One document of several, such as the answers of a conversation: of the book that the last one is of."""
    exchanges = [exchange for document in documents for exchange in document.exchanges]
    models = ", ".join(dict.fromkeys(filter(None, (document.model for document in documents))))
    return new_document(exchanges, documents[-1].book, documents[-1].lang, models)


def document_json(document: Document) -> dict[str, Any]:
    """What `report.json` holds: `question` and `answer` are the last ones, `earlier` those before in a conversation."""
    *earlier, last = [{"question": item.question, "answer": to_json(item.answer)} for item in document.exchanges]
    return {
        "version": VERSION,
        "id": document.id,
        "created": document.created,
        "title": document.title,
        **last,
        "earlier": earlier,
        "book": asdict(document.book),
        "lang": document.lang,
        "model": document.model or None,
        "versions": {"ask_book": document.made_by},
    }


def read_document(data: Mapping[str, Any]) -> Document:
    """The document that `document_json` gave. Raises ValueError, KeyError or TypeError for anything else."""
    if data["version"] != VERSION:
        raise ValueError(f"version {data['version']}")
    exchanges = [Exchange(item["question"], _answer(item["answer"])) for item in (*data["earlier"], data)]
    book = Book(**{**data["book"], "authors": tuple(data["book"]["authors"])})
    made_by = data["versions"]["ask_book"]
    return Document(data["id"], data["created"], book, tuple(exchanges), data["lang"], data["model"] or "", made_by)


def _answer(data: Mapping[str, Any]) -> Answer:
    claims = data["claims"]
    return Answer(
        id=data["id"],
        status=data["status"],
        mode=data["mode"],
        answer=data["answer"],
        citations=_each(Citation, data["citations"]),
        sources=_each(Source, data["sources"]),
        absent_terms=tuple(data["absent_terms"]),
        nearest=_each(Source, data["nearest"]),
        claims=_one(Claims, {**claims, "marks": _each(Mark, claims["marks"])}),
        notices=_each(Notice, data["notices"]),
        timings=data["timings"] or None,
    )


def _each(kind: type[Any], rows: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    return tuple(_one(kind, row) for row in rows)


def _one(kind: type[Any], row: Mapping[str, Any]) -> Any:
    """A later version may have said more: that is left out."""
    values = {field.name: row[field.name] for field in fields(kind) if field.name in row}
    if "heading_path" in values:
        values["heading_path"] = tuple(values["heading_path"])
    return kind(**values)
