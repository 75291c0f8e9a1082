"""A passage as search reads it: what it is found by, and its sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ask_book.book.manifest import Chunk, Manifest
from ask_book.retrieval import tokens

_SENTENCE_END = re.compile(r"[.!?…:;]\s+|[。！？；]|\n")


@dataclass(frozen=True)
class Passage:
    """The runs of each sentence, and those of all one after the other."""

    sentences: tuple[tuple[str, ...], ...]
    runs: tuple[str, ...]


def indexed_text(manifest: Manifest, chunk: Chunk) -> str:
    """What a passage is found by: its headings, twice; its text; words that are not on the page but describe it."""
    chapter = manifest.chapters[chunk.chapter]
    headings = tuple(dict.fromkeys((chapter.title, *chapter.section_at(chunk.start).heading_path)))
    contexts = (block.context for block in chapter.blocks_in(chunk.start, chunk.end) if block.context)
    return "\n".join((*headings, *headings, chapter.text[chunk.start : chunk.end], *contexts))


def read(manifest: Manifest, chunk: Chunk, marks: bool) -> Passage:
    """Cut a passage into sentences: at line ends, and at `.!?…:;` before a space (`。！？；` need none)."""
    chapter = manifest.chapters[chunk.chapter]
    parts = _SENTENCE_END.split(chapter.text[chunk.start : chunk.end])
    sentences = tuple(filter(None, (tuple(tokens.runs(tokens.fold(part, marks))) for part in parts)))
    return Passage(sentences, tuple(run for sentence in sentences for run in sentence))


def contains(runs: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    """Whether the runs of a phrase follow each other in a passage."""
    return f" {' '.join(phrase)} " in f" {' '.join(runs)} "
