"""How little a page has to load, and that nothing moves when it does."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import Page

from widget.guide import Guide
from widget.reader import Reader

pytestmark = pytest.mark.browser

BEFORE_OPENING = 4 * 1024
AT_OPENING = 25 * 1024
SEARCH = ("local.js", "search.js", "extractive.js")
SEARCH_ITSELF = 16 * 1024
WITH_EVERYTHING = 60 * 1024


def weight(urls: list[str], widget: Path) -> int:
    """Compressed bytes of the widget's files among these addresses."""
    names = {url.split(f"/{widget.name}/")[1] for url in urls if f"/{widget.name}/" in url}
    return sum(len(gzip.compress((widget / name).read_bytes(), 9)) for name in names)


@pytest.mark.parametrize("way", ["served", "file"])
def test_bytes(way: str, guide: Guide, sidecar: str, reader: Reader, page: Page, requests: list[str]) -> None:
    page.goto((sidecar if way == "served" else guide.site.as_uri() + "/") + "index.html", wait_until="networkidle")
    assert 0 < weight(requests, guide.widget) <= BEFORE_OPENING
    requests.clear()
    reader.open()
    page.wait_for_load_state("networkidle")
    panel = [url for url in requests if not url.endswith(SEARCH)]
    search = [url for url in requests if url.endswith(SEARCH)]
    assert 0 < weight(panel, guide.widget) <= AT_OPENING
    assert weight(search, guide.widget) <= (0 if way == "served" else SEARCH_ITSELF)
    assert [url for url in requests if "/locales/" in url] == [
        url for url in requests if url.endswith("/locales/en.js")
    ]


def test_all_that_there_is_to_load(guide: Guide) -> None:
    files = [path for path in guide.widget.iterdir() if path.suffix in {".js", ".css"}]
    total = sum(len(gzip.compress(path.read_bytes(), 9)) for path in [*files, guide.widget / "locales" / "en.js"])
    assert total <= WITH_EVERYTHING


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
