import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ask_book.answering.answer import Answer
from ask_book.answering.ask import answer
from ask_book.answering.conversation import with_what_went_before
from ask_book.answering.events import Event, collect, event_json
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Turn, question, question_text
from ask_book.errors import AskBookError, UsageError
from ask_book.retrieval.language import locale


def ask(book: OpenBook, text: str, **more: object) -> Answer:
    return asyncio.run(collect(answer(book, question(text, **more))))


def events_of(book: OpenBook, text: str, **more: object) -> list[Event]:
    async def listen() -> list[Event]:
        return [event async for event in answer(book, question(text, **more))]

    return asyncio.run(listen())


def test_an_answer_is_quotes_with_their_notes(valley: OpenBook) -> None:
    found = ask(valley, "¿Cuándo es la estación seca?")
    assert (found.status, found.mode) == ("answered", "extractive")
    assert found.answer.startswith("La estación seca va de junio a septiembre. ")
    first = found.citations[0]
    assert first.quote.startswith("La estación seca va de junio a septiembre. ")
    assert (first.n, first.href, first.verified) == (1, "clima.html#sec-lluvia", True)
    assert [item.score for item in found.sources] == sorted((item.score for item in found.sources), reverse=True)
    assert ("El clima", "La lluvia") in [item.heading_path for item in found.sources]
    assert len({item.tag for item in found.sources}) == len(found.sources)
    assert found.claims.cited == len(found.citations)
    assert found.claims.marks == ()
    assert set(found.timings or {}) == {"retrieval", "first", "total"}


def test_a_question_may_name_the_chapter_to_look_in(valley: OpenBook) -> None:
    found = ask(valley, "capítulo:clima ¿Cuándo es la estación seca?")
    assert {item.href.split("#")[0] for item in found.sources} == {"clima.html"}
    assert {item.href.split("#")[0] for item in ask(valley, "chapter:clima").sources} == {"clima.html"}
    hits = asyncio.run(valley.search("lluvia chapter:clima", 7)).hits
    assert {valley.manifest.chunks[hit.chunk].chapter for hit in hits} == {1}
    assert ask(valley, "chapter:volcanes ¿Cuándo es la estación seca?").status == "answered"


def test_events_come_in_order_and_make_up_the_answer(valley: OpenBook) -> None:
    events = events_of(valley, "¿Cómo se leen los datos de lluvia?")
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1]) == ("sources", "done")
    assert kinds.index("citation") < kinds.index("delta")
    done = events[-1].data
    assert "".join(event.data for event in events if event.kind == "delta") == done.answer
    assert tuple(event.data for event in events if event.kind == "citation") == done.citations
    assert events[0].data == done.sources
    assert event_json(events[kinds.index("delta")])["text"] in done.answer


def test_the_same_question_gets_the_same_answer(valley: OpenBook) -> None:
    one, two = ask(valley, "el viento del oeste"), ask(valley, "el viento del oeste")
    assert (one.answer, one.citations, one.sources) == (two.answer, two.citations, two.sources)
    assert one.id != two.id


@pytest.mark.parametrize("text", ["¿Dónde está el aeropuerto de Miami?", "quokka", "Zürich Straßenbahn"])
def test_what_the_book_does_not_say_is_not_found(valley: OpenBook, text: str) -> None:
    found = ask(valley, text)
    assert (found.status, found.answer) == ("not_found", "No encontrado en el libro")
    assert (found.sources, found.citations) == ((), ())
    assert len(found.nearest) <= 3
    assert found.absent_terms


@pytest.mark.parametrize("text", ["hola", "¡Buenos días!", "Thanks a lot", "merci beaucoup", "Vielen Dank!", "ciao"])
def test_small_talk_points_back_to_the_book(valley: OpenBook, text: str) -> None:
    found = ask(valley, text)
    assert (found.status, found.answer) == ("not_found", locale("es").answer["small_talk_reply"])
    assert (found.sources, found.nearest, found.absent_terms) == ((), (), ())


