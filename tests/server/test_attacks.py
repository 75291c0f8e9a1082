"""Attacks as bytes on the wire: what a client library would never send. All refused, none heard by the book.

The names that are not ours and the origins that are strangers are in `test_access.py`, the paths in `test_static.py`.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.server import run
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from server.served import exchange, served

BODY = b'{"question": "lluvia"}'
PIECES = b"16\r\n" + BODY + b"\r\n0\r\n\r\n"
SMUGGLED = b"GET /.env HTTP/1.1\r\nHost: evil.example\r\n\r\n"
LENGTH = b"Content-Length: 22"
CHUNKED = b"Transfer-Encoding: chunked"
FORM = b"Content-Type: text/plain"
JSON = b"Content-Type: application/json"


def send(line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    """A request to localhost, whatever its headers say."""
    return b"\r\n".join([line + b" HTTP/1.1", b"Host: localhost", *headers, b"", body])


def ask(*headers: bytes, body: bytes = BODY) -> bytes:
    """A question in JSON."""
    return send(b"POST /ask", JSON, *headers, body=body)


def ask_json(body: bytes) -> bytes:
    return ask(b"Content-Length: %d" % len(body), body=body)


def get(target: bytes, *headers: bytes) -> bytes:
    return send(b"GET " + target, *headers)


def reload(*headers: bytes, target: bytes = b"/reload") -> bytes:
    return send(b"POST " + target, b"Content-Length: 0", *headers)


def host(*headers: bytes) -> bytes:
    """A page, with the headers given and no others."""
    return b"\r\n".join([b"GET /clima.html HTTP/1.1", *headers, b"", b""])


# name, what is sent, the statuses that refuse it (-: the connection is closed without a word)
ATTACKS: list[tuple[str, bytes, str]] = [
    ("two lengths", ask(LENGTH, b"Content-Length: 3"), "400"),
    ("two lengths in one", ask(b"Content-Length: 22, 3"), "400"),
    ("a negative length", ask(b"Content-Length: -1"), "400"),
    ("a length with a sign", ask(b"Content-Length: +22"), "400"),
    ("a hexadecimal length", ask(b"Content-Length: 0x16"), "400"),
    ("a length with a space", ask(b"Content-Length: 2 2"), "400"),
    ("a space before the colon", ask(b"Content-Length : 22"), "400"),
    ("an endless length", ask(b"Content-Length: 99999999999999999999999"), "400"),
    ("a length of gigabytes", ask(b"Content-Length: 5000000000", body=b"x" * 70_000), "413"),
    ("gigabytes in pieces", ask(CHUNKED, body=(b"4000\r\n" + b"x" * 0x4000 + b"\r\n") * 5), "413"),
    ("chunked twice", ask(CHUNKED, CHUNKED, body=PIECES), "400 501"),
    ("chunked, chunked", ask(b"Transfer-Encoding: chunked, chunked", body=PIECES), "400 501"),
    ("chunked and identity", ask(b"Transfer-Encoding: chunked, identity", body=PIECES), "400 501"),
    ("an unknown coding", ask(b"Transfer-Encoding: xchunked", body=PIECES), "400 501"),
    ("a coding of gzip", ask(b"Transfer-Encoding: gzip, chunked", body=PIECES), "400 501"),
    ("a quoted coding", ask(b'Transfer-Encoding: "chunked"', body=PIECES), "400 501"),
    ("a coding behind a vertical tab", ask(b"Transfer-Encoding: \x0bchunked", body=PIECES), "400 501"),
    ("a size of a piece that is none", ask(CHUNKED, body=b"zz\r\n" + BODY + b"\r\n0\r\n\r\n"), "400 -"),
    ("a negative size of a piece", ask(CHUNKED, body=b"-1\r\n" + BODY + b"\r\n0\r\n\r\n"), "400 -"),
    ("an endless size of a piece", ask(CHUNKED, body=b"f" * 40 + b"\r\n"), "400 -"),
    ("a folded header", ask(b"X: a\r\n Content-Length: 3", LENGTH, b"Host: evil.example"), "400 403"),
    ("a header without a name", get(b"/clima.html", b": x"), "400"),
    ("a header without a colon", get(b"/clima.html", b"evil"), "400"),
    ("a NUL in a header", get(b"/clima.html", b"X: a\x00b"), "400"),
    ("a line feed in a header's name", get(b"/clima.html", b"X\nY: z"), "400"),
    ("a carriage return alone", host(b"Host: localhost\rX: y"), "400"),
    ("no host", host(), "400 403"),
    ("no host in HTTP/1.0", b"GET /clima.html HTTP/1.0\r\n\r\n", "403"),
    ("two hosts", host(b"Host: localhost", b"Host: evil.example"), "400 403"),
    ("two hosts that are ours", host(b"Host: localhost", b"Host: localhost"), "400 403"),
    ("an empty host", host(b"Host: "), "400 403"),
    ("a host behind a tab", host(b"Host:\tevil.example"), "403"),
    ("a host in the target", get(b"http://evil.example/clima.html"), "404"),
    ("ours in the target only", b"GET http://localhost/clima.html HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
    ("a user in the host", host(b"Host: localhost:1@evil.example"), "400 403"),
    ("a request to a proxy", send(b"CONNECT evil.example:443"), "400 404 405"),
    ("TRACE", send(b"TRACE /clima.html", b"Cookie: secret"), "405"),
    ("TRACK", send(b"TRACK /clima.html"), "405"),
    ("PUT", send(b"PUT /clima.html", LENGTH, body=BODY), "405"),
    ("DELETE", send(b"DELETE /clima.html"), "405"),
    ("PROPFIND", send(b"PROPFIND /"), "405"),
    ("a method of its own", send(b"EVIL /"), "405"),
    ("HTTP/0.9", b"GET /clima.html\r\n\r\n", "400"),
    ("a version that is none", b"GET /clima.html HTTP/1.x\r\nHost: localhost\r\n\r\n", "400"),
    ("two spaces", get(b" /clima.html"), "400"),
    ("a space in the target", get(b"/clima .html"), "400"),
    ("a picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 64 + b"\r\n\r\n", "400"),
    ("a greeting of TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200 + b"\r\n\r\n", "400"),
    ("a hundred thousand headers", get(b"/clima.html", *[b"X: y"] * 100_000), "400 431 -"),
    ("a header of a megabyte", get(b"/clima.html", b"X: " + b"y" * 1_000_000), "400 431 -"),
    ("a target of a megabyte", get(b"/" + b"a" * 1_000_000), "400 414 431 -"),
    ("a cookie as the token", reload(b"Cookie: token=t0ken"), "401"),
    ("the token in the address", reload(target=b"/reload?token=t0ken"), "401"),
    ("the token as a password", reload(b"Authorization: Basic dDB0a2Vu"), "401"),
    ("two tokens", reload(b"Authorization: Bearer no", b"Authorization: Bearer t0ken"), "401"),
    ("an encoded name of a route", reload(target=b"/%72eload"), "401"),
    ("a route behind two slashes", reload(target=b"//reload"), "404 405"),
    ("a route with a parameter", reload(target=b"/reload;x"), "404 405"),
    ("a method that overrides", get(b"/reload", b"X-HTTP-Method-Override: POST"), "405"),
    ("a form of another site", send(b"POST /ask", FORM, LENGTH, b"Origin: https://evil.example", body=BODY), "403"),
    ("a form without an origin", send(b"POST /ask", FORM, LENGTH, body=BODY), "415"),
    ("a form that says it is JSON", send(b"POST /ask", FORM + b"; application/json", LENGTH, body=BODY), "415"),
    ("two types", send(b"POST /ask", FORM, JSON, LENGTH, body=BODY), "415"),
    ("the list of reports", get(b"/reports"), "401 404"),
    ("the numbers", get(b"/metrics"), "401"),
    ("a report outside its folder", get(b"/reports/..%2f..%2f..%2fetc/report.html"), "404"),
    ("a report by a short name", get(b"/reports/a/report.html"), "404"),
    ("a report of another kind", get(b"/reports/abcdefghijklmnopqrstuv/report.py"), "404"),
    ("a tag as a path", get(b"/passages/..%2f..%2f.env"), "400 404"),
    ("a tag of a gigabyte", get(b"/passages/f0-0-999999999999999999"), "400 404"),
    ("a scope as a path", get(b"/search?q=lluvia&scope=../../etc/passwd"), "400 404"),
    ("JSON ten thousand deep", ask_json(b"[" * 40_000), "400"),
    ("JSON with the same key twice", ask_json(b'{"question": "x", "question": ""}'), "400"),
    ("JSON with an infinite number", ask_json(b'{"question": Infinity}'), "400"),
    ("JSON in UTF-16", ask_json("{}x".encode("utf-16-le")), "400"),
    ("half a character", ask_json(b'{"question": "\xf0\x9f"}'), "400"),
]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked") / "site"
    folder.mkdir()
    (folder / ".env").write_text("SECRET")
    (folder / "clima.html").write_text("<p>THE PAGE")
    return folder


@pytest.fixture(scope="module")
def port(book: OpenBook, site: Path) -> Iterator[int]:
    holder = Holder("a1e5b0c4d2f3", "", "es", current=replace(book, site=site))
    with pytest.MonkeyPatch.context() as patch:
        # a connection that its client closed half is kept as long as an idle one
        patch.setattr(run, "HEADER_SECONDS", 1.5)
        with served(create_app(holder, Access("t0ken"))) as port:
            yield port


def test_there_are_many() -> None:
    assert len({name for name, _, _ in ATTACKS}) == len(ATTACKS) >= 75


@pytest.mark.parametrize(("attack", "refusals"), [pytest.param(sent, by, id=name) for name, sent, by in ATTACKS])
def test_refused(port: int, attack: bytes, refusals: str) -> None:
    """The sender then says no more, so that whoever waits for the rest of it gives up."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        answer = b""
        try:
            connection.sendall(attack)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                answer += piece
        except OSError:
            pass
    status = answer[9:12].decode() if answer else "-"
    assert status in refusals.split(), answer[:300]
    assert b"SECRET" not in answer
    assert b"THE PAGE" not in answer
    assert answer.count(b"HTTP/1.1 ") <= 1, "nothing was smuggled"


