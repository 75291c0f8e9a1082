"""A book ready to be asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import fail_after, to_thread

from ask_book.book.manifest import Manifest, Tag, read_manifest
from ask_book.book.notice import Notice
from ask_book.errors import AskBookError, UsageError
from ask_book.retrieval.choice import WORDS_ALONE, Choice
from ask_book.retrieval.language import Locale, locale

# What needs numpy is imported where it is used: a sidecar answers before it has read its book.
if TYPE_CHECKING:
    from ask_book.book.edition import Edition
    from ask_book.retrieval.embedding import Embedder, Floats
    from ask_book.retrieval.index import Index, Retrieval
    from ask_book.retrieval.vectors import Vectors

QUESTION_SECONDS = 5.0
PENDING = "embeddings_pending"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OpenBook:
    """A book ready to be asked. Immutable: a new edition is a new `OpenBook`.

    `site` is the folder with its pages; `kind` is `rendered` or `plain`. `embedder` turns questions into vectors, once
    the index has those of the passages.
    """

    manifest: Manifest
    index: Index
    site: Path
    kind: str = "rendered"
    notices: tuple[Notice, ...] = ()
    embedder: Embedder | None = None

    @cached_property
    def locale(self) -> Locale:
        """The table of the book's language."""
        return locale(self.index.lang)

    @cached_property
    def references(self) -> frozenset[Tag]:
        """The passages that are lists of references: they help to find, but answer nothing."""
        from ask_book.retrieval.places import lists_of_references

        is_one = lists_of_references(self.manifest)
        return frozenset(tag for tag, yes in zip(self.manifest.tags(), is_one, strict=True) if yes)

    def with_vectors(self, vectors: Vectors) -> OpenBook:
        """The same book, its passages embedded."""
        notices = tuple(notice for notice in self.notices if notice.code != PENDING)
        return replace(self, index=replace(self.index, vectors=vectors), notices=notices)

    def pending(self, why: str) -> OpenBook:
        """The same book without vectors, and the reason why it has none."""
        others = [notice for notice in self.notices if notice.code != PENDING]
        return replace(self, index=replace(self.index, vectors=None), notices=(*others, Notice(PENDING, why)))

    def narrowed(self, words: str, scope: str | None) -> tuple[str, str | None]:
        """What to search for, and where: `chapter:…` among the words goes before the `scope` that came with them."""
        from ask_book.retrieval.places import narrowed

        rest, named = narrowed(self.manifest, words)
        return rest, named or scope

    async def search(self, words: str, k: int, scope: str | None = None) -> Retrieval:
        """The best `k` passages, by their words and, if that can be told in time, by their meaning.

        Raises `UsageError` when the book has no such `scope`.
        """
        words, scope = await to_thread.run_sync(self.narrowed, words, scope)
        vector, notice = await self._vector(words)
        found = await to_thread.run_sync(partial(self._search, words, k, scope, vector), abandon_on_cancel=True)
        return replace(found, notices=(notice,)) if notice else found

    async def aclose(self) -> None:
        """Close the connections of the embedder."""
        if self.embedder:
            await self.embedder.aclose()

    async def _vector(self, words: str) -> tuple[Floats | None, Notice | None]:
        """A question as a vector, when there is something to compare it with; else, maybe, why not."""
        if self.embedder is None or self.index.vectors is None:
            return None, None
        try:
            with fail_after(QUESTION_SECONDS):
                vector = await self.embedder.query(words)
        except TimeoutError:
            log.warning("%s did not embed a question within %.0f s", self.embedder.name, QUESTION_SECONDS)
            return None, self._words_alone("embeddings_slow", "The embedding model took too long.")
        except AskBookError as error:
            log.warning("A question was not embedded: %s", error)
            return None, self._words_alone(error.code, error.message)
        if len(vector) != self.index.vectors.matrix.shape[1]:
            changed = "The embedding model has changed: run `ask-book index`."
            return None, self._words_alone("embeddings_changed", changed)
        return vector, None

    def _words_alone(self, code: str, why: str) -> Notice:
        return Notice(code, f"{self.locale.notices['words_alone']} {why}")

    def _search(self, words: str, k: int, scope: str | None, vector: Floats | None) -> Retrieval:
        from ask_book.retrieval.places import in_scope

        if scope and not in_scope(self.manifest, scope).any():
            raise UsageError(f"The book has no {scope!r}.", "Name a chapter file, a part or an anchor.", "scope")
        return self.index.search(words, k, scope, vector)


def open_book(edition: Edition, choice: Choice = WORDS_ALONE) -> OpenBook:
    """Read the manifest of an edition and open its index, with the vectors that there are; embeds nothing.

    Raises `AskBookError` if the manifest cannot be used.
    """
    from ask_book.retrieval.index import open_index

    manifest = read_manifest(edition.manifest_path)
    index = open_index(manifest, edition.index_dir, choice.embedder)
    notices = [*edition.notices, *([choice.notice] if choice.notice else [])]
    if choice.embedder and index.vectors is None and manifest.chunks:
        notices.append(Notice(PENDING, f"{_PENDING} {choice.embedder.name}: `ask-book index` does that."))
    return OpenBook(manifest, index, edition.site, edition.kind, tuple(notices), choice.embedder)


_PENDING = "Passages are found by their words alone until all are embedded with"
