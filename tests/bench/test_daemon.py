"""How long `ask-book start` takes until the sidecar answers, and how much memory it then holds.

Both as ratios to a bare Starlette application served by hypercorn in the same run on the same machine: seconds alone
say more about the machine than about us. The goals are 0.5 s and 80 MB on an idle machine.
"""

import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ask_book.book.project import find_project
from ask_book.daemon import control

pytestmark = pytest.mark.bench

ROUNDS = 7
BARE = """
import asyncio, socket, sys
from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def health(_):
    return JSONResponse({})

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
config = Config()
config.bind = [f"fd://{listener.detach()}"]
config.accesslog = None
asyncio.run(serve(Starlette(routes=[Route("/health", health)]), config))
"""


def bare() -> tuple[float, float]:
    """Seconds until a bare server answers, and its memory in MB."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    started = time.perf_counter()
    server = subprocess.Popen([sys.executable, "-P", "-c", BARE, str(port)], stdout=subprocess.DEVNULL)
    while control.health(port) is None:
        time.sleep(0.005)
    seconds = time.perf_counter() - started
    memory = resident(server.pid)
    server.kill()
    server.wait()
    return seconds, memory


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_ready_time_and_memory(small_book: Path, root: Path) -> None:
    guide = shutil.copytree(
        root / "examples" / "book", small_book.parent / "guide", ignore=shutil.ignore_patterns("_*ns")
    )
    subprocess.run([sys.executable, "-m", "ask_book", "index", str(guide)], check=True, capture_output=True)
    project = find_project(guide, os.environ)
    start = [sys.executable, "-m", "ask_book", "start", str(guide), "--json"]
    ours: list[float] = []
    theirs: list[tuple[float, float]] = []
    memory = 0.0
    for _ in range(ROUNDS):
        theirs.append(bare())
        started = time.perf_counter()
        subprocess.run(start, check=True, capture_output=True)
        ours.append(time.perf_counter() - started)
        status = control.status(project)
        assert status.pid is not None
        assert status.port is not None
        while (control.health(status.port) or {})["index"]["state"] != "ready":
            time.sleep(0.05)
        memory = max(memory, resident(status.pid))
        control.stop(project)
    ready, bare_ready = statistics.median(ours), statistics.median(seconds for seconds, _ in theirs)
    bare_memory = max(megabytes for _, megabytes in theirs)
    print(f"\nready:  {ready:.2f} s, {ready / bare_ready:.2f} x a bare server ({bare_ready:.2f} s)")
    print(f"memory: {memory:.0f} MB, {memory / bare_memory:.2f} x a bare server ({bare_memory:.0f} MB)")
    assert memory < 80
    assert ready < 2 * bare_ready
