"""Small files that several processes read and write: whole or not at all, one at a time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Self

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

POLL_SECONDS = 0.02


def write_atomically(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write beside `path`, then rename: readers see the old file or the new one. `mode` None keeps that of the old."""
    with replaced(path, mode) as file:
        file.write(data)


@contextmanager
def replaced(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """The same for what is written piece by piece: the rename is at the end of the block, if it comes to its end."""
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        Path(name).chmod(mode)
        _replace(Path(name), path)
    except BaseException as error:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        raise


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two files or folders in one step. False, and nothing done, where one is missing or the disk cannot."""
    if sys.platform == "win32":
        return False
    import ctypes

    system, paths = ctypes.CDLL(None), (os.fsencode(one), os.fsencode(other))
    try:
        if sys.platform == "darwin":
            return bool(system.renamex_np(*paths, 2) == 0)
        return bool(system.renameat2(-100, paths[0], -100, paths[1], 2) == 0)  # AT_FDCWD, RENAME_EXCHANGE
    except AttributeError:
        return False


def _replace(source: Path, target: Path) -> None:
    """Rename over `target`. Windows refuses while another process has it open, which lasts an instant."""
    for attempt in range(50):
        try:
            source.replace(target)
            return
        except PermissionError:
            if sys.platform != "win32" or attempt == 49:
                raise
            time.sleep(POLL_SECONDS)


class FileLock:
    """A lock that the system gives back when its holder dies, however it dies. Not inherited by child processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self, timeout: float = 0) -> bool:
        """Whether the lock was got within `timeout` seconds."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + timeout
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                os.close(handle)
                return False
            time.sleep(POLL_SECONDS)
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[bool]:
    """Hold the lock at `path`; yields whether it was got within `timeout` seconds."""
    with FileLock(path) as lock:
        yield lock.acquire(timeout)


def _try_lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
