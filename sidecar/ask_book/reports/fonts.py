"""Which installed fonts have the characters that a document's own font lacks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping

from ask_book.reports.font import Font, is_font_name
from ask_book.reports.font_files import folders, fonts_in

SECONDS = 20
_FORMAT = "%{family[0]}\\t%{color}\\t%{slant}\\t%{weight}\\t%{charset}\\n"
_REGULAR = re.compile(r"False\t0\t(?:75|80|\[.*\])")
_AWKWARD = re.compile(r"mono|cond|narrow|light|thin|black|caps|last ?resort|unifont", re.IGNORECASE)
CJK = re.compile(
    r"[\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u31f0-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]"
    r"|[\U00020000-\U0003ffff]"
)
_REGIONS = {"ja": "JP", "ko": "KR", "zh": "SC"}


def installed_fonts(env: Mapping[str, str]) -> tuple[Font, ...]:
    """The regular fonts, drawn in outlines, that fontconfig knows; without it, those in the system's folders."""
    program = shutil.which("fc-list", path=env.get("PATH"))
    if program is None:
        return fonts_in(folders(sys.platform, env))
    try:
        done = subprocess.run(
            [program, "--format", _FORMAT],
            env=dict(env),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = (line.split("\t", 1) for line in done.stdout.decode("utf-8", "replace").splitlines() if "\t" in line)
    fonts = {name: Font(name, _ranges(rest)) for name, rest in rows if is_font_name(name) and _REGULAR.match(rest)}
    return tuple(font for _, font in sorted(fonts.items()))


def choose_fonts(
    chars: Collection[str], fonts: Iterable[Font], lang: str
) -> tuple[tuple[tuple[str, frozenset[str]], ...], frozenset[str]]:
    """Few families that have as many of `chars` as can be had, each with its share; and the rest."""
    chosen: list[tuple[str, frozenset[str]]] = []
    region, known = _region(chars, lang), tuple(fonts)
    plain = [font for font in known if not _AWKWARD.search(font.family)]
    eastern = frozenset(char for char in chars if CJK.match(char))
    left = frozenset(chars)
    # Western letters of an eastern font are wide and far apart: each kind is looked for in fonts of its own first.
    for wanted, candidates in (
        (eastern, plain),
        (left - eastern, [font for font in plain if "CJK" not in font.family]),
        (left, known),
    ):
        share = frozenset("-")
        while share and candidates and left & wanted:
            best = max(candidates, key=lambda font: _fitness(font, left & wanted, region))
            if share := best.covered(left & wanted):
                chosen.append((best.family, share))
                left -= share
    return tuple(chosen), left


def _fitness(font: Font, chars: frozenset[str], region: str) -> tuple[int, bool, bool]:
    return len(font.covered(chars)), f"CJK {region}" in font.family, "Serif" in font.family


def _region(chars: Collection[str], lang: str) -> str:
    """Whose forms of Chinese characters: those of the book's language, else of the script that is there."""
    if re.match(r"zh.*(hant|tw|hk)", lang.lower()):
        return "TC"
    if region := _REGIONS.get(lang.split("-")[0].lower()):
        return region
    if any("\u3040" <= char <= "\u30ff" for char in chars):
        return "JP"
    return "KR" if any("\uac00" <= char <= "\ud7a3" for char in chars) else "SC"


def _ranges(row: str) -> tuple[tuple[int, int], ...]:
    pairs = (part.split("-") for part in row.rpartition("\t")[2].split())
    return tuple((int(pair[0], 16), int(pair[-1], 16)) for pair in pairs)
