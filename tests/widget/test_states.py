"""What a reader sees while an answer comes, when it does not come, and when the panel is not the only thing to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from widget.guide import Guide
from widget.reader import Reader
from widget.servers import ScriptedServer, answer_json, place

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
NOBODYS = "000000000000"


@pytest.fixture
def opened(scripted: ScriptedServer, reader: Reader, page: Page) -> Reader:
    page.goto(scripted.url + "index.html")
    reader.open()
    return reader


def halting(_: str) -> Iterator[tuple[str, Any]]:
    yield "sources", [place(chapter_title="A chapter", heading_path=["A section"])]
    yield "wait", None
    yield "delta", {"text": "First words "}
    yield "wait", None
    yield "delta", {"text": "and last. [1](#ask-book-1)"}
    yield "citation", place()
    yield "done", answer_json("First words and last. [1](#ask-book-1)", place(), sources=[place()])


def test_sources_come_before_the_first_word(scripted: ScriptedServer, opened: Reader) -> None:
    scripted.stream = halting
    opened.type(QUESTION)
    expect(opened.part("sources")).to_contain_text("A chapter › A section")
    expect(opened.part("answer")).to_have_text("Searching the book…")
    scripted.go_on.set()
    opened.wait()
    expect(opened.part("note")).to_have_text("1")
    expect(opened.last).to_contain_text("1 of 1 quotes checked")


def test_stop_keeps_what_has_come(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    def endless(_: str) -> Iterator[tuple[str, Any]]:
        yield "delta", {"text": "First words"}
        yield "wait", None

    scripted.stream = endless
    opened.type(QUESTION)
    expect(opened.part("answer")).to_have_text("First words")
    page.get_by_role("button", name="Stop").click()
    opened.wait()
    expect(opened.part("answer")).to_have_text("First words")
    expect(opened.last).to_contain_text("Stopped.")
    scripted.go_on.set()
    scripted.stream = halting
    page.get_by_role("button", name="Try again").click()
    expect(opened.last).to_contain_text("1 of 1 quotes checked")
    expect(page.locator("ask-book .turn")).to_have_count(1)


def test_a_sidecar_that_dies_in_mid_answer(scripted: ScriptedServer, opened: Reader) -> None:
    def dying(_: str) -> Iterator[tuple[str, Any]]:
        yield "delta", {"text": "What had come."}
        yield "cut", None

    scripted.stream = dying
    opened.type(QUESTION)
    opened.wait()
    expect(opened.part("answer")).to_have_text("What had come.")
    expect(opened.last).to_contain_text("The connection broke off. What has come stays here.")


def test_a_sidecar_that_is_gone_leaves_the_browser_to_search(
    scripted: ScriptedServer, reader: Reader, page: Page
) -> None:
    scripted.config = {"book": {"id": NOBODYS, "title": "A book", "lang": "en"}}
    scripted.health["book"] = {"id": NOBODYS}
    page.goto(scripted.url + "index.html")
    reader.open()
    scripted.refusal = (500, {}, {"error": {"code": "failed", "message": "It broke.", "hint": "Look at the log."}})
    reader.type(QUESTION)
    reader.wait()
    expect(reader.last).to_contain_text("It broke.")
    expect(reader.last).to_contain_text("Look at the log.")
    scripted.health = {"book": {"id": "another book"}, "index": {"state": "ready"}}
    page.reload()
    expect(reader.part("status")).to_have_text("Searched in your browser, without a model")
    page.get_by_role("button", name="Try again").click()
    expect(reader.part("note").first).to_be_visible()


def test_too_many_questions(scripted: ScriptedServer, opened: Reader) -> None:
    scripted.refusal = (429, {"Retry-After": "7"}, {})
    opened.type(QUESTION)
    opened.wait()
    expect(opened.last).to_contain_text("Too many questions at once.")
    expect(opened.last).to_contain_text("Try again in 7 seconds.")


def test_while_the_index_is_built_the_browser_searches(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.health = {**scripted.health, "index": {"state": "building", "progress": 0.4}}
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(reader.part("status")).to_have_text("Index being built (40 %); your browser searches meanwhile")
    reader.ask(QUESTION)
    expect(reader.part("note").first).to_be_visible()
    assert scripted.asked == []
    scripted.health = {**scripted.health, "index": {"state": "ready", "progress": 1.0}}
    expect(reader.part("status")).to_have_text("Answered by this book’s own server")


def test_a_page_without_the_text_of_the_book(guide: Guide, reader: Reader, page: Page) -> None:
    page.route("**/ask-book/book.js", lambda route: route.abort())
    page.goto(guide.site.as_uri() + "/index.html")
    reader.open()
    reader.type(QUESTION)
    reader.wait()
    expect(reader.last).to_contain_text("This page came without the text of the book.")


def test_a_question_that_is_too_long_is_not_lost(scripted: ScriptedServer, opened: Reader) -> None:
    opened.type("why " * 150)
    expect(opened.part("status")).to_have_text("A question has at most 500 characters")
    expect(opened.part("input")).to_have_value("why " * 150)
    assert scripted.asked == []


def test_only_a_click_or_a_key_asks_a_model(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = halting
    scripted.go_on.set()
    page.goto(scripted.url + "index.html?ask=What is it?")
    reader.wait()
    assert scripted.asked == [{"question": "What is it?", "mode": "extractive"}]
    reader.ask("And that?")
    earlier = {"question": "What is it?", "answer": "First words and last."}
    assert scripted.asked[1:] == [{"question": "And that?", "history": [earlier]}]


def test_suggested_questions(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.config = {"suggestions": ["How?", "Why?"]}
    scripted.stream = halting
    scripted.go_on.set()
    page.goto(scripted.url + "index.html")
    reader.open()
    page.get_by_role("button", name="Why?").click()
    reader.wait()
    assert scripted.asked == [{"question": "Why?"}]


def test_suggestions_made_of_the_page_and_texts_of_the_author(
    scripted: ScriptedServer, reader: Reader, page: Page
) -> None:
    scripted.config = {"suggestions": [], "texts": {"title": "Ask Ada", "suggestion": "Tell me: {heading}"}}
    page.goto(scripted.url + "readers/answers.html")
    reader.open()
    expect(page.get_by_role("dialog", name="Ask Ada")).to_be_visible()
    expect(page.locator("ask-book .suggestion").first).to_have_text("Tell me: The text")


def test_hovering_over_a_note_shows_its_quote_for_as_long(scripted: ScriptedServer, opened: Reader) -> None:
    scripted.stream = halting
    scripted.go_on.set()
    opened.ask(QUESTION)
    opened.part("note").hover()
    assert opened.quote() == "Welcome"
    opened.part("jump").hover()
    expect(opened.part("quote")).to_be_visible()
    opened.part("input").hover()
    expect(opened.part("quote")).to_have_count(0)
    opened.part("note").hover()
    opened.part("note").click()
    opened.part("input").hover()
    opened.page.wait_for_timeout(400)
    expect(opened.part("quote")).to_be_visible()


def test_a_new_conversation(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    scripted.stream = halting
    scripted.go_on.set()
    opened.ask(QUESTION)
    page.reload()
    expect(opened.part("note")).to_have_count(1)
    page.get_by_role("button", name="New conversation").click()
    expect(opened.part("note")).to_have_count(0)
    page.reload()
    expect(page.locator("ask-book .turn")).to_have_count(0)


@pytest.mark.parametrize(
    ("lang", "title"), [("es", "Pregúntale al libro"), ("ja-JP", "本に質問する"), ("xx", "Ask the book")]
)
def test_the_panel_speaks_the_pages_language(
    scripted: ScriptedServer, guide: Guide, reader: Reader, page: Page, lang: str, title: str
) -> None:
    scripted.config = {"book": {"id": guide.book_id, "title": "A book", "lang": lang}}
    page.goto(scripted.url + "index.html")
    expect(reader.part("launcher")).to_contain_text(title)
    reader.open()
    expect(page.get_by_role("dialog", name=title)).to_be_visible()
