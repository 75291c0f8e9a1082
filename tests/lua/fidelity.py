"""How true a manifest is to the pages it was cut from, judged by an independent HTML5 parser.

Faithful: the text of a block stands in the page, inside the element that its anchor names.
Complete: the words a reader sees in the page stand in some block. Linked: `href#anchor` exists.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ask_book.book.manifest import Chapter, Manifest


def names(listed: str) -> frozenset[str]:
    """A set of names from a line of them."""
    return frozenset(listed.split())


NOT_TEXT = names("script style template noscript title nav button select textarea iframe annotation")
HIDDEN = names("footnote-ref footnote-back nav-tabs code-annotation-anchor hidden visually-hidden screen-reader-only")
BLOCKS = names(
    "p div li ul ol dl dt dd td th tr table tbody thead section article aside header figure figcaption blockquote pre "
    "h1 h2 h3 h4 h5 h6 details summary br hr main caption text"
)
SPACE = re.compile(r"\s+")
WORD = re.compile(r"\w+")


def is_text(node: LexborNode) -> bool:
    """Whether a reader sees the text of an element (tab labels are looked at apart)."""
    # the browser draws a diagram in the place of its source
    if node.tag in NOT_TEXT or (node.tag == "pre" and has_class(node, "mermaid")):
        return False
    attributes = node.attributes
    parent = node.parent
    if node.tag == "summary" and parent is not None and "code-fold" in (parent.attributes.get("class") or ""):
        return False
    if (
        node.tag == "dt"
        and parent is not None
        and "code-annotation-container" in (parent.attributes.get("class") or "")
    ):
        return False
    return not (
        HIDDEN & set((attributes.get("class") or "").split()) or "display: none" in (attributes.get("style") or "")
    )


def is_formula(node: LexborNode) -> bool:
    """Whether an element is one formula, in any of the ways of `html-math-method`."""
    return node.tag in ("math", "eq") or (node.tag in ("span", "img") and has_class(node, "math"))


def has_class(node: LexborNode, name: str) -> bool:
    return name in (node.attributes.get("class") or "").split()


def formula(node: LexborNode) -> str:
    """A formula with delimiters, as TeX if the page has any."""
    tex = node.css_first('annotation[encoding="application/x-tex"]')
    source = (node.attributes.get("alt") or (tex or node).text(deep=True)).strip()
    if source.startswith(("\\(", "\\[")):
        return source
    attributes = node.attributes
    is_display = (
        has_class(node, "display") or attributes.get("display") == "block" or attributes.get("env") == "displaymath"
    )
    return f"\\[{source}\\]" if is_display else f"\\({source}\\)"


def read(node: LexborNode, out: list[str], spaced: bool) -> None:
    """Collect the text nodes under `node`; `spaced` puts a space at the borders of blocks."""
    child = node.child
    while child is not None:
        if child.tag == "-text":
            out.append(child.text_content or "")
        elif is_formula(child):
            out.append(formula(child))
        elif child.tag and not child.tag.startswith(("-", "!")) and is_text(child):
            border = " " if spaced and child.tag in BLOCKS else ""
            out.append(border)
            read(child, out, spaced)
            out.append(border)
        child = child.next


def squeeze(text: str) -> str:
    """Without any white space."""
    return SPACE.sub("", text)


def atoms(text: str) -> str:
    """Formulas with their delimiters as one character each."""
    return re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", "\N{OBJECT REPLACEMENT CHARACTER}", text, flags=re.DOTALL)


class Page:
    """A rendered page, read apart from the builder."""

    def __init__(self, path: Path) -> None:
        self._tree = LexborHTMLParser(path.read_bytes())
        roots = [node for node in [self._tree.css_first("main") or self._tree.body] if node is not None]
        banner = self._tree.css_first("#title-block-header")
        if banner is not None and not any(root.css_first("#title-block-header") for root in roots):
            roots.insert(0, banner)
        self._roots = roots
        self._texts: dict[str, str] = {}

    @cached_property
    def elements(self) -> dict[str, LexborNode]:
        """What each id leads to."""
        found: dict[str, LexborNode] = {}
        for node in self._tree.css("[id]"):
            found.setdefault(node.attributes["id"] or "", node)
        return found

    def text(self, anchor: str, spaced: bool = False) -> str:
        """The text of the element with that id, or of the whole page."""
        key = f"{spaced}{anchor}"
        if key not in self._texts:
            out: list[str] = []
            for node in [self.elements[anchor]] if anchor else self._roots:
                read(node, out, spaced)
                out.append(" ")
            self._texts[key] = "".join(out)
        return self._texts[key]

    @cached_property
    def tab_labels(self) -> str:
        """The labels of all tabs, which the page has in one row and the manifest before each tab."""
        return " ".join(node.text() for node in self._tree.css("[role=tab]"))

    @cached_property
    def words(self) -> Counter[str]:
        """The words a reader sees."""
        return Counter(WORD.findall(self.text("", spaced=True) + " " + self.tab_labels))


@dataclass
class Fidelity:
    """Counts over a book, and what went wrong."""

    blocks: int = 0
    strict: int = 0
    faithful: int = 0
    words: int = 0
    missing_words: int = 0
    anchors: int = 0
    dead_anchors: list[str] = field(default_factory=list)
    unfaithful: list[tuple[str, str]] = field(default_factory=list)
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __str__(self) -> str:
        return (
            f"faithful {self.faithful / self.blocks:.3%} of {self.blocks} blocks "
            f"({self.strict / self.blocks:.3%} space for space), "
            f"complete {1 - self.missing_words / max(1, self.words):.3%} of {self.words} words, "
            f"linked {1 - len(self.dead_anchors) / max(1, self.anchors):.3%} of {self.anchors} anchors"
        )


def measure(manifest: Manifest, site: Path) -> Fidelity:
    """Compare every chapter with its page."""
    result = Fidelity()
    for chapter in manifest.chapters:
        _measure_chapter(chapter, Page(site / chapter.href), result)
    return result


def misnamed(manifest: Manifest, site: Path) -> tuple[int, list[tuple[str, str, str]]]:
    """How many references the pages have, and those that call a thing otherwise than its label: href, shown, label.

    What Quarto shows for `@fig-map` is made apart from captions. Its word for the kind may differ, the number may not.
    """
    labels = {label.href: label for label in manifest.labels.values()}
    count, wrong = 0, []
    for chapter in manifest.chapters:
        for link in LexborHTMLParser((site / chapter.href).read_bytes()).css("a.quarto-xref"):
            page, _, anchor = unquote(link.attributes.get("href") or "").partition("#")
            href = normpath(join(dirname(chapter.href), page)) if page else chapter.href
            label = labels.get(f"{href}#{anchor}" if anchor else href)
            name = label and (label.text.split()[1:] or label.caption.split())
            count += 1
            if not name or not set(name) <= set(link.text().split()):
                wrong.append((href + "#" + anchor, link.text(), label.text if label else "no label"))
    return count, wrong


def _measure_chapter(chapter: Chapter, page: Page, result: Fidelity) -> None:
    squeezed: dict[str, str] = {}
    collapsed: dict[str, str] = {}
    labels = squeeze(page.tab_labels)
    for section in chapter.sections:
        anchor = section.anchor
        if anchor:
            result.anchors += 1
            if anchor not in page.elements:
                result.dead_anchors.append(f"{chapter.href}#{anchor}")
                continue
        if anchor not in squeezed:
            squeezed[anchor] = squeeze(page.text(anchor))
            collapsed[anchor] = SPACE.sub(" ", page.text(anchor))
        for block in section.blocks:
            result.blocks += 1
            sought = squeeze(block.text)
            if sought in squeezed[anchor] or sought in labels or atoms(sought) in atoms(squeezed[anchor]):
                result.faithful += 1
            else:
                result.unfaithful.append((f"{chapter.href}#{anchor}", block.text))
            result.strict += SPACE.sub(" ", block.text) in collapsed[anchor] or sought in labels
    found = Counter(WORD.findall(chapter.text))
    lacking = page.words - found
    result.words += page.words.total()
    result.missing_words += lacking.total()
    result.missing.update({(chapter.href, word): count for word, count in lacking.items()})
