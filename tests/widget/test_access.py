"""For every reader: keyboard alone, screen readers, phones, dark pages, print."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from widget.reader import Reader
from widget.servers import ScriptedServer, answer_json, place

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
LOOKS = [{}, {"color_scheme": "dark"}, {**PHONE}]


def violations(page: Page) -> list[str]:
    found = Axe().run(page, context="ask-book")
    return [f"{item['id']}: {node['html'][:120]}" for item in found.response["violations"] for node in item["nodes"]]


@pytest.mark.parametrize("context", LOOKS, indirect=True, ids=["light", "dark", "phone"])
def test_axe_finds_nothing_in_any_state(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "authors/install.html")
    page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches && window.quartoToggleColorScheme?.()")
    expect(reader.part("launcher")).to_be_visible()
    assert violations(page) == []
    reader.open()
    assert violations(page) == []
    reader.ask(QUESTION)
    assert violations(page) == []
    reader.part("note").first.click()
    assert violations(page) == []
    reader.part("jump").click()
    reader.highlighted()
    assert violations(page) == []
    reader.page.evaluate(
        "document.querySelector('ask-book').shadowRoot.querySelector('.peek')?.classList.remove('peek')"
    )
    reader.ask("How many euros does a flight to Miami cost?")
    assert violations(page) == []
    page.get_by_role("button", name="Poor answer").last.click()
    assert violations(page) == []


def unsure(question: str) -> Iterator[tuple[str, Any]]:
    yield "sources", [place()]
    if question == "wait":
        yield "delta", {"text": "Half"}
        yield "wait", None
    if question == "error":
        yield "error", {"error": {"code": "provider_server", "message": "It answered 500.", "hint": ""}}
    text = "Sure [1](#ask-book-1). Not so sure.\n\n| a | b |\n|---|---|\n| `c` | $x$ |\n\n```\ncode\n```"
    marks = [{"start": 23, "end": 35, "kind": "uncited"}]
    report = {"id": "abcdefghijklmnopqrst", "html": "/reports/abcdefghijklmnopqrst/report.html", "md": "", "pdf": ""}
    notices = [{"code": "older", "message": "The book is older than its sources."}]
    yield "done", answer_json(text, place(), sources=[place()], claims={"marks": marks}, report=report, notices=notices)


@pytest.mark.parametrize("context", LOOKS, indirect=True, ids=["light", "dark", "phone"])
def test_axe_finds_nothing_while_a_model_answers(scripted: ScriptedServer, reader: Reader, page: Page) -> None:
    scripted.health |= {"works": {"chat": True}, "model_host": "models.example.org"}
    scripted.stream = unsure
    page.goto(scripted.url + "authors/install.html")
    page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches && window.quartoToggleColorScheme?.()")
    reader.open()
    reader.type("wait")
    expect(reader.part("answer")).to_contain_text("Half")
    assert violations(page) == []
    page.get_by_role("button", name="Stop").click()
    assert violations(page) == []
    reader.ask("error")
    assert violations(page) == []
    reader.ask("doubt")
    page.locator("ask-book .doubt").focus()
    expect(page.locator("ask-book .why")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="New conversation").click()
    page.get_by_role("button", name="This page only").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('main p'))")
    page.evaluate("scrollTo(0, 0)")
    expect(page.get_by_role("button", name="Ask about this")).to_be_visible()
    assert violations(page) == []


def test_the_whole_story_by_keyboard(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "authors/install.html")
    page.keyboard.press("Control+i")
    expect(reader.part("input")).to_be_focused()
    page.keyboard.type("What does a verified quote mean? fs/")
    expect(reader.part("input")).to_have_value("What does a verified quote mean? fs/")
    page.keyboard.press("Enter")
    reader.wait()

    reader.part("note").first.focus()
    page.keyboard.press("Enter")
    first = reader.quote()
    page.keyboard.press("ArrowRight")
    expect(reader.part("note").nth(1)).to_be_focused()
    assert reader.quote() != first
    page.keyboard.press("ArrowLeft")
    assert reader.quote() == first
    page.keyboard.press("Escape")
    expect(reader.part("quote")).to_have_count(0)
    expect(reader.part("note").first).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(reader.part("jump")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/readers/answers.html?*")
    assert reader.highlighted() == first

    page.keyboard.press("Control+i")
    expect(reader.part("input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(reader.part("panel")).to_be_hidden()


def test_focus_returns_to_where_it_was(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "index.html")
    link = page.locator("main a").first
    link.focus()
    page.keyboard.press("Control+i")
    expect(reader.part("input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(link).to_be_focused()


def test_the_answer_is_announced_once(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "index.html")
    reader.open()
    page.evaluate(
        """() => {
          window.said = [];
          const live = document.querySelector("ask-book").shadowRoot.querySelector("[role=status]");
          new MutationObserver(() => window.said.push(live.textContent)).observe(live, {childList: true});
        }"""
    )
    reader.ask(QUESTION)
    said = page.evaluate("window.said")
    assert len(said) == 1
    assert said[0].startswith("Answer ready. Sources: ")


@pytest.mark.parametrize("context", [PHONE], indirect=True)
def test_on_a_phone_the_sheet_makes_way_for_the_passage(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "authors/install.html")
    reader.open()
    reader.ask(QUESTION)
    small = page.evaluate(
        """[...document.querySelector("ask-book").shadowRoot.querySelectorAll(".head button, .send, .copy, .place")]
          .map((element) => element.getBoundingClientRect())
          .filter(({width, height}) => width && (height < 43.5 || width < 43.5)).length"""
    )
    assert small == 0
    reader.part("note").first.tap()
    quote = reader.quote()
    reader.part("jump").tap()
    page.wait_for_url("**/readers/answers.html?*")
    assert reader.highlighted() == quote
    expect(reader.part("input")).to_be_hidden()
    page.get_by_role("button", name="Back to the answer").tap()
    expect(reader.part("answer").first).to_be_visible()
    expect(reader.part("input")).to_be_visible()
    box = reader.part("panel").bounding_box()
    assert box is not None
    assert box["height"] == pytest.approx(0.6 * 844, abs=20)
    assert box["y"] + box["height"] == pytest.approx(844, abs=1)


@pytest.mark.parametrize("context", [PHONE], indirect=True)
def test_the_focus_stays_in_the_sheet_which_is_dragged_by_its_head(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "readers/asking.html")
    reader.open()
    reader.ask(QUESTION)
    focused = "document.querySelector('ask-book').shadowRoot.activeElement?.className ?? 'outside'"
    page.locator("ask-book .grip").focus()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "scope"
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "grip"
    box = reader.part("panel").bounding_box()
    assert box is not None
    page.mouse.move(150, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(150, 60, steps=4)
    page.mouse.up()
    higher = reader.part("panel").bounding_box()
    assert higher is not None
    assert higher["height"] > 0.9 * 844
    page.mouse.move(150, higher["y"] + 30)
    page.mouse.down()
    page.mouse.move(150, 800, steps=4)
    page.mouse.up()
    expect(reader.part("panel")).to_be_hidden()


def test_a_window_at_twice_its_size(sidecar: str, reader: Reader, page: Page) -> None:
    page.set_viewport_size({"width": 640, "height": 400})
    page.goto(sidecar + "readers/asking.html")
    reader.open()
    reader.ask(QUESTION)
    for part in ("input", "status"):
        box = reader.part(part).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    assert page.locator("ask-book .talk").evaluate("(talk) => talk.clientHeight") > 60


def test_forced_colours_and_reduced_motion(sidecar: str, reader: Reader, page: Page) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(sidecar + "readers/asking.html")
    reader.open()
    reader.ask(QUESTION)
    assert reader.part("note").first.evaluate("(note) => getComputedStyle(note).borderStyle") == "solid"
    moving = "document.querySelector('ask-book').shadowRoot.getAnimations().length"
    assert page.evaluate(moving) == 0


@pytest.mark.parametrize("context", [PHONE], indirect=True)
def test_on_a_phone_button_and_sheet_are_in_view_beside_something_too_wide(
    sidecar: str, reader: Reader, page: Page
) -> None:
    page.goto(sidecar + "readers/asking.html")
    wide = "<div style='width: 450px'>Too wide</div>"
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('afterbegin', html)", wide)
    page.wait_for_function("innerWidth > 390")
    page.evaluate("scrollBy({top: 50, behavior: 'instant'})")
    page.wait_for_function(
        """() => {
          const box = document.querySelector("ask-book").shadowRoot.querySelector("button").getBoundingClientRect();
          return box.right < visualViewport.width && box.bottom < visualViewport.height;
        }"""
    )
    reader.open()
    assert page.locator("ask-book .talk").evaluate("(talk) => talk.scrollTop") == 0
    reader.ask(QUESTION)
    page.wait_for_function(
        """() => {
          const box = document.querySelector("ask-book").shadowRoot.querySelector(".panel").getBoundingClientRect();
          return Math.abs(box.bottom - visualViewport.offsetTop - visualViewport.height) < 1.5;
        }"""
    )


@pytest.mark.parametrize(
    "context", [{}, {"viewport": {"width": 1000, "height": 760}}], indirect=True, ids=["wide", "1000"]
)
def test_beside_the_drawer_the_text_stays_readable(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "readers/asking.html")
    reader.open()
    expect(reader.part("panel")).to_be_visible()
    text, drawer = page.locator("main p").first.bounding_box(), reader.part("panel").bounding_box()
    assert text is not None
    assert drawer is not None
    assert text["x"] + text["width"] <= drawer["x"]
    page.keyboard.press("Escape")
    after = page.locator("main p").first.bounding_box()
    assert after is not None
    assert after["width"] > text["width"]


def test_the_panel_takes_the_pages_colours(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "index.html")
    reader.open()
    script = """() => [getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector("ask-book").shadowRoot.querySelector(".panel")).backgroundColor]"""
    light, panel = page.evaluate(script)
    assert panel == light
    page.emulate_media(color_scheme="dark")  # What a plain page follows; one by Quarto has a switch.
    page.evaluate("window.quartoToggleColorScheme?.()")
    page.wait_for_function(f"({script})()[0] !== '{light}'")
    dark, panel = page.evaluate(script)
    assert panel == dark


def test_nothing_is_printed(sidecar: str, reader: Reader, page: Page) -> None:
    page.goto(sidecar + "index.html")
    reader.open()
    page.emulate_media(media="print")
    expect(page.locator("ask-book")).to_be_hidden()
    expect(reader.part("panel")).to_be_hidden()
