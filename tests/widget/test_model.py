"""An answer that a model writes: it streams, parts of it may be doubted, and it may break off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from widget.reader import Reader
from widget.servers import ScriptedServer, answer_json, place

pytestmark = pytest.mark.browser

QUESTION = "What does a verified quote mean?"
TEXT = (
    "🌍 The words are compared [1](#ask-book-1). It is done 40,000 times a day [1](#ask-book-1). Readers **like** it."
)
REMOTE = {"works": {"chat": True, "embeddings": True, "pdf": True}, "model_host": "models.example.org"}


def mark(words: str, kind: str) -> dict[str, Any]:
    start = TEXT.index(words)
    return {"start": start, "end": start + len(words), "kind": kind}


def written(_: str) -> Iterator[tuple[str, Any]]:
    yield "sources", [place()]
    yield "wait", None
    for at in range(0, len(TEXT), 7):
        yield "delta", {"text": TEXT[at : at + 7]}
    yield "citation", place()
    marks = [
        mark("It is done 40,000 times a day [1](#ask-book-1).", "unsupported"),
        mark("Readers **like** it.", "uncited"),
    ]
    yield "done", answer_json(TEXT, place(), sources=[place()], mode="grounded", claims={"marks": marks})


@pytest.fixture
def opened(scripted: ScriptedServer, reader: Reader, page: Page) -> Reader:
    scripted.health |= REMOTE
    page.goto(scripted.url + "index.html")
    reader.open()
    return reader


@pytest.mark.parametrize(
    ("host", "line"),
    [
        ("models.example.org", "Answered by a model at models.example.org"),
        ("127.0.0.1:11434", "Answered by a model of this book’s own server"),
        (None, "Answered by a model of this book’s own server"),
        ("<img src=x>", "Answered by a model at <img src=x>"),
    ],
)
def test_the_idle_panel_names_a_remote_model(
    scripted: ScriptedServer, reader: Reader, page: Page, host: str | None, line: str
) -> None:
    scripted.health |= {**REMOTE, "model_host": host}
    page.goto(scripted.url + "index.html")
    reader.open()
    expect(reader.part("status")).to_have_text(line)
    expect(page.locator("ask-book .intro")).to_contain_text("written by a language model")


def test_what_a_source_does_not_support_says_so_on_focus(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    scripted.stream = written
    scripted.go_on.set()
    opened.ask(QUESTION)
    doubts = page.locator("ask-book .doubt")
    expect(doubts).to_have_text(["It is done 40,000 times a day 1.", "Readers like it."])
    expect(opened.last).to_contain_text("1 of 1 quotes checked")
    expect(opened.last).to_contain_text("Sentences without a source: 1")
    expect(opened.last).to_contain_text("Sentences that their source does not support: 1")
    doubts.first.focus()
    expect(page.locator("ask-book .why")).to_have_text("Not supported by the passage cited")
    expect(doubts.first).to_have_accessible_description("Not supported by the passage cited")
    doubts.last.focus()
    expect(page.locator("ask-book .why")).to_have_text("No source is given for this")
    opened.part("input").focus()
    expect(page.locator("ask-book .why")).to_have_count(0)


def test_a_stream_keeps_what_is_drawn(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    def growing(_: str) -> Iterator[tuple[str, Any]]:
        yield "citation", place()
        yield "delta", {"text": "First paragraph. [1](#ask-book-1)\n\nSecond"}
        yield "wait", None
        yield "delta", {"text": " paragraph."}
        yield "done", answer_json("First paragraph. [1](#ask-book-1)\n\nSecond paragraph.", place())

    scripted.stream = growing
    opened.type(QUESTION)
    opened.part("note").click()
    expect(opened.part("quote")).to_be_visible()
    scripted.go_on.set()
    opened.wait()
    expect(opened.part("answer")).to_contain_text("Second paragraph.")
    expect(opened.part("quote")).to_be_visible()


def test_the_view_stays_while_the_text_grows(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    long = " ".join(f"Sentence {n} of many." for n in range(300))

    def growing(_: str) -> Iterator[tuple[str, Any]]:
        for word in long.split(" ")[:400]:
            yield "delta", {"text": word + " "}
        yield "wait", None
        yield "done", answer_json(long)

    scripted.stream = growing
    opened.type(QUESTION)
    expect(opened.part("answer")).to_contain_text("Sentence 90 of")
    assert page.locator("ask-book .talk").evaluate("(talk) => talk.scrollTop") == 0
    scripted.go_on.set()
    opened.wait()
    assert page.locator("ask-book .talk").evaluate("(talk) => talk.scrollTop") == 0


def test_a_provider_that_fails_in_mid_answer(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    def failing(_: str) -> Iterator[tuple[str, Any]]:
        yield "delta", {"text": "What had come."}
        yield (
            "error",
            {"error": {"code": "provider_server", "message": "The provider answered 500.", "hint": "Ask again."}},
        )

    scripted.stream = failing
    opened.type(QUESTION)
    opened.wait()
    expect(opened.part("answer")).to_have_text("What had come.")
    expect(opened.last.get_by_role("alert")).to_contain_text("The model could not be reached, or broke off.")
    expect(opened.last.get_by_role("alert")).to_contain_text("The provider answered 500.")
    scripted.stream = written
    scripted.go_on.set()
    page.get_by_role("button", name="Quotes only").click()
    expect(opened.last).to_contain_text("1 of 1 quotes checked")
    assert scripted.asked[-1] == {"question": QUESTION, "mode": "extractive"}


def test_a_model_that_lets_one_wait(scripted: ScriptedServer, opened: Reader, page: Page) -> None:
    scripted.stream = written
    opened.type(QUESTION)
    expect(opened.last).to_contain_text("This takes longer than usual.", timeout=15_000)
    page.get_by_role("button", name="Quotes only").click()
    scripted.go_on.set()
    expect(opened.last).to_contain_text("1 of 1 quotes checked")
    assert [body.get("mode") for body in scripted.asked] == [None, "extractive"]
    expect(page.locator("ask-book .turn")).to_have_count(1)


def test_follow_ups_take_the_conversation_along(scripted: ScriptedServer, opened: Reader) -> None:
    scripted.stream = lambda question: iter([("done", answer_json(f"{question} Yes. [1](#ask-book-1)", place()))])
    for n in range(6):
        opened.ask(f"Question {n}?")
    history = scripted.asked[-1]["history"]
    assert [turn["question"] for turn in history] == [f"Question {n}?" for n in range(1, 5)]
    assert history[-1]["answer"] == "Question 4? Yes."


FORMULA = (
    "<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><script>window.ran=1</script>"
    "<mtext href='javascript:window.ran=1' onclick='window.ran=1'>c</mtext></mrow>"
    "<annotation encoding='application/x-tex'>E = mc</annotation></semantics></math>"
)


@pytest.mark.parametrize(
    ("script", "tex"),
    [
        ("(html) => document.body.insertAdjacentHTML('beforeend', html)", "E = mc"),
        ("(html) => { window.MathJax = {tex2mml: () => html}; }", "a"),
        ("(html) => { window.katex = {renderToString: () => '<span class=katex>' + html + '</span>'}; }", "b"),
    ],
    ids=["page", "MathJax", "KaTeX"],
)
def test_formulas_are_shown_as_the_page_shows_them(
    scripted: ScriptedServer, opened: Reader, page: Page, script: str, tex: str
) -> None:
    page.evaluate(script, FORMULA)
    quote = place(quote=f"Here \\({tex}\\) holds.")
    scripted.stream = lambda _: iter([("done", answer_json(f"So \\\\({tex}\\\\) is. [1](#ask-book-1)", quote))])
    opened.ask(QUESTION)
    shown = opened.part("answer").locator("math")
    expect(shown).to_have_count(1)
    assert shown.evaluate("(math) => math.outerHTML") == (
        '<math display="inline"><mrow><mi>E</mi><mo>=</mo><mi>m</mi><mtext>c</mtext></mrow></math>'
    )
    opened.part("note").click()
    expect(opened.part("quote").locator("math")).to_have_count(1)
    assert page.evaluate("window.ran") is None


def test_where_the_page_knows_no_formulas_their_tex_is_shown_without_marks(
    scripted: ScriptedServer, opened: Reader
) -> None:
    quote = place(quote="Here \\(x_1\\) holds: \\[y^2\\]")
    scripted.stream = lambda _: iter([("done", answer_json("So \\\\(x\\_1\\\\) is. [1](#ask-book-1)", quote))])
    opened.ask(QUESTION)
    expect(opened.part("answer")).to_have_text("So x_1 is. 1")
    opened.part("note").click()
    assert opened.quote() == "Here x_1 holds: y^2"
