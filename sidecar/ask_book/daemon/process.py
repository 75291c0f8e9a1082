"""The process of a daemon, which gets ready before it is told what to serve.

What a daemon has to import takes as long as finding out with what it is to be started, so both are done at once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask_book.book.configuration import PROFILE_VARIABLE, find_root
from ask_book.book.identity import folder_key
from ask_book.daemon.state import StateFolder, state_path
from ask_book.files import locked


@dataclass(frozen=True)
class Process:
    """It becomes the daemon of `folder` when it is told the id of a start, and ends when it never will be."""

    folder: StateFolder
    child: subprocess.Popen[bytes]

    def employ(self, start_id: str) -> None:
        """Have it carry out the order that was left in its folder."""
        assert self.child.stdin
        with suppress(OSError), self.child.stdin as told:  # it may have ended already
            told.write(f"{start_id}\n".encode())

    def dismiss(self) -> None:
        """End it, unless it was employed."""
        assert self.child.stdin
        if not self.child.stdin.closed:
            self.child.kill()
            self.child.wait()
            self.child.stdin.close()


def begin(folder: StateFolder, env: Mapping[str, str]) -> Process:
    """A process that outlives this one and holds none of its pipes, terminal or working folder."""
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    with (folder.path / "crash.log").open("wb") as crash:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "ask_book.daemon", str(folder.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=crash,
            cwd=folder.path,
            env=dict(env),
            **options,
        )
    return Process(folder, child)


@contextmanager
def spare(book: Path, env: Mapping[str, str]) -> Iterator[Process | None]:
    """A process for the daemon that the book in this folder will probably need, if none lives: a guess, made at once.

    None where a daemon lives or is being made, where none ever was, and where the profile is not plain to see.
    """
    root = find_root(book)
    folder = StateFolder(state_path(root, folder_key(root, "default")))
    if env.get(PROFILE_VARIABLE) or not folder.path.is_dir() or _names_profiles(root):
        yield None
        return
    with locked(folder.spare_lock, 0) as got:
        if not got or folder.is_alive():
            yield None
            return
        process = begin(folder, env)
        try:
            yield process
        finally:
            process.dismiss()


def _names_profiles(root: Path) -> bool:
    return any(b"profile" in file.read_bytes() for file in root.glob("_quarto.y*ml*"))
