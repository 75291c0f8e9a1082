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
    assert 0 < weight(requests, guide.widget) <= AT_OPENING
    assert [url for url in requests if "/locales/" in url] == [
        url for url in requests if url.endswith("/locales/en.js")
    ]


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
