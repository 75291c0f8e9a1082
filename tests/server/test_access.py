"""Attacks on hosts and origins, all refused; and the few that may ask, allowed."""

import httpx
import pytest

from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from server.asgi import Asgi

OWNER = Access("t0ken-of-the-owner")
PUBLIC = Access("t0ken", frozenset({"ask.example.org"}), frozenset({"https://book.example.org"}), local=False)
BEARER = {"Authorization": "Bearer t0ken-of-the-owner"}
OWN = "http://127.0.0.1:4321"
DRY = {"question": "¿Cuándo es la estación seca?"}

BAD_HOSTS = [
    "evil.example", "evil.example:4321", "127.0.0.1.nip.io", "127.0.0.1.evil.example:4321", "localhost.evil.example",
    "evil.localhost", "localhost.", "127.0.0.1.", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0177.0.0.1",
    "0.0.0.0", "0.0.0.0:4321", "[::]", "[::ffff:127.0.0.1]", "::1", "[::1", "[::1]:", "localhost:", "localhost:0",
    "localhost:99999999", "localhost:80:80", "localhost@evil.example", "user@localhost", "localhost/evil",
    "localhost#a",
    "localhost, evil.example", "localhost evil", "", " ", "*", "null", "LOCALHOST.EVIL", "ask.example.org",
    "localhost\u0131".encode("utf-8").decode("latin-1"), "１２７.0.0.1".encode().decode("latin-1"),
]  # fmt: skip

BAD_ORIGINS = [
    "https://evil.example", "http://evil.example", "http://localhost.evil.example", "http://127.0.0.1.nip.io",
    "http://evil.localhost", "http://localhost@evil.example", "http://evil.example#localhost", "http://localhost.",
    "http://evil.example/?localhost", "http://127.0.0.2", "http://127.1", "http://2130706433", "http://0x7f.1",
    "http://0.0.0.0", "http://[::ffff:127.0.0.1]", "http://[::]", "http://192.168.1.5", "http://10.0.0.1:4321",
    "file://", "chrome-extension://abcdefghijklmnop", "moz-extension://abc", "app://localhost", "ftp://localhost",
    "javascript://localhost", "data:text/html,x", "localhost", "//localhost", "http:localhost", "http:///localhost",
    "http://localhost/", "http://localhost:80/", "http://localhost:", "http://localhost:0", "http://localhost:1234567",
    "http://localhost http://evil.example", "http://localhost,http://evil.example", "HTTP://LOCALHOST", "http://Localhost",
    "https://book.example.org", "https://book.example.org.evil.example", "null", "Null", "undefined", "*", "",
    "http://user:pw@localhost", "http://localhost\\@evil.example", "http://localhost%2eevil.example",
]  # fmt: skip


@pytest.fixture
def ask(holder: Holder) -> Asgi:
    """As another program on the same machine."""
    return Asgi(create_app(holder, OWNER), OWN)


def refused(response: httpx.Response, code: str) -> bool:
    return (
        response.status_code == 403
        and response.json()["error"]["code"] == code
        and "access-control-allow-origin" not in response.headers
    )


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_a_name_that_is_not_ours_is_refused(ask: Asgi, host: str) -> None:
    for path in ("/health", "/", "/ask-book/book.js"):
        assert refused(ask.get(path, headers=[(b"host", host.encode("latin-1"))]), "host")


def test_no_host_or_two_are_refused(ask: Asgi) -> None:
    two = [(b"host", b"localhost"), (b"host", b"evil.example")]
    assert refused(ask.get("/health", headers=two), "host")


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LocalHost:8080", "127.0.0.1:65535", "[::1]", "[::1]:4321"]
)
def test_names_of_loopback_are_ours(ask: Asgi, host: str) -> None:
    assert ask.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_a_foreign_origin_is_refused(ask: Asgi, origin: str) -> None:
    headers = {"Origin": origin}
    assert refused(ask.post("/ask", json=DRY, headers=headers), "origin")
    for path in ("/health", "/search?q=lluvia", "/passages/f1-0-9", "/", "/ask-book/book.js"):
        assert refused(ask.get(path, headers=headers), "origin")
    preflight = {**headers, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    assert refused(ask.options("/ask", headers=preflight), "origin")
    if origin != "null":
        assert refused(ask.post("/ask", json=DRY, headers={**headers, **BEARER}), "origin")


def test_two_origins_are_refused(ask: Asgi) -> None:
    two = [(b"origin", b"http://localhost:9"), (b"origin", b"https://evil.example")]
    assert refused(ask.get("/health", headers=two), "origin")


PREVIEW = "http://localhost:5555"


@pytest.mark.parametrize("origin", [PREVIEW, "http://127.0.0.1:7", "http://[::1]:5555", "https://localhost:5555"])
def test_quarto_preview_may_ask(ask: Asgi, origin: str) -> None:
    headers = {"Origin": origin}
    for response in (
        ask.get("/health", headers=headers),
        ask.post("/ask", json=DRY, headers=headers),
        ask.get("/search?q=lluvia", headers=headers),
        ask.get("/passages/f1-204-246", headers=headers),
    ):
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == origin
        assert "X-Ask-Book-Sources" in response.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in response.headers
        assert "Origin" in response.headers["vary"]
    wrong = ask.post("/ask", json={"question": ""}, headers=headers)
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (400, origin)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/reload"), ("GET", "/"), ("GET", "/clima.html"), ("GET", "/ask-book/book.js"), ("GET", "/reports"),
        ("DELETE", "/reports/abcdefghijklmnopqrst"), ("GET", "/reports/short"), ("GET", "/ask/"), ("GET", "//ask"),
        ("GET", "/passages/f1-0-9/x"), ("GET", "/healthy"),
    ],
)  # fmt: skip
def test_other_loopback_origins_get_the_readers_routes_only(ask: Asgi, method: str, path: str) -> None:
    response = ask.request(method, f"{OWN}{path}", headers={"Origin": PREVIEW, **BEARER})
    assert response.status_code in {403, 405}
    assert "clima" not in response.text
    if method != "DELETE":
        assert refused(response, "origin")


