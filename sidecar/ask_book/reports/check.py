"""Whether the quotes of a report still stand in the book as it is now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ask_book.answering.answer import Citation
from ask_book.book.manifest import Manifest, Tag

Fate = Literal["stands", "moved", "gone"]
_WORST: tuple[Fate, ...] = ("gone", "moved", "stands")


@dataclass(frozen=True)
class Standing:
    """What became of a quote. `tag` is where it is now, None when it is gone."""

    n: int
    quote: str
    fate: Fate
    tag: Tag | None


def standing(manifest: Manifest, tag: Tag | None, quote: str, n: int = 0) -> Standing:
    """Where the words of a quote are: at their tag, else at the place nearest to it that says the same."""
    if tag is not None and manifest.text(tag) == quote:
        return Standing(n, quote, "stands", tag)
    found = _nearest(manifest, tag or Tag(0, 0, 1), quote)
    return Standing(n, quote, "moved" if found else "gone", found)


def standings(citations: Iterable[Citation], manifest: Manifest) -> tuple[Standing, ...]:
    """What became of each of these quotes."""
    return tuple(standing(manifest, Tag.parse(item.tag), item.quote, item.n) for item in citations)


def worst(standings: Iterable[Standing]) -> Fate | None:
    """The worst that became of any of them; None if there are none."""
    fates = {item.fate for item in standings}
    return next((fate for fate in _WORST if fate in fates), None)


def _nearest(manifest: Manifest, tag: Tag, quote: str) -> Tag | None:
    if not quote.strip():
        return None
    for chapter in sorted(manifest.chapters, key=lambda chapter: abs(chapter.index - tag.chapter)):
        text, starts = chapter.text, []
        start = text.find(quote)
        while start >= 0:
            starts.append(start)
            start = text.find(quote, start + 1)
        if starts:
            nearest = min(starts, key=lambda start: abs(start - tag.start))
            return Tag(chapter.index, nearest, nearest + len(quote))
    return None
