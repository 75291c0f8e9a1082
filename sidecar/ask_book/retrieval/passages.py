"""A passage as search reads it: what it is found by, what its text is, how much of that is no prose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ask_book.book.manifest import Chunk, Manifest

ASIDES = frozenset({"code", "output", "table", "math"})
Floats = npt.NDArray[np.float64]


def indexed_text(manifest: Manifest, chunk: Chunk) -> str:
    """What a passage is found by: its headings, twice; its text; words that are not on the page but describe it."""
    headings = headings_of(manifest, chunk)
    return "\n".join((*headings, *headings, body(manifest, chunk), *_contexts(manifest, chunk)))


def headings_of(manifest: Manifest, chunk: Chunk) -> tuple[str, ...]:
    """The chapter's title and the headings down to the passage, each once."""
    chapter = manifest.chapters[chunk.chapter]
    return tuple(dict.fromkeys((chapter.title, *chapter.section_at(chunk.start).heading_path)))


def body(manifest: Manifest, chunk: Chunk) -> str:
    """The text of a passage, as it is on the page."""
    return manifest.chapters[chunk.chapter].text[chunk.start : chunk.end]


def asides(manifest: Manifest) -> Floats:
    """The share of each passage that is code, output, tables or formulas, 0..1, by the characters of its blocks."""
    shares = np.zeros(len(manifest.chunks))
    for at, chunk in enumerate(manifest.chunks):
        blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
        whole = sum(len(block.text) for block in blocks)
        shares[at] = sum(len(block.text) for block in blocks if block.kind in ASIDES) / (whole or 1)
    return shares


def _contexts(manifest: Manifest, chunk: Chunk) -> list[str]:
    blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
    return [block.context for block in blocks if block.context]
