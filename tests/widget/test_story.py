"""The main job: ask, see the quote, open the very passage; on every kind of page a reader may have."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.daemon.state import state_folder
from widget.guide import Guide
from widget.reader import PUBLIC_HOST, Reader, collapsed

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
ABSENT = "How many euros does a flight to Miami cost?"


@dataclass(frozen=True)
class Way:
    """Where the pages come from, and who answers there."""

    url: str
    answers: str


@pytest.fixture(params=["served", "file", "ports", "public"])
def way(request: pytest.FixtureRequest, guide: Guide, sidecar: str, site: str) -> Way:
    server = "Answered by this book’s own server"
    browser = "Searched in your browser, without a model"
    return {
        "served": Way(sidecar, server),
        "file": Way(guide.site.as_uri() + "/", browser),
        "ports": Way(site, server),
        "public": Way(site.replace("127.0.0.1", PUBLIC_HOST), browser),
    }[request.param]


def test_from_the_question_to_the_very_words_on_another_page(
    way: Way, reader: Reader, page: Page, guide: Guide
) -> None:
    page.goto(way.url + "authors/install.html")
    reader.open()
    expect(reader.part("status")).to_have_text(way.answers)
    reader.ask(QUESTION)
    expect(reader.part("sources")).to_contain_text("Reading an answer")
    expect(reader.last).to_contain_text("quotes checked")

    note = reader.part("note").first
    note.click()
    quote = reader.quote()
    assert quote in collapsed(reader.part("answer").inner_text())
    expect(reader.part("quote")).to_contain_text("Reading an answer › What “verified” means")
    note.click()
    expect(reader.part("quote")).to_have_count(0)

    note.click()
    reader.part("jump").click()
    page.wait_for_url("**/readers/answers.html?*")
    assert reader.highlighted() == quote
    assert reader.height_of_highlight() == pytest.approx(1 / 3, abs=0.05)
    expect(reader.part("answer")).to_contain_text(quote)

    page.reload()
    assert reader.highlighted() == quote

    page.get_by_role("button", name="Back to where you were").click()
    page.wait_for_url("**/authors/install.html")
    expect(reader.part("answer")).to_contain_text(quote)


def test_on_the_same_page_and_back(way: Way, reader: Reader, page: Page) -> None:
    page.goto(way.url + "readers/answers.html")
    reader.open()
    page.evaluate("scrollTo({top: 200, behavior: 'instant'})")
    reader.ask(QUESTION)
    reader.part("note").first.click()
    quote = reader.quote()
    reader.part("jump").click()
    assert reader.highlighted() == quote
    assert reader.height_of_highlight() == pytest.approx(1 / 3, abs=0.05)
    page.get_by_role("button", name="Back to where you were").click()
    page.wait_for_function("scrollY === 200")
    assert page.evaluate("CSS.highlights.has('ask-book')") is False


def test_what_the_book_does_not_say(way: Way, reader: Reader, page: Page) -> None:
    page.goto(way.url + "index.html")
    reader.open()
    reader.ask(ABSENT)
    expect(reader.part("answer")).to_contain_text("Not found in the book")
    expect(reader.part("answer")).to_contain_text("The book never uses: ")
    expect(reader.part("answer")).to_contain_text("Miami")
    expect(reader.part("sources")).to_have_count(1)
    expect(reader.part("sources")).to_contain_text("Nearest passages")
    expect(reader.part("note")).to_have_count(0)


def test_a_question_in_the_address(way: Way, reader: Reader, page: Page) -> None:
    page.goto(f"{way.url}index.html?ask={QUESTION}")
    reader.wait()
    expect(reader.part("panel")).to_be_visible()
    expect(reader.part("note").first).to_be_visible()


def test_a_deep_link_marks_its_passage_without_opening_the_panel(way: Way, reader: Reader, page: Page) -> None:
    page.goto(way.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    reader.part("note").first.click()
    quote, link = reader.quote(), reader.part("jump").get_attribute("href")
    assert link
    visitor = page.context.browser.new_page()  # type: ignore[union-attr]
    visitor.goto(link)
    assert Reader(visitor).highlighted() == quote
    expect(Reader(visitor).part("panel")).to_be_hidden()
    visitor.context.close()


def test_a_public_page_never_calls_loopback(site: str, reader: Reader, page: Page, requests: list[str]) -> None:
    page.goto(site.replace("127.0.0.1", PUBLIC_HOST))
    requests.clear()  # What the theme itself loads from elsewhere.
    reader.open()
    reader.ask(QUESTION)
    assert {urlsplit(url).hostname for url in requests} == {PUBLIC_HOST}


def test_a_file_asks_nobody(guide: Guide, sidecar: str, reader: Reader, page: Page, requests: list[str]) -> None:
    page.goto(guide.site.as_uri() + "/index.html")
    requests.clear()
    reader.open()
    reader.ask("What is this book about?")
    expect(reader.part("answer").last).to_contain_text("Reading an answer. ")
    reader.ask("¡Buenos días!")
    expect(reader.part("answer").last).to_contain_text("I only speak of what this book says")
    assert {urlsplit(url).scheme for url in requests} == {"file"}


def test_a_file_with_the_owners_token_asks_the_sidecar(
    guide: Guide, home: Path, reader: Reader, page: Page, requests: list[str]
) -> None:
    project = find_project(guide.root, {})
    state = control.start(project, settings_of(project.configuration, {}), os.environ)
    try:
        token = state_folder(project).token()
        page.goto(f"{guide.site.as_uri()}/index.html#ask-book-token={token}")
        reader.open()
        expect(reader.part("status")).to_have_text("Answered by this book’s own server")
        reader.ask(QUESTION)
        expect(reader.part("note").first).to_be_visible()
        assert state.url + "ask" in requests
        assert token not in page.url
    finally:
        control.stop(project)
