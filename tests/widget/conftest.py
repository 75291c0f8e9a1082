"""The guide, really rendered, and the ways in which a reader meets it in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from conftest import find_chromium
from widget.guide import Guide, make_guide
from widget.reader import PUBLIC_HOST, Reader
from widget.servers import ScriptedServer, SiteServer

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
PUBLIC = f"--host-resolver-rules=MAP {PUBLIC_HOST} 127.0.0.1"
WIDE = {"width": 1400, "height": 900}


@pytest.fixture(scope="session")
def guide(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Guide:
    """The book of `examples/book`, rendered by Quarto, or as its plain rendition where there is none.

    `ASK_BOOK_TEST_GUIDE` names a copy that is rendered already.
    """
    ready = os.environ.get("ASK_BOOK_TEST_GUIDE")
    folder = Path(ready) if ready else tmp_path_factory.mktemp("guide") / "book"
    if not ready:
        shutil.copytree(root / "examples" / "book", folder, ignore=shutil.ignore_patterns("_book", ".quarto"))
    return make_guide(folder, rendered=bool(ready))


@pytest.fixture(scope="session")
def sidecar(guide: Guide) -> Iterator[str]:
    """The address of a real sidecar of the guide, on one of the book's own ports."""
    command = [sys.executable, "-m", "ask_book", "serve", str(guide.root), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            text = ""
            for line in process.stdout:
                text += line
                if line.rstrip() == "}" or text.rstrip().endswith("}"):
                    break
            yield str(json.loads(text)["url"])
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def site(guide: Guide) -> Iterator[str]:
    """The guide's folder on a plain web server, as `quarto preview` or a published site."""
    with SiteServer(guide.site) as server:
        yield server.url


@pytest.fixture
def scripted(guide: Guide) -> Iterator[ScriptedServer]:
    """The guide on a server that answers as a test tells it to."""
    with ScriptedServer(guide.site, guide.book_id) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS, PUBLIC])
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A fresh reader; parametrise it indirectly with options of `new_context`."""
    options = {"viewport": WIDE, **getattr(request, "param", {})}
    with browser.new_context(**options) as context:
        context.set_default_timeout(15_000)
        # Fonts and scripts that a theme takes from elsewhere are not what is tested here.
        context.route(re.compile(rf"^https?://(?!127\.0\.0\.1|{re.escape(PUBLIC_HOST)})"), lambda route: route.abort())
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on which nothing may go wrong unseen."""
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


@pytest.fixture
def requests(page: Page) -> list[str]:
    """The address of every request that the page makes."""
    seen: list[str] = []

    def note(request: Request) -> None:
        seen.append(request.url)

    page.on("request", note)
    return seen


@pytest.fixture
def reader(page: Page) -> Reader:
    """Somebody who reads the page."""
    return Reader(page)
