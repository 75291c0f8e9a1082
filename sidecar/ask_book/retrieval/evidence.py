"""Is there enough in the book to answer? What of the question was found, and what the book never says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Evidence:
    """`confidence` is 0..1. The terms are words of the question as the reader wrote them, in order."""

    enough: bool
    confidence: float
    found_terms: tuple[str, ...]
    absent_terms: tuple[str, ...]
