"""What a reader should know that is no failure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notice:
    """A stable name and a sentence."""

    code: str
    message: str
