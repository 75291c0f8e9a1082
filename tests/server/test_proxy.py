"""What a proxy may say, and what nobody else may."""

import json
import logging
from typing import Any

import httpx
import pytest

from ask_book.errors import UsageError
from ask_book.server.access import Access
from ask_book.server.app import Service, create_app
from ask_book.server.holder import Holder
from ask_book.server.limits import Limits
from ask_book.server.logs import Json, Seldom, Text
from ask_book.server.proxy import proxy_of
from server.asgi import Asgi
from server.served import served

PUBLIC = Access("t0ken", frozenset({"ask.example.org"}), local=False)


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("203.0.113.9:5123", "203.0.113.9"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", "10.0.0.2"),
        ("unknown", "10.0.0.2"),
        ("203.0.113.9, _hidden", "10.0.0.2"),
        ("10.0.0.9, 10.0.0.8", "10.0.0.9"),
    ],
)
def test_the_nearest_address_that_is_no_proxy(forwarded: str, client: str) -> None:
    assert proxy_of(["10.0.0.0/8"], "").client("10.0.0.2", forwarded) == client


@pytest.mark.parametrize("trusted", ["proxy.example.org", "10.0.0.0/33", ""])
def test_what_is_no_address(trusted: str) -> None:
    with pytest.raises(UsageError, match="--trusted-proxy"):
        proxy_of([trusted], "")


@pytest.mark.parametrize(
    ("typed", "root"), [("", ""), ("/", ""), ("book", "/book"), ("/a/b-c_1/", "/a/b-c_1"), ("/v1.2/x", "/v1.2/x")]
)
def test_a_path_in_front(typed: str, root: str) -> None:
    assert proxy_of([], typed).root == root


@pytest.mark.parametrize("typed", ["..", "/a/../b", "a//b", "/a?b", "/ñ", "a b", "https://x", "/.", "a."])
def test_what_is_no_path(typed: str) -> None:
    with pytest.raises(UsageError, match="--root-path"):
        proxy_of([], typed)


def test_rates_count_the_reader_behind_the_proxy(holder: Holder) -> None:
    """Asgi's peer is 127.0.0.1."""
    service = Service(Limits(reader=1), proxy_of(["127.0.0.1"], ""))
    client = Asgi(create_app(holder, PUBLIC, service=service), "http://ask.example.org")

    def code(*forwarded: str) -> int:
        headers = [(b"host", b"ask.example.org"), *((b"x-forwarded-for", one.encode()) for one in forwarded)]
        return client.get("/search?q=lluvia", headers=headers).status_code

    assert [code("203.0.113.1"), code("203.0.113.2"), code("203.0.113.1")] == [200, 200, 429]
    assert code("198.51.100.77", "203.0.113.2") == 429, "what the reader wrote itself does not count"


def test_nobody_else_may_say_who_asks(holder: Holder) -> None:
    service = Service(Limits(reader=1), proxy_of(["10.0.0.0/8"], ""))
    client = Asgi(create_app(holder, PUBLIC, service=service), "http://ask.example.org")
    codes = [client.get("/search?q=lluvia", headers={"X-Forwarded-For": f"203.0.113.{n}"}).status_code for n in (1, 2)]
    assert codes == [200, 429]


def test_other_forwarded_headers_never_count(holder: Holder) -> None:
    service = Service(proxy=proxy_of(["127.0.0.1"], ""))
    client = Asgi(create_app(holder, PUBLIC, service=service), "http://evil.example")
    for name in ("X-Forwarded-Host", "X-Host", "X-Original-Host", "Forwarded", "X-Forwarded-Server"):
        assert client.get("/health", headers={name: "ask.example.org"}).status_code == 403
    client = Asgi(create_app(holder, PUBLIC, service=service), "http://ask.example.org")
    for name in ("X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix"):
        assert client.get("/nothing", headers={name: "/clima.html"}).status_code == 404
    assert client.post("/ask", json={"question": "x"}, headers={"X-HTTP-Method-Override": "GET"}).status_code == 200


