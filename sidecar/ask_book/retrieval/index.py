"""The index of a book: built from its manifest, kept beside it, searched.

On disk, in the folder given to `open_index`: `chunks.json` (the passages in words, for people and other programs),
`lexical.npz` (the postings of `bm25.py`) and `index.meta.json` (what they were made from). They are used only while
they fit the manifest and this version; anything else there (cut short, edited, of another book) is replaced.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ask_book.book.manifest import Manifest
from ask_book.files import write_atomically
from ask_book.retrieval import bm25, passages, places, query, ranking, tokens
from ask_book.retrieval.evidence import LOOKED_AT, Evidence, Findings, judge
from ask_book.retrieval.language import keeps_marks, language_of, locale

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
        stopwords = locale(self.lang).stopwords | locale(language_of(question, self.lang)).stopwords
        asked = query.read(question, stopwords, self.marks)
        factor = self._factor if scope is None else self._factor * places.in_scope(self.manifest, scope)
        holders = [
            ranking.passages_with(phrase, self.postings, self._passage) * (factor > 0) for phrase in asked.phrases
        ]
        most = np.sum(holders, axis=0) if holders else np.zeros(self.postings.size)
        factor = factor * (most == most.max(initial=0))
        place = places.named(self.manifest, question)
        ranked = ranking.rank(asked, self.postings, self._passage, factor, place, k)
        found = Findings(
            score=ranked[0][1] if ranked else 0.0,
            passages=tuple(frozenset(self._found_by(at)) for at, _ in ranked[:LOOKED_AT]),
            vocabulary=self.postings.vocabulary,
            missing=tuple(
                phrase.written
                for phrase, mask in zip(asked.phrases, holders, strict=True)
                if len(phrase.runs) > 1 and not mask.any()
            ),
            named=bool((place[factor > 0] >= places.HELD).any()),
        )
        evidence = judge(asked, found, nouns_capitalised=self.lang.startswith("de"))
        return Retrieval(tuple(Hit(at, score) for at, score in ranked), evidence)

    def _found_by(self, at: int) -> list[str]:
        return tokens.runs(tokens.fold(passages.indexed_text(self.manifest, self.manifest.chunks[at]), self.marks))

    @cached_property
    def _factor(self) -> bm25.Floats:
        return np.where(places.lists_of_references(self.manifest), places.REFERENCES, 1.0)

    @cached_property
    def _passage(self) -> Callable[[int], passages.Passage]:
        """Passages are read when they are first looked at; those of a large book are not all kept."""

        @lru_cache(maxsize=8192)
        def read(at: int) -> passages.Passage:
            return passages.read(self.manifest, self.manifest.chunks[at], self.marks)

        return read


def open_index(manifest: Manifest, folder: Path) -> Index:
    """The index of `manifest`: the one in `folder` if it fits, else a new one, written there if that is possible."""
    sample = " ".join(chapter.text[:20_000] for chapter in manifest.chapters)
    lang = manifest.book.lang or language_of(sample)
    marks = keeps_marks(manifest.book.lang, sample)
    postings = _load(manifest, folder)
    if postings is None:
        postings = bm25.build((passages.indexed_text(manifest, chunk) for chunk in manifest.chunks), marks)
        with suppress(OSError):
            _save(manifest, lang, postings, folder)
    return Index(manifest, lang, marks, postings)


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
    arrays = BytesIO()
    np.savez(
        arrays,
        fingerprint=np.array(fingerprint),
        vocabulary=np.frombuffer("\n".join(postings.vocabulary).encode(), np.uint8),
        starts=postings.starts,
        passages=postings.passages,
        counts=postings.counts,
        lengths=postings.lengths,
    )
    write_atomically(folder / "chunks.json", chunks)
    write_atomically(folder / "lexical.npz", arrays.getvalue())
    write_atomically(folder / "index.meta.json", json.dumps(meta, indent=1).encode())


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
