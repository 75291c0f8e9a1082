"""The command as it is typed: real processes, their output and their exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ask_book import __version__
from ask_book.book.edition import open_edition
from ask_book.book.manifest import Tag, read_manifest
from ask_book.book.project import find_project
from disks import closed

COMMANDS = (
    "init",
    "index",
    "ask",
    "search",
    "open",
    "serve",
    "start",
    "stop",
    "status",
    "exam",
    "export",
    "doctor",
    "reports",
)
QUESTION = "¿Cuándo se terminó el puente de Alcántara?"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(home: Path) -> Run:
    def ask_book(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ask_book", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=280,
            check=False,
            **options,
        )

    return ask_book


def test_help_version_and_misuse(run: Run) -> None:
    assert run("--version").stdout == f"ask-book {__version__}\n"
    assert run("--help").returncode == 0
    nothing = run()
    assert (nothing.returncode, "init" in nothing.stdout) == (2, True)
    unknown = run("askk")
    assert (unknown.returncode, "invalid choice: 'askk'" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_that_teaches(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert "--book DIR" in done.stdout
    assert "--json" in done.stdout
    assert len(done.stdout.split()) > 40


def test_ask_prints_the_answer_json(run: Run, small_book: Path) -> None:
    done = run("ask", QUESTION, "--book", small_book, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["mode"]) == ("answered", "extractive")
    manifest = read_manifest(open_edition(find_project(small_book, {})).manifest_path)
    for citation in answer["citations"]:
        tag = Tag.parse(citation["tag"])
        assert tag is not None
        assert citation["verified"]
        assert citation["quote"] == manifest.text(tag)
    assert "106" in answer["citations"][0]["quote"]


def test_ask_prints_a_readable_answer(run: Run, small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    done = run("ask", QUESTION, cwd=small_book)
    lines = done.stdout.splitlines()
    assert lines[0] == "El puente de Alcántara se terminó en el año 106. Tiene seis arcos desiguales. [1]"
    assert lines[2] == "[1]  “El puente de Alcántara se terminó en el año 106. Tiene seis arcos desiguales.”"
    assert "Los puentes" in lines[3]
    assert lines[4].strip().startswith("file:///")
    assert lines[4].strip().endswith("/puentes.html")


def test_what_markdown_escapes_is_shown_as_it_is(run: Run, small_book: Path) -> None:
    text = "# Los puentes\n\nEl catálogo de puentes está en https://example.org/a_b*c y no tiene fin.\n"
    (small_book / "puentes.qmd").write_text(text, encoding="utf-8")
    said = run("ask", "¿Dónde está el catálogo de puentes?", small_book).stdout
    assert said.startswith("El catálogo de puentes está en https://example.org/a_b*c y no tiene fin. [1]\n")


def test_not_found_is_a_no_with_its_reasons(run: Run, small_book: Path) -> None:
    done = run("ask", "¿Qué opina del fútbol en Miami?", small_book)
    assert done.returncode == 1
    assert done.stdout.startswith("No encontrado en el libro\n")
    assert "The book never uses: " in done.stdout
    assert "Miami" in done.stdout
    answer = json.loads(run("ask", "¿Qué opina del fútbol en Miami?", small_book, "--json").stdout)
    assert (answer["status"], answer["sources"], answer["citations"]) == ("not_found", [], [])


def test_search(run: Run, small_book: Path) -> None:
    done = run("search", "dovelas de granito", "--book", small_book, "--json")
    assert done.returncode == 0
    best = json.loads(done.stdout)[0]
    assert "dovelas son de granito" in best["text"]
    assert 0 < best["score"] <= 1
    nothing = run("search", "xyzzy", "--book", small_book)
    assert (nothing.returncode, nothing.stdout) == (1, "Nothing in the book has these words.\n")


def test_index_says_what_it_did_and_the_book_stays_as_it_was(run: Run, small_book: Path) -> None:
    before = sorted(small_book.rglob("*"))
    first = json.loads(run("index", small_book, "--json").stdout)
    assert (first["edition"], first["lang"], first["chapters"], first["reused"]) == ("plain", "es", 2, 0)
    sizes = first["chunk_sizes"]
    assert 0 < sizes["min"] <= sizes["median"] <= sizes["max"] <= first["characters"]
    second = json.loads(run("index", small_book, "--json").stdout)
    assert second["reused"] == second["chunks"] == first["chunks"]
    said = run("index", small_book).stdout
    assert re.match(r"Un libro \w+: a plain rendition of its chapters\n  2 chapters, ", said)
    assert f"{first['chunks']} reused" in said
    assert sorted(small_book.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("ask", ""), 2, "The question is empty."),
        (("ask", "x" * 501), 2, "The question has 501 characters; 500 are the most."),
        (("ask", "x", "--scope", "nowhere.qmd"), 2, "The book has no 'nowhere.qmd'."),
        (("ask", "x", "-k", "0"), 2, "must be a whole number from 1 to 50"),
        (("ask",), 2, "The following arguments are required: QUESTION"),
        (("serve", "--port", "70000"), 2, "must be a port number"),
        (("index", ".", "--book", "."), 2, "The book's folder is given 2 times: ., .."),
        (("index", "nowhere"), 1, "nowhere does not exist."),
    ],
)
def test_bad_input(run: Run, small_book: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = run(*arguments, cwd=small_book)
    assert done.returncode == code
    assert says in done.stderr
    assert done.stdout == ""


def test_broken_books(run: Run, small_book: Path, tmp_path: Path) -> None:
    (small_book / "_quarto.yml").write_text("book:\n  chapters: [index.qmd\nlang: es\n")
    done = run("ask", "x", "--book", small_book)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ask-book: {small_book}/_quarto.yml:3: broken YAML: ")
    (small_book / "_quarto.yml").write_text("book:\n  chapters: [index.qmd, gone.qmd]\n")
    done = run("start", "--book", small_book, "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "chapter"
    assert error["message"].endswith("_quarto.yml:2: the chapter `gone.qmd` is missing.")
    nowhere = run("status", cwd=tmp_path)
    assert (nowhere.returncode, "There is no _quarto.yml in" in nowhere.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "The following arguments are required: QUESTION."),
        (("x", "--book", "a", "--book", "b"), "The book's folder is given 2 times: a, b."),
        (("x", "-k", "0"), "Argument -k: must be a whole number from 1 to 50."),
    ],
)
def test_misuse_is_json_for_programs(run: Run, arguments: tuple[str, ...], message: str) -> None:
    done = run("ask", *arguments, "--json")
    assert (done.returncode, done.stderr) == (2, "")
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["message"]) == ("usage", message)


@pytest.mark.skipif(sys.platform == "win32", reason="modes do not close a folder there")
def test_a_cache_that_may_not_be_written(
    run: Run, small_book: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "closed").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "closed"))
    with closed(home / "closed"):
        done = run("ask", QUESTION, "--book", small_book, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (1, "permission")
    assert error["message"].startswith(f"{home}/closed/ask-book")


def test_what_was_not_foreseen_is_one_line_and_a_traceback_when_asked(
    run: Run, small_book: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "file"))
    done = run("index", small_book)
    assert done.returncode == 1
    assert done.stderr.startswith("ask-book: Something went wrong that ask-book did not foresee (NotADirectoryError")
    assert "Traceback" not in done.stderr
    monkeypatch.setenv("ASK_BOOK_DEBUG", "1")
    assert "Traceback" in run("index", small_book).stderr


def test_a_terminal_without_the_letters(run: Run, small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run("ask", QUESTION, small_book)
    assert done.returncode == 0
    assert done.stdout.startswith("El puente de Alc?ntara")
    answer = json.loads(run("ask", QUESTION, small_book, "--json").stdout)
    assert "Alcántara" in answer["answer"]


def test_pipes_get_utf8_without_a_locale(run: Run, small_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert "Alcántara" in run("ask", QUESTION, small_book).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_nobody_reads_the_output(small_book: Path) -> None:
    command = [sys.executable, "-m", "ask_book", "search", "puente", "--book", str(small_book)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() == 1


def test_start_status_open_stop(run: Run, small_book: Path) -> None:
    down = run("status", small_book, "--json")
    assert (down.returncode, json.loads(down.stdout)["running"]) == (1, False)
    started = json.loads(run("start", small_book, "--json").stdout)
    up = run("status", small_book, "--json")
    seen = json.loads(up.stdout)
    assert (up.returncode, seen | {"vectors": None}) == (0, started | {"vectors": None})
    opened = run("open", small_book, "--no-browser")
    assert opened.stdout == f"{started['url']}\n"
    assert run("stop", small_book).stdout == "The sidecar is stopped.\n"
    assert run("stop", small_book).stdout == "The sidecar did not run.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_serve_until_ctrl_c(run: Run, small_book: Path) -> None:
    run("index", small_book)
    command = [sys.executable, "-m", "ask_book", "serve", str(small_book), "--port", "0", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    status = json.loads(server.stdout.readline())
    assert status["book_id"] == find_project(small_book, {}).book_id
    with urllib.request.urlopen(f"{status['url']}health") as response:
        assert json.load(response)["book"]["title"].startswith("Un libro ")
    taken = run("serve", small_book, "--port", status["port"])
    assert taken.returncode == 1
    assert f"127.0.0.1 port {status['port']} cannot be used" in taken.stderr
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=30)
    assert (server.returncode, out, err) == (0, "", "")


def test_init_and_back(run: Run, small_book: Path) -> None:
    before = (small_book / "_quarto.yml").read_bytes()
    asked = run("init", small_book)
    assert asked.returncode == 2
    assert "+filters: [ask-book]" in asked.stdout
    assert "--yes" in asked.stderr
    assert (small_book / "_quarto.yml").read_bytes() == before
    done = run("init", small_book, "--yes")
    assert done.returncode == 0
    assert "language es; output folder" in done.stdout
    assert (small_book / "_quarto.yml").read_bytes() == before + b"filters: [ask-book]\n"
    assert (small_book / "_extensions" / "ask-book" / "_extension.yml").is_file()
    again = run("init", small_book, "--yes", "--json")
    assert json.loads(again.stdout)["changed"] is False
    assert run("init", small_book, "--remove", "--yes").returncode == 0
    assert (small_book / "_quarto.yml").read_bytes() == before
    assert not (small_book / "_extensions").exists()


def test_init_is_undone_where_a_chapter_is_missing(run: Run, small_book: Path) -> None:
    before = (small_book / "_quarto.yml").read_bytes()
    assert run("init", small_book, "--yes").returncode == 0
    chapter = (small_book / "puentes.qmd").rename(small_book / "gone.qmd")
    assert "the chapter `puentes.qmd` is missing" in run("init", small_book, "--yes").stderr
    assert run("init", small_book, "--remove", "--yes").returncode == 0
    assert (small_book / "_quarto.yml").read_bytes() == before
    assert not (small_book / "_extensions").exists()
    chapter.rename(small_book / "puentes.qmd")


def test_init_on_a_website(run: Run, tmp_path: Path, home: Path) -> None:
    website = "project:\n  type: website\n\nwebsite:\n  title: 'W'   # mine\n"
    (tmp_path / "_quarto.yml").write_text(website)
    done = run("init", tmp_path, "--yes", "--json")
    found = json.loads(done.stdout)
    assert (found["title"], found["output"]) == ("W", str((tmp_path / "_site").resolve()))
    assert (tmp_path / "_quarto.yml").read_text() == website + "filters: [ask-book]\n"
    asked = run("ask", "x", "--book", tmp_path)
    assert "has no pages made with ask-book yet" in asked.stderr
    assert run("init", tmp_path, "--yes", "--remove").returncode == 0
    assert (tmp_path / "_quarto.yml").read_text() == website


def test_a_newer_extension_is_not_replaced(run: Run, small_book: Path) -> None:
    folder = small_book / "_extensions" / "ask-book"
    folder.mkdir(parents=True)
    (folder / "_extension.yml").write_text("title: ask-book\nversion: 99.0.0\n")
    done = run("init", small_book, "--yes")
    assert done.returncode == 1
    assert f"version 99.0.0 of the extension, newer than this ask-book ({__version__})" in done.stderr
    assert [file.name for file in folder.iterdir()] == ["_extension.yml"]


def test_doctor_says_what_to_do_and_whether_it_must_be(run: Run, small_book: Path) -> None:
    done = run("doctor", small_book)
    assert done.returncode == 0, done.stdout
    assert "  ok      book       Un libro " in done.stdout
    assert "-> For the panel: `ask-book init`." in done.stdout
    assert "  top-k                7                               default\n" in done.stdout
    (small_book / "_quarto.yml").write_text("book:\n  chapters: [gone.qmd]\n")
    broken = run("doctor", small_book)
    assert broken.returncode == 1
    assert "  BROKEN  book       " in broken.stdout
    found = json.loads(run("doctor", small_book, "--json").stdout)
    assert (found["is_well"], found["findings"][-1]["check"]) == (False, "book")


def test_render_needs_no_quarto_and_says_so(run: Run, small_book: Path, tmp_path: Path) -> None:
    done = run("ask", QUESTION, "--book", small_book, "--render", "--json", env={**os.environ, "PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "There is no Quarto on the PATH" in done.stderr
    assert json.loads(done.stdout)["status"] == "answered"


@pytest.mark.quarto
def test_render_lets_quarto_render_first(run: Run, small_book: Path) -> None:
    install = run("init", small_book, "--yes")
    done = run("ask", QUESTION, "--book", small_book, "--render", "--json")
    assert (install.returncode, done.returncode) == (0, 0), done.stderr
    assert (small_book / "_book" / "ask-book" / "book.js").is_file()
    assert json.loads(done.stdout)["citations"][0]["href"] == "puentes.html"


@pytest.mark.quarto
def test_render_tells_when_quarto_fails(run: Run, small_book: Path) -> None:
    (small_book / "puentes.qmd").write_text("---\ntitle: [broken\n---\n", encoding="utf-8")
    done = run("ask", QUESTION, "--book", small_book, "--render")
    assert done.returncode == 1
    assert "Quarto could not render" in done.stderr


EXAM = """\
questions:
  - q: ¿De qué son las dovelas?
    must_cite: [{quote: dovelas son de granito}]
  - q: ¿Quién ganó el mundial de fútbol?
    refuse: true
    kind: offtopic
