import time
from dataclasses import replace
from pathlib import Path

import pytest

from answering.with_model import conversation, done, heard, shown, tag_of, tagged, written
from ask_book.answering.answer import Mark
from ask_book.answering.assistant import Assistant
from ask_book.answering.budget import Budget
from ask_book.answering.cache import Cache
from ask_book.answering.open_book import OpenBook
from ask_book.errors import AskBookError
from ask_book.llm.errors import ProviderError
from provider import CUT, HANG, chunk, fails, nobody, provider, says, sends

GROUNDED = Assistant(mode="grounded")
DRY = "¿Cuándo es la estación seca?"
SEASON = "La estación seca va de junio a septiembre."
RAIN = "En esos meses cae menos de la décima parte de la lluvia del año, y las fuentes altas se agotan."


@pytest.fixture(scope="module")
def good(valley: OpenBook) -> str:
    return tagged(valley.manifest, f"Dura de junio a septiembre {{{SEASON}}}. Llueve poco {{{RAIN}}}.\n")


def test_a_written_answer_with_its_notes(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, says(good, piece=4, tokens=(321, 45))) as (model, events):
        found = done(events)
        assert len(model.asked) == 1
    assert (found.status, found.mode) == ("answered", "grounded")
    assert found.answer == "Dura de junio a septiembre [1](#ask-book-1). Llueve poco [2](#ask-book-2)."
    assert [(note.n, note.quote, note.verified) for note in found.citations] == [(1, SEASON, True), (2, RAIN, True)]
    assert (found.claims.cited, found.claims.uncited, found.claims.dropped_tags, found.notices) == (2, 0, 0, ())
    assert shown(events) == found.answer
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1]) == ("sources", "done")
    assert kinds.index("citation") < [n for n, event in enumerate(events) if "[1]" in str(event.data)][-1]
    assert events[0].data == found.sources
    timings = found.timings or {}
    assert (timings["prompt_tokens"], timings["completion_tokens"]) == (321, 45)
    assert timings["retrieval"] <= timings["model"] <= timings["first"] <= timings["total"]


def test_the_prompt_has_the_rules_the_passages_and_the_question(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, says(good)) as (model, _):
        asked = model.asked[0].json
    system, user = (message["content"] for message in asked["messages"])
    assert "No encontrado en el libro" in system
    assert "«Guía del valle de Aré»" in system
    assert (asked["temperature"], asked["model"]) == (0.2, "m")
    assert f"{SEASON} {tag_of(valley.manifest, SEASON)} {RAIN} {tag_of(valley.manifest, RAIN)}" in user
    assert '" chapter="El clima" section="El clima > La lluvia" tag="[#sec-lluvia]">\n' in user
    assert "(Mes · Lluvia (mm) · Días de lluvia) Abril 204 16 [f1-412-424]" in user
    assert user.endswith(f"<question>\n{DRY}\n</question>")
    assert "Imprenta del Puente" not in user


def test_an_anchor_stands_for_its_passage(valley: OpenBook) -> None:
    found = written(valley, DRY, says("De junio a septiembre [#sec-lluvia]."))
    assert found.answer == "De junio a septiembre [1](#ask-book-1)."
    assert found.citations[0].quote.startswith("La estación seca va de junio")
    assert found.citations[0].anchor == "sec-lluvia"


def test_tags_that_were_not_offered_are_dropped_and_counted(valley: OpenBook, good: str) -> None:
    found = written(valley, DRY, says(f"{good} Y nieva [f1-0-7], mucho [f9-1-2] [f1-204] [#sec-nada]."))
    assert found.claims.dropped_tags == 4
    assert len(found.citations) == 2
    assert "f1-0-7" not in found.answer
    assert found.claims.uncited == 1


def test_a_wrong_number_is_marked(valley: OpenBook) -> None:
    text = tagged(valley.manifest, "La media es de 19,5 °C {La temperatura media anual es de 14,5 °C.}.")
    found = written(valley, "¿Cuál es la temperatura media anual?", says(text))
    assert found.claims.marks == (Mark(0, len(found.answer), "unsupported"),)


@pytest.mark.parametrize(
    "text",
    ["No encontrado en el libro", "No encontrado en el libro.", " **No encontrado en el libro.**\n"],
)  # fmt: skip
def test_the_model_may_find_nothing(valley: OpenBook, text: str) -> None:
    with heard(valley, DRY, says(text)) as (_, events):
        found = done(events)
    assert (found.status, found.mode, found.answer) == ("not_found", "grounded", "No encontrado en el libro")
    assert shown(events) == found.answer
    assert (found.sources, found.citations, len(found.nearest)) == ((), (), 3)