def test_a_question_that_begins_politely_is_a_question(valley: OpenBook) -> None:
    assert ask(valley, "Hola, ¿cuándo es la estación seca?").status == "answered"
    assert "small_talk" not in ask(valley, "¿Cuántos días dura la travesía?").answer


def test_a_follow_up_takes_the_words_before_it_along(bees: OpenBook) -> None:
    history = [{"question": "What do bees need in late winter?", "answer": "Feeding."}]
    alone = ask(bees, "And in March?")
    together = ask(bees, "And in March?", history=history)
    assert "March syrup 2.5" in [item.quote for item in together.citations]
    assert "Bees need feeding in late winter." in " ".join(item.quote for item in together.citations)
    assert alone.answer != together.answer


@pytest.mark.parametrize("text", ["What about March?", "How about in March?", "And March?", "Then?"])
def test_what_leans_on_the_question_before(bees: OpenBook, text: str) -> None:
    asked = question(text, history=[{"question": "Which food in spring?"}, {"question": "And then?"}])
    assert with_what_went_before(bees, asked) == f"{text} And then? Which food in spring?"


@pytest.mark.parametrize("text", ["Who is Dr. Ames?", "How heavy must a hive be?", "Fondant?"])
def test_what_stands_alone(bees: OpenBook, text: str) -> None:
    asked = question(text, history=[{"question": "Which food in spring?"}])
    assert with_what_went_before(bees, asked) == text


def test_scope_keeps_to_a_chapter(bees: OpenBook) -> None:
    inside = ask(bees, "bees and the hive", scope="counting.qmd")
    assert {item.href.split("#")[0] for item in (*inside.sources, *inside.nearest)} == {"counting.html"}
    with pytest.raises(UsageError) as error:
        events_of(bees, "bees", scope="nowhere.qmd")
    assert error.value.code == "scope"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "question_empty"), (" \n\t ", "question_empty"), ("x" * 501, "question_too_long"), (None, "question"),
        (7, "question"), (["a"], "question"), ("a\x00b", "question_characters"), ("a\x1b[31m", "question_characters"),
        ("\ud800", "question_characters"),
    ],
)  # fmt: skip
def test_what_is_no_question(text: object, code: str) -> None:
    with pytest.raises(UsageError) as error:
        question(text)
    assert error.value.code == code
    assert error.value.hint


def test_a_question_of_500_characters_is_asked() -> None:
    assert question_text("é" * 500) == "é" * 500
    assert question_text("  two\n words\t") == "two words"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("history", "x"), ("history", [1]), ("history", [{"question": ""}]), ("mode", "magic"), ("mode", 1),
        ("scope", 1), ("scope", "x" * 301), ("report", "yes"),
    ],
)  # fmt: skip
def test_other_fields_are_checked(field: str, value: object) -> None:
    with pytest.raises(UsageError):
        question("bees", **{field: value})


def test_history_is_bounded() -> None:
    turns = question("bees", history=[{"question": f"q{n}"} for n in range(9)]).history
    assert turns == tuple(Turn(f"q{n}") for n in (5, 6, 7, 8))


def test_an_answer_that_breaks_off_is_an_error(valley: OpenBook) -> None:
    async def cut() -> AsyncGenerator[Event, None]:
        for event in events_before[:-1]:
            yield event

    events_before = events_of(valley, "lluvia")
    with pytest.raises(AskBookError):
        asyncio.run(collect(cut()))


def test_lists_of_references_are_found_but_not_quoted(valley: OpenBook) -> None:
    found = ask(valley, "Oyarzún La lluvia del valle de Aré Imprenta del Puente")
    assert all(item.anchor != "bibliografia" for item in found.citations)


def test_pages_hold_what_is_quoted(valley: OpenBook) -> None:
    for citation in ask(valley, "¿Cómo se llama el viento del oeste?").citations:
        page = (Path(valley.site) / citation.href.split("#")[0]).read_text(encoding="utf-8")
        assert citation.quote in page
        assert f'id="{citation.anchor}"' in page
