"""How a book is answered from: made once for a server or a command, from its settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assistant:
    """What settings and environment give."""

    mode: str = "auto"


WITHOUT_MODEL = Assistant("extractive")
