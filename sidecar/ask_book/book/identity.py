"""A book's name on every machine and its folder's on this one, its manifest's version, its sidecar's ports.

The Lua filter and the page compute the same values: `tests/fixtures/book_ids.json`
holds the vectors that all of them are tested against.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

MANIFEST_VERSION = 1
PORT_BASE = 10240
PORT_GROUPS = 5440
PORTS_PER_BOOK = 4

_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})
# Markdown marks, smart quotes and dashes differ between the three places that read a title.
_DROPPED = re.compile("[\x00-/:-@\\[-`{-\x7f\u00a0\u2010-\u201f\u2026]")


def canon(text: str) -> str:
    """`text` with ASCII letters in lower case and without ASCII punctuation, smart quotes and dashes."""
    return _DROPPED.sub("", text.translate(_LOWER))


def book_id(title: str, lang: str, site_url: str, output_name: str) -> str:
    """Twelve hex digits. `output_name` is the last component of the output folder's path."""
    key = "\n".join((canon(title), canon(lang), site_url.rstrip("/"), output_name))
    return hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()[:12]


def folder_key(root: Path, profile: str) -> str:
    """A folder and profile on this machine, in sixteen hex digits: two copies of a book differ."""
    return hashlib.sha256(os.fsencode(root) + b"\n" + profile.encode()).hexdigest()[:16]


def folder_name(root: Path, key: str) -> str:
    """What a folder of the user's for the book in `root` is called: readable, and with its `folder_key` its own."""
    return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', root.name).strip('-')[:40] or 'book'}-{key}"


def ports(identifier: str) -> tuple[int, ...]:
    """The four ports of a book, all in 10240–31999: below the range of ephemeral ports."""
    base = PORT_BASE + PORTS_PER_BOOK * (int(identifier[:8], 16) % PORT_GROUPS)
    return tuple(range(base, base + PORTS_PER_BOOK))
