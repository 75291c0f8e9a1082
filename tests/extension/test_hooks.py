"""The hooks, run by Quarto's Deno as Quarto runs them, with real processes for a sidecar."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from extension.quarto_book import append, clean_env, command, data_dir, evaluate, make_book, run_hook, said, write

pytestmark = pytest.mark.quarto
runs_scripts = pytest.mark.skipif(os.name == "nt", reason="the commands are scripts with a #! line")

VECTORS = json.loads((Path(__file__).parents[1] / "fixtures" / "book_ids.json").read_text(encoding="utf-8"))
ANSWER = 'print(\'{"running": true, "url": "http://127.0.0.1:1"}\')\n'


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return make_book(tmp_path / "mi libro ñ #1")


@pytest.mark.parametrize(
    "yaml",
    [
        "filters: [ask-book]",
        "filters: ask-book",
        "filters:\n- quarto\n- ask-book\n",
        "a: 1\nfilters:\n  - other\n  # a word\n\n  - ask-book # and another\n",
        "format:\n  html:\n    filters: ['quarto', \"ask-book\"]",
        "filters:\n  - at: pre-ast\n    path: ask-book\n",
        "filters: [x,\n  acme/ask-book]\n",
        "filters:\r\n  - _extensions/ask-book/ask-book.lua\r\n",
        "{project: {type: book}, filters: [ask-book]}",
        "title: 'it''s # no comment'\nfilters: [ask-book]",
        "description: |\n  filters: [x]\n  more\nfilters: [ask-book]",
    ],
)
def test_the_filter_is_found_however_it_is_listed(yaml: str) -> None:
    assert evaluate(f"hooks.listsFilter({json.dumps(yaml)})") is True


@pytest.mark.parametrize(
    "yaml",
    [
        "",
        "# filters: [ask-book]",
        "filters: [other] # ask-book",
        "filters:\n  - other\n  # - ask-book\n",
        "filters:\n  - my-ask-book\n  - ask-book-more\n",
        "filters: []\nask-book:\n  endpoint: x",
        "filters:\n  - other\nresources:\n  - ask-book\n",
        "filters:\nresources:\n  - ask-book\n",
        "description: |\n  filters: [ask-book]\n",
        "post-filters: [ask-book]",
    ],
)
def test_what_only_looks_like_the_filter_is_not_taken_for_it(yaml: str) -> None:
    assert evaluate(f"hooks.listsFilter({json.dumps(yaml)})") is False


def test_the_ports_are_those_of_python_and_lua() -> None:
    identifiers = [vector["id"] for vector in VECTORS]
    assert evaluate(f"{json.dumps(identifiers)}.map(hooks.portsOf)") == [vector["ports"] for vector in VECTORS]


@runs_scripts
def test_the_sidecar_is_searched_from_the_nearest_to_the_farthest(book: Path, tmp_path: Path) -> None:
    places = {
        "ASK_BOOK": tmp_path / "named",
        "the project's .venv": book / ".venv" / "bin" / "ask-book",
        "the project's venv": book / "venv" / "bin" / "ask-book",
        "the project's env": book / "env" / "bin" / "ask-book",
        "VIRTUAL_ENV": tmp_path / "active" / "bin" / "ask-book",
        "CONDA_PREFIX": tmp_path / "conda" / "bin" / "ask-book",
        "the PATH": tmp_path / "bin" / "ask-book",
        "QUARTO_PYTHON": tmp_path / "python",
    }
    env = clean_env(
        ASK_BOOK=str(places["ASK_BOOK"]),
        VIRTUAL_ENV=str(tmp_path / "active"),
        CONDA_PREFIX=str(tmp_path / "conda"),
        QUARTO_PYTHON=str(places["QUARTO_PYTHON"]),
    )
    env["PATH"] += os.pathsep + str(tmp_path / "bin")
    for path in places.values():
        command(path, ANSWER)
    for origin, path in places.items():
        assert said(run_hook(book, "pre", env=env)) == [f"ask-book: answers at http://127.0.0.1:1 (found in {origin})"]
        path.unlink()
        env.pop(origin, None)
    (line,) = said(run_hook(book, "pre", env=env))
    assert line.startswith("ask-book: no sidecar found (ASK_BOOK, the project's .venv,")


@runs_scripts
def test_the_command_is_start_with_the_book(book: Path, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    body = f"""
import json, os, sys
with open({str(seen)!r}, "w") as file:
    json.dump([sys.argv[1:], os.getcwd(), os.environ["PYTHONDONTWRITEBYTECODE"]], file)
{ANSWER}"""
    run_hook(book, "pre", env=clean_env(ASK_BOOK=str(command(tmp_path / "recorder", body))))
    assert json.loads(seen.read_text()) == [["start", "--book", str(book), "--json"], str(book), "1"]


@runs_scripts
def test_nothing_is_started_when_it_is_off_or_not_listed_or_in_a_pipeline(book: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    starter = command(tmp_path / "starter", f"open({str(started)!r}, 'w')\n{ANSWER}")
    assert run_hook(book, "pre", env=clean_env(ASK_BOOK="off")) == ""
    assert said(run_hook(book, "pre", env=clean_env(ASK_BOOK=str(starter), CI="true"))) == [
        "ask-book: no sidecar is started, because CI is set (ASK_BOOK_START=1 starts one)."
    ]
    unlisted = make_book(tmp_path / "unlisted", listed=False)
    assert run_hook(unlisted, "pre", env=clean_env(ASK_BOOK=str(starter))) == ""
    assert not started.exists()
    run_hook(book, "pre", env=clean_env(ASK_BOOK=str(starter), CI="true", ASK_BOOK_START="1"))
    assert started.exists()


@runs_scripts
def test_the_filter_may_be_listed_in_a_profile_or_an_included_file(tmp_path: Path) -> None:
    book = make_book(tmp_path / "book", listed=False)
    starter = command(tmp_path / "starter", ANSWER)
    write(book / "_quarto-ask.yml", "filters: [ask-book]\n")
    write(book / "shared settings.yml", "filters:\n  - ask-book\n")
    assert run_hook(book, "pre", env=clean_env(ASK_BOOK=str(starter))) == ""
    assert said(run_hook(book, "pre", env=clean_env(ASK_BOOK=str(starter), QUARTO_PROFILE="other,ask")))
    append(book / "_quarto.yml", "metadata-files:\n  - shared settings.yml\n")
    assert said(run_hook(book, "pre", env=clean_env(ASK_BOOK=str(starter))))


@runs_scripts
@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("import sys\nsys.exit('The book is empty.\\n  Add a chapter.')", "The book is empty."),
        ("raise ValueError('broken')", "ValueError: broken"),
        ("import os\nos.kill(os.getpid(), 9)", "it ended with code"),
        ("import sys\nfor _ in range(300):\n sys.stderr.write('x' * 100_000)\nsys.exit(3)", "x" * 300 + ". To see"),
        ("print('hello')", "its answer was not understood"),
        ("print('{}')", "its answer was not understood"),
    ],
)
def test_a_sidecar_that_fails_is_one_line(book: Path, tmp_path: Path, body: str, trouble: str) -> None:
    broken = command(tmp_path / "broken", body)
    (line,) = run_hook(book, "pre", env=clean_env(ASK_BOOK=str(broken))).splitlines()
    assert line.startswith(f"ask-book: the sidecar found in ASK_BOOK did not start: {trouble}")


def test_a_command_that_is_not_there_is_one_line(book: Path, tmp_path: Path) -> None:
    (line,) = run_hook(book, "pre", env=clean_env(ASK_BOOK=str(tmp_path / "nowhere"))).splitlines()
    assert "did not start" in line
    assert "nowhere" in line


@runs_scripts
def test_a_python_without_the_package_says_so(book: Path, tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S", "-m", "ask_book"]
    python = command(tmp_path / "python", f"import os\nos.execv({bare[0]!r}, {bare!r})")
    (line,) = said(run_hook(book, "pre", env=clean_env(QUARTO_PYTHON=str(python))))
    assert "found in QUARTO_PYTHON did not start: ask-book is not in it" in line


@runs_scripts
def test_a_hung_command_is_killed_with_its_children_and_not_tried_on_the_next_save(book: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = "import os, subprocess, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()} '); time.sleep(600)"
    hung = command(
        tmp_path / "hung",
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}, {str(pids)!r}])\n",
    )
    env = clean_env(ASK_BOOK=str(hung))
    (line,) = said(run_hook(book, "pre", env=env))
    assert "it gave no answer in 10 seconds" in line
    (pid,) = map(int, pids.read_text().split())
    assert ends(pid)
    before = time.monotonic()
    assert run_hook(book, "pre", full=False, env=env) == ""
    assert time.monotonic() - before < 5
    assert (data_dir(book) / "start-failed").is_file()
    run_hook(book, "pre", env=clean_env(ASK_BOOK=str(command(tmp_path / "good", ANSWER))))
    assert not (data_dir(book) / "start-failed").exists()


@runs_scripts
def test_a_daemon_that_keeps_the_pipes_open_does_not_hold_the_hook(book: Path, tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(20)"]
    body = f"import subprocess\nsubprocess.Popen({sleeper!r}, start_new_session=True)\n{ANSWER}"
    before = time.monotonic()
    output = run_hook(book, "pre", env=clean_env(ASK_BOOK=str(command(tmp_path / "open", body))))
    assert "answers at" in output
    assert time.monotonic() - before < 10


def ends(pid: int) -> bool:
    """Whether a process is gone soon."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return True
        time.sleep(0.1)
    return False


