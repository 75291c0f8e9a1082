"""An exported book is served where there is nothing else: no sources, no Quarto, no pandoc, another home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import quote

QUESTION = "¿Cuándo se terminó el puente de Alcántara?"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "ask_book", *map(str, arguments)]


def export(book: Path, out: Path) -> Any:
    return json.loads(subprocess.check_output(command("export", book, out, "--json"), encoding="utf-8"))


@contextmanager
def served(folder: Path, home: Path) -> Iterator[str]:
    """The address of `ask-book serve` in an account that has nothing but the folder."""
    names = ("HOME", "USERPROFILE", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
    env = {name: str(home) for name in names} | {"PATH": "", "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}
    env["ASK_BOOK_EMBEDDING_MODEL"] = "none"
    # its pandoc would be found without a PATH
    env["ASK_BOOK_PANDOC"] = str(home / "none")
    server = subprocess.Popen(command("serve", folder, "--port", "0", "--json"), env=env, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["url"]
    finally:
        server.terminate()
        server.communicate(timeout=30)


def get(url: str) -> Any:
    """What is at an address, once the book is open."""
    for _ in range(200):
        try:
            with urllib.request.urlopen(url, timeout=30) as response:
                body = response.read().decode()
                return json.loads(body) if response.headers.get_content_type() == "application/json" else body
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 503:
                raise
            time.sleep(0.05)
    raise AssertionError("the book is not opened")


def answered(url: str, question: str) -> Any:
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{url}ask", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@contextmanager
def asked_all_the_time(url: str) -> Iterator[list[int]]:
    """The statuses of a page and of a search, asked for in turn until the end of the block."""
    statuses: list[int] = []
    done = Event()

    def asks() -> None:
        while not done.is_set():
            for path in ("puentes.html", "search?q=puente"):
                try:
                    with urllib.request.urlopen(f"{url}{path}", timeout=30) as response:
                        statuses.append(response.status)
                except urllib.error.HTTPError as error:
                    error.close()
                    statuses.append(error.code)

    reader = Thread(target=asks)
    reader.start()
    try:
        yield statuses
    finally:
        done.set()
        reader.join()


def test_it_answers_in_another_place_and_goes_over_to_a_new_export(small_book: Path, tmp_path: Path) -> None:
    export(small_book, tmp_path / "export")
    anywhere = tmp_path / "srv" / "un libro"
    shutil.copytree(tmp_path / "export", anywhere)
    shutil.copytree(small_book, tmp_path / "sources")
    shutil.rmtree(small_book)
    home = tmp_path / "somebody"
    home.mkdir()
    with served(anywhere, home) as url:
        assert "El puente de Alcántara" in get(f"{url}puentes.html")
        answer = answered(url, QUESTION)
        assert answer["status"] == "answered"
        assert answer["citations"][0]["verified"]
        assert "106" in answer["citations"][0]["quote"]
        assert get(f"{url}health")["notices"] == []

        chapter = tmp_path / "sources" / "puentes.qmd"
        chapter.write_text(chapter.read_text(encoding="utf-8") + "\nEl ojo mayor mide 28,8 metros.\n", encoding="utf-8")
        with asked_all_the_time(url) as statuses:
            export(tmp_path / "sources", anywhere)
        assert set(statuses) == {200}
        for _ in range(100):
            found = get(f"{url}search?q={quote('ojo mayor')}")["passages"]
            if found and "28,8 metros" in found[0]["text"]:
                break
            time.sleep(0.1)
        assert "28,8 metros" in found[0]["text"]
        assert "28,8 metros" in get(f"{url}puentes.html")
    assert "ask-book.yml" in {path.name for path in anywhere.iterdir()}


def test_a_folder_that_only_may_be_read(small_book: Path, tmp_path: Path) -> None:
    out = tmp_path / "export"
    export(small_book, out)
    shutil.rmtree(out / "index")
    for path in (out, *out.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with served(out, tmp_path / "nobody") as url:
            get(f"{url}search?q=puente")
            assert answered(url, QUESTION)["status"] == "answered"
    finally:
        for path in (out, *out.rglob("*")):
            path.chmod(0o755)
