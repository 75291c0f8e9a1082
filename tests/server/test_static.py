"""Attacks on paths, all refused; names that books really have, served."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from ask_book.server.static import find_file
from server.served import exchange, served

ATTACKS = [
    "/../secret.txt", "/../../etc/passwd", "/%2e%2e/secret.txt", "/%2E%2E/%2E%2E/etc/passwd", "/a/../../secret.txt",
    "/..%2fsecret.txt", "/..%2Fsecret.txt", "/..%5csecret.txt", "/..\\secret.txt", "/%2e%2e%2fsecret.txt",
    "/%252e%252e/secret.txt", "/%252e%252e%252fsecret.txt", "/..%252fsecret.txt", "/%c0%ae%c0%ae/secret.txt",
    "/..%c0%afsecret.txt", "/%u002e%u002e/secret.txt", "/....//secret.txt", "/.../secret.txt", "/./clima.html",
    "//clima.html", "///etc/passwd", "/etc/passwd", "//etc/passwd", "/%2fetc%2fpasswd", "/clima.html%00.png", "/%00",
    "/clima.html%0d%0aX-Evil:1", "/.env", "/%2eenv", "/.ENV", "/sub/.env", "/.quarto/ask-book/default/manifest.json",
    "/%2equarto/x", "/.git/config", "/.htaccess", "/.well-known/x", "/_quarto.yml", "/_QUARTO.yml", "/_environment",
    "/_environment.local", "/_variables.yml", "/_quarto-prod.yml", "/notes.txt~", "/out", "/out/secret.txt", "/out.txt",
    "/hidden", "/hidden.txt", "/loop", "/loop/a", "/pipe", "/empty", "/empty/", "/sub/../clima.html", "/clima.html/",
    "/clima.html/x", "/C:/Windows/win.ini", "/C:%5cWindows", "/~root/x", "/secret.txt", "/%2e/clima.html",
    "/sub/%2e%2e/x",
    "/;/../secret.txt", "/sub/..;/secret.txt", "/" + "a" * 5000, "/" + "../" * 40 + "etc/passwd", "/\u202e/x",
    "/%E2%80%8C.env", "/.e%E2%80%8Cnv",
]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that must not get out of it or into it."""
    tmp_path = tmp_path_factory.mktemp("static")
    site = tmp_path / "site"
    for name in ("sub", ".quarto/ask-book/default", ".git", "empty", ".well-known"):
        (site / name).mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("SECRET")
    for name in (
        ".env", "sub/.env", ".quarto/ask-book/default/manifest.json", ".git/config", "_quarto.yml", "_environment",
        "_environment.local", "_variables.yml", "_quarto-prod.yml", "notes.txt~", ".htaccess", ".well-known/x",
        "\u200c.env", ".e\u200cnv",
    ):  # fmt: skip
        (site / name).write_text("SECRET")
    for name in (
        "index.html",
        "clima.html",
        "sub/index.html",
        "sub/mi página ñ #1.html",
        "sub/a+b & c.css",
        "_images.png",
    ):
        (site / name).write_text(f"<p>{name}")
    (site / "out").symlink_to(tmp_path, target_is_directory=True)
    (site / "out.txt").symlink_to(tmp_path / "secret.txt")
    (site / "hidden").symlink_to(site / ".quarto", target_is_directory=True)
    (site / "hidden.txt").symlink_to(site / ".env")
    (site / "loop").symlink_to(site / "loop")
    (site / "inside.html").symlink_to(site / "clima.html")
    os.mkfifo(site / "pipe")
    return site


@pytest.fixture(scope="module")
def serving(book: OpenBook, site: Path) -> Iterator[httpx.Client]:
    """The real server, with that folder as the book's pages."""
    holder = Holder("a1e5b0c4d2f3", "", "es", current=replace(book, site=site))
    app = create_app(holder, Access("t0ken"))
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client


@pytest.mark.parametrize("path", ATTACKS)
def test_no_way_out_and_nothing_private(serving: httpx.Client, path: str) -> None:
    """Sent as these very bytes: a client would tidy the path first."""
    assert serving.base_url.port
    target = path.encode()
    answer = exchange(
        serving.base_url.port, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert answer.split(b" ", 2)[1] in {b"404", b"400"}
    assert b"SECRET" not in answer
    assert b"root:" not in answer
    assert b"x-evil" not in answer.lower()


@pytest.mark.parametrize(
    "target", [b"http://evil.example/clima.html", b"*", b"clima.html", b"http://localhost/../.env"]
)
def test_odd_request_targets_get_nothing(serving: httpx.Client, target: bytes) -> None:
    assert serving.base_url.port
    request = b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = exchange(serving.base_url.port, request)
    assert b" 200 " not in answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/", "index.html"), ("/clima.html", "clima.html"), ("/sub/", "sub/index.html"), ("/inside.html", "clima.html"),
        ("/sub/mi%20p%C3%A1gina%20%C3%B1%20%231.html", "sub/mi página ñ #1.html"),
        ("/sub/a+b%20&%20c.css", "sub/a+b & c.css"), ("/_images.png", "_images.png"),
        ("/clima.html?ask-book=x", "clima.html"),
    ],
)  # fmt: skip
def test_pages_are_served(serving: httpx.Client, path: str, file: str) -> None:
    response = serving.get(path)
    assert (response.status_code, response.text) == (200, f"<p>{file}")
    assert response.headers["cache-control"] == "no-cache"


def test_a_folder_gets_its_slash_relative_to_where_it_is(serving: httpx.Client) -> None:
    response = serving.get("/sub")
    assert (response.status_code, response.headers["location"]) == (307, "./sub/")


@pytest.mark.parametrize("name", ["con", "NUL.html", "a:b", "a.html:$DATA", "a.html.", "a ", "COM1.txt", "a*", "a?"])
def test_names_that_mean_something_else_on_windows(site: Path, name: str) -> None:
    (site / name).write_text("x")
    assert find_file(site, f"/{name}", windows=True) is None


def test_the_folder_may_be_a_link_or_gone(site: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(site)
    found = find_file(tmp_path / "link", "/clima.html")
    assert found is not None
    assert found.path == site / "clima.html"
    assert find_file(tmp_path / "gone", "/clima.html") is None
