"""The project's `.env`: `KEY=value` lines, with quotes and comments."""

from __future__ import annotations

import re
from pathlib import Path

_LINE = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?(?P<key>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*
    (?: '(?P<single>[^'\n]*)' | "(?P<double>(?:[^"\\\n]|\\.)*)" | (?P<bare>[^\n]*?) )
    [ \t]*(?:(?<![^\s"'=])\#[^\n]*)?$""",
    re.VERBOSE | re.MULTILINE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_dotenv(text: str) -> dict[str, str]:
    """The variables of a text, the last one of a name counting; other lines are other tools' business.

    'single' quotes are literal, "double" ones know \\n, \\r, \\t, \\" and \\\\; a `#` begins a comment
    at the start of a value or after a blank. Nothing is expanded.
    """
    values = {}
    for match in _LINE.finditer(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        if (double := match["double"]) is not None:
            value = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), double)
        else:
            value = match["single"] if match["single"] is not None else match["bare"]
        values[match["key"]] = value
    return values


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of a file; none when it is not there or is no text."""
    try:
        return parse_dotenv(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}
