"""Disks that are small, full or read-only: real ones, in memory. Only where one may mount (Linux, as root)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[None]:
    """An empty disk at `folder`; `options` of mount, such as `size=64k` or `ro`."""
    mounted = sys.platform == "linux" and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """An empty folder in which nothing can be written: for its mode or, as root does not mind modes, for its disk."""
    if os.geteuid() == 0:
        with small_disk(folder, "ro"):
            yield
        return
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def fill(folder: Path) -> None:
    """Leave no byte free."""
    with (folder / "filler").open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 512)
            except OSError:
                return