@pytest.mark.parametrize(
    "ambiguous",
    [
        ask(LENGTH, CHUNKED, body=PIECES + SMUGGLED),
        ask(CHUNKED, b"Content-Length: 3", body=PIECES + SMUGGLED),
        ask(LENGTH, body=BODY + SMUGGLED),
        get(b"/search?q=", b"Content-Length: %d" % len(SMUGGLED)) + SMUGGLED,
    ],
)
def test_what_follows_is_judged_like_any_other_request(port: int, ambiguous: bytes) -> None:
    answer = exchange(port, ambiguous + b"GET /health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert b"200" not in statuses[1:]
    assert b"SECRET" not in answer


def test_http_2_is_not_spoken(port: int) -> None:
    """What a proxy that only knows HTTP/1.1 could be made to tunnel."""
    asked = b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"
    upgraded = exchange(port, get(b"/.env", *asked, b"Connection: close"))
    assert upgraded.startswith(b"HTTP/1.1 404")
    assumed = exchange(port, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
    assert assumed[9:12] in (b"400", b"403")
    assert b"SECRET" not in upgraded + assumed


@pytest.mark.parametrize("name", ["Private", "Local"])
def test_no_site_is_let_into_the_local_network(port: int, name: str) -> None:
    """https://developer.chrome.com/blog/local-network-access: we never say that we want it."""
    wanted = {"Access-Control-Request-Method": "POST", f"Access-Control-Request-{name}-Network": "true"}
    for origin, status in (("https://evil.example", 403), ("http://localhost:5555", 204)):
        answer = httpx.options(f"http://127.0.0.1:{port}/ask", headers={**wanted, "Origin": origin}, trust_env=False)
        assert answer.status_code == status
        assert not any("-network" in header for header in answer.headers)
        assert "access-control-allow-credentials" not in answer.headers


def test_a_preflight_allows_no_more_than_it_names(port: int) -> None:
    headers = {"Origin": "http://localhost:5555", "Access-Control-Request-Method": "GET"}
    for path, status in (
        ("/health", 204),
        ("/reload", 403),
        ("/metrics", 403),
        ("/reports", 403),
        ("/clima.html", 403),
    ):
        assert httpx.options(f"http://127.0.0.1:{port}{path}", headers=headers, trust_env=False).status_code == status


def test_headers_that_come_drop_by_drop(book: OpenBook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow loris: each gets `HEADER_SECONDS` in all, however often it sends a byte, and nobody else waits."""
    monkeypatch.setattr(run, "HEADER_SECONDS", 1.0)
    holder = Holder("a1e5b0c4d2f3", "", "es", current=book)
    with served(create_app(holder, Access("t0ken"))) as port:
        lorises = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(50)]
        closed = threading.Event()

        def drip() -> None:
            while not closed.wait(0.2):
                for loris in lorises:
                    with suppress(OSError):
                        loris.send(b"X")

        dripping = threading.Thread(target=drip)
        for loris in lorises:
            loris.sendall(b"GET / HTTP/1.1\r\n")
        dripping.start()
        assert httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200
        for loris in lorises:
            with suppress(ConnectionError):
                assert loris.recv(1000) == b""
        closed.set()
        dripping.join()
        for loris in lorises:
            loris.close()


def test_words_of_readers_and_books_make_no_headers(book: OpenBook) -> None:
    evil = "x\r\nSet-Cookie: a=b\r\n\r\n<script>alert(1)</script>\u2028\u0130"
    holder = Holder("a1e5b0c4d2f3", evil, "es", current=book)
    with (
        served(create_app(holder, Access("t0ken"))) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        answers = [
            client.get("/health"),
            client.get("/search", params={"q": evil}),
            client.get("/search", params={"q": "lluvia", "scope": evil}),
            client.post("/ask", json={"question": evil, "scope": None}),
            client.post("/ask", json={"question": f"lluvia {evil}"}, headers={"Accept": "text/event-stream"}),
            client.get(f"/passages/{httpx.QueryParams({'a': evil})}"),
            client.get("/nothing", params={"x": evil}, headers={"Accept": "text/html"}),
        ]
    for answer in answers:
        assert "set-cookie" not in answer.headers
        assert all(value.isascii() and value.isprintable() for value in answer.headers.values())
        assert answer.headers["x-content-type-options"] == "nosniff"
        if "text/html" in answer.headers["content-type"]:
            assert "<script" not in answer.text
    assert json.loads(answers[0].text)["book"]["title"] == evil
