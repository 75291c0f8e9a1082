"""No surprise bill: what the author of a book agreed to embed with a model on another machine, and what is left of it.

`ask-book index --yes` agrees to the whole book. As many characters again may then be embedded unasked, as the book
changes; after that the author is asked again. One small file a project, in the data folder of the user's account.
"""

from __future__ import annotations

import json
from pathlib import Path

import platformdirs

from ask_book.files import write_atomically


class Consent:
    """Of one project (`Project.key`)."""

    def __init__(self, project: str, folder: Path | None = None) -> None:
        folder = folder or platformdirs.user_data_path("ask-book", appauthor=False) / "consent"
        self._path = folder / f"{project}.json"

    def left(self, model: str) -> int:
        """How many characters may be embedded unasked with a model (`Embedder.name`)."""
        left = self._read().get(model, 0)
        return left if isinstance(left, int) else 0

    def give(self, model: str, characters: int) -> None:
        """Agree to so many characters, unasked, from now on."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(self._path, json.dumps({**self._read(), model: characters}).encode(), 0o600)

    def _read(self) -> dict[str, object]:
        try:
            read = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return read if isinstance(read, dict) else {}
