"""What a reader does with an answer: copy, cite, send on, edit, ask again, judge, open its report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from widget.guide import Guide
from widget.reader import Reader
from widget.servers import ScriptedServer, answer_json, place

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
REPORT = "abcdefghijklmnopqrst"


def cited(_: str) -> Iterator[tuple[str, Any]]:
    files = {kind: f"/reports/{REPORT}/report.{kind}" for kind in ("html", "md", "pdf")}
    answer = answer_json("It says so. [1](#ask-book-1)", place(), sources=[place()], report={"id": REPORT, **files})
    yield "done", {**answer, "id": "answer-1"}


@pytest.fixture
def answered(scripted: ScriptedServer, reader: Reader, page: Page) -> Reader:
    scripted.stream = cited
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    expect(reader.last.locator(".tools")).to_be_visible()
    return reader


def copied(page: Page, button: str) -> str:
    page.get_by_role("button", name=button).click()
    expect(page.locator("ask-book [role=status]")).to_have_text("Copied")
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("context", [CLIPBOARD], indirect=True)
def test_copy_an_answer_with_its_notes(scripted: ScriptedServer, answered: Reader, page: Page) -> None:
    text = copied(page, "Copy answer")
    assert text.startswith(f"**{QUESTION}**\n\nIt says so. [1]\n\n[1] “Welcome” — ")
    assert re.search(rf"<{scripted.url}index\.html\?ask-book=f0-0-9~[0-9a-f]{{8}}>\n$", text)


@pytest.mark.parametrize("context", [CLIPBOARD], indirect=True)
def test_copy_bibtex(scripted: ScriptedServer, guide: Guide, reader: Reader, page: Page) -> None:
    scripted.config = {"book": {"id": guide.book_id, "title": "Rain & 100% {sun}", "lang": "en", "authors": ["Ada Ñ"]}}
    scripted.stream = cited
    page.goto(scripted.url + "readers/asking.html")
    reader.open()
    reader.ask(QUESTION)
    assert copied(page, "Copy BibTeX of the book") == (
        "@book{nrain,\n  title = {{Rain \\& 100\\% \\{sun\\}}},\n  author = {{Ada Ñ}},\n"
        f"  url = {{{scripted.url}}},\n  urldate = {{{page.evaluate('new Date().toISOString().slice(0, 10)')}}},\n"
        "  note = {Welcome},\n}\n"
    )


@pytest.mark.parametrize("context", [CLIPBOARD], indirect=True)
def test_a_link_to_the_question_is_answered_without_a_model(
    scripted: ScriptedServer, answered: Reader, page: Page
) -> None:
    link = copied(page, "Copy link to this question")
    assert link.startswith(scripted.url + "index.html?")
    assert parse_qs(urlsplit(link).query) == {"ask": [QUESTION]}
    scripted.health["works"] = {"chat": True}
    visitor = page.context.browser.new_page()  # type: ignore[union-attr]
    visitor.goto(link)
    other = Reader(visitor)
    other.wait()
    assert scripted.asked[1:] == [{"question": QUESTION, "mode": "extractive"}]
    visitor.get_by_role("button", name="Ask the model").click()
    expect(visitor.get_by_role("button", name="Ask the model")).to_have_count(0)
    assert scripted.asked[2:] == [{"question": QUESTION}]
    visitor.context.close()


def test_edit_a_question(scripted: ScriptedServer, answered: Reader, page: Page) -> None:
    answered.ask("A second one?")
    page.get_by_role("button", name="Edit question").first.click()
    expect(answered.part("input")).to_be_focused()
    expect(answered.part("input")).to_have_value(QUESTION)
    answered.type("Another question?")
    expect(page.locator("ask-book .question")).to_have_text(["Another question?", "A second one?"])
    expect(page.locator("ask-book .turn").first).to_have_attribute("aria-busy", "false")
    assert scripted.asked[-1] == {"question": "Another question?"}


def test_ask_again(scripted: ScriptedServer, answered: Reader, page: Page) -> None:
    scripted.stream = lambda _: iter([("done", answer_json("Now so."))])
    page.get_by_role("button", name="Try again").click()
    expect(answered.part("answer")).to_have_text("Now so.")
    expect(page.locator("ask-book .turn")).to_have_count(1)


def test_thumbs_and_a_reason_go_to_the_sidecar(scripted: ScriptedServer, answered: Reader, page: Page) -> None:
    down = page.get_by_role("button", name="Poor answer")
    down.click()
    expect(down).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("textbox", name="Why?")).to_be_focused()
    expect(answered.last).to_contain_text("Kept by this book’s own server, for its author.")
    page.keyboard.type("Too short")
    page.keyboard.press("Enter")
    expect(down).to_be_focused()
    expect(page.locator("ask-book [role=status]")).to_have_text("Thank you")
    assert scripted.told == [
        {"answer_id": "answer-1", "value": "down"},
        {"answer_id": "answer-1", "value": "down", "reason": "Too short"},
    ]
    page.reload()
    expect(page.get_by_role("button", name="Poor answer")).to_have_attribute("aria-pressed", "true")


def test_without_a_sidecar_an_opinion_stays_in_the_browser(guide: Guide, reader: Reader, page: Page) -> None:
    page.goto(guide.site.as_uri() + "/index.html")
    reader.open()
    reader.ask(QUESTION)
    page.get_by_role("button", name="Good answer").click()
    expect(reader.last).to_contain_text("Kept in this browser only.")
    page.get_by_role("textbox", name="Why?").fill("Clear")
    page.get_by_role("button", name="Tell").click()
    kept = json.loads(page.evaluate("(id) => localStorage.getItem('ask-book-feedback:' + id)", guide.book_id))
    assert [(item["question"], item["value"], item["reason"]) for item in kept] == [(QUESTION, "up", "Clear")]


def test_the_report_and_its_pdf_when_it_is_ready(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.pdf = "pending"
    scripted.stream = cited
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    link = page.get_by_role("link", name="Report")
    expect(link).to_have_attribute("href", f"{scripted.url}reports/{REPORT}/report.html")
    expect(reader.last).to_contain_text("PDF being made…")
    scripted.pdf = "ready"
    expect(page.get_by_role("link", name="PDF")).to_have_attribute("href", f"{scripted.url}reports/{REPORT}/report.pdf")
    page.reload()
    expect(page.get_by_role("link", name="PDF")).to_be_visible()


def test_a_report_without_a_pdf(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.pdf = "failed"
    scripted.stream = cited
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    expect(page.get_by_role("link", name="Report")).to_be_visible()
    expect(reader.last).not_to_contain_text("PDF")


@pytest.mark.parametrize(
    "path", ["https://evil.example/x", "javascript:window.ran=1", "//evil.example/", "../x", None, 7]
)
def test_a_report_is_only_on_the_sidecar(scripted: ScriptedServer, reader: Reader, page: Page, path: object) -> None:
    report = {"id": "x/../y", "html": path, "md": path, "pdf": path}
    scripted.stream = lambda _: iter([("done", answer_json("So.", report=report))])
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    expect(reader.last.locator(".tools")).to_be_visible()
    expect(reader.last.locator("a")).to_have_count(0)