def test_a_preflight_of_quarto_preview(ask: Asgi) -> None:
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type, accept"}
    response = ask.options("/ask", headers={"Origin": PREVIEW, **wanted})
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == PREVIEW
    assert response.headers["access-control-allow-headers"] == "accept, content-type"
    assert response.headers["access-control-allow-methods"] == "GET, POST"
    for name, value in (("Method", "DELETE"), ("Method", "PUT"), ("Headers", "x-evil"), ("Headers", "cookie")):
        other = {**wanted, f"Access-Control-Request-{name}": value}
        assert ask.options("/ask", headers={"Origin": PREVIEW, **other}).status_code == 403


def test_a_page_from_a_file_needs_the_token(ask: Asgi) -> None:
    null = {"Origin": "null"}
    assert refused(ask.get("/health", headers=null), "origin")
    for token in ("", "Bearer", "Bearer ", "Bearer wrong", "bearer t0ken-of-the-owner", "t0ken-of-the-owner"):
        assert refused(ask.get("/health", headers={**null, "Authorization": token}), "origin")
    response = ask.post("/ask", json=DRY, headers={**null, **BEARER})
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, "null")
    assert refused(ask.get("/clima.html", headers={**null, **BEARER}), "origin")
    assert refused(ask.post("/reload", headers={**null, **BEARER}), "origin")
    preflight = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    assert ask.options("/ask", headers={**null, **preflight}).status_code == 204
    without = {**preflight, "Access-Control-Request-Headers": "content-type"}
    assert refused(ask.options("/ask", headers={**null, **without}), "origin")


def test_our_own_origin_needs_no_cors(ask: Asgi) -> None:
    for path in ("/health", "/clima.html"):
        response = ask.get(path, headers={"Origin": OWN})
        assert response.status_code == 200
        assert "access-control-allow-origin" not in response.headers
    assert refused(ask.get("/clima.html", headers={"Origin": "https://127.0.0.1:4321"}), "origin")


def test_every_response_protects_itself(ask: Asgi) -> None:
    for path in ("/health", "/clima.html", "/nothing", "/search"):
        headers = ask.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
    assert ask.get("/health").headers["content-security-policy"].startswith("default-src 'none'")
    assert "server" not in ask.get("/health").headers


def test_a_public_server_knows_its_name_and_its_site_only(holder: Holder) -> None:
    client = Asgi(create_app(holder, PUBLIC), "https://ask.example.org")
    site = client.post("/ask", json=DRY, headers={"Origin": "https://book.example.org"})
    assert (site.status_code, site.headers["access-control-allow-origin"]) == (200, "https://book.example.org")
    assert client.get("/clima.html").status_code == 200
    for origin in ("http://book.example.org", "https://evil.example", PREVIEW, "https://book.example.org:8443"):
        assert refused(client.get("/health", headers={"Origin": origin}), "origin")
    assert refused(client.get("/", headers={"Origin": "https://book.example.org"}), "origin")
    assert refused(client.get("/health", headers={"Host": "other.example.org"}), "host")


def test_behind_a_proxy_that_speaks_tls_its_own_pages_may_ask(holder: Holder) -> None:
    client = Asgi(create_app(holder, PUBLIC), "http://ask.example.org")
    own = client.post("/ask", json=DRY, headers={"Origin": "https://ask.example.org"})
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers
    assert refused(client.get("/health", headers={"Origin": "https://ask.example.org:444"}), "origin")


def test_without_a_token_nobody_is_the_owner(holder: Holder) -> None:
    client = Asgi(create_app(holder, Access("")), OWN)
    for header in ({}, {"Authorization": "Bearer "}, {"Authorization": ""}):
        assert client.post("/reload", headers=header).status_code == 401


def test_websockets_are_refused(ask: Asgi) -> None:
    said = ask.websocket("/ask")
    assert (said[0]["type"], said[0]["status"]) == ("websocket.http.response.start", 403)
    assert (b"x-content-type-options", b"nosniff") in said[0]["headers"]
