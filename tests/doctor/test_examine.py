"""What the doctor says of books and machines in every state. Programs and servers are real, if small."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from ask_book import __version__
from ask_book.book.edition import open_edition
from ask_book.book.identity import ports
from ask_book.book.install import apply, install_extension, plan_listing
from ask_book.book.manifest import read_manifest
from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.daemon import control
from ask_book.doctor.examine import Examination, examine
from ask_book.doctor.finding import Finding
from ask_book.retrieval.index import open_index
from ask_book.retrieval.storage import save_vectors

KEY = "sk-nobody-may-see-this"


@pytest.fixture
def env(home: Path, tmp_path: Path) -> dict[str, str]:
    """An account whose only programs are what a test puts into `bin`."""
    (tmp_path / "bin").mkdir()
    return {**os.environ, "PATH": str(tmp_path / "bin"), "HOME": str(home), "ASK_BOOK_EMBEDDING_MODEL": "none"}


def program(env: Mapping[str, str], name: str, says: str) -> Path:
    path = Path(env["PATH"]) / name
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)
    return path


def finding(book: Path, env: Mapping[str, str], check: str) -> Finding:
    (found,) = (finding for finding in examine(book, env).findings if finding.check == check)
    return found


def has_ask_book(book: Path) -> None:
    install_extension(book)
    apply(plan_listing(find_project(book, {}).configuration))


def configure(book: Path, lines: str) -> None:
    with (book / "_quarto.yml").open("a", encoding="utf-8") as file:
        file.write(lines)


@contextmanager
def serving(answers: Mapping[str, tuple[int, object, dict[str, str]]]) -> Iterator[tuple[str, list[str]]]:
    """A web server with the answers to some paths; its address, and the keys that it was sent."""
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys.append(self.headers.get("Authorization", ""))
            status, body, headers = answers.get(self.path, (404, {}, {}))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", keys
    finally:
        server.shutdown()
        server.server_close()


def test_a_book_as_it_is_found(small_book: Path, env: dict[str, str]) -> None:
    found = examine(small_book, env)
    states = {finding.check: finding.state for finding in found.findings}
    # pypandoc's pandoc needs no PATH
    states.pop("pandoc")
    assert states == {
        "python": "ok",
        "package": "ok",
        "quarto": "note",
        "pdf": "note",
        "book": "ok",
        "extension": "note",
        "pages": "note",
        "index": "ok",
        "embeddings": "ok",
        "model": "ok",
        "sidecar": "ok",
    }
    assert found.book
    assert found.book.startswith("Un libro ")
    assert all(finding.todo for finding in found.findings if finding.state != "ok")


def test_each_setting_has_its_value_and_where_it_comes_from(small_book: Path, env: dict[str, str]) -> None:
    configure(small_book, "ask-book:\n  shortcut: b\n  idle-minutes: 9\n")
    (small_book / ".env").write_text("ASK_BOOK_IDLE_MINUTES=5\n")
    values = {
        value.name: (value.value, value.origin) for value in examine(small_book, env | {"IA_TOP_K": "3"}).settings
    }
    assert values["top-k"] == (3, "IA_TOP_K (environment)")
    assert values["idle-minutes"] == (5, "ASK_BOOK_IDLE_MINUTES (.env)")
    assert values["shortcut"] == ("b", "_quarto.yml:7")
    assert values["endpoint"] == (None, "default")


def test_no_book_and_wrong_settings_are_findings(small_book: Path, tmp_path: Path, env: dict[str, str]) -> None:
    nowhere = examine(tmp_path / "bin", env)
    assert nowhere.findings[-1].check == "book"
    assert "There is no _quarto.yml" in nowhere.findings[-1].message
    configure(small_book, "ask-book:\n  topk: 3\n")
    wrong = examine(small_book, env)
    assert (wrong.findings[-1].check, wrong.findings[-1].state) == ("settings", "broken")
    assert wrong.findings[-1].todo == "Did you mean `top-k`?"
    assert not wrong.is_well


@pytest.mark.parametrize(
    ("says", "state", "part"),
    [
        ("echo 1.7.34", "ok", "Quarto 1.7.34 ("),
        ("echo 1.6.40", "note", "is older than 1.7"),
        ("exit 3", "broken", "does not run"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="a script with a #! line")
def test_quarto(small_book: Path, env: dict[str, str], says: str, state: str, part: str) -> None:
    program(env, "quarto", says)
    found = finding(small_book, env, "quarto")
    assert (found.state, part in found.message) == (state, True)


def test_the_extension_through_its_life(small_book: Path, env: dict[str, str]) -> None:
    def says() -> tuple[str, str, str]:
        found = finding(small_book, env, "extension")
        return found.state, found.message, found.todo

    folder = small_book / "_extensions" / "ask-book"
    assert says()[0] == "note"
    install_extension(small_book)
    assert says()[1].endswith("but not listed under `filters`: it does nothing.")
    apply(plan_listing(find_project(small_book, {}).configuration))
    assert says() == ("ok", f"version {__version__}, listed in {small_book.resolve()}/_quarto.yml:6", "")
    (folder / "ask-book.lua").write_text("-- mine\n")
    assert f"is not as it came with ask-book {__version__}" in says()[1]
    (folder / "_extension.yml").write_text("title: ask-book\nversion: 0.0.1\n")
    state, message, todo = says()
    assert (state, "has version 0.0.1" in message) == ("note", True)
    assert todo == "Bring the extension up to date with `ask-book init`, then render the book."
    shutil.rmtree(folder)
    assert says()[::2] == ("broken", "Copy it into the book: `ask-book init`.")


@pytest.mark.skipif(sys.platform == "win32", reason="scripts with a #! line")
def test_the_hooks_and_the_sidecar_that_a_render_starts(small_book: Path, env: dict[str, str]) -> None:
    has_ask_book(small_book)
    found = finding(small_book, env, "hooks")
    assert "no sidecar" in found.message
    assert f"ASK_BOOK={Path(sys.executable).with_name('ask-book')}" in found.todo
    on_path = program(env, "ask-book", f"echo ask-book {__version__}")
    found = finding(small_book, env, "hooks")
    assert (found.state, found.message) == ("ok", f"a render starts the sidecar of the PATH ({on_path})")
    program(env, "ask-book", "echo ask-book 0.0.1")
    assert finding(small_book, env, "hooks").message == (
        f"A render starts ask-book 0.0.1 of the PATH, this is {__version__}."
    )
    program(env, "ask-book", "exit 1")
    assert finding(small_book, env, "hooks").state == "broken"
    nearer = small_book / ".venv" / "bin" / "ask-book"
    nearer.parent.mkdir(parents=True)
    shutil.copy(program(env, "ask-book", f"echo ask-book {__version__}"), nearer)
    assert "the project's .venv" in finding(small_book, env, "hooks").message
    assert "is `off`" in finding(small_book, env | {"ASK_BOOK": "off"}, "hooks").message
    (small_book / "_extensions" / "ask-book" / "hooks.js").unlink()
    found = finding(small_book, env, "hooks")
    assert (found.state, "hooks.js is missing" in found.message) == ("broken", True)


def test_pages_rendered_stale_and_without_their_text(small_book: Path, env: dict[str, str]) -> None:
    data, site = small_book / ".quarto" / "ask-book" / "default", small_book / "_book"
    for folder in (data, site / "ask-book"):
        folder.mkdir(parents=True)
    (site / "index.html").write_text("")
    (site / "ask-book" / "book.js").write_text("")
    (data / "manifest.json").write_text(json.dumps({"chapters": [{"file": "index.qmd", "href": "index.html"}]}))
    for name in ("index.qmd", "puentes.qmd"):
        os.utime(small_book / name, (1, 1))
    assert finding(small_book, env, "pages").message == f"1 pages in {site.resolve()}"
    (site / "ask-book" / "book.js").unlink()
    assert finding(small_book, env, "pages").state == "broken"
    os.utime(small_book / "index.qmd", (2e9, 2e9))
    assert "rendered before its last changes (index.qmd)" in finding(small_book, env, "pages").message


MODELS = {"object": "list", "data": [{"id": "small"}, {"id": "large"}]}


@pytest.mark.parametrize(
    ("answers", "state", "says"),
    [
        ({"/v1/models": (200, MODELS, {})}, "ok", "with a key"),
        ({"/v1/models": (200, {"data": [{"id": "other"}]}, {})}, "broken", "has no model `small`"),
        ({"/v1/models": (401, {"error": KEY}, {})}, "broken", "refuses the request with a key (401)"),
        ({}, "ok", "the host has no list of its models"),
        ({"/v1/models": (200, [KEY], {})}, "ok", "the host has no list of its models"),
    ],
)
def test_the_model_is_asked_for_its_name_and_the_key_is_never_shown(
    small_book: Path, env: dict[str, str], answers: dict[str, tuple[int, object, dict[str, str]]], state: str, says: str
) -> None:
    configure(small_book, "ask-book:\n  chat-model: small\n")
    with serving(answers) as (url, keys):
        (small_book / ".env").write_text(f"ASK_BOOK_BASE_URL={url}/v1\nASK_BOOK_API_KEY={KEY}\n")
        found = finding(small_book, env, "model")
        assert (found.state, says in found.message) == (state, True), found
        assert keys == [f"Bearer {KEY}"]
        assert KEY not in str(examine(small_book, env))


def test_a_model_without_address_key_or_host(small_book: Path, env: dict[str, str]) -> None:
    with serving({}) as (gone, _):
        pass
    for lines, says in (
        ("", "but not its address"),
        ("  base-url: https://models.example/v1\n", "There is no key for the model at models.example"),
        (f"  base-url: {gone}\n", "cannot be reached (ConnectError)"),
    ):
        (small_book / "_quarto.yml").write_text(
            f"book: {{title: T, chapters: [index.qmd]}}\nask-book:\n  chat-model: small\n{lines}"
        )
        found = finding(small_book, env, "model")
        assert (found.state, says in found.message) == ("broken", True), found


def test_how_passages_are_found_by_meaning(small_book: Path, env: dict[str, str]) -> None:
    project = find_project(small_book, {})
    assert finding(small_book, env, "embeddings").message == "Passages are found by their words alone."
    remote = env | {"ASK_BOOK_EMBEDDING_MODEL": "embed-large"}
    found = finding(small_book, remote, "embeddings")
    assert (found.state, "no address is set for it" in found.message) == ("broken", True)
    here = remote | {"ASK_BOOK_BASE_URL": "http://127.0.0.1:9/v1"}
    assert (
        finding(small_book, here, "embeddings").message == "127.0.0.1:9/v1/embed-large, for a book that is not read yet"
    )
    edition = open_edition(project, env=os.environ)
    manifest = read_manifest(edition.manifest_path)
    open_index(manifest, edition.index_dir)
    assert finding(small_book, here, "embeddings").message.startswith("Not all passages are embedded, ")
    vectors = np.ones((len(manifest.chunks), 2), np.float32)
    save_vectors(manifest, edition.index_dir, "other/model", vectors)
    found = finding(small_book, here, "embeddings")
    assert (found.state, found.message.startswith("The index has vectors of other/model, ")) == ("note", True)
    save_vectors(manifest, edition.index_dir, "127.0.0.1:9/v1/embed-large", vectors)
    assert finding(small_book, here, "embeddings").message == "vectors of 127.0.0.1:9/v1/embed-large"
    assert finding(small_book, here, "index").message == f"{len(manifest.chunks)} chunks, in {edition.index_dir}"


def test_a_key_under_version_control(small_book: Path, env: dict[str, str]) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git here")
    (Path(env["PATH"]) / "git").symlink_to(git)
    (small_book / ".env").write_text(f"ASK_BOOK_API_KEY={KEY}\n")
    (small_book / ".env").chmod(0o644)
    if os.name == "posix":
        assert finding(small_book, env, "secrets").todo == "Keep them out: `chmod 600 .env`."
    (small_book / ".env").chmod(0o600)
    assert finding(small_book, env, "secrets").state == "ok"
    for arguments in (["init", "-q"], ["add", ".env"]):
        subprocess.run([git, "-C", str(small_book), *arguments], check=True)
    found = finding(small_book, env, "secrets")
    assert (found.state, "under version control" in found.message) == ("broken", True)


def test_the_sidecar_and_whom_it_lets_in(small_book: Path, env: dict[str, str]) -> None:
    project = find_project(small_book, {})
    free = ports(project.book_id)[0]
    assert finding(small_book, env, "sidecar").message == f"does not run; port {free} is free for it"
    with ExitStack() as stack:
        for port in ports(project.book_id):
            taken = stack.enter_context(socket.socket())
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a sidecar of another test may just have left
            taken.bind(("127.0.0.1", port))
            taken.listen()
        assert finding(small_book, env, "sidecar").state == "broken"
    state = control.start(project, settings_of(project.configuration, {}), os.environ)
    assert finding(small_book, env, "sidecar").message == f"answers at {state.url}"
    assert finding(small_book, env, "browser").state == "ok"


@pytest.mark.parametrize(
    ("health", "headers", "state", "says"),
    [
        ("own", {"Access-Control-Allow-Origin": "http://example.org"}, "ok", "also to pages of http://example.org"),
        ("own", {}, "broken", "does not let pages of http://example.org ask"),
        ("other", {}, "broken", "serves another book (other)"),
        (None, {}, "broken", "/health answers 404"),
    ],
)
def test_a_public_endpoint(
    small_book: Path,
    env: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    health: str | None,
    headers: dict[str, str],
    state: str,
    says: str,
) -> None:
    # a loopback server takes the part of a public one
    for is_near in ("is_loopback", "_is_of_a_local_network"):
        monkeypatch.setattr(f"ask_book.doctor.services.{is_near}", lambda _: False)
    text = (small_book / "_quarto.yml").read_text(encoding="utf-8")
    text = text.replace("  title:", "  site-url: http://example.org/libro/\n  title:")
    (small_book / "_quarto.yml").write_text(text, encoding="utf-8")
    identifier = find_project(small_book, {}).book_id if health == "own" else health
    answers = {"/ask/health": (200, {"book": {"id": identifier}}, headers)} if health else {}
    with serving(answers) as (url, _):
        configure(small_book, f"ask-book:\n  endpoint: {url}/ask\n")
        found = finding(small_book, env, "endpoint")
    assert (found.state, says in found.message) == (state, True), found


def test_endpoints_that_no_browser_can_use(small_book: Path, env: dict[str, str]) -> None:
    text = (small_book / "_quarto.yml").read_text(encoding="utf-8")
    text = text.replace("  title:", "  site-url: https://example.org/libro/\n  title:")
    for endpoint, state, says in (
        ("http://localhost:8000", "broken", "readers' browsers would ask their own"),
        ("http://ask.example.org", "broken", "browsers block that"),
        ("https://192.168.1.7:8000", "note", "browsers ask readers before a page may call it"),
    ):
        (small_book / "_quarto.yml").write_text(f"{text}ask-book:\n  endpoint: {endpoint}\n", encoding="utf-8")
        found = finding(small_book, env, "endpoint")
        assert (found.state, says in found.message) == (state, True)


def test_what_was_not_foreseen_ends_no_other_check(
    small_book: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_stars(_: object) -> Iterator[Finding]:
        raise ZeroDivisionError("no stars")
        yield

    monkeypatch.setattr("ask_book.doctor.examine.OF_A_BOOK", (check_stars,))
    found: Examination = examine(small_book, env)
    assert found.findings[-1].check == "stars"
    assert found.findings[-1].message == "This could not be looked at (ZeroDivisionError: no stars)."
