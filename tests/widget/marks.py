"""What the highlighter marks on a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playwright.sync_api import Page

# A formula in MathML is told as the TeX that the manifest has of it; one for a MathJax out of reach is TeX anyway.
SHOW = """async (quotes) => {
  for (const file of ["panel.js", "answer.js"]) await askBook.load?.(file);
  const marked = (range) => {
    const part = range.cloneContents();
    for (const formula of part.querySelectorAll("math:has(annotation)")) {
      formula.replaceWith(formula.querySelector("annotation").textContent);
    }
    return part.textContent;
  };
  return quotes.map(([quote, anchor]) =>
    askBook.highlight.show(quote, anchor) ? [...CSS.highlights.get("ask-book")].map(marked).join("") : null);
}"""
BLANKS = re.compile(r"[\s\u00ad\u200b-\u200d\u2060\ufeff]")
DELIMITERS = re.compile(r"\\[()\[\]]")


def bare(text: str) -> str:
    """A text without white space and without the delimiters of formulas, which pages for KaTeX lack."""
    return DELIMITERS.sub("", BLANKS.sub("", text))


def lost(page: Page, quotes: Sequence[tuple[str, str]]) -> dict[str, str | None]:
    """Of quotes and their anchors, those that are not what is marked on the open page, each with what is."""
    marked = page.evaluate(SHOW, [list(quote) for quote in quotes])
    pairs = zip((text for text, _ in quotes), marked, strict=True)
    return {text: found for text, found in pairs if found is None or bare(found) != bare(text)}
