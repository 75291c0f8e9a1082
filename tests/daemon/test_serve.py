"""`ask-book serve` as an administrator runs it: real processes, workers, signals, streams at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from ask_book.cli import main
from provider import Reply, provider, says
from waiting import wait_until

TOKEN = "0123456789abcdef-token"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
QUESTION = {"question": "¿Cuándo se terminó el puente de Alcántara?"}
NAMED = {"Host": "ask.example.org"}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


@dataclass
class Serving:
    """A running server and a client of it."""

    process: subprocess.Popen[str]
    client: httpx.Client
    root: str

    def workers(self) -> list[int]:
        """The processes that serve: `multiprocessing` has one more, which has no book."""
        found = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True
        )
        return [int(line.split()[0]) for line in found.stdout.splitlines() if "spawn_main" in line]


@contextmanager
def serving(book: Path, *options: str, **env: str) -> Iterator[Serving]:
    """Ready to answer; ended at the end, whatever happened."""
    command = [sys.executable, "-m", "ask_book", "serve", str(book), "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASK_BOOK_TOKEN": TOKEN, **env},
    )
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        port = url.split(":")[2].split("/")[0]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
            wait_until(lambda: client.get("/health?ready").status_code == 200)
            yield Serving(process, client, url)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def ended(server: Serving) -> tuple[int, str]:
    """Its exit code and what it said, after a polite end."""
    server.process.send_signal(signal.SIGTERM)
    _, said = server.process.communicate(timeout=60)
    return server.process.returncode, said


def test_a_public_server_behind_a_proxy(small_book: Path) -> None:
    options = ("--name", "ask.example.org", "--trusted-proxy", "127.0.0.1", "--root-path", "/bridges", "--log", "json")
    with serving(small_book, *options, ASK_BOOK_REQUESTS_PER_READER="2") as server:
        assert server.root.endswith("/bridges/")

        def code(reader: str) -> int:
            headers = {**NAMED, "X-Forwarded-For": reader}
            return server.client.get("/bridges/search?q=dovelas", headers=headers).status_code

        assert [code(reader) for reader in ("203.0.113.1", "203.0.113.2", "203.0.113.1", "203.0.113.1")] == [
            200,
            200,
            200,
            429,
        ]
        assert server.client.get("/health", headers={**NAMED, "Origin": "http://localhost:9"}).status_code == 403
        assert server.client.get("/metrics", headers=NAMED).status_code == 401
        assert 'route="search",outcome="429"} 1' in server.client.get("/metrics", headers={**NAMED, **BEARER}).text
        returncode, said = ended(server)
    lines = [json.loads(line) for line in said.splitlines()]
    searches = [line for line in lines if line.get("route") == "search"]
    assert [line["status"] for line in searches] == [200, 200, 200, 429]
    assert "dovelas" not in said
    assert "203.0.113" not in said
    assert returncode == 0


def test_workers_share_rates_and_counters_and_are_replaced(small_book: Path) -> None:
    options = ("--name", "ask.example.org", "--workers", "2")
    with serving(small_book, *options, ASK_BOOK_REQUESTS_PER_READER="1") as server:
        pids = server.workers()
        assert len(pids) == 2

        def code() -> int:
            """Each on a connection of its own, so that both workers get some."""
            headers = {**NAMED, "Connection": "close"}
            return server.client.get("/search?q=dovelas", headers=headers).status_code

        assert [code() for _ in range(10)] == [200] + [429] * 9

        def counted(outcome: str, times: int) -> bool:
            """A request is counted when it is done, which its reader may know before another worker does."""
            numbers = server.client.get("/metrics", headers={**NAMED, **BEARER}).text
            return f'ask_book_requests_total{{route="search",outcome="{outcome}"}} {times}\n' in numbers

        wait_until(lambda: counted("2xx", 1) and counted("429", 9))
        os.kill(pids[0], signal.SIGKILL)
        wait_until(lambda: len(server.workers()) == 2 and pids[0] not in server.workers())
        wait_until(lambda: server.client.get("/health?ready", headers=NAMED).status_code == 200)
        left = server.workers()
        returncode, said = ended(server)
    assert returncode == 0
    assert "code -9; another takes its place" in said
    assert not any(Path(f"/proc/{pid}").exists() for pid in left)


def test_an_answer_under_way_is_finished_before_the_end(small_book: Path) -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        tag = asked["messages"][-1]["content"].split("se terminó en el año 106. ")[1].split()[0]
        return says(f"El puente de Alcántara se terminó en el año 106 {tag}.", piece=4, pause=0.02)

    with (
        provider(reply) as model,
        serving(
            small_book, ASK_BOOK_BASE_URL=model.base_url, ASK_BOOK_CHAT_MODEL="m", ASK_BOOK_MODE="grounded"
        ) as server,
    ):
        headers = {"Accept": "text/event-stream"}
        with server.client.stream("POST", "/ask", json=QUESTION, headers=headers) as response:
            events = response.iter_lines()
            assert next(events) == "event: sources"
            server.process.send_signal(signal.SIGTERM)
            rest = list(events)
        assert "event: done" in rest
        done = json.loads(rest[rest.index("event: done") + 1].removeprefix("data: "))
        assert done["mode"] == "grounded", done["notices"]
        assert done["answer"].startswith("El puente de Alcántara se terminó en el año 106")
        server.process.wait(30)
    assert server.process.returncode == 0


def test_an_answer_that_does_not_end_is_cut_after_the_grace(small_book: Path) -> None:
    with (
        provider(says("x" * 500, piece=1, pause=0.5)) as model,
        serving(
            small_book,
            "--grace",
            "1",
            ASK_BOOK_BASE_URL=model.base_url,
            ASK_BOOK_CHAT_MODEL="m",
            ASK_BOOK_MODE="grounded",
        ) as server,
    ):
        cut: list[Any] = []

        def read() -> None:
            try:
                response = server.client.post("/ask", json=QUESTION, headers={"Accept": "text/event-stream"})
                cut.append(response.text)
            except httpx.HTTPError as error:
                cut.append(error)

        reader = threading.Thread(target=read)
        reader.start()
        wait_until(lambda: model.asked)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(15)
        reader.join(15)
    assert server.process.returncode == 0
    assert cut


@pytest.mark.parametrize(
    ("options", "env", "words"),
    [
        (["--trusted-proxy", "nowhere"], {}, "--trusted-proxy"),
        (["--root-path", "/../x"], {}, "--root-path"),
        ([], {"ASK_BOOK_TOKEN": "short"}, "ASK_BOOK_TOKEN"),
        (["--workers", "0"], {}, "--workers"),
        (["--grace", "-1"], {}, "--grace"),
        (["--log", "xml"], {}, "--log"),
    ],
)
def test_what_cannot_be_is_told(
    small_book: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    env: dict[str, str],
    words: str,
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert main(["serve", str(small_book), *options]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "short" not in told
