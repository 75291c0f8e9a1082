"""From a quote to its very words: over every block of the guide, and in every hiding place a page has."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from widget.guide import Guide
from widget.marks import SHOW, bare, lost
from widget.reader import Reader, collapsed

pytestmark = pytest.mark.browser

HIDING_PLACES = """
<section id="sec-places">
  <p id="inline">The <em>dry</em> season <a href="#">lasts <code>four</code></a> months<sup><a
    class="footnote-ref">1</a></sup> here.</p>
  <p id="formula">Where <span class="math inline"><mjx-container><mjx-math>𝑥²</mjx-math><mjx-assistive-mml>x
    squared</mjx-assistive-mml></mjx-container></span> grows, <span class="math inline">\\(y\\)</span> falls.</p>
  <div class="panel-tabset">
    <ul class="nav nav-tabs" role="tablist">
      <li><a class="nav-link active" data-bs-toggle="tab" href="#tab-1" role="tab" aria-controls="tab-1"
        aria-selected="true">A</a></li>
      <li><a class="nav-link" data-bs-toggle="tab" href="#tab-2" role="tab" aria-controls="tab-2"
        aria-selected="false">B</a></li>
    </ul>
    <div class="tab-content">
      <div id="tab-1" class="tab-pane active" role="tabpanel">Shown at once.</div>
      <div id="tab-2" class="tab-pane" role="tabpanel">Hidden behind a tab.</div>
    </div>
  </div>
  <div class="callout callout-note callout-titled">
    <div class="callout-header collapsed" data-bs-toggle="collapse" data-bs-target=".callout-9-contents"
      aria-expanded="false">Note</div>
    <div class="callout-9-contents callout-collapse collapse">
      <div class="callout-body">Hidden in a callout.</div>
    </div>
  </div>
  <details class="code-fold"><summary>Code</summary>
    <pre><code>rain &lt;- read("rain.csv")
sum(rain)<button class="code-copy-button">Copy</button></code></pre></details>
  <table><tbody><tr><td>July</td><td>11</td><td>2</td></tr></tbody></table>
</section>
<div style="height: 2000px"></div>"""


def test_every_block_of_the_guide(guide: Guide, page: Page) -> None:
    kinds: Counter[str] = Counter()
    missed: dict[str, str | None] = {}
    for chapter in guide.manifest["chapters"]:
        page.goto(f"{guide.site.as_uri()}/{chapter['href']}")
        blocks = [(block, section["anchor"]) for section in chapter["sections"] for block in section["blocks"]]
        kinds.update(block["kind"] for block, _ in blocks)
        missed |= lost(page, [(block["text"], anchor) for block, anchor in blocks])
    assert kinds.total() > 300
    assert kinds["math"] >= 3
    assert len(missed) <= kinds.total() * 0.01, missed


def show(page: Page, quote: str) -> str | None:
    """What is marked for a quote of the hiding places."""
    (marked,) = page.evaluate(SHOW, [[quote, "sec-places"]])
    return None if marked is None else str(marked)


@pytest.fixture
def places(guide: Guide, page: Page) -> Page:
    page.goto(guide.site.as_uri() + "/index.html")
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('beforeend', html)", HIDING_PLACES)
    return page


@pytest.mark.parametrize(
    ("quote", "marked"),
    [
        ("The dry season lasts four months here.", "The dry season lasts four months here."),
        ("Where \\(x^2\\) grows, \\(y\\) falls.", "Where 𝑥²x squared grows, \\(y\\) falls."),
        ("Hidden behind a tab.", "Hidden behind a tab."),
        ("Hidden in a callout.", "Hidden in a callout."),
        ('rain <- read("rain.csv")\nsum(rain)', 'rain <- read("rain.csv") sum(rain)'),
        ("July 11 2", "July112"),
    ],
)
def test_words_in_their_hiding_place(places: Page, quote: str, marked: str) -> None:
    assert collapsed(str(show(places, quote))) == marked
    box = places.evaluate("(([range]) => range.getBoundingClientRect().toJSON())([...CSS.highlights.get('ask-book')])")
    assert box["width"] > 0
    assert 0 < box["top"] < places.evaluate("innerHeight")


def test_controls_follow_what_was_opened(places: Page) -> None:
    show(places, "Hidden behind a tab.")
    assert places.locator("[href='#tab-2']").get_attribute("aria-selected") == "true"
    assert places.locator("[href='#tab-1']").get_attribute("aria-selected") == "false"
    show(places, "Hidden in a callout.")
    assert places.locator("[data-bs-target='.callout-9-contents']").get_attribute("aria-expanded") == "true"


def test_words_over_several_tabs_with_their_labels_open_the_first(places: Page) -> None:
    assert show(places, "A\nShown at once.\nB\nHidden behind a tab.") == "AShown at once.BHidden behind a tab."
    assert places.locator("[href='#tab-1']").get_attribute("aria-selected") == "true"
    assert places.locator("#tab-2").is_hidden()


def test_words_that_are_not_there(places: Page) -> None:
    assert show(places, "Nobody wrote this.") is None
    places.wait_for_function(
        "Math.abs(document.getElementById('sec-places').getBoundingClientRect().top - innerHeight / 3) < 40"
    )


def test_the_title_in_a_banner_above_the_text(places: Page, guide: Guide) -> None:
    places.evaluate("document.body.prepend(document.querySelector('#title-block-header'))")
    chapter = guide.manifest["chapters"][0]
    for quote in (chapter["title"], text_of(chapter)):
        (marked,) = places.evaluate(SHOW, [[quote, ""]])
        assert bare(marked).startswith(bare(quote))
        first = "[...CSS.highlights.get('ask-book')][0].startContainer.parentElement"
        assert places.evaluate(f"{first}.closest('h1') !== null")


def text_of(chapter: dict[str, Any]) -> str:
    """The blocks of a chapter's first two sections."""
    return "\n".join(block["text"] for section in chapter["sections"][:2] for block in section["blocks"])


