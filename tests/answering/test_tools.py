"""A model with tools, scripted: what it may look at, what it may quote, and where it is stopped."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from answering.with_model import conversation, done, heard, shown, tag_of, tagged, written
from ask_book.answering.assistant import Assistant
from ask_book.answering.events import Event
from ask_book.answering.open_book import OpenBook
from ask_book.answering.tools import CALLS, PASSAGES, ROUNDS
from ask_book.llm.chat import SECONDS_WITHOUT_TOOLS, Chat
from ask_book.llm.endpoint import Endpoint
from ask_book.llm.http import Http
from provider import Json, Reply, calls, fails, provider, says

TOOLS = Assistant(mode="tools")
DRY = "¿Cuándo es la estación seca?"
SEASON = "La estación seca va de junio a septiembre."
WIND = "Este viento se llama travesía y dura tres días."
WRITTEN = "La escribió un grupo de vecinas entre 2018 y 2021, p. ej. la Dra. Oyarzún, que midió la lluvia cada mañana."
TAG = re.compile(r"\[f(\d+)-(\d+)-(\d+)\]")
SEARCH = ("search_book", {"question": "estación seca meses"})


@pytest.fixture(scope="module")
def good(valley: OpenBook) -> str:
    return tagged(valley.manifest, f"Va de junio a septiembre {{{SEASON}}}.")


def results(request: Json) -> list[str]:
    """What the tools gave, as the model reads it."""
    return [message["content"] for message in request["messages"] if message["role"] == "tool"]


def ask(valley: OpenBook, *replies: Any, text: str = DRY, **asked: Any) -> tuple[list[Json], list[Event]]:
    with heard(valley, text, *replies, assistant=TOOLS, **asked) as (model, events):
        return [one.json for one in model.asked], events


def test_the_model_looks_first_and_answers_from_what_it_was_shown(valley: OpenBook, good: str) -> None:
    requests, events = ask(valley, calls(SEARCH, text="Voy a buscar."), says(good))
    found = done(events)
    assert (found.status, found.mode, found.answer) == (
        "answered",
        "tools",
        "Va de junio a septiembre [1](#ask-book-1).",
    )
    assert [(note.quote, note.verified) for note in found.citations] == [(SEASON, True)]
    assert shown(events) == found.answer, "what it says before a call is not shown"
    first, second = requests
    assert [tool["function"]["name"] for tool in first["tools"]] == ["search_book", "read_section", "book_overview"]
    assert (first["tool_choice"], second["tool_choice"]) == ("required", "auto")
    assert first["reasoning_effort"] == "none"
    assert SEASON not in json.dumps(first["messages"], ensure_ascii=False), "it has to look"
    assert f"{SEASON} [f1-204-246]" in results(second)[0]
    assert second["messages"][-2]["tool_calls"][0]["function"]["name"] == "search_book"
    assert (found.timings or {})["prompt_tokens"] == 200


def test_sources_come_first_and_grow_with_what_the_model_finds(valley: OpenBook) -> None:
    text = tagged(valley.manifest, f"Dura tres días {{{WIND}}}.")
    _, events = ask(valley, calls(("read_section", {"id": "#sec-viento"})), says(text), text="estación seca")
    sources = [event.data for event in events if event.kind == "sources"]
    assert events[0].kind == "sources"
    assert sources[-1] == done(events).sources
    assert len({source.tag for source in sources[-1]}) == len(sources[-1])
    assert WIND in "".join(source.text for source in sources[-1])
    assert done(events).citations[0].quote == WIND


def test_off_topic_questions_cost_nothing(valley: OpenBook) -> None:
    requests, events = ask(valley, says("…"), text="quokka Straßenbahn")
    assert (requests, done(events).status) == ([], "not_found")


def test_a_passage_is_shown_once_and_the_same_call_is_answered_once(valley: OpenBook, good: str) -> None:
    other = ("search_book", {"question": "en qué meses es la estación seca"})
    requests, _ = ask(
        valley, calls(SEARCH), calls(SEARCH, other), calls(("read_section", {"id": "La lluvia"})), says(good)
    )
    first, again, second, section = results(requests[-1])
    assert again == "You have this result already: answer from what you have, or look for something else."
    tags = [line for text in (first, second, section) for line in text.splitlines() if "[f" in line]
    assert len(set(tags)) == len(tags)
    assert SEASON in first
    assert SEASON not in second + section


def test_results_are_the_words_of_the_book_with_tags(valley: OpenBook, good: str) -> None:
    requests, _ = ask(valley, calls(("read_section", {"id": "1.1"}), ("book_overview", {})), says(good))
    section, overview = results(requests[-1])
    assert section.startswith('<passage n="1" chapter="El clima" section="El clima > La lluvia"')
    for chapter, start, end in TAG.findall(section):
        assert valley.manifest.chapters[int(chapter)].text[int(start) : int(end)] in section
    assert "  s1.1 1.1 La lluvia\n" in overview
    assert f"s0.0 Prefacio\n    {WRITTEN} {tag_of(valley.manifest, WRITTEN)}\n" in overview
    assert overview.index("s0.0 Prefacio") < overview.index("s1.0 1 El clima") < overview.index("s2.0 A Los datos")


def test_an_overview_may_be_quoted(valley: OpenBook) -> None:
    text = tagged(valley.manifest, f"Lo escribió un grupo de vecinas {{{WRITTEN}}}.")
    _, events = ask(valley, calls(("book_overview", {})), says(text), text="¿De qué trata el libro?")
    found = done(events)
    assert found.mode == "tools"
    assert [note.quote for note in found.citations] == [WRITTEN]


def test_what_was_not_shown_does_not_count(valley: OpenBook) -> None:
    text = tagged(valley.manifest, f"Va de junio a septiembre {{{SEASON}}}, y dura tres días {{{WIND}}}.")
    _, events = ask(valley, calls(("read_section", {"id": "1.1"})), says(text))
    assert done(events).claims.dropped_tags == 1
    assert [note.quote for note in done(events).citations] == [SEASON]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("search_book", "{not json"), "The arguments are not as they should be."),
        (("search_book", "[1, 2]"), "The arguments are not as they should be."),
        (("search_book", {"question": "  "}), "The arguments are not as they should be."),
        (("search_book", {"query": "estación seca"}), SEASON),
        (("search_book", {"question": "quokka"}), "(No passage of the book says that.) The book never uses: quokka."),
        (("search_book", {"question": "lluvia " * 400}), "pluviómetro"),
        (("read_section", {"id": "La luvia"}), "There is no section 'La luvia'. Did you mean: La lluvia"),
        (("read_section", {"id": 1.1}), SEASON), (("read_section", {"id": "s1.1"}), SEASON),
        (("read_section", {"id": "sec-lluvia"}), SEASON),
        (("delete_book", {}), "There is no tool 'delete_book'. The tools are search_book, read_section,"),
        (("", {}), None),
    ],
)  # fmt: skip
def test_odd_calls_are_answered_too(valley: OpenBook, good: str, call: tuple[str, Any], expected: str | None) -> None:
    requests, events = ask(valley, calls(call, SEARCH), says(good))
    if expected:
        assert expected in results(requests[-1])[0]
    assert done(events).status == "answered"


def test_rounds_calls_and_passages_are_bounded(valley: OpenBook) -> None:
    at = iter(range(1000))

    def again(_: Json) -> Reply:
        return calls(*(("search_book", {"question": f"lluvia viento {next(at)}"}) for _ in range(CALLS + 3)))

    requests, events = ask(valley, again)
    looping = [request for request in requests if "tools" in request]
    assert len(looping) <= ROUNDS
    assert looping[-1]["tool_choice"] == "none"
    assert sum(text.startswith("Only 4 calls") for text in results(looping[1])) == 3
    assert sum("<passage" in text for text in results(looping[-1])) <= PASSAGES
    assert done(events).mode == "extractive", "a model that never answers leaves the reader the quotes"


@pytest.mark.parametrize(
    "first", [fails(400, "this model does not support tools"), says("La estación seca es en junio.")]
)
def test_a_model_without_tools_is_grounded_by_itself_and_that_is_remembered(
    valley: OpenBook, good: str, first: Reply
) -> None:
    with provider(first, says(good)) as model:
        one, two = conversation(model.base_url, valley, [DRY, "¿Qué es la estación seca?"], TOOLS)
        requests = [asked.json for asked in model.asked]
    assert (done(one).mode, done(one).answer) == ("grounded", "Va de junio a septiembre [1](#ask-book-1).")
    assert ["tools" in request for request in requests] == [True, False, False]
    assert done(two).mode == "grounded"


def test_tools_are_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = Chat(Endpoint("http://127.0.0.1:9/v1"), "m", Http())
    assert chat.has_tools
    chat.does_without_tools()
    assert not chat.has_tools
    later = time.monotonic() + SECONDS_WITHOUT_TOOLS
    monkeypatch.setattr("ask_book.llm.chat.time.monotonic", lambda: later)
    assert chat.has_tools


def test_a_server_that_refuses_to_be_told_to_call_is_asked_without(valley: OpenBook, good: str) -> None:
    requests, events = ask(valley, fails(400, "unsupported parameter: tool_choice"), calls(SEARCH), says(good))
    assert [request.get("tool_choice") for request in requests] == ["required", None, None]
    assert done(events).mode == "tools"


def test_too_much_for_the_model_is_asked_in_less(valley: OpenBook, good: str) -> None:
    too_long = fails(400, "maximum context length is 10 tokens", code="context_length_exceeded")
    _, events = ask(valley, calls(SEARCH), too_long, says(good))
    assert (done(events).mode, done(events).citations[0].quote) == ("grounded", SEASON)


def test_not_found_after_looking_is_said_honestly(valley: OpenBook) -> None:
    _, events = ask(valley, calls(SEARCH), says("No encontrado en el libro."))
    assert (done(events).status, done(events).sources) == ("not_found", ())
    assert shown(events) == "No encontrado en el libro"


def test_a_text_without_any_proof_is_not_shown(valley: OpenBook, good: str) -> None:
    _, events = ask(valley, calls(SEARCH), says("La estación seca va de marzo a mayo."), says(good))
    assert (done(events).mode, shown(events)) == ("grounded", "Va de junio a septiembre [1](#ask-book-1).")


def test_calls_behind_a_cited_text_are_ignored(valley: OpenBook, good: str) -> None:
    requests, events = ask(valley, calls(SEARCH), calls(("book_overview", {}), text=f"{good} "))
    assert len(requests) == 2
    assert shown(events) == "Va de junio a septiembre [1](#ask-book-1)."


def test_scope_binds_the_tools(valley: OpenBook) -> None:
    looks = calls(
        ("read_section", {"id": "Los datos"}),
        ("search_book", {"question": "leer_lluvia función"}),
        ("book_overview", {}),
    )
    requests, _ = ask(valley, looks, says("…"), scope="clima.qmd")
    section, search, overview = results(next(request for request in requests if results(request)))
    assert section.startswith("There is no section")
    assert "datos.html" not in search
    assert "leer_lluvia, que está" not in search
    assert "Los datos" not in overview


def test_what_was_said_before_goes_along(valley: OpenBook, good: str) -> None:
    history = [{"question": DRY, "answer": "De junio a septiembre [1](#ask-book-1)."}]
    requests, _ = ask(valley, calls(SEARCH), says(good), text="¿y cuánto llueve en la estación seca?", history=history)
    assert (
        "<earlier>\nQ: ¿Cuándo es la estación seca?\nA: De junio a septiembre.\n</earlier>"
        in requests[0]["messages"][1]["content"]
    )


def test_the_authors_rules_stay(valley: OpenBook, good: str) -> None:
    assistant = Assistant(mode="tools", system_prompt="Solo {title}.", style=("Sin rayas.",))
    with heard(valley, DRY, calls(SEARCH), says(good), assistant=assistant) as (model, _):
        system = model.asked[0].json["messages"][0]["content"]
    assert system.startswith("Solo Guía del valle de Aré.\n- Sin rayas.\n\nLos pasajes salen de herramientas.")


def test_every_language_has_its_rules() -> None:
    from ask_book.answering import prompt

    folder = Path(prompt.__file__).parent / "prompts"
    assert {file.name for file in (folder / "tools").iterdir()} == {
        file.name for file in (folder / "grounded").iterdir()
    }


def test_the_whole_answer_is_the_same_to_who_does_not_stream(valley: OpenBook, good: str) -> None:
    assert written(valley, DRY, calls(SEARCH), says(good), assistant=TOOLS).mode == "tools"