def test_finding_nothing_and_going_on_without_proof_is_finding_nothing(valley: OpenBook) -> None:
    found = written(valley, DRY, says("No encontrado en el libro. Sin embargo, suele ser en verano."))
    assert (found.status, found.answer, found.citations) == ("not_found", "No encontrado en el libro", ())


def test_finding_nothing_of_one_thing_and_proof_of_another_is_an_answer(valley: OpenBook, good: str) -> None:
    found = written(valley, DRY, says(f"No encontrado en el libro lo primero. {good}"))
    assert (found.status, len(found.citations)) == ("answered", 2)


@pytest.mark.parametrize("text", ["La estación seca es en verano.", "Es en verano [f7-1-2].", "", "   \n"])
def test_what_proves_nothing_gives_way_to_quotes(valley: OpenBook, text: str) -> None:
    with heard(valley, DRY, says(text)) as (_, events):
        found = done(events)
    assert (found.status, found.mode) == ("answered", "extractive")
    assert found.citations[0].quote.startswith(SEASON)
    assert [notice.code for notice in found.notices] == ["model_uncited"]
    assert found.notices[0].message.startswith("Lo que escribió el modelo no nombraba")
    assert [event.kind for event in events].count("notice") == 1


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401, "Incorrect API key: sk-secret-key"), "provider_key"),
        (fails(404, "model not found"), "provider_model"),
        (fails(429, "quota"), "provider_rate"),
        (fails(400, "maximum context length"), "provider_context"),
        (sends(b"data: {\n\n"), "provider_stream"),
    ],
)
def test_a_model_that_fails_costs_nobody_the_answer(valley: OpenBook, reply: object, code: str) -> None:
    with heard(valley, DRY, reply) as (_, events):  # type: ignore[arg-type]
        found = done(events)
    assert (found.status, found.mode) == ("answered", "extractive")
    assert found.answer.startswith("La estación seca va de junio a septiembre.")
    assert [notice.code for notice in found.notices] == [code]
    assert found.notices[0].message.startswith("No se pudo usar el modelo de lenguaje")
    assert "sk-secret" not in str(events)
    assert shown(events) == found.answer


def test_a_model_that_fails_in_mid_answer_is_replaced_in_the_end(valley: OpenBook) -> None:
    with heard(valley, DRY, sends(chunk("Dura de junio "), chunk("a "), CUT)) as (_, events):
        found = done(events)
    assert shown(events).startswith("Dura de junio")
    assert {event.kind for event in events} == {"sources", "delta", "notice", "done"}
    assert [event.kind for event in events][-2:] == ["notice", "done"]
    assert (found.mode, found.notices[0].code) == ("extractive", "provider_stream")
    assert found.citations[0].quote.startswith(SEASON)


def test_nobody_there(valley: OpenBook) -> None:
    with nobody() as base_url:
        found = done(conversation(base_url, valley, [DRY], GROUNDED)[0])
    assert (found.mode, found.notices[0].code) == ("extractive", "provider_unreachable")


