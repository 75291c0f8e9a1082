"""The guide, really rendered, and the ways in which a reader meets it in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from ask_book.files import locked
from conftest import find_chromium
from waiting import wait_until
from widget.guide import RENDER_SECONDS, Guide, make_guide, render_guide
from widget.reader import PUBLIC_HOST, Reader
from widget.servers import ScriptedServer, SiteServer

ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
# What a theme takes from elsewhere is not tested here. To stop it by a route would cost every request its cache.
HOSTS = f"--host-resolver-rules=MAP {PUBLIC_HOST} 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1,EXCLUDE localhost"
SLOWEST_MS = 30_000  # What a busy machine may take for anything that a reader waits for.
WIDE = {"width": 1400, "height": 900}


@pytest.fixture(scope="session")
def guide(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Guide:
    """The book of `examples/book`, rendered by Quarto, or as its plain rendition where there is none.

    `ASK_BOOK_TEST_GUIDE` names one that is rendered already. The processes of one run share a render.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    rendered = Path(os.environ.get("ASK_BOOK_TEST_GUIDE") or shared / "guide")
    with locked(shared / "guide.lock", timeout=RENDER_SECONDS):
        if not rendered.is_dir():
            shutil.rmtree(shared / "unfinished", ignore_errors=True)
            render_guide(root / "examples" / "book", shared / "unfinished")
            (shared / "unfinished").rename(rendered)
    return make_guide(rendered, tmp_path_factory.mktemp("guide") / "book")


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
            url = str(json.loads(text)["url"])
            wait_until(lambda: index_state(url) == "ready")
            yield url
        finally:
            process.terminate()


def index_state(url: str) -> str:
    """Of the sidecar at this address."""
    with urllib.request.urlopen(url + "health") as answer:
        return str(json.load(answer)["index"]["state"])


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium. Playwright keeps an event loop running, which tests elsewhere must not meet."""
    expect.set_options(timeout=SLOWEST_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium(), args=[*ARGUMENTS, HOSTS])
        yield chromium
        chromium.close()


@pytest.fixture
def context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """A fresh reader; parametrise it indirectly with options of `new_context`.

    Nothing moves, so that no test measures what is still on its way.
    """
    options = {"viewport": WIDE, "reduced_motion": "reduce", **getattr(request, "param", {})}
    with browser.new_context(**options) as context:
        context.set_default_timeout(SLOWEST_MS)
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
    """The address of every request that the page makes, those for what it made itself apart."""
    seen: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith("blob:"):
            seen.append(request.url)

    page.on("request", note)
    return seen


@pytest.fixture
def reader(page: Page) -> Reader:
    """Somebody who reads the page."""
    return Reader(page)
