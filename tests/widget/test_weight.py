"""How little a page has to load, and that nothing moves when it does."""

from __future__ import annotations

import gzip

import pytest
from playwright.sync_api import Page

from widget.guide import Guide
from widget.reader import Reader

pytestmark = pytest.mark.browser

BEFORE_OPENING = 4_000
AFTER_OPENING = 25_000
SEARCH = 12_500  # What searches the book when no sidecar does: with it, an answer and a jump are more than 25 kB.


def weight(urls: list[str], guide: Guide) -> int:
    """Bytes of the widget's files among these addresses, each compressed as a host of static files does it."""
    names = {url.split(f"/{guide.widget.name}/")[1] for url in urls if f"/{guide.widget.name}/" in url}
    return sum(len(gzip.compress((guide.widget / name).read_bytes(), 9)) for name in names)


@pytest.mark.quarto  # Only a render makes the files small.
@pytest.mark.parametrize("way", ["served", "file"])
def test_bytes(way: str, guide: Guide, sidecar: str, reader: Reader, page: Page, requests: list[str]) -> None:
    page.goto((sidecar if way == "served" else guide.site.as_uri() + "/") + "readers/answers.html")
    page.wait_for_load_state("networkidle")
    assert 0 < weight(requests, guide) <= BEFORE_OPENING
    requests.clear()
    reader.open()
    page.wait_for_load_state("networkidle")
    assert 0 < weight(requests, guide) <= AFTER_OPENING
    reader.ask("What does a verified quote mean?")
    reader.part("note").first.click()
    reader.part("jump").click()
    reader.highlighted()
    search = [url for url in requests if url.endswith("/search.js")]
    assert bool(search) == (way == "file")
    assert weight(search, guide) <= SEARCH
    assert weight([url for url in requests if url not in search], guide) <= AFTER_OPENING
    assert len([url for url in requests if "/locales/" in url]) == 1


def test_nothing_moves_when_the_page_loads(sidecar: str, page: Page) -> None:
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            if (entry.sources.some(({node}) => node?.localName === "ask-book")) window.shift += entry.value;
        }).observe({type: "layout-shift", buffered: true});"""
    )
    page.goto(sidecar + "index.html", wait_until="networkidle")
    assert page.evaluate("window.shift") == 0
    assert page.evaluate("document.querySelector('ask-book').getBoundingClientRect().height") == 0
