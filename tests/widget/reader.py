"""What a reader does with the panel, and sees."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

PUBLIC_HOST = "book.example.org"


def collapsed(text: str) -> str:
    """White space as one space."""
    return re.sub(r"\s+", " ", text).strip()


@dataclass(frozen=True)
class Reader:
    """Somebody at a page with the widget."""

    page: Page

    def part(self, name: str) -> Locator:
        """A part of the panel by its name in the contract."""
        return self.page.locator(f'ask-book [data-ask-book="{name}"]')

    @property
    def last(self) -> Locator:
        """The last question with all that belongs to it."""
        return self.page.locator("ask-book .turn").last

    def open(self) -> None:
        self.part("launcher").click()
        expect(self.part("input")).to_be_focused()

    def type(self, question: str) -> None:
        """Ask, without waiting for the answer."""
        self.part("input").fill(question)
        self.part("input").press("Enter")

    def ask(self, question: str) -> None:
        """Ask and wait until the answer is there."""
        self.type(question)
        expect(self.page.get_by_role("heading", name=question, exact=True).last).to_be_visible(timeout=30_000)
        self.wait()

    def wait(self) -> None:
        expect(self.last).to_have_attribute("aria-busy", "false", timeout=30_000)

    def highlighted(self) -> str:
        """The marked words of the page, once there are any."""
        self.page.wait_for_function("CSS.highlights.get('ask-book')?.size > 0")
        return collapsed(str(self.page.evaluate("[...CSS.highlights.get('ask-book')].map(String).join('')")))

    def height_of_highlight(self) -> float:
        """Where the marked words begin, as a share of the window's height."""
        script = "[...CSS.highlights.get('ask-book')][0].getClientRects()[0].top / innerHeight"
        self.page.wait_for_function(f"{script} > 0.05 && {script} < 0.6")
        return float(self.page.evaluate(script))

    def quote(self) -> str:
        """The words of the open card, without its quotation marks."""
        return collapsed(self.part("quote").locator("q").inner_text())
