"""Reports and their list in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect, sync_playwright

from ask_book.answering.open_book import OpenBook
from ask_book.reports.document import Document
from ask_book.reports.store import Store
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from ask_book.server.reports import Reports
from conftest import find_chromium
from reports.samples import DRY, of_the_book, saying
from reports.test_pdf import SCRIPTS
from server.served import served
from small_books import small_book

pytestmark = pytest.mark.browser

TOKEN = "t0ken-of-the-owner"
LOOKS = [("light", 1100), ("dark", 1100), ("light", 390), ("dark", 390)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("gallery"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports")


@pytest.fixture
def address(book: OpenBook, store: Store) -> Iterator[str]:
    holder = Holder(book.manifest.book.id, book.manifest.book.title, "es", current=book)
    access = Access(TOKEN)
    app = create_app(holder, access, reports=lambda _: Reports(store, holder, access, {"PATH": ""}, has_pdf=False))
    with served(app) as port:
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[[str, int], Page]]:
    """Opens a page in some colours and width; whatever it complains about fails the test."""
    complaints: list[str] = []

    def opened(scheme: str = "light", width: int = 1100) -> Page:
        context = browser.new_context(color_scheme="dark" if scheme == "dark" else "light",
                                      viewport={"width": width, "height": 800})  # fmt: skip
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield opened
    assert complaints == []


def listed(page: Page, address: str) -> list[str]:
    page.goto(f"{address}reports#ask-book-token={TOKEN}")
    page.wait_for_selector("#list li, #count:not(:empty)")
    return page.locator("#list h2").all_inner_texts()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_a_report_for_everybody(
    address: str, store: Store, book: OpenBook, tab: Callable[[str, int], Page], scheme: str, width: int
) -> None:
    document: Document = saying(SCRIPTS)
    store.save(document)
    page = tab(scheme, width)
    page.goto(f"{address}reports/{document.id}/report.html")
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("a.note").first.press("Enter")
    expect(page.locator("#note-1")).to_be_in_viewport()
    page.locator("#note-1 .back").click()
    expect(page.locator("#ref-1")).to_be_in_viewport()
    page.locator("#note-1 .place a").first.click()
    page.wait_for_url("**/clima.html#sec-lluvia")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_the_list_for_everybody(
    address: str, store: Store, tab: Callable[[str, int], Page], scheme: str, width: int
) -> None:
    store.save(of_the_book())
    page = tab(scheme, width)
    assert listed(page, address) == [DRY]
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("button", name="Borrar").click()
    assert Axe().run(page).response["violations"] == []


def test_search_and_delete_with_the_keyboard(address: str, store: Store, tab: Callable[..., Page]) -> None:
    for question in ("¿Primera?", "¿Segunda?", "¿Tercera?"):
        store.save(saying(f"Sobre {question}", question=question))
    page = tab()
    assert listed(page, address) == ["¿Tercera?", "¿Segunda?", "¿Primera?"]
    assert TOKEN not in page.url
    expect(page.locator("#count")).to_have_text("3 de 3 informes")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("segunda")
    expect(page.locator("#list h2")).to_have_text(["¿Segunda?"])
    expect(page.locator("#count")).to_have_text("1 de 3 informes")
    remove = page.get_by_role("button", name="Borrar")
    remove.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("¿Segunda?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert len(store.summaries()) == 3
    remove.press("Enter")
    page.keyboard.press("Escape")
    assert len(store.summaries()) == 3
    remove.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#count")).to_have_text("Borrado. Ningún informe tiene esas palabras.")
    expect(page.locator("#search")).to_be_focused()
    assert [summary.title for summary in store.summaries()] == ["¿Tercera?", "¿Primera?"]
    page.locator("#search").fill("")
    expect(page.locator("#list h2")).to_have_text(["¿Tercera?", "¿Primera?"])


def test_without_the_token_the_list_says_how_to_get_it(address: str, store: Store, browser: Browser) -> None:
    store.save(of_the_book())
    page = browser.new_page()
    page.goto(f"{address}reports")
    expect(page.get_by_role("alert")).to_contain_text("ask-book open --reports")
    page.goto(f"{address}reports#ask-book-token=wrong")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("ask-book open --reports")
    assert page.locator("#list li").count() == 0


def test_an_empty_list(address: str, tab: Callable[..., Page]) -> None:
    page = tab()
    listed(page, address)
    expect(page.locator("#count")).to_have_text("Todavía no hay informes.")


def test_what_a_reader_wrote_is_only_text(address: str, store: Store, tab: Callable[..., Page]) -> None:
    store.save(saying("<img src=x onerror=alert(1)>", question="<script>alert(1)</script>"))
    page = tab()
    assert listed(page, address) == ["<script>alert(1)</script>"]
    assert page.locator("#list img, #list script").count() == 0


def test_a_report_needs_no_script(address: str, store: Store, browser: Browser) -> None:
    document = of_the_book()
    store.save(document)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((store.folder / document.id / "report.html").as_uri())
    expect(page.locator("h1")).to_have_text(DRY)
    page.locator("a.note").click()
    assert page.url.endswith("#note-1")
