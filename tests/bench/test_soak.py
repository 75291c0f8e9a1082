"""A day of a sidecar in some minutes: it looks at its book as often, reads it again when it changes, stays small.

LOOKS=5000 pytest tests/bench/test_soak.py -m bench -s
"""

import asyncio
import os
import re
import time
from pathlib import Path

import pytest

from ask_book.book.project import find_project
from ask_book.daemon import watch
from ask_book.daemon.watch import Watch
from ask_book.server.holder import Holder

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]

LOOKS = int(os.environ.get("LOOKS", "86400"))
EDITS = 48


def resident() -> float:
    """Memory of this process in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def test_a_day(small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.0)
    project = find_project(small_book, os.environ)
    memory: list[float] = []
    files: list[int] = []

    async def day() -> None:
        stop = asyncio.Event()
        holder = Holder(project.book_id, project.title, project.lang)
        one = Watch(project, holder, os.environ)
        looks = 0

        def wanted() -> bool:
            nonlocal looks
            looks += 1
            return True

        task = asyncio.create_task(one.run(stop, 7200, wanted))
        for edit in range(EDITS):
            text = f"# Inicio\n\nEste libro trata de puentes, y esta es la vez m{edit}.\n"
            (small_book / "index.qmd").write_text(text, encoding="utf-8")
            before = holder.current
            while looks < LOOKS * (edit + 1) / EDITS or holder.current is before:
                await asyncio.sleep(0.01)
            memory.append(resident())
            files.append(len(list(Path("/proc/self/fd").iterdir())))
        stop.set()
        await task

    began = time.monotonic()
    asyncio.run(day())
    print(f"\n{LOOKS} looks and {EDITS} editions in {time.monotonic() - began:.0f} s")
    print(f"memory {memory[2]:.0f} -> {memory[-1]:.0f} MB, open files {files[2]} -> {files[-1]}")
    assert memory[-1] < 1.1 * memory[2] + 3
    assert files[-1] <= files[2] + 1
