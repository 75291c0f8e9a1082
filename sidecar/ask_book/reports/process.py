"""Running a program that must not be trusted to end: in a group of its own, with limits, and killed as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# Also in force when this process itself is killed: seconds of the processor, and blocks of 512 bytes in a file.
_LIMITS = 'ulimit -t {seconds} 2>/dev/null; ulimit -f 400000 2>/dev/null; exec "$0" "$@"'


@dataclass(frozen=True)
class Outcome:
    """How it ended. `code` is None when its time was over; `said` is all that it wrote."""

    code: int | None
    said: str


@dataclass
class Runner:
    """Runs programs and ends them all on `close`, after which it starts none."""

    _running: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    is_closed: bool = False

    def run(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float) -> Outcome:
        """Wait for a program at most `seconds`; whatever it started ends with it. Raises OSError if it cannot start."""
        with self._lock:
            if self.is_closed:
                return Outcome(None, "")
            process = _start(argv, cwd, env, seconds)
            self._running.add(process)
        try:
            said, _ = process.communicate(timeout=seconds)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            _kill(process)
            said, _ = process.communicate()
            code = None
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)
        return Outcome(code, said.decode("utf-8", "replace"))

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self.is_closed = True
            for process in self._running:
                _kill(process)


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float) -> subprocess.Popen[bytes]:
    is_windows = sys.platform == "win32"
    limits = () if is_windows else ("/bin/sh", "-c", _LIMITS.format(seconds=int(seconds) + 1))
    return subprocess.Popen(
        [*limits, *argv],
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=not is_windows,
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group, also what outlived the program itself."""
    if sys.platform == "win32":
        if process.poll() is None:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
