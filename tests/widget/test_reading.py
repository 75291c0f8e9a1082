"""While reading: ask about selected words or one page alone, in any kind of page, with whoever is there to answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from widget.guide import Guide
from widget.reader import Reader
from widget.servers import ScriptedServer, SiteServer, answer_json, place

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
BROWSER = "Searched in your browser, without a model"
SELECT = "(selector) => getSelection().selectAllChildren(document.querySelector(selector))"


def quick(_: str) -> Iterator[tuple[str, Any]]:
    yield "done", answer_json("So it is. [1](#ask-book-1)", place(), sources=[place()])


# -- selected words ----------------------------------------------------------------------------------------------------


def test_a_button_at_selected_words_asks_about_them(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    page.goto(scripted.url + "readers/answers.html")
    about = page.get_by_role("button", name="Ask about this")
    page.evaluate(SELECT, "#sec-notes h2")
    page.locator("#sec-notes").scroll_into_view_if_needed()
    about.click()
    expect(reader.part("input")).to_be_focused()
    expect(reader.part("input")).to_have_value(re.compile(r"^What does the book say about .*The notes\?$"))
    expect(about).to_be_hidden()
    assert scripted.asked == []


def test_the_shortcut_takes_selected_words_along(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    page.goto(scripted.url + "readers/answers.html")
    page.evaluate(SELECT, "#sec-sources p")
    page.keyboard.press("Control+i")
    expect(reader.part("input")).to_have_value(re.compile("^What does the book say about Under the answer you see"))
    assert len(reader.part("input").input_value()) < 400


def test_words_outside_the_text_have_no_button(scripted: ScriptedServer, page: Page) -> None:
    page.goto(scripted.url + "readers/answers.html")
    page.evaluate(SELECT, "title")
    page.wait_for_timeout(600)
    expect(page.get_by_role("button", name="Ask about this")).to_have_count(0)


# -- one page ----------------------------------------------------------------------------------------------------------


def test_ask_one_page(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = lambda _: iter([("done", answer_json("Not found in the book", status="not_found"))])
    page.goto(scripted.url + "readers/answers.html")
    reader.open()
    only = page.get_by_role("button", name="This page only")
    only.click()
    expect(only).to_have_attribute("aria-pressed", "true")
    reader.ask(QUESTION)
    expect(reader.last).to_contain_text("Only in: Reading an answer")
    scripted.stream = quick
    page.get_by_role("button", name="Ask the whole book").click()
    expect(reader.last).to_contain_text("So it is.")
    expect(reader.last).not_to_contain_text("Only in")
    assert scripted.asked == [{"question": QUESTION, "scope": "readers/answers.html"}, {"question": QUESTION}]
    only.click()
    expect(only).to_have_attribute("aria-pressed", "false")
    reader.ask("What is this chapter about?")
    expect(reader.last).to_contain_text("Only in: Reading an answer")
    assert scripted.asked[-1]["scope"] == "readers/answers.html"


def test_ask_one_page_in_the_browser(guide: Guide, reader: Reader, page: Page) -> None:
    page.goto(guide.site.as_uri() + "/inside/proof.html")
    reader.open()
    page.get_by_role("button", name="This page only").click()
    reader.ask(QUESTION)
    links = reader.part("sources").last.locator("a")
    assert {link.get_attribute("href").split("?")[0].split("/")[-1] for link in links.all()} == {"proof.html"}  # type: ignore[union-attr]


# -- who answers -------------------------------------------------------------------------------------------------------


def test_a_sidecar_that_makes_its_index_again_leaves_this_question_to_the_browser(
    scripted: ScriptedServer, reader: Reader, page: Page
) -> None:
    page.goto(scripted.url + "index.html")
    reader.open()
    scripted.refusal = (503, {"Retry-After": "1"}, {"error": {"code": "index", "message": "Being made.", "hint": ""}})
    reader.ask(QUESTION)
    expect(reader.part("note").first).to_be_visible()
    assert len(scripted.asked) == 1


def test_a_sidecar_that_could_not_read_the_book(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.health["index"] = {"state": "failed", "progress": 0}
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(reader.part("status")).to_have_text(BROWSER)
    reader.ask(QUESTION)
    expect(reader.part("note").first).to_be_visible()
    assert scripted.asked == []


def test_a_slow_sidecar_does_not_keep_the_reader_waiting(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.slowness = 30
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    expect(reader.part("note").first).to_be_visible()
    assert scripted.asked == []


def test_a_sidecar_that_is_started_later_is_used(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    # The book's real sidecar may run beside this test, on a port that the page tries too.
    page.route(lambda url: url.endswith("/health") and not url.startswith(scripted.url), lambda route: route.abort())
    health, scripted.health = scripted.health, {"book": {"id": "another"}, "index": {"state": "ready"}}
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    assert scripted.asked == []
    scripted.health = health
    scripted.stream = quick
    reader.ask("And the sources?")
    expect(reader.part("status")).to_have_text("Answered by this book’s own server")
    reader.ask("And then?")
    assert scripted.asked[-1]["question"] == "And then?"


def test_what_the_server_has_to_say_stands_in_the_idle_panel(
    scripted: ScriptedServer, reader: Reader, page: Page
) -> None:
    scripted.health["notices"] = [{"code": "older", "message": "The book is older than its sources."}]
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(page.locator("ask-book .welcome")).to_contain_text("The book is older than its sources.")


def test_the_conversation_outlives_a_reload_in_mid_answer(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    def halting(_: str) -> Iterator[tuple[str, Any]]:
        yield "delta", {"text": "First words"}
        yield "wait", None

    scripted.stream = quick
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    scripted.stream = halting
    reader.type("And then?")
    expect(reader.last).to_contain_text("First words")
    page.reload()
    expect(page.locator("ask-book .question")).to_have_text([QUESTION, "And then?"])
    expect(reader.last).to_contain_text("First words")
    expect(reader.last).to_contain_text("Stopped.")


def test_questions_of_this_sitting_are_offered_again(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = quick
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask("First?")
    reader.ask("Second?")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("ask-book .welcome h3")).to_have_text(["For example", "Asked before"])
    page.get_by_role("button", name="First?").click()
    reader.wait()
    assert scripted.asked[-1] == {"question": "First?"}


def test_two_tabs_have_a_conversation_each(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = quick
    page.goto(scripted.url + "index.html")
    reader.open()
    reader.ask(QUESTION)
    other = Reader(page.context.new_page())
    other.page.goto(scripted.url + "index.html")
    other.open()
    expect(other.page.locator("ask-book .turn")).to_have_count(0)
    other.ask("Something else?")
    page.reload()
    expect(page.locator("ask-book .question")).to_have_text([QUESTION])


# -- kinds of pages ----------------------------------------------------------------------------------------------------


def test_the_book_is_read_in_a_worker(guide: Guide, reader: Reader, page: Page) -> None:
    page.goto(guide.site.as_uri() + "/index.html")
    with page.expect_worker() as worker:
        reader.open()
    assert worker.value.url.startswith("blob:")
    reader.ask(QUESTION)
    expect(reader.part("note").first).to_be_visible()
    assert page.evaluate("askBook.search") is None


HIGHLIGHTED = """() => new Promise((resolve) => {
  const look = () => {
    const ranges = [...CSS.highlights.get("ask-book") ?? []];
    if (ranges.length) resolve(ranges.map(String).join(""));
    else setTimeout(look, 50);
  };
  look();
})"""
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'"
)


def test_a_page_with_a_strict_policy(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    broken: list[str] = []
    page.on("console", lambda message: broken.append(message.text) if "ask-book" in message.text else None)
    scripted.page_headers = {"Content-Security-Policy": STRICT}
    scripted.health["book"] = {"id": "another"}
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(reader.part("panel")).to_have_css("position", "fixed")
    reader.ask(QUESTION)
    reader.part("note").first.click()
    quote = reader.quote()
    assert page.evaluate("typeof askBook.search") == "object"  # without a worker, which that policy does not allow
    reader.part("jump").click()
    page.wait_for_url("**/readers/answers.html?*")
    assert " ".join(page.evaluate(HIGHLIGHTED).split()) == quote
    assert broken == []


def test_right_to_left(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.stream = lambda _: iter([("done", answer_json("الجواب هنا. [1](#ask-book-1)", place(quote="السلام")))])
    page.goto(scripted.url + "index.html")
    page.evaluate("document.documentElement.dir = 'rtl'")
    reader.open()
    reader.ask("ما هذا؟")
    box = reader.part("panel").bounding_box()
    assert box is not None
    assert box["x"] == 0
    assert page.locator("ask-book .text p").evaluate("(p) => getComputedStyle(p).direction") == "rtl"
    text = page.locator("main p").first.bounding_box()
    assert text is not None
    assert text["x"] >= box["width"]
    grip = page.locator("ask-book .grip")
    grip.focus()
    grip.press("ArrowRight")
    wider = reader.part("panel").bounding_box()
    assert wider is not None
    assert wider["width"] > box["width"]


LOUD = """* { letter-spacing: .3em !important; text-transform: uppercase; }
body > * { transform: rotate(1deg); margin: 9px; } ask-book { color: red; opacity: .2; }
button, h2, h3, p, a, textarea { color: red !important; font-size: 40px !important; }"""


def test_styles_neither_leak_in_nor_out(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    look = """(selector) => {
      const style = getComputedStyle(document.querySelector("ask-book").shadowRoot.querySelector(selector));
      return [style.letterSpacing, style.textTransform, style.color, style.fontSize];
    }"""
    outside = "[...document.querySelectorAll('main *')].map((e) => getComputedStyle(e).cssText.length).join()"
    page.goto(scripted.url + "index.html")
    before = page.evaluate(outside)
    reader.open()
    page.keyboard.press("Escape")
    assert page.evaluate(outside) == before
    reader.open()
    names = ["h2", ".intro", "textarea", ".scope"]
    looks = [page.evaluate(look, name) for name in names]
    page.add_style_tag(content=LOUD)
    assert [page.evaluate(look, name) for name in names] == looks
    box = reader.part("panel").bounding_box()
    assert box is not None
    assert box["y"] == 0


def test_an_author_overrides_any_text(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.config = {"texts": {"mode_sidecar": "Ada answers", "this_page": "Here", "checked": "{n}/{total} ok"}}
    scripted.stream = quick
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(reader.part("status")).to_have_text("Ada answers")
    expect(page.get_by_role("button", name="Here")).to_be_visible()
    reader.ask(QUESTION)
    expect(reader.last).to_contain_text("1/1 ok")


@pytest.mark.quarto
def test_a_website(tmp_path: Path, root: Path, reader: Reader, page: Page) -> None:
    (tmp_path / "notes").mkdir()
    shutil.copytree(root / "_extensions", tmp_path / "_extensions")
    (tmp_path / "_quarto.yml").write_text(
        "project:\n  type: website\nwebsite:\n  title: A site of tides\n"
        "  navbar:\n    left: [index.qmd, notes/tides.qmd]\nfilters: [ask-book]\nformat: html\n",
        encoding="utf-8",
    )
    (tmp_path / "index.qmd").write_text("---\ntitle: Home\n---\n\nA site about the sea.\n", encoding="utf-8")
    (tmp_path / "notes" / "tides.qmd").write_text(
        "---\ntitle: Tides\n---\n\n## Spring tides {#sec-spring}\n\nA spring tide comes after each full moon.\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "CI": "1", "ASK_BOOK": "off"}
    subprocess.run(["quarto", "render"], cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=300)
    with SiteServer(tmp_path / "_site") as server:
        page.goto(server.url + "index.html")
        reader.open()
        expect(reader.part("status")).to_have_text(BROWSER)
        reader.ask("When does a spring tide come?")
        reader.part("note").first.click()
        reader.part("jump").click()
        page.wait_for_url("**/notes/tides.html?*")
        assert reader.highlighted() == "A spring tide comes after each full moon."
        expect(reader.part("answer")).to_contain_text("A spring tide comes after each full moon.")


# -- large books -------------------------------------------------------------------------------------------------------


@pytest.mark.bench
@pytest.mark.parametrize(("size", "seconds"), [(600_000, 1.0), (6_000_000, 10.0)])
def test_large_books(guide: Guide, tmp_path: Path, reader: Reader, page: Page, size: int, seconds: float) -> None:
    """Prints what a reader of a large book waits for, and the longest time for which the page does not move."""
    site = tmp_path / "site"
    shutil.copytree(guide.site, site)
    book = json.loads(json.dumps(guide.manifest))
    chars = sum(section["end"] - section["start"] for chapter in book["chapters"] for section in chapter["sections"])
    copies, chapters, chunks = size // chars, book["chapters"], book["chunks"]
    book["chapters"] = [{**one, "index": n * len(chapters) + one["index"]} for n in range(copies) for one in chapters]
    book["chunks"] = [{**one, "chapter": n * len(chapters) + one["chapter"]} for n in range(copies) for one in chunks]
    text = json.dumps(book, ensure_ascii=False).replace("</", "<\\/")
    (site / "ask-book" / "book.js").write_text(f'if (location.protocol === "file:") askBookManifest({text});\n')
    page.add_init_script(
        """window.longest = 0;
        new PerformanceObserver((list) => list.getEntries().forEach(({duration}) => {
          window.longest = Math.max(window.longest, duration);
        })).observe({type: "longtask"});"""
    )
    with SiteServer(site) as server:
        page.goto(server.url + "index.html", wait_until="networkidle")
        page.evaluate("window.longest = 0")
        start = time.perf_counter()
        reader.open()
        expect(reader.part("status")).to_have_text(BROWSER, timeout=120_000)
        page.wait_for_function("askBook.local")
        page.evaluate("askBook.local.ask({question: 'What?'}, () => {})")
        indexed = time.perf_counter() - start
        took = page.evaluate(
            """async (question) => {
              const start = performance.now();
              await askBook.local.ask({question}, () => {});
              return performance.now() - start;
            }""",
            QUESTION,
        )
        print(f"{size:,} characters: read in {indexed:.2f} s, answered in {took:.0f} ms, ", end="")
        print(f"longest task of the page {page.evaluate('window.longest'):.0f} ms")
        assert indexed < seconds * 5