"""


def test_exam(run: Run, small_book: Path) -> None:
    (small_book / "exam.yml").write_text(EXAM, encoding="utf-8")
    report = small_book / "exam.xml"
    done = run("exam", small_book, "--json", "--min-recall", "1", "--junit", report)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert (summary["evidence_at_k"], summary["refused_offtopic"], summary["k"]) == (1.0, 1.0, 7)
    assert '<testsuite name="exam.yml" tests="2" failures="0"' in report.read_text(encoding="utf-8")


def test_an_exam_below_the_bar_is_a_failure_and_a_broken_one_says_where(run: Run, small_book: Path) -> None:
    exam = small_book / "other.yml"
    exam.write_text(EXAM.replace("granito", "mármol"), encoding="utf-8")
    done = run("exam", exam, "--book", small_book, "--min-recall", "0.5")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1].strip() == "the book has no “dovelas son de mármol”"
    assert run("exam", exam, "--book", small_book).returncode == 0
    exam.write_text(EXAM.replace("refuse", "refuze"), encoding="utf-8")
    broken = run("exam", exam, "--book", small_book)
    assert (broken.returncode, broken.stderr.count(f"{exam}:5: ")) == (1, 1)
    missing = run("exam", "none.yml", "--book", small_book)
    assert (missing.returncode, "There is no exam none.yml" in missing.stderr) == (2, True)
    assert run("exam", exam, "--book", small_book, "--min-recall", "90").returncode == 2
