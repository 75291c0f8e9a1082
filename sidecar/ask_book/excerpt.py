"""The beginning of a text, for where there is no room for all of it."""

from __future__ import annotations


def excerpt(text: str, most: int) -> str:
    """A text on one line. What has more than `most` characters is cut at a word's end, and ` …` says so."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"
