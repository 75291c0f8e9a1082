import json

from ask_book.answering.answer import HEADER_BYTES, Answer, Source, source, sources_header, to_json
from ask_book.book.manifest import Tag
from small_books import small_manifest


def test_an_empty_answer_has_every_field_of_the_contract() -> None:
    assert to_json(Answer("a1", "not_found", "extractive", "No encontrado en el libro")) == {
        "id": "a1",
        "status": "not_found",
        "mode": "extractive",
        "answer": "No encontrado en el libro",
        "citations": (),
        "sources": (),
        "absent_terms": (),
        "nearest": (),
        "claims": {"cited": 0, "uncited": 0, "unsupported": 0, "dropped_tags": 0, "marks": ()},
        "report": None,
        "notices": (),
        "timings": {},
    }


def test_a_source_is_a_passage_in_a_readers_words() -> None:
    book = small_manifest()
    found = source(book, Tag(1, 204, 246), 0.123456)
    assert found == Source(
        "[f1-204-246]", "clima.html#sec-lluvia", "sec-lluvia", "El clima", ("El clima", "La lluvia"), 0.1235,
        "La estación seca va de junio a septiembre.",
    )  # fmt: skip
    assert source(book, Tag(1, 246, 247), 1.0) is None, "white space is no source"


def test_the_header_is_bounded_ascii_json() -> None:
    odd = "Capítulo ñ \r\nX-Evil: 1 🐝" * 5
    many = [Source(f"[f0-{n}-{n + 5}]", f"a.html#{n}", "", odd, (), 1.0, "text") for n in range(100)]
    header = sources_header(many)
    assert header.isascii()
    assert "\r" not in header
    assert len(header) <= HEADER_BYTES
    rows = json.loads(header)
    assert rows == [{"tag": s.tag, "href": s.href, "chapter_title": odd} for s in many[: len(rows)]]
    assert 3 < len(rows) < 100
    assert sources_header([]) == "[]"
