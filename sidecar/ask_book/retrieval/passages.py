"""A passage as search reads it: what it is found by, its words in order, the terms of its sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ask_book.book.manifest import Chunk, Manifest
from ask_book.retrieval import tokens

ASIDES = frozenset({"code", "output", "table", "math"})
Floats = npt.NDArray[np.float64]

_SENTENCE_END = re.compile(r"[.!?…:;]\s+|[。！？；]|\n")


@dataclass(frozen=True)
class Passage:
    """The terms of a text as rows of the vocabulary: of each sentence, each once, and of all, each once.

    Sentence `i` has `terms[starts[i]:starts[i + 1]]`, the last one the rest; none is empty.
    """

    terms: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]
    distinct: npt.NDArray[np.int32]


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


def read(text: str, rows: Mapping[str, int], marks: bool, short: bool) -> Passage:
    """Cut a text into sentences: at line ends, and at `.!?…:;` before a space (`。！？；` need none).

    `rows` numbers the terms of the vocabulary; terms that it does not have are left out. `marks` and `short` as in
    `tokens.tokens`.
    """
    terms: list[int] = []
    starts: list[int] = []
    for part in _SENTENCE_END.split(text):
        known = {rows[term] for term in tokens.tokens(part, marks, short) if term in rows}
        if known:
            starts.append(len(terms))
            terms.extend(known)
    rows_of_terms = np.array(terms, np.int32)
    return Passage(rows_of_terms, np.array(starts, np.int32), np.unique(rows_of_terms))


def _contexts(manifest: Manifest, chunk: Chunk) -> list[str]:
    blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
    return [block.context for block in blocks if block.context]
