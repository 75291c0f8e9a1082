"""The tokens of a day, counted by all processes that answer from one book."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ask_book.files import locked, write_atomically

LOCK_SECONDS = 2.0


@dataclass
class Budget:
    """`most` tokens a day (UTC); None: as many as you like. Without a `folder` the count ends with the process."""

    most: int | None = None
    folder: Path | None = None
    _day: str = field(default="", repr=False)
    _spent: int = field(default=0, repr=False)

    def take(self, tokens: int) -> bool:
        """Set tokens aside before they are used; False, and nothing set aside, when the day has not that many left."""
        if self.most is None:
            return True
        with self._counted():
            if self._spent + tokens > self.most:
                return False
            self._spent += tokens
            self._write()
            return True

    def settle(self, taken: int, used: int) -> None:
        """Put what was set aside right afterwards."""
        if self.most is not None and used != taken:
            with self._counted():
                self._spent = max(0, self._spent + used - taken)
                self._write()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """With today's count read, and nobody else changing it."""
        with ExitStack() as held:
            # Where nothing can be written, each process counts for itself.
            with suppress(OSError):
                if self.folder:
                    held.enter_context(locked(self.folder / "tokens.lock", LOCK_SECONDS))
            self._read()
            yield

    def _read(self) -> None:
        today = datetime.now(UTC).date().isoformat()
        if self.folder:
            try:
                data = json.loads((self.folder / "tokens.json").read_bytes())
                self._day, self._spent = str(data["day"]), int(data["tokens"])
            except (OSError, ValueError, TypeError, KeyError):
                pass
        if self._day != today:
            self._day, self._spent = today, 0

    def _write(self) -> None:
        if self.folder:
            with suppress(OSError):
                data = json.dumps({"day": self._day, "tokens": self._spent})
                write_atomically(self.folder / "tokens.json", data.encode(), 0o600)
