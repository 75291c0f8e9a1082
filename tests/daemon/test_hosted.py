"""A book run by another server of ASGI applications, under a path of its choice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from waiting import wait_until

APP = """\
from ask_book.daemon.hosted import HostedBook

app = HostedBook({folder!r}, names=["connect.example.org"])
"""


@pytest.fixture
def hosted(small_book: Path, tmp_path: Path) -> Iterator[str]:
    """Its address, served by hypercorn's own command under /content/7."""
    (tmp_path / "app.py").write_text(APP.format(folder=str(small_book)), encoding="utf-8")
    command = [sys.executable, "-m", "hypercorn", "app:app", "--bind", "127.0.0.1:0", "--root-path", "/content/7"]
    server = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "ASK_BOOK_EMBEDDING_MODEL": "none"}, stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        line = next(line for line in server.stderr if "Running on" in line)
        yield line.split("Running on ")[1].split(" ")[0]
    finally:
        server.terminate()
        server.communicate(timeout=30)


def answer(url: str, path: str, host: str, body: object = None) -> tuple[int, Any]:
    headers = {"Host": host, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers), timeout=30) as response:
            text = response.read().decode()
            return response.status, json.loads(text) if text.startswith("{") else text
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_it_answers_under_the_path_and_the_name_of_its_host(hosted: str) -> None:
    name = "connect.example.org"
    wait_until(lambda: answer(hosted, "/health?ready", name)[0] == 200)
    question = {"question": "¿Cuándo se terminó el puente de Alcántara?"}
    status, asked = answer(hosted, "/content/7/ask", name, question)
    assert (status, asked["status"]) == (200, "answered"), asked
    assert "106" in asked["citations"][0]["quote"]
    assert answer(hosted, "/content/7/health", name)[1]["book"]["title"].startswith("Un libro")
    # hosts may take the path off themselves
    assert answer(hosted, "/health", name)[1]["book"]["title"].startswith("Un libro")
    assert "El puente de Alcántara" in answer(hosted, "/content/7/puentes.html", name)[1]
    assert answer(hosted, "/content/7/health", "evil.example")[0] == 403
    assert answer(hosted, "/content/7/reload", name, {})[0] == 401
