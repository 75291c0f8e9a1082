"""The fonts of a system without fontconfig, read from their files: Windows and macOS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from ask_book.reports.font import Font, is_font_name

_SUFFIXES = frozenset({".ttf", ".otf", ".ttc", ".otc"})
_COLOURED = 1 << 14  # FT_FACE_FLAG_COLOR, which the Python package does not name
_REGULAR = frozenset({"Regular", "Roman", "Book", "Normal"})


def folders(platform: str, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Where a system keeps its fonts and its user's; none where fontconfig is the one who knows."""
    home = Path(env.get("USERPROFILE") or env.get("HOME") or "~").expanduser()
    if platform == "darwin":
        return Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts"
    if platform == "win32":
        local = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
        return Path(env.get("SYSTEMROOT") or "C:/Windows") / "Fonts", local / "Microsoft" / "Windows" / "Fonts"
    return ()


def fonts_in(places: Iterable[Path]) -> tuple[Font, ...]:
    """The upright regular faces, drawn in outlines, of all font files below `places`. Unreadable ones are left out.

    None without FreeType, which is a dependency where there is no fontconfig.
    """
    found: dict[str, Font] = {}
    for path in sorted(path for place in places for path in place.rglob("*") if path.suffix.lower() in _SUFFIXES):
        for font in _regular_faces(path):
            found.setdefault(font.family, font)
    return tuple(font for _, font in sorted(found.items()))


def _regular_faces(path: Path) -> Iterator[Font]:
    try:
        import freetype
    except ImportError:
        return
    at = count = 0
    while at <= count:
        try:
            face = freetype.Face(str(path), index=at)
        except (freetype.FT_Exception, OSError):
            return
        at, count = at + 1, face.num_faces - 1
        family = (face.family_name or b"").decode("utf-8", "replace")
        is_plain = (face.style_name or b"").decode("utf-8", "replace") in _REGULAR
        if is_plain and is_font_name(family) and not face.face_flags & _COLOURED:
            yield Font(family, _ranges(code for code, _ in face.get_chars() if code))


def _ranges(code_points: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Stretches without a gap: in each, a code point less its rank is the same."""
    stretches = (
        [code for _, code in group]
        for _, group in groupby(enumerate(sorted(code_points)), key=lambda ranked: ranked[1] - ranked[0])
    )
    return tuple((stretch[0], stretch[-1]) for stretch in stretches)
