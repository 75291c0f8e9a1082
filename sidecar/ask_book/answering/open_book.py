"""A book ready to be asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from ask_book.book.manifest import Manifest, Tag, read_manifest
from ask_book.book.notice import Notice
from ask_book.errors import UsageError
from ask_book.retrieval.language import Locale, locale

# What needs numpy is imported where it is used: a sidecar answers before it has read its book.
if TYPE_CHECKING:
    from ask_book.book.edition import Edition
    from ask_book.retrieval.index import Index, Retrieval


@dataclass(frozen=True)
class OpenBook:
    """A book ready to be asked. Immutable: a new edition is a new `OpenBook`.

    `site` is the folder with its pages; `kind` is `rendered` or `plain`.
    """

    manifest: Manifest
    index: Index
    site: Path
    kind: str = "rendered"
    notices: tuple[Notice, ...] = ()

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

    async def search(self, words: str, k: int, scope: str | None = None) -> Retrieval:
        """The best `k` passages. Raises `UsageError` when the book has no such `scope`."""
        return await to_thread.run_sync(partial(self._search, words, k, scope), abandon_on_cancel=True)

    def _search(self, words: str, k: int, scope: str | None) -> Retrieval:
        from ask_book.retrieval.places import in_scope

        if scope and not in_scope(self.manifest, scope).any():
            raise UsageError(f"The book has no {scope!r}.", "Name a chapter file, a part or an anchor.", "scope")
        return self.index.search(words, k, scope)


def open_book(edition: Edition) -> OpenBook:
    """Read the manifest of an edition and open its index. Raises `AskBookError` if the manifest cannot be used."""
    from ask_book.retrieval.index import open_index

    manifest = read_manifest(edition.manifest_path)
    return OpenBook(manifest, open_index(manifest, edition.index_dir), edition.site, edition.kind, edition.notices)
