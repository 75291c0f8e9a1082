"""What a server serves now, and how it is told of a newer edition."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from ask_book.book.notice import Notice
from ask_book.errors import AskBookError

if TYPE_CHECKING:
    from ask_book.answering.open_book import OpenBook


@dataclass(frozen=True)
class Works:
    """What a server can do beside searching, and whose model it asks."""

    chat: bool = False
    embeddings: bool = False
    pdf: bool = False
    model_host: str | None = None


@dataclass(frozen=True)
class Embedding:
    """How far the passages are embedded. `state`: "" (nothing to do), `building`, `waiting` (for consent), `failed`."""

    state: str = ""
    progress: float = 0.0


@dataclass
class Holder:
    """Swapped as a whole: a request reads `current` once and keeps what it got.

    `current` is None while the first index is made; `progress` (0..1) is how far that is, `failure` why it came to
    nothing; `notices` are about the server, not the book. `reload` asks for a look at the book; it returns at once.
    `last_used` is the monotonic time of the last request that a reader made, `busy` the number of answers under way.
    """

    book_id: str
    title: str
    lang: str
    reload: Callable[[], None] = lambda: None
    current: OpenBook | None = None
    works: Works = Works()
    progress: float = 0.0
    embedding: Embedding = Embedding()
    failure: AskBookError | None = None
    notices: tuple[Notice, ...] = ()
    last_used: float = field(default_factory=time.monotonic)
    busy: int = 0
    _changing: Lock = field(default_factory=Lock, repr=False)

    def update(self, change: Callable[[OpenBook], OpenBook]) -> None:
        """Put what `change` makes of the current book in its place, if there is one; from any thread."""
        with self._changing:
            if self.current is not None:
                self.current = change(self.current)
