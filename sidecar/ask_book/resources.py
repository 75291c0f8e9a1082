"""Files that travel with the package."""

from __future__ import annotations

from pathlib import Path


def extension_dir() -> Path:
    """The Quarto extension: inside the wheel, or beside `sidecar/` in a checkout."""
    package = Path(__file__).resolve().parent
    carried = package / "_extension"
    return carried if carried.is_dir() else package.parents[1] / "_extensions" / "ask-book"
