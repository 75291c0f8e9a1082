"""Places of the book that a question or a caller names: a chapter, a part, a section, an anchor.

A set of passages is a boolean array over `manifest.chunks`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ask_book.book.manifest import Chapter, Manifest, Section

Mask = npt.NDArray[np.bool_]
Span = tuple[int, int, int]


def in_scope(manifest: Manifest, scope: str) -> Mask:
    """The passages of a chapter (its file or page), of a part (its title), or under an anchor, with or without `#`.

    A page and an anchor may come together (`page.html#sec-x`). An unknown scope holds no passage.
    """
    page, _, anchor = scope.rpartition("#") if "#" in scope else (scope, "", "")
    chapters = [
        chapter for chapter in manifest.chapters if not page or page in (chapter.file, chapter.href, chapter.part)
    ]
    if anchor or not chapters:
        return passages_in(manifest, under_anchor(chapters or manifest.chapters, anchor or scope))
    return passages_in(manifest, ((chapter.index, 0, len(chapter.text)) for chapter in chapters))


def under_anchor(chapters: Iterable[Chapter], anchor: str) -> list[Span]:
    """Where the sections with this anchor are, their subsections included."""
    return [
        under(chapter, section)
        for chapter in chapters
        for section in chapter.sections
        if section.anchor == anchor and anchor
    ]


def under(chapter: Chapter, section: Section) -> Span:
    """The span of a section and its subsections."""
    after = chapter.sections[chapter.sections.index(section) + 1 :]
    end = next((later.start for later in after if later.level <= section.level), len(chapter.text))
    return chapter.index, section.start, end


def passages_in(manifest: Manifest, spans: Iterable[Span]) -> Mask:
    """The passages that share a character with one of the spans."""
    chapter = np.array([chunk.chapter for chunk in manifest.chunks], np.int64)
    start = np.array([chunk.start for chunk in manifest.chunks], np.int64)
    end = np.array([chunk.end for chunk in manifest.chunks], np.int64)
    mask = np.zeros(len(manifest.chunks), np.bool_)
    for index, first, last in spans:
        mask |= (chapter == index) & (start < last) & (end > first)
    return mask