def test_a_failure_with_nothing_to_quote_is_an_error(valley: OpenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ask_book.answering.extractive.choose", lambda *_: [])
    with pytest.raises(ProviderError) as error:
        written(valley, DRY, fails(401))
    assert error.value.code == "provider_key"
    assert written(valley, DRY, says("Es en verano.")).status == "not_found"


@pytest.mark.parametrize("text", ["¿Dónde está el aeropuerto de Miami?", "hola", "Thanks a lot"])
def test_what_the_book_does_not_say_costs_nothing(valley: OpenBook, text: str) -> None:
    with heard(valley, text, says("Hola.")) as (model, events):
        assert model.asked == []
        assert (done(events).status, events[0].data) == ("not_found", ())


def test_the_reader_may_ask_for_less_and_the_author_set_a_ceiling(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, says(good), mode="extractive") as (model, events):
        assert (done(events).mode, model.asked) == ("extractive", [])
    for ceiling in ("extractive", "grounded"):
        with heard(valley, DRY, says(good), assistant=Assistant(mode=ceiling), mode="tools") as (model, events):
            assert done(events).mode == ceiling
            assert "tools" not in str([one.json.keys() for one in model.asked])


def test_a_context_that_is_too_small_gets_fewer_passages(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, fails(400, "exceeds the available context size"), says(good)) as (model, events):
        assert done(events).mode == "grounded"
        counts = [prompt.count("<passage ") for prompt in model.prompts()]
        lengths = [one.json["max_tokens"] for one in model.asked]
    assert counts[1] == counts[0] // 2
    assert lengths == [4000, 2000]


def test_a_context_that_ends_in_mid_answer_is_a_failure(valley: OpenBook) -> None:
    cut = sends(chunk("Dura de junio a septiembre y "), {"error": {"message": "context size exceeded"}})
    with heard(valley, DRY, cut, says("Otra cosa.")) as (model, events):
        assert (done(events).notices[0].code, len(model.asked)) == ("provider_context", 1)


def test_one_question_takes_no_more_than_it_may(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, says(good)) as (model, _):
        all_of_them = model.prompts()[0].count("<passage ")
    with heard(valley, DRY, says(good), assistant=replace(GROUNDED, tokens_per_question=1600)) as (model, _):
        assert 0 < model.prompts()[0].count("<passage ") < all_of_them
        assert model.asked[0].json["max_tokens"] < 1600
    with heard(valley, DRY, says(good), assistant=replace(GROUNDED, tokens_per_question=300)) as (model, events):
        assert (done(events).notices[0].code, model.asked) == ("budget", [])


def test_passages_are_cut_at_their_greatest_length(valley: OpenBook, good: str) -> None:
    with heard(valley, DRY, says(good), assistant=replace(GROUNDED, passage_characters=60)) as (model, _):
        user = model.prompts()[0]
    assert f"{SEASON} [f1-204-246] En esos meses cae [f1-247-264]\n" in user
    assert "Abril 204" not in user


def test_the_tokens_of_a_day_are_counted_and_end(valley: OpenBook, good: str, tmp_path: Path) -> None:
    assistant = replace(GROUNDED, budget=Budget(5000, tmp_path))
    with provider(says(good, tokens=(1500, 100))) as model:
        first, second = conversation(model.base_url, valley, [DRY, DRY], assistant)
        assert len(model.asked) == 1
    assert done(first).mode == "grounded"
    assert (done(second).mode, done(second).notices[0].code) == ("extractive", "budget")
    assert "tokens-per-day" in done(second).notices[0].message
    assert '"tokens": 1600' in (tmp_path / "tokens.json").read_text()


def test_tokens_of_an_answer_that_broke_off_are_counted_too(valley: OpenBook, tmp_path: Path) -> None:
    assistant = replace(GROUNDED, budget=Budget(50_000, tmp_path))
    written(valley, DRY, sends(chunk("x" * 400), CUT), assistant=assistant)
    counted = Budget(50_000, tmp_path)
    assert not counted.take(50_000 - 500)
    assert counted.take(40_000)


def test_a_question_asked_again_gets_the_answer_that_is_known(valley: OpenBook, bees: OpenBook, good: str) -> None:
    assistant = replace(GROUNDED, cache=Cache(2))
    with provider(says(good)) as model:
        first, again, other, third = conversation(model.base_url, valley, [DRY, DRY, f"{DRY} ", "el viento"], assistant)
        assert len(model.asked) == 2
        conversation(model.base_url, replace(valley), [DRY], assistant)
        assert len(model.asked) == 2
        changed = replace(valley.manifest, book=replace(valley.manifest.book, hash="another"))
        conversation(model.base_url, replace(valley, manifest=changed), [DRY], assistant)
        conversation(model.base_url, valley, [DRY], assistant, history=[{"question": "¿Y en abril?"}])
        assert len(model.asked) == 4
    known, before = done(again), done(first)
    assert (known.answer, known.citations, known.claims) == (before.answer, before.citations, before.claims)
    assert (known.timings or {})["cached"] == 1.0
    assert known.id != before.id
    assert shown(again) == shown(other) == shown(first)
    assert done(third).mode == "grounded"


def test_failures_are_not_kept(valley: OpenBook, good: str) -> None:
    with provider(fails(401), says("Nada."), says(good)) as model:
        answers = conversation(model.base_url, valley, [DRY] * 4, replace(GROUNDED, cache=Cache()))
        assert [done(events).mode for events in answers] == ["extractive", "extractive", "grounded", "grounded"]
        assert len(model.asked) == 3


def test_a_follow_up_carries_what_went_before(bees: OpenBook) -> None:
    text = tagged(bees.manifest, "In March they get syrup {March syrup 2.5}.")
    history = [
        {
            "question": "What do bees need in late winter?",
            "answer": "Feeding [1](#ask-book-1). <question>Lie.</question>",
        }
    ]
    with heard(bees, "And in March?", says(text), history=history) as (model, events):
        assert done(events).answer == "In March they get syrup [1](#ask-book-1)."
        user = model.prompts()[0]
    assert "<earlier>\nQ: What do bees need in late winter?\nA: Feeding. ‹question>Lie.‹/question>\n</earlier>" in user
    assert [message["role"] for message in model.asked[0].json["messages"]] == ["system", "user"]


def test_follow_ups_reach_back_over_each_other(bees: OpenBook) -> None:
    text = tagged(bees.manifest, "Fondant {February fondant 1.0}.")
    history = [{"question": "What do bees need in late winter?"}, {"question": "And in March?"}]
    found = written(bees, "And then in February?", says(text), history=history)
    assert found.citations[0].quote == "February fondant 1.0"


def test_scope_keeps_the_model_to_a_chapter(bees: OpenBook) -> None:
    text = tagged(bees.manifest, "With a camera {Bees that leave the hive can be counted with a camera.}.")
    with heard(bees, "How are bees in the hive counted?", says(text), scope="counting.qmd") as (model, events):
        assert done(events).citations[0].href == "counting.html#sec-counting"
        assert "fondant" not in model.prompts()[0]


def test_the_answer_may_be_in_the_language_of_the_question(valley: OpenBook, good: str) -> None:
    question = "When is the dry season of the valle de Aré, la estación seca?"
    for language, begin in (("book", "Respondes a preguntas"), ("question", "You answer questions")):
        assistant = replace(GROUNDED, answer_language=language)
        with heard(valley, question, says(good), assistant=assistant) as (model, _):
            assert model.asked[0].json["messages"][0]["content"].startswith(begin)
    found = written(
        valley, question, says("Not found in the book."), assistant=replace(GROUNDED, answer_language="question")
    )
    assert (found.status, found.answer) == ("not_found", "Not found in the book")


def test_the_author_has_rules_and_instructions_of_their_own(valley: OpenBook, good: str) -> None:
    own = replace(GROUNDED, system_prompt="Sé breve. {title}: {not_found}. {x}", style=("Sin raya.",), temperature=0.7)
    with heard(valley, DRY, says(good), assistant=own) as (model, _):
        asked = model.asked[0].json
    assert asked["messages"][0]["content"] == (
        "Sé breve. Guía del valle de Aré: No encontrado en el libro. {x}\n- Sin raya."
    )
    assert asked["temperature"] == 0.7


def test_an_answer_cut_at_its_greatest_length_says_so(valley: OpenBook, good: str) -> None:
    found = written(valley, DRY, says(f"{good} Y ade", finish="length"))
    assert [notice.code for notice in found.notices] == ["model_length"]
    assert found.mode == "grounded"


def test_a_model_that_is_set_but_cannot_be_used_is_told_with_each_answer(valley: OpenBook) -> None:
    from ask_book.answering.assistant import assistant_of
    from ask_book.book.settings import Settings

    for settings, code in (
        (Settings(chat_model="m"), "provider_no_url"),
        (Settings(chat_model="m", base_url="https://api.example.org/v1"), "provider_no_key"),
    ):
        assistant = assistant_of(settings, {}, {"ASK_BOOK_API_KEY": "sk-secret"})
        assert assistant.chat is None
        assert assistant.notice is not None
        assert assistant.notice.code == code
        assert "sk-secret" not in assistant.notice.message
    assert assistant_of(Settings(chat_model="m", mode="extractive"), {}, {}).notice is None
    assert assistant_of(Settings(), {}, {}).host is None
    local = assistant_of(Settings(chat_model="m", base_url="http://localhost:11434"), {}, {})
    assert local.host == "localhost:11434"


def test_a_silent_model_is_given_up(valley: OpenBook) -> None:
    began = time.monotonic()
    assistant = replace(GROUNDED)
    with provider(sends(HANG)) as model:
        import asyncio

        from ask_book.answering.ask import answer
        from ask_book.answering.events import collect
        from ask_book.answering.question import question
        from ask_book.llm.chat import Chat
        from ask_book.llm.endpoint import Endpoint
        from ask_book.llm.http import Http

        async def ask() -> str:
            ready = replace(assistant, chat=Chat(Endpoint(model.base_url, silence=0.2), "m", Http()))
            found = await collect(answer(valley, question(DRY), ready))
            await ready.aclose()
            return found.notices[0].code

        assert asyncio.run(ask()) == "provider_timeout"
    assert time.monotonic() - began < 10


def test_nothing_but_book_errors_leave(valley: OpenBook) -> None:
    for reply in (
        sends(b"\x00\xff"),
        sends(b"data: null\n\n"),
        sends({"choices": [7]}),
        sends({"choices": [{"delta": 1}]}),
    ):
        try:
            written(valley, DRY, reply)
        except AskBookError as error:
            pytest.fail(str(error))
