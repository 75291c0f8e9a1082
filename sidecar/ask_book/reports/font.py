"""What is known of a font."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,60}")


@dataclass(frozen=True)
class Font:
    """A family, and the code points it has: pairs of first and last."""

    family: str
    ranges: tuple[tuple[int, int], ...]

    def covered(self, chars: Iterable[str]) -> frozenset[str]:
        """Those of `chars` that it has."""
        return frozenset(char for char in chars if any(low <= ord(char) <= high for low, high in self.ranges))


def is_font_name(name: str) -> bool:
    """Whether this may be a font's name, and nothing but that."""
    return _NAME.fullmatch(name) is not None
