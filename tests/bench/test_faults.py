"""kill -9 at random moments of `index`, `start`, a reload and a report: nothing corrupted, no paid embedding lost.

After each kill, what is on disk is read as the next process will read it. A batch of texts that a process had the
answer to, and went on from, must never be asked for again: only those under way at the moment of the kill may be.

    KILLS=20 pytest tests/bench/test_faults.py -m bench -s
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from ask_book.book.edition import open_edition
from ask_book.book.manifest import read_manifest
from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.daemon.state import state_folder
from ask_book.reports.place import reports_of
from ask_book.retrieval.index import open_index
from ask_book.retrieval.remote import RemoteEmbedder
from provider import Asked, Json, Provider, Reply, _embeddings, provider

pytestmark = [
    pytest.mark.bench,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(sys.platform == "win32", reason="it knows no kill -9"),
]

KILLS = int(os.environ.get("KILLS", "200"))
CHAPTERS, SECTIONS = 8, 60
WORDS = ("puente", "arco", "dovela", "río", "granito", "molino", "camino", "valle", "piedra", "sillar", "tajamar")


def write_chapter(folder: Path, number: int, chance: random.Random) -> None:
    """Sections long enough to be a passage each; each mentions a word that is nowhere else."""
    text = f"# Capítulo {number}\n"
    for section in range(SECTIONS):
        words = " ".join(chance.choices(WORDS, k=22))
        text += f"\n## Sección {section}\n\nTrata de {words} y de la marca m{chance.randrange(10**9)}.\n"
    (folder / f"c{number}.qmd").write_text(text, encoding="utf-8")


class Faults:
    """The book, its provider, and what happened so far."""

    def __init__(self, folder: Path, model: Provider) -> None:
        self.folder = folder
        self.model = model
        self.chance = random.Random(8)
        self.kept: set[str] = set()
        self.lost: list[str] = []
        self.seen = 0
        self.done: Counter[str] = Counter()

    def project(self) -> Project:
        return find_project(self.folder, os.environ)

    def command(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "ask_book", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def index_whole(self) -> None:
        """Index in peace: there is nothing that a kill could have left behind."""
        command = [sys.executable, "-m", "ask_book", "index", str(self.folder), "--yes", "--json"]
        done = subprocess.run(command, check=True, capture_output=True)
        embeddings = json.loads(done.stdout)["embeddings"]
        assert embeddings["embedded"] + embeddings["reused"] > 400
        self.account()

    def edit(self) -> None:
        write_chapter(self.folder, self.chance.randrange(CHAPTERS), self.chance)

    def pause(self, most: float) -> None:
        time.sleep(self.chance.uniform(0, most))

    def index(self) -> None:
        """Edit, index, kill."""
        self.edit()
        indexing = self.command("index", str(self.folder), "--yes", "--json")
        self.pause(4)
        indexing.kill()
        indexing.wait()

    def start(self) -> None:
        """Start, kill the command and the daemon it made."""
        self.kill_daemon()
        starting = self.command("start", str(self.folder))
        self.pause(2)
        starting.kill()
        starting.wait()
        self.kill_daemon()

    def reload(self) -> None:
        """A daemon that reads an edited book, and embeds it, is killed meanwhile."""
        project = self.project()
        state = control.start(project, settings_of(project.configuration, os.environ), os.environ)
        self.edit()
        with suppress(httpx.HTTPError):
            bearer = {"Authorization": f"Bearer {state_folder(project).token()}"}
            httpx.post(f"{state.url}reload", headers=bearer, trust_env=False)
        self.pause(4)
        self.kill_daemon()

    def report(self) -> None:
        """A daemon that writes reports is killed meanwhile."""
        project = self.project()
        state = control.start(project, settings_of(project.configuration, os.environ), os.environ)

        def ask() -> None:
            with suppress(httpx.HTTPError):
                question = {"question": "¿Qué dice de los puentes y las dovelas?", "report": True}
                for _ in range(20):
                    httpx.post(f"{state.url}ask", json=question, trust_env=False, timeout=5)

        asking = threading.Thread(target=ask)
        asking.start()
        self.pause(2)
        self.kill_daemon()
        asking.join()

    def kill_daemon(self) -> None:
        """Kill -9, and wait until the system has noticed."""
        folder = state_folder(self.project())
        while folder.is_alive():
            if state := folder.read():
                with suppress(OSError):
                    os.kill(state.pid, signal.SIGKILL)
            time.sleep(0.01)

    def check(self) -> None:
        """What is left is whole; and nothing that was kept was asked for again."""
        for folder in (Path(os.environ["HOME"]), self.folder / ".quarto"):
            for file in folder.rglob("*.json"):
                if not file.name.startswith("."):
                    json.loads(file.read_bytes())
            for file in folder.rglob("*.sqlite"):
                with closing(sqlite3.connect(file)) as db:
                    assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
        project = self.project()
        reports = reports_of(project, settings_of(project.configuration, os.environ)).folder
        for report in reports.glob("[0-9a-f]*"):
            assert {"report.html", "report.md", "report.json"} <= {file.name for file in report.iterdir()}
        edition = open_edition(project)
        manifest = read_manifest(edition.manifest_path)
        word = next(word for word in manifest.chapters[-1].text.split() if word.startswith("m") and word[1:2].isdigit())
        found = open_index(manifest, edition.index_dir).search(word.strip("."), 1)
        chunk = manifest.chunks[found.hits[0].chunk]
        assert word in manifest.chapters[chunk.chapter].text[chunk.start : chunk.end]

    def account(self) -> None:
        """Judge the requests since the last time: all made by one process."""
        batches = [asked.json["input"] for asked in self.model.asked[self.seen :] if is_batch(asked)]
        self.seen = len(self.model.asked)
        self.lost += [text for batch in batches for text in batch if text in self.kept]
        # Each worker goes on only when its batch is on disk: all but the last of each is.
        sure = batches[: max(0, len(batches) - RemoteEmbedder.parallel)]
        self.kept |= {text for batch in sure for text in batch}


def is_batch(asked: Asked) -> bool:
    """Passages, not the question of a reader."""
    return isinstance(asked.json.get("input"), list) and len(asked.json["input"]) > 1


def slowly(data: Json) -> Reply:
    """Vectors after a moment, as from far away."""
    return Reply(steps=(0.15, *_embeddings(data).steps))


def test_kill_9_at_random_moments(small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    chapters = [f"c{number}.qmd" for number in range(CHAPTERS)]
    (small_book / "_quarto.yml").write_text(
        f"project: {{type: book}}\nlang: es\nbook:\n  title: Faults\n  chapters: [index.qmd, {', '.join(chapters)}]\n"
        "ask-book: {embedding-model: m, reports-pdf: false}\n",
        encoding="utf-8",
    )
    for number in range(CHAPTERS):
        write_chapter(small_book, number, chance)
    with provider(slowly, slowly) as model:
        monkeypatch.setenv("ASK_BOOK_BASE_URL", model.base_url)
        monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "m")
        faults = Faults(small_book, model)
        faults.index_whole()
        first = len(faults.kept)
        actions = (faults.index, faults.start, faults.reload, faults.report)
        began = time.monotonic()
        for number in range(KILLS):
            action = actions[number % len(actions)]
            action()
            faults.done[action.__name__] += 1
            faults.check()
            faults.account()
            print(f"{number + 1} kills, {len(faults.lost)} lost", flush=True)
        # and after all that, it simply works
        faults.index_whole()
        project = faults.project()
        state = control.start(project, settings_of(project.configuration, os.environ), os.environ)
        deadline = time.monotonic() + 120
        while httpx.get(f"{state.url}search?q=dovelas", trust_env=False, timeout=60).status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    asked = Counter(text for one in model.asked if is_batch(one) for text in one.json["input"])
    print(f"\n{dict(faults.done)} kills in {time.monotonic() - began:.0f} s: 0 corrupted states")
    print(f"{first} texts embedded first, {len(asked)} in all, {sum(asked.values()) - len(asked)} asked for again ")
    print(f"(under way when killed), {len(faults.lost)} of them paid for and lost")
    assert faults.lost == []
