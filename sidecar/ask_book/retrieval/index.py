"""The index of a book: built from its manifest, or loaded (`storage.py`), and searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from ask_book.book.manifest import Chunk, Manifest
from ask_book.book.notice import Notice
from ask_book.retrieval import bm25, fusion, passages, places, query, ranking, storage, tokens
from ask_book.retrieval.embedding import Embedder, Floats
from ask_book.retrieval.evidence import LOOKED_AT, Evidence, Findings, judge, lacking
from ask_book.retrieval.language import code_of, has_table, keeps_marks, language_of, locale
from ask_book.retrieval.vectors import Vectors, ready

LARGE = 20_000
ASIDE = 0.2
FREQUENT, FEWEST = 0.3, 5


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
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Index:
    """A book, ready to be searched. Immutable; safe to share between threads. `lang` is empty when it is not known."""

    manifest: Manifest
    lang: str
    marks: bool
    postings: bm25.Postings
    vectors: Vectors | None = None

    def search(
        self,
        question: str,
        k: int = 7,
        scope: str | None = None,
        vector: Floats | None = None,
    ) -> Retrieval:
        """The best `k` passages for a question, best first; ties in reading order.

        `scope`: see `places.in_scope`; `vector`: the question's, by the model of `vectors`.
        """
        asked, foreign = self._read(question)
        asked = query.without_joints(asked, self.postings.ids.__contains__)
        factor = self._factor if scope is None else self._factor * places.in_scope(self.manifest, scope)
        holders = [self._with(phrase.runs) & (factor > 0) for phrase in asked.phrases]
        most = np.sum(holders, axis=0) if holders else np.zeros(self.postings.size)
        factor = factor * (most == most.max(initial=0))
        place = places.named(self.manifest, question)
        named = float(place[factor > 0].max(initial=0.0))
        cosines = meaning = None
        if self.vectors and vector is not None:
            parts = fusion.cosines(self.vectors.matrix, vector, self.vectors.kind)
            cosines = np.sum(parts, axis=0)
            near = fusion.nearness(parts, factor > 0)
            meaning = fusion.Meaning(near, self.vectors.kind)
        names_place = named and all(word.stop or places.is_name_of_place(word.run) for word in asked.words)
        verbatim = self._with([] if names_place else tokens.runs(tokens.fold(question, self.marks)))
        ranked = ranking.rank(asked, self.postings, self._words, factor, place, verbatim, k, meaning)
        found = Findings(
            score=ranked[0][1] if ranked else 0.0,
            passages=tuple(at for at, _ in ranked[:LOOKED_AT]),
            postings=self.postings,
            missing=tuple(
                phrase.written
                for phrase, mask in zip(asked.phrases, holders, strict=True)
                if len(phrase.runs) > 1 and not mask.any()
            ),
            named=named,
            kind=meaning.kind if meaning else None,
            cosine=0.0 if cosines is None else float(cosines[factor > 0].max(initial=-1.0)),
            foreign=foreign,
        )
        evidence = judge(asked, found, nouns_capitalised=self.lang.startswith("de"))
        return Retrieval(tuple(Hit(at, score) for at, score in ranked), evidence)

    def lacking(self, question: str, at: int) -> tuple[str, ...]:
        """The words of a question, stop words aside, that a passage and its headings do not have."""
        return lacking(self._read(question)[0], at, self.postings)

    def _read(self, question: str) -> tuple[query.Query, bool]:
        """The question as search reads it, and whether it is in another language than the book."""
        spoken = language_of(question, self.lang)
        foreign = code_of(spoken) != code_of(self.lang)
        aside = locale(spoken).stopwords if foreign else frozenset[str]()
        stopwords = self.stopwords | aside if aside else self.stopwords  # A copy would be hashed for each word.
        asked = query.read(question, stopwords, self.marks, self.postings.short, foreign)
        if self._frequent and all(word.stop for word in asked.words):  # It asks for what the whole book is about.
            asked = query.read(question, aside, self.marks, self.postings.short, foreign)
        return asked, foreign

    @cached_property
    def stopwords(self) -> frozenset[str]:
        """Those of the book's language, folded, or what stands in for them."""
        return self._frequent or locale(self.lang).stopwords

    @cached_property
    def _frequent(self) -> frozenset[str]:
        """The words that `FREQUENT` of the passages have, `FEWEST` at least, if there is no table of the language."""
        if has_table(self.lang):
            return frozenset()
        least = max(FEWEST, self.postings.size * FREQUENT)
        terms = (self.postings.vocabulary[row] for row in np.flatnonzero(self.postings.frequencies >= least))
        return frozenset(term.strip("_") for term in terms if term[0] == term[-1] == "_" or tokens.is_unspaced(term))

    def _with(self, runs: Sequence[str]) -> bm25.Mask:
        return ranking.passages_with(runs, self.postings, lambda at: self._runs(passages.indexed_text, at))

    def _runs(self, text_of: Callable[[Manifest, Chunk], str], at: int) -> list[str]:
        return tokens.runs(tokens.fold(text_of(self.manifest, self.manifest.chunks[at]), self.marks))

    @cached_property
    def _factor(self) -> bm25.Floats:
        """What the scores are multiplied by: a half in lists of references, a fifth less where nothing is prose."""
        references = np.where(places.lists_of_references(self.manifest), places.REFERENCES, 1.0)
        return references * (1 - ASIDE * passages.asides(self.manifest))

    @cached_property
    def _words(self) -> Callable[[int], frozenset[str]]:
        """The words of a passage, read when it is first looked at; those of a large book are not all kept."""
        return lru_cache(maxsize=8192)(lambda at: frozenset(self._runs(passages.body, at)))


def open_index(manifest: Manifest, folder: Path, embedder: Embedder | None = None) -> Index:
    """The index of `manifest`: the one in `folder` if it fits, else a new one, written there if that is possible.

    With the vectors of `embedder` when all of them were made before.
    """
    sample = " ".join(chapter.text[:20_000] for chapter in manifest.chapters)
    lang = manifest.book.lang or language_of(sample, "")
    marks = keeps_marks(manifest.book.lang, sample)
    postings = storage.load(manifest, folder)
    if postings is None:
        texts = (passages.indexed_text(manifest, chunk) for chunk in manifest.chunks)
        postings = bm25.build(texts, marks, short=len(manifest.chunks) > LARGE)
        with suppress(OSError):
            storage.save(manifest, lang, postings, folder)
    return Index(manifest, lang, marks, postings, ready(manifest, folder, embedder) if embedder else None)
