"""What the guide tells one to type is typed: the lines of its blocks, in a book of some of its chapters."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ask_book.book.project import find_project
from ask_book.cli import main
from ask_book.daemon import control
from provider import Json, Reply, provider, says

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "examples" / "book"
BLOCK = re.compile(r'(?ms)^```+ ?(?:bash|powershell|\{\.bash(?! filename="\.env")[^\n]*)\n(.*?)^```')
CHAPTERS = ("inside/manifest.qmd", "authors/first-render.qmd")
CONFIGURATION = """\
project: {type: book}
lang: en
book:
  title: The guide
  chapters: [index.qmd, inside/manifest.qmd, authors/first-render.qmd]
ask-book: {record-questions: true}
"""

# In this order, with words of what comes out.
RUN = {
    'ask-book ask "What is a plain rendition?" --book examples/book': "The sidecar then makes a plain rendition",
    'ask-book search "plain rendition" --book examples/book': "A book that was never rendered",
    "ask-book doctor examples/book": "Nothing is broken",
    'ask-book ask "What is this book about?"': "This guide is about books that can be asked",
    "ask-book init": "+filters: [ask-book]",
    "ask-book open": "http://127.0.0.1:",
    "ask-book open --reports": "/reports",
    "ask-book index": "embedded, 0 reused",
    "ask-book index --summaries": "parts of the book are to be summed up",
    "ask-book exam --suggest --out exam.yml": "questions, 0 to be decided",
    "ask-book exam exam.yml --min-recall 0.9": "evidence among 7 passages",
    "ask-book serve my-book --port 8000 --open": "The guide at http://127.0.0.1:",
    'curl -s http://127.0.0.1:8000/ask -H "Content-Type: application/json" -d \'{"question": "What is a passage?"}\'': (
        '"status":"answered"'
    ),
    "ask-book exam --record --out asked.yml": "asked.yml: 1 questions, 1 to be decided",
    "ask-book exam --gaps": "How is sourdough bread baked?",
    "ask-book export my-book hydrology": "Serve it with",
    "rsync -a --delete laptop:hydrology/ /srv/books/hydrology.new/": "",
    "ask-book export /srv/books/hydrology.new /srv/books/hydrology": "Serve it with",
    "ask-book serve hydrology": "The guide at http://127.0.0.1:",
    ".venv/bin/ask-book --help": "usage: ask-book",
}
WITH_QUARTO = {"quarto add <repository>", "quarto render"}
NOT_RUN = {
    "sudo apt-get install python3-venv git": "changes the machine",
    "git clone <repository> ask-book": "the name of the repository is not known yet",
    "python3 -m venv .venv": "what runs these tests was made so",
    '.venv/bin/pip install "./ask-book[all]"': "what runs these tests was installed so; test_package builds the wheel",
    '.venv/bin/pip install "./ask-book[local]"': "as above",
    "py -3 -m venv .venv": "Windows",
    r'.venv\Scripts\pip install ".\ask-book[all]"': "Windows",
    r".venv\Scripts\ask-book --help": "Windows",
    "useradd books --system --create-home --home-dir /srv/ask-book": "changes the machine",
    "mkdir -p /srv/books": "changes the machine",
    "python3 -m venv /srv/ask-book/venv": "changes the machine",
    '/srv/ask-book/venv/bin/pip install "ask-book[local] @ git+<repository>"': "changes the machine",
    "systemctl enable --now ask-book": "changes the machine",
    "journalctl --follow --unit ask-book": "needs the service",
    "rsconnect deploy fastapi --entrypoint app:app my-folder/": "needs a server of Posit's; test_hosted runs the app",
}
# What the Spanish edition calls it.
IN_ENGLISH = {
    "mi-libro": "my-book", "hidrologia": "hydrology", "portatil": "laptop", "mi-carpeta": "my-folder",
    "<repositorio>": "<repository>", "book/es": "book",
    "¿Qué es una versión sencilla?": "What is a plain rendition?", "versión sencilla": "plain rendition",
    "¿De qué trata este libro?": "What is this book about?", "¿Qué es un pasaje?": "What is a passage?",
}  # fmt: skip


def lines(edition: Path) -> dict[str, list[str]]:
    """The lines to type on each page of an edition."""
    pages = sorted(page for page in edition.rglob("*.qmd") if edition != GUIDE or "es" not in page.parts)
    blocks = {
        page.relative_to(edition).as_posix(): BLOCK.findall(page.read_text(encoding="utf-8"))
        for page in pages
        if "_extensions" not in page.parts
    }
    return {name: re.sub(r" \\\n +", " ", "".join(found)).splitlines() for name, found in blocks.items() if found}


def test_every_line_is_run_or_it_is_said_why_not() -> None:
    typed = {line for page in lines(GUIDE).values() for line in page}
    assert typed == {*RUN, *WITH_QUARTO, *NOT_RUN}


def test_the_spanish_edition_has_the_same_lines() -> None:
    spanish = lines(GUIDE / "es")
    for name, page in spanish.items():
        for said, means in IN_ENGLISH.items():
            page[:] = [line.replace(said, means) for line in page]
        spanish[name] = page
    assert spanish == lines(GUIDE)


class _Yes(io.StringIO):
    """Somebody at the terminal who agrees to all."""

    def __init__(self) -> None:
        super().__init__("y\n" * 9)

    def isatty(self) -> bool:
        return True


class Typist:
    """Types lines in a folder that has `my-book`, which `examples/book` names too."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.book = folder, folder / "my-book"
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self._server: subprocess.Popen[str] | None = None
        self.address = ""
        self.opened: list[str] = []
        for name in CHAPTERS:
            (self.book / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(GUIDE / name, self.book / name)
        (self.book / "index.qmd").write_text("# Welcome\n\nThis guide is about books that can be asked.\n")
        (self.book / "_quarto.yml").write_text(CONFIGURATION)
        (folder / "examples").mkdir()
        (folder / "examples" / "book").symlink_to(self.book, target_is_directory=True)
        (folder / "srv" / "books").mkdir(parents=True)
        monkeypatch.setattr(webbrowser, "open", self.opened.append)

    def type(self, line: str) -> str:
        """What comes out of it. It must end well."""
        words = shlex.split(line)
        here = any(word in ("examples/book", "my-book", "hydrology") for word in words)
        self._monkeypatch.chdir(self.folder if here else self.book)
        names = {"/srv": f"{self.folder}/srv", "laptop:": f"{self.folder}/", "http://127.0.0.1:8000/": self.address}
        for name, means in names.items():
            words = [word.replace(name, means) for word in words]
        if words[:2] == ["ask-book", "serve"]:
            return self._serve(words[2:])
        if words[0].endswith("ask-book"):
            return self._ask_book(words[1:])
        if words[0] == "rsync" and shutil.which("rsync") is None:
            shutil.copytree(words[-2], words[-1])
            return ""
        if words[0] == "curl" and shutil.which("curl") is None:
            return json.dumps(self.send("ask", json.loads(words[-1])), separators=(",", ":"))
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        return done.stdout

    def _ask_book(self, words: list[str]) -> str:
        self._monkeypatch.setattr(sys, "stdin", _Yes())
        try:
            code = main(words)
        except SystemExit as left:
            code = int(left.code or 0)
        out, told = self._capsys.readouterr()
        assert code == 0, out + told
        return out + told

    def _serve(self, words: list[str]) -> str:
        self.leave()
        words = [*[word for word in words if word not in ("--open", "--port", "8000")], "--port", "0"]
        command = [sys.executable, "-m", "ask_book", "serve", *words]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
        assert self._server.stdout
        said = self._server.stdout.readline()
        self.address = said.split(" at ")[1].split(" ")[0]
        while not self._is_ready():
            time.sleep(0.05)
        return said

    def _is_ready(self) -> bool:
        try:
            with urlopen(f"{self.address}health?ready", timeout=60):
                return True
        except HTTPError as error:
            error.close()
            return False

    def send(self, path: str, data: Json) -> Json:
        """What a page sends to the server."""
        request = Request(f"{self.address}{path}", json.dumps(data).encode(), {"Content-Type": "application/json"})
        with urlopen(request, timeout=60) as response:
            answer: Json = json.loads(response.read() or b"{}")
            return answer

    def leave(self) -> None:
        """End the server."""
        if self._server:
            self._server.terminate()
            self._server.communicate(timeout=60)


@pytest.fixture
def typist(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Typist]:
    (tmp_path / "some where ñ").mkdir()
    typist = Typist(tmp_path / "some where ñ", monkeypatch, capsys)
    yield typist
    typist.leave()
    control.stop(find_project(typist.book, {}))


def sums_up(asked: Json) -> Reply:
    """A summary of one sentence of the text, with its tag."""
    sentence, tag = re.findall(r"([^.\n]+\.) (\[f\d+-\d+-\d+\])", asked["messages"][-1]["content"])[0]
    return says(f"{sentence} {tag}")


def test_each_line_does_what_the_guide_says(typist: Typist, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(sums_up) as model:
        for line, words in RUN.items():
            if line == "ask-book index":
                monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "small")
                monkeypatch.setenv("ASK_BOOK_EMBEDDING_BASE_URL", model.base_url)
            if line == "ask-book index --summaries":
                monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "none")
                monkeypatch.setenv("ASK_BOOK_CHAT_MODEL", "small")
                monkeypatch.setenv("ASK_BOOK_BASE_URL", model.base_url)
            out = typist.type(line)
            assert words in " ".join(out.split()), f"{line}\n{out}"
            if line == "ask-book index --summaries":
                monkeypatch.delenv("ASK_BOOK_CHAT_MODEL")
            if line.startswith("curl"):
                typist.send("feedback", {"answer_id": json.loads(out)["id"], "value": "up"})
                typist.send("ask", {"question": "How is sourdough bread baked?"})
    assert [url.split("#")[0].split("/")[-1] for url in typist.opened] == ["", "reports"]


@pytest.mark.quarto
def test_what_quarto_is_told_to_do(typist: Typist) -> None:
    (typist.book / "_quarto.yml").write_text("project: {type: book}\nbook: {title: T, chapters: [index.qmd]}\n")
    assert "installation complete" in typist.type(f"quarto add {shlex.quote(str(ROOT))} --no-prompt")
    typist.type("ask-book init")
    assert "Output created: _book/index.html" in typist.type("quarto render")
    assert (typist.book / "_book" / "ask-book" / "book.js").is_file()
