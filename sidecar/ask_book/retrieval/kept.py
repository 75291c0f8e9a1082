"""Every vector that a model ever made, by the hash of its text: nothing is embedded, or paid for, twice.

One SQLite file a model, in the data folder of the user's account: books may be deleted, models changed and changed
back. What SQLite has acknowledged stays, whatever happens to the process. A file that is damaged, or another model's,
is set aside and begun again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import numpy as np
import platformdirs

from ask_book.errors import AskBookError
from ask_book.files import FileLock
from ask_book.retrieval.embedding import VERSION, Floats

PATIENCE_SECONDS = 30.0
KEYS_AT_ONCE = 500

_TABLES = (
    "CREATE TABLE IF NOT EXISTS model (name TEXT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)",
)
_Result = TypeVar("_Result")


def embeddings_dir() -> Path:
    """Where the files are: not in a cache folder, which may be emptied at any time."""
    return platformdirs.user_data_path("ask-book", appauthor=False) / "embeddings"


class Kept:
    """What is kept of the model `name` (`Embedder.name`). For any number of threads and processes at once."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:60]
        digest = sha256(f"{VERSION} {name}".encode()).hexdigest()[:12]
        self.name = name
        self.path = (folder or embeddings_dir()) / f"{readable}-{digest}.sqlite"

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        """The vectors that there are, all of one dimension: that of the newest."""
        if not self.path.exists():
            return {}

        def read(db: sqlite3.Connection) -> dict[bytes, Floats]:
            newest = db.execute("SELECT length(vector) FROM vectors ORDER BY rowid DESC LIMIT 1").fetchone()
            rows: list[tuple[bytes, bytes]] = []
            for at in range(0, len(keys), KEYS_AT_ONCE):
                some = keys[at : at + KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, vector FROM vectors WHERE length(vector) = ? AND key IN ({marks})"  # noqa: S608
                rows += db.execute(query, (newest[0] if newest else 0, *some))
            return {key: vector for key, data in rows if _is_unit(vector := np.frombuffer(data, "<f4"))}

        return self._try(read)

    def lock(self, whose: str) -> FileLock:
        """A lock among all who embed the same thing with this model. Raises `AskBookError` where none can be had."""
        path = self.path.with_name(f"{self.path.stem}-{sha256(whose.encode()).hexdigest()[:12]}.lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(0o600)
        except OSError as error:
            raise self._unusable(error) from None
        return FileLock(path)

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Keep these vectors, one a row; on the disk when this returns. Raises `AskBookError` where that fails."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        self._try(lambda db: db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows))

    def _try(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        try:
            try:
                return self._in_transaction(work)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._set_aside()
                return self._in_transaction(work)
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _in_transaction(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        with suppress(OSError):  # SQLite says what is wrong
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self.path, timeout=PATIENCE_SECONDS)) as db, db:
            db.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                db.execute(table)
            db.execute("INSERT OR IGNORE INTO model VALUES (?)", (self.name,))
            if db.execute("SELECT count(*) FROM model").fetchone() != (1,):
                raise sqlite3.DatabaseError("it is another model's")
            return work(db)

    def _unusable(self, error: Exception) -> AskBookError:
        return AskBookError(
            f"The embeddings kept in {self.path} cannot be used ({error}).",
            "See that the disk has room and the folder can be written; XDG_DATA_HOME names another one.",
            "kept",
        )

    def _set_aside(self) -> None:
        for end in ("", "-journal"):
            path = self.path.with_name(self.path.name + end)
            with suppress(OSError):
                path.replace(path.with_name(f"{path.name}.damaged"))


def _is_unit(vector: Floats) -> bool:
    return abs(float(np.vdot(vector, vector)) - 1) < 1e-3
