"""What a server serves now, and how it is told of a newer edition."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ask_book.answering.open_book import OpenBook
from ask_book.errors import AskBookError


@dataclass(frozen=True)
class Works:
    """What a server can do beside searching, and whose model it asks."""

    chat: bool = False
    embeddings: bool = False
    pdf: bool = False
    model_host: str | None = None


@dataclass
class Holder:
    """Swapped as a whole: a request reads `current` once and keeps what it got.

    `current` is None while the first index is made; `progress` (0..1) is how far that is, `failure` why it came to
    nothing. `reload` asks for a look at the book; it returns at once. `last_used` is the monotonic time of the last
    request that a reader made, `busy` the number of answers under way.
    """

    book_id: str
    title: str
    lang: str
    reload: Callable[[], None] = lambda: None
    current: OpenBook | None = None
    works: Works = Works()
    progress: float = 0.0
    failure: AskBookError | None = None
    last_used: float = field(default_factory=time.monotonic)
    busy: int = 0