@pytest.mark.parametrize("prefix", ["/books/are", ""])
def test_under_a_path_with_and_without_the_proxy_taking_it_off(holder: Holder, prefix: str) -> None:
    client = Asgi(
        create_app(holder, Access("t0ken"), service=Service(proxy=proxy_of([], "/books/are"))), "http://127.0.0.1:1"
    )
    assert client.get(f"{prefix}/health").json()["book"]["id"] == holder.book_id
    assert client.get(f"{prefix}/clima.html").status_code == 200
    assert client.get(f"{prefix}/search?q=lluvia").json()["passages"]
    assert client.get(f"{prefix}/passages/f1-204-246").status_code == 200
    assert client.get(f"{prefix}/../clima.html").status_code in {200, 404}


def test_the_bare_path_gets_its_slash(holder: Holder) -> None:
    client = Asgi(
        create_app(holder, Access("t0ken"), service=Service(proxy=proxy_of([], "/are"))), "http://127.0.0.1:1"
    )
    bare = client.get("/are")
    assert (bare.status_code, bare.headers["location"]) == (307, "/are/")
    assert bare.headers["x-content-type-options"] == "nosniff"
    assert client.get("/area/health").status_code == 404


def test_the_real_server_behind_a_path(holder: Holder) -> None:
    app = create_app(holder, Access("t0ken"), service=Service(proxy=proxy_of([], "/are")))
    with served(app) as port:
        page = httpx.get(f"http://127.0.0.1:{port}/are/clima.html", trust_env=False)
        assert page.status_code == 200
        for path in ("/are/%2e%2e/secret", "/are/..%2f.env", "/are/.env", "/are//clima.html"):
            assert httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).status_code == 404


def logged(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record)["said"] for record in caplog.records if record.name == "ask_book.requests"]


def test_a_line_for_each_request_without_what_was_asked(holder: Holder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ask_book.requests")
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    client.get("/search?q=lluvia+secreta")
    client.post("/ask", json={"question": "¿lluvia secreta?"})
    client.get("/lluvia-secreta.html")
    lines = logged(caplog)
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("GET", "search", 200), ("POST", "ask", 200), ("GET", "other", 404),
    ]  # fmt: skip
    assert all(line["ms"] >= 0 for line in lines)
    for form in (Text(), Json()):
        text = "\n".join(form.format(record) for record in caplog.records)
        assert "secreta" not in text


def test_questions_are_logged_when_asked_for(holder: Holder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ask_book.requests")
    client = Asgi(create_app(holder, Access("t0ken"), service=Service(log_questions=True)), "http://127.0.0.1:1")
    client.post("/ask", json={"question": "lluvia\nINFO forged"})
    client.get("/search?q=lluvia")
    assert [line["question"] for line in logged(caplog)] == ["lluvia INFO forged", "lluvia"]


def test_nothing_that_is_logged_begins_a_line_of_its_own() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "read\nINFO forged", None, None)
    record.said = {"question": 'a\n"INFO" b', "ms": 1.5}
    text = Text().format(record)
    assert text.endswith('INFO read INFO forged question="a\\n\\"INFO\\" b" ms=1.5')
    assert len(text.splitlines()) == 1
    line = json.loads(Json().format(record))
    assert (line["event"], line["question"], line["ms"]) == ("read\nINFO forged", 'a\n"INFO" b', 1.5)


def test_the_same_line_is_not_written_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seldom = Seldom()

    def passes(message: str, error: OSError | None = None) -> bool:
        told = (OSError, error, None) if error else None
        return seldom.filter(logging.LogRecord("asyncio", logging.ERROR, "", 1, message, None, told))

    full, odd = OSError(24, "Too many open files"), OSError(5, "Input/output error")
    assert passes("accept()\nsocket: 1", full)
    assert not passes("accept()\nsocket: 2", full)
    assert passes("accept()", odd)
    assert passes("something else")
    monkeypatch.setattr(Seldom, "SECONDS", 0.0)
    assert passes("accept()\nsocket: 3", full)