@contextmanager
def answering(port: int, health: dict[str, Any]) -> Iterator[None]:
    """An HTTP server that says at `/health` what it is told to."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(health).encode()
            self.send_response(200 if self.path == "/health" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", port), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


@runs_scripts
def test_a_sidecar_that_answers_for_this_book_is_left_alone(book: Path, tmp_path: Path) -> None:
    vector = VECTORS[1]
    known = {"version": "0.1.0", "complete": True, "pages": [], "book": {**vector}}
    write(data_dir(book) / "book.json", json.dumps(known))
    env = clean_env(ASK_BOOK=str(command(tmp_path / "starter", ANSWER)))
    port = vector["ports"][2]
    with answering(port, {"book": {"id": vector["id"]}, "versions": {"ask_book": "0.1.0"}}):
        assert said(run_hook(book, "pre", env=env)) == [f"ask-book: answers at http://127.0.0.1:{port}"]
        assert run_hook(book, "pre", full=False, env=env) == ""
    with answering(port, {"book": {"id": vector["id"]}, "versions": {"ask_book": "0.0.9"}}):
        assert "(found in ASK_BOOK)" in run_hook(book, "pre", env=env)
    with answering(port, {"book": {"id": "another"}, "versions": {"ask_book": "0.1.0"}}):
        assert "(found in ASK_BOOK)" in run_hook(book, "pre", env=env)
