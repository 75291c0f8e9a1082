"""How far the plain rendition of a book agrees with what Quarto made of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from ask_book.book.manifest import Chapter, Manifest

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Agreement:
    """Shares from 0 to 1, and what differs, for a person to look at."""

    anchors: float
    words: float
    missing_anchors: tuple[str, ...]
    extra_anchors: tuple[str, ...]
    missing_words: tuple[tuple[str, int], ...]
    extra_words: tuple[tuple[str, int], ...]


def _anchors(manifest: Manifest) -> Counter[str]:
    return Counter(
        f"{chapter.href}#{section.anchor}"
        for chapter in manifest.chapters
        for section in chapter.sections
        if section.anchor
    )


def _words(chapter: Chapter) -> Counter[str]:
    return Counter(f"{chapter.href} {word.lower()}" for word in _WORD.findall(chapter.text))


def _share(ours: Counter[str], theirs: Counter[str]) -> float:
    """Dice's coefficient of two bags: 2·|A ∩ B| / (|A| + |B|)."""
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def compare(plain: Manifest, rendered: Manifest) -> Agreement:
    """Anchors as a share of both manifests' sections, words chapter by chapter as bags."""
    ours, theirs = _anchors(plain), _anchors(rendered)
    our_words = sum((_words(chapter) for chapter in plain.chapters), Counter[str]())
    their_words = sum((_words(chapter) for chapter in rendered.chapters), Counter[str]())
    return Agreement(
        anchors=_share(ours, theirs),
        words=_share(our_words, their_words),
        missing_anchors=tuple(sorted(theirs - ours)),
        extra_anchors=tuple(sorted(ours - theirs)),
        missing_words=tuple((their_words - our_words).most_common(40)),
        extra_words=tuple((our_words - their_words).most_common(40)),
    )


class _Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids.update(value for name, value in attrs if name == "id" and value)


def dead_links(manifest: Manifest, site: Path) -> Iterator[str]:
    """Every `href#anchor` of the manifest that its page does not have."""
    for chapter in manifest.chapters:
        page = _Ids()
        page.feed((site / chapter.href).read_text(encoding="utf-8"))
        for section in chapter.sections:
            if section.anchor and section.anchor not in page.ids:
                yield f"{chapter.href}#{section.anchor}"