FORMULAS = """
<p class="formula"><span class="math display">\\[a\\]</span></p>
<p class="formula"><span class="math display"><span class="katex"><math><semantics><mi>𝑏</mi>
  <annotation encoding="application/x-tex">b</annotation></semantics></math></span></span></p>
<p class="formula"><span class="math display"><mjx-container>𝑐</mjx-container></span></p>
<p class="formula"><math display="block"><semantics><mi>𝑑</mi>
  <annotation encoding="application/x-tex">d</annotation></semantics></math></p>
<p class="formula"><img class="math display" src="data:," alt="e"></p>"""
TYPESET = "{math: [{math: 'c', typesetRoot: document.querySelector('mjx-container:not(#inline *, #formula *)')}]}"
MARKED_FORMULA = """[...document.querySelectorAll(".formula")]
  .findIndex((paragraph) => paragraph.contains([...CSS.highlights.get("ask-book")][0].startContainer))"""


def test_the_very_formula_of_several(places: Page) -> None:
    places.evaluate("html => document.querySelector('#sec-places').insertAdjacentHTML('beforeend', html)", FORMULAS)
    places.evaluate(f"window.MathJax = {{startup: {{document: {TYPESET}}}}}")
    marked = []
    for tex in "abcde":
        show(places, f"\\[{tex}\\]")
        marked.append(places.evaluate(MARKED_FORMULA))
    assert marked == [0, 1, 2, 3, 4]


def test_without_the_highlight_api_the_words_are_wrapped_and_unwrapped(
    guide: Guide, reader: Reader, page: Page
) -> None:
    page.add_init_script(
        "delete CSS.highlights; delete window.Highlight; Object.defineProperty(CSS, 'highlights', {value: undefined})"
    )
    page.goto(guide.site.as_uri() + "/index.html")
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('beforeend', html)", HIDING_PLACES)
    before = page.locator("#inline").inner_html()
    shown = """async ([quote, anchor]) => {
      for (const file of ["panel.js", "answer.js", "marks.js"]) await askBook.load(file);
      return askBook.highlight.show(quote, anchor);
    }"""
    assert page.evaluate(shown, ["dry season lasts four months", "sec-places"]) is True
    assert "".join(page.locator("mark.ask-book").all_inner_texts()) == "dry season lasts four months"
    page.evaluate("askBook.highlight.clear()")
    expect(page.locator("mark.ask-book")).to_have_count(0)
    assert page.locator("#inline").inner_html() == before
