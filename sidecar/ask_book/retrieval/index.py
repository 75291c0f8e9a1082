"""The index of a book: built from its manifest, kept beside it, searched.

On disk, in the folder given to `open_index`: `chunks.json` (the passages in words, for people and other programs),
`lexical.npz` (the postings of `bm25.py`) and `index.meta.json` (what they were made from). They are used only while
they fit the manifest and this version; anything else there (cut short, edited, of another book) is replaced.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ask_book.book.manifest import Chunk, Manifest
from ask_book.retrieval import bm25, tokens
from ask_book.retrieval.evidence import Evidence
from ask_book.retrieval.language import keeps_marks, language_of, locale
from ask_book.retrieval.places import in_scope

FORMAT = 1


@dataclass(frozen=True)
class Hit:
    """A passage: its position in `manifest.chunks`, and how well it fits, 0..1."""

    chunk: int
    score: float


@dataclass(frozen=True)
class Retrieval:
    """What a question brings: passages, best first, and whether they are enough to answer."""

    hits: tuple[Hit, ...]
    evidence: Evidence


@dataclass(frozen=True)
class Index:
    """A book, ready to be searched. Immutable; safe to share between threads."""

    manifest: Manifest
    lang: str
    marks: bool
    postings: bm25.Postings

    def search(self, question: str, k: int = 7, scope: str | None = None) -> Retrieval:
        """The best `k` passages for a question, best first; ties in reading order. `scope`: see `places.in_scope`."""
        terms = tokens.tokens(question, self.marks)
        scores = self.postings.scores(terms) / max(self.postings.attainable(terms), 1e-9)
        if scope is not None:
            scores = scores * in_scope(self.manifest, scope)
        order = np.lexsort((np.arange(len(scores)), -np.round(scores, 9)))[:k]
        hits = tuple(Hit(int(at), float(scores[at])) for at in order if scores[at] > 0)
        stop = locale(self.lang).stopwords
        words = [word for word in question.split() if tokens.fold(word) not in stop]
        known = [bool(set(tokens.tokens(word, self.marks)) & self.postings.ids.keys()) for word in words]
        found = tuple(word for word, is_known in zip(words, known, strict=True) if is_known)
        absent = tuple(word for word, is_known in zip(words, known, strict=True) if not is_known)
        confidence = hits[0].score if hits else 0.0
        return Retrieval(hits, Evidence(confidence > 0.2, confidence, found, absent))


def open_index(manifest: Manifest, folder: Path) -> Index:
    """The index of `manifest`: the one in `folder` if it fits, else a new one, written there if that is possible."""
    sample = " ".join(chapter.text[:20_000] for chapter in manifest.chapters)
    lang = manifest.book.lang or language_of(sample)
    marks = keeps_marks(manifest.book.lang, sample)
    postings = _load(manifest, folder)
    if postings is None:
        postings = bm25.build((indexed_text(manifest, chunk) for chunk in manifest.chunks), marks)
        with suppress(OSError):
            _save(manifest, lang, postings, folder)
    return Index(manifest, lang, marks, postings)


def indexed_text(manifest: Manifest, chunk: Chunk) -> str:
    """What a passage is found by: its headings, twice; its text; words that are not on the page but describe it."""
    chapter = manifest.chapters[chunk.chapter]
    section = chapter.section_at(chunk.start)
    headings = dict.fromkeys((chapter.title, *section.heading_path))
    contexts = (block.context for block in chapter.blocks_in(chunk.start, chunk.end) if block.context)
    return "\n".join((*headings, *headings, chapter.text[chunk.start : chunk.end], *contexts))


def _fingerprint(manifest: Manifest) -> str:
    made_from = [FORMAT, tokens.VERSION, manifest.book.hash, manifest.book.lang]
    made_from += [(chunk.id, chunk.chapter, chunk.start, chunk.end) for chunk in manifest.chunks]
    return sha256(json.dumps(made_from).encode()).hexdigest()


def _load(manifest: Manifest, folder: Path) -> bm25.Postings | None:
    """The postings on disk, or None when they are missing, damaged or made from something else."""
    try:
        meta = json.loads((folder / "index.meta.json").read_bytes())
        chunks = (folder / "chunks.json").read_bytes()
        if meta["fingerprint"] != _fingerprint(manifest) or meta["chunks_crc32"] != zlib.crc32(chunks):
            return None
        with np.load(folder / "lexical.npz", allow_pickle=False) as arrays:
            if str(arrays["fingerprint"]) != meta["fingerprint"]:
                return None
            return bm25.Postings(
                tuple(arrays["vocabulary"].tobytes().decode().split("\n")),
                arrays["starts"],
                arrays["passages"],
                arrays["counts"],
                arrays["lengths"],
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None


def _save(manifest: Manifest, lang: str, postings: bm25.Postings, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fingerprint = _fingerprint(manifest)
    chunks = json.dumps(_chunk_rows(manifest), ensure_ascii=False, indent=1).encode()
    meta = {
        "format": FORMAT,
        "tokens": tokens.VERSION,
        "manifest": manifest.book.hash,
        "fingerprint": fingerprint,
        "lang": lang,
        "chunks": postings.size,
        "terms": len(postings.vocabulary),
        "chunks_crc32": zlib.crc32(chunks),
    }
    _write(folder / "chunks.json", lambda file: file.write(chunks))
    _write(
        folder / "lexical.npz",
        lambda file: np.savez(
            file,
            fingerprint=np.array(fingerprint),
            vocabulary=np.frombuffer("\n".join(postings.vocabulary).encode(), np.uint8),
            starts=postings.starts,
            passages=postings.passages,
            counts=postings.counts,
            lengths=postings.lengths,
        ),
    )
    _write(folder / "index.meta.json", lambda file: file.write(json.dumps(meta, indent=1).encode()))


def _chunk_rows(manifest: Manifest) -> list[dict[str, Any]]:
    rows = []
    for chunk in manifest.chunks:
        chapter = manifest.chapters[chunk.chapter]
        section = chapter.section_at(chunk.start)
        rows.append(
            {
                "id": chunk.id,
                "file": chapter.file,
                "chapter_title": chapter.title,
                "heading_path": list(section.heading_path),
                "anchor": section.anchor,
                "level": section.level,
                "text": chapter.text[chunk.start : chunk.end],
                "href": chapter.href,
                "chapter": chunk.chapter,
                "start": chunk.start,
                "end": chunk.end,
            }
        )
    return rows


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write beside, then rename: a reader sees the old file or the new one, never a part."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
