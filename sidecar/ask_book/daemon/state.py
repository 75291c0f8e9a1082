"""What a daemon leaves on disk: who it is, where it listens, the owner's token, its log.

One folder a project and profile, under the user's state folder, readable by its owner only. A daemon holds the
lock `alive.lock` as long as it lives, so a state file without that lock is what a dead one left: no process id
has to be trusted.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from ask_book.book.identity import folder_name
from ask_book.errors import AskBookError
from ask_book.files import FileLock, locked, write_atomically

# A process is made for a daemon before there is time for what reads a book.
if TYPE_CHECKING:
    from ask_book.book.project import Project
    from ask_book.book.settings import Settings


@dataclass(frozen=True)
class State:
    """A daemon. `start_id` names the start that made it; `fingerprint` is what it was started with.

    `port` is 0 until it listens; `error` and `hint` say why it could not.
    """

    start_id: str
    pid: int
    version: str
    book_id: str
    fingerprint: str
    port: int = 0
    error: str = ""
    hint: str = ""

    @property
    def url(self) -> str:
        """Where the book is."""
        return f"http://127.0.0.1:{self.port}/"


@dataclass(frozen=True)
class Order:
    """What a start hands to the daemon it makes: the project as it was just read. `start_id` names the start."""

    start_id: str
    fingerprint: str
    project: Project
    settings: Settings


@dataclass(frozen=True)
class StateFolder:
    """The folder of one project's daemon."""

    path: Path

    @property
    def start_lock(self) -> Path:
        """Held while a daemon is started or stopped."""
        return self.path / "start.lock"

    @property
    def alive_lock(self) -> Path:
        """Held by a daemon all its life."""
        return self.path / "alive.lock"

    @property
    def spare_lock(self) -> Path:
        """Held while a process is ready to become the daemon."""
        return self.path / "spare.lock"

    @property
    def log(self) -> Path:
        """What the daemon writes."""
        return self.path / "daemon.log"

    def read(self) -> State | None:
        """The last state written, by whatever version; None if there is none, or if it is damaged."""
        try:
            data = json.loads((self.path / "daemon.json").read_bytes())
            return State(**{field.name: data[field.name] for field in fields(State) if field.name in data})
        except (OSError, ValueError, TypeError):
            return None

    def write(self, state: State) -> None:
        """Replace the state."""
        write_atomically(self.path / "daemon.json", json.dumps(asdict(state)).encode(), 0o600)

    def place(self, order: Order) -> None:
        """Leave an order for the daemon about to start."""
        import pickle

        write_atomically(self.path / "order.pickle", pickle.dumps(order), 0o600)

    def order(self) -> Order:
        """The last order. Reading YAML again would cost a daemon a third of the time it takes to answer."""
        import pickle

        # Only the owner can write in this folder.
        order: Order = pickle.loads((self.path / "order.pickle").read_bytes())  # noqa: S301
        return order

    def order_stamp(self) -> int:
        """What changes when another order is left; 0 when there is none."""
        try:
            return (self.path / "order.pickle").stat().st_mtime_ns
        except OSError:
            return 0

    def is_alive(self, patience: float = 0) -> bool:
        """Whether a daemon of this project lives: whether somebody holds its lock.

        Another process that asks the same holds it too, for an instant; `patience` (seconds) rules that out.
        """
        with FileLock(self.alive_lock) as lock:
            return not lock.acquire(patience)

    def token(self) -> str:
        """The owner's token: made once, kept in a file that only the owner can read."""
        import secrets

        path = self.path / "token"
        with locked(self.path / "token.lock", timeout=5):
            token = path.read_text(encoding="ascii", errors="replace").strip() if path.exists() else ""
            if not re.fullmatch(r"[\w-]{32,}", token, re.ASCII):
                token = secrets.token_urlsafe(32)
                write_atomically(path, token.encode(), 0o600)
            path.chmod(0o600)
        return token


def state_folder(project: Project) -> StateFolder:
    """The folder of a project's daemon, made if it is missing."""
    path = state_path(project.root, project.key)
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(0o700)
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise AskBookError(
            f"The folder for the sidecar's state cannot be written: {path} ({error.strerror}).",
            "Make it writable, or set XDG_STATE_HOME to another folder; `ask-book serve` needs none.",
            "state",
        ) from None
    return StateFolder(path)


def state_path(root: Path, key: str) -> Path:
    """Where that is, for the folder of a book and its `folder_key`."""
    import platformdirs

    return platformdirs.user_state_path("ask-book", appauthor=False) / folder_name(root, key)
