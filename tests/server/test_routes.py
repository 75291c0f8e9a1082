import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from ask_book import __version__
from ask_book.answering.open_book import OpenBook
from ask_book.errors import AskBookError
from ask_book.server.holder import Holder
from ask_book.server.passages import fnv1a

TOKEN = {"Authorization": "Bearer t0ken-of-the-owner"}
DRY = "¿Cuándo es la estación seca?"
SSE = {"Accept": "text/event-stream"}


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for event in text.strip().split("\n\n"):
        kind, data = event.split("\n")
        found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def error_of(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["message"]
    return response.status_code, error["code"]


def test_health_says_whose_sidecar_this_is(client: httpx.Client, book: OpenBook) -> None:
    health = client.get("/health").json()
    assert health["book"] == {
        "id": "a1e5b0c4d2f3",
        "title": "Guía del valle de Aré",
        "lang": "es",
        "hash": book.manifest.book.hash,
    }
    none = {"state": "none", "progress": 0.0, "model": None}
    assert health["index"] == {"state": "ready", "progress": 1.0, "chunks": 6, "vectors": none}
    assert health["versions"] == {"ask_book": __version__, "manifest": 1}
    assert health["works"] == {"chat": False, "embeddings": False, "pdf": False}
    assert (health["edition"], health["model_host"], health["notices"]) == ("rendered", None, [])


def test_while_the_index_is_made_health_answers_and_the_rest_waits(client: httpx.Client, holder: Holder) -> None:
    holder.current, holder.progress = None, 0.25
    index = client.get("/health").json()["index"]
    assert (index["state"], index["progress"], index["chunks"]) == ("building", 0.25, 0)
    for response in (client.post("/ask", json={"question": DRY}), client.get("/search?q=x"), client.get("/")):
        assert error_of(response) == (503, "index")
        assert response.headers["retry-after"] == "1"


def test_a_book_that_cannot_be_opened_says_why(client: httpx.Client, holder: Holder) -> None:
    holder.current, holder.failure = None, AskBookError("The manifest is damaged.", "Render again.", "manifest")
    health = client.get("/health").json()
    assert health["index"]["state"] == "failed"
    assert health["notices"] == [{"code": "manifest", "message": "The manifest is damaged."}]
    assert error_of(client.post("/ask", json={"question": DRY})) == (503, "manifest")


def test_ask_gives_the_answer_of_the_contract(client: httpx.Client, book: OpenBook) -> None:
    response = client.post("/ask", json={"question": DRY})
    answer = response.json()
    assert response.headers["content-type"] == "application/json"
    assert list(answer) == [
        "id", "status", "mode", "answer", "citations", "sources", "absent_terms", "nearest", "claims", "report",
        "notices", "timings",
    ]  # fmt: skip
    assert list(answer["citations"][0]) == [
        "n", "tag", "href", "anchor", "chapter_title", "heading_path", "quote", "verified",
    ]  # fmt: skip
    assert list(answer["sources"][0]) == ["tag", "href", "anchor", "chapter_title", "heading_path", "score", "text"]
    assert answer["citations"][0]["quote"].startswith("La estación seca va de junio a septiembre. ")
    assert answer["citations"][0]["quote"] in (book.site / "clima.html").read_text(encoding="utf-8")
    header = json.loads(response.headers["x-ask-book-sources"])
    assert [row["tag"] for row in header] == [source["tag"] for source in answer["sources"]]


def test_ask_streams_when_the_client_accepts_events(client: httpx.Client) -> None:
    with client.stream("POST", "/ask", json={"question": DRY}, headers=SSE) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        header = json.loads(response.headers["x-ask-book-sources"])
        found = events(response.read().decode())
    kinds = [kind for kind, _ in found]
    assert (kinds[0], kinds[-1]) == ("sources", "done")
    done = found[-1][1]
    assert found[0][1] == done["sources"]
    assert [row["tag"] for row in header] == [source["tag"] for source in done["sources"]]
    assert "".join(data["text"] for kind, data in found if kind == "delta") == done["answer"]
    assert [data for kind, data in found if kind == "citation"] == done["citations"]


def test_not_found_has_no_sources_anywhere(client: httpx.Client) -> None:
    response = client.post("/ask", json={"question": "¿Dónde está el aeropuerto de Miami?"}, headers=SSE)
    found = events(response.text)
    assert response.headers["x-ask-book-sources"] == "[]"
    assert [kind for kind, _ in found] == ["sources", "delta", "done"]
    assert found[0][1] == []
    assert found[-1][1]["answer"] == "No encontrado en el libro"
    assert "Miami" in found[-1][1]["absent_terms"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"question": ""}, "question_empty"), ({"question": "x" * 501}, "question_too_long"), ({}, "question"),
        ({"question": "a\u0007"}, "question_characters"), ([1], "json"), ({"question": DRY, "mode": "x"}, "mode"),
        ({"question": DRY, "scope": "nowhere.qmd"}, "scope"), ({"question": DRY, "history": 1}, "history"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_what_cannot_be_asked(client: httpx.Client, body: object, code: str, accept: str) -> None:
    assert error_of(client.post("/ask", json=body, headers={"Accept": accept})) == (400, code)


def test_bodies_are_json_and_bounded(client: httpx.Client) -> None:
    as_json = {"Content-Type": "application/json"}
    assert error_of(client.post("/ask", content=b"{", headers=as_json)) == (400, "json")
    assert error_of(client.post("/ask", content=b"[" * 60_000, headers=as_json)) == (400, "json")
    assert error_of(client.post("/ask", content=b"\xff\xfe", headers=as_json)) == (400, "json")
    assert error_of(client.post("/ask", content=b'{"question":"x"}')) == (415, "content_type")
    assert error_of(client.post("/ask", data={"question": "x"})) == (415, "content_type")
    assert error_of(client.post("/ask", json={"question": "x" * 70_000})) == (413, "too_large")
    assert client.get("/health").status_code == 200


def test_search_gives_passages_with_scores(client: httpx.Client) -> None:
    found = client.get("/search", params={"q": "viento del oeste", "k": 2}).json()
    assert found["passages"][0]["anchor"] == "sec-viento"
    assert len(found["passages"]) == 2
    assert 1 >= found["passages"][0]["score"] >= found["passages"][1]["score"] > 0
    assert found["evidence"]["enough"] is True
    inside = client.get("/search", params={"q": "lluvia", "scope": "datos.qmd"}).json()["passages"]
    assert {passage["href"].split("#")[0] for passage in inside} == {"datos.html"}


def test_an_unknown_scope_is_said_not_searched(client: httpx.Client) -> None:
    assert error_of(client.get("/search", params={"q": "lluvia", "scope": "no-hay.qmd"})) == (400, "scope")
    assert error_of(client.post("/ask", json={"question": DRY, "scope": "no-hay.qmd"})) == (400, "scope")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/ask"), ("PUT", "/ask"), ("GET", "/feedback"), ("GET", "/reload")]
)
def test_what_is_posted_is_no_page(client: httpx.Client, method: str, path: str) -> None:
    response = client.request(method, path)
    assert error_of(response) == (405, "http_405")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize("k", ["0", "51", "-1", "x", "1.5", "٣", "9" * 30])
def test_k_is_a_small_number(client: httpx.Client, k: str) -> None:
    assert error_of(client.get("/search", params={"q": "lluvia", "k": k})) == (400, "k")


def test_a_passage_by_its_tag(client: httpx.Client) -> None:
    expected: dict[str, Any] = {
        "tag": "[f1-204-246]",
        "quote": "La estación seca va de junio a septiembre.",
        "hash": fnv1a("La estación seca va de junio a septiembre."),
        "moved": False,
        "href": "clima.html#sec-lluvia",
        "anchor": "sec-lluvia",
        "chapter_title": "El clima",
        "heading_path": ["El clima", "La lluvia"],
    }
    assert client.get("/passages/f1-204-246").json() == expected
    assert client.get("/passages/[f1-204-246]").json() == expected
    assert client.get("/passages/f1-204-246", params={"hash": expected["hash"]}).json() == expected


def test_a_stale_tag_is_found_again_by_its_hash(client: httpx.Client) -> None:
    words = fnv1a("La estación seca va de junio a septiembre.")
    found = client.get("/passages/f1-150-192", params={"hash": words}).json()
    assert (found["tag"], found["moved"]) == ("[f1-204-246]", True)
    assert client.get("/passages/f0-0-42", params={"hash": words}).json()["tag"] == "[f1-204-246]"
    assert error_of(client.get("/passages/f1-204-246?hash=00000000")) == (404, "stale")
    assert error_of(client.get("/passages/f9-1-2")) == (404, "stale")
    assert error_of(client.get("/passages/f1-1")) == (400, "tag")


def test_feedback_that_cannot_be_kept(client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    assert error_of(client.post("/feedback", json={"answer_id": "a1", "value": "up"})) == (503, "feedback")


def test_feedback_is_kept_for_the_author(client: httpx.Client, tmp_path: Path) -> None:
    assert client.post("/feedback", json={"answer_id": "a1", "value": "up"}).status_code == 201
    client.post("/feedback", json={"answer_id": "a2", "value": "down", "reason": "no\nes\u2028así"})
    file = tmp_path / "state" / "feedback.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    assert [(row["book"], row["answer_id"], row["value"], row["reason"]) for row in rows] == [
        ("a1e5b0c4d2f3", "a1", "up", ""),
        ("a1e5b0c4d2f3", "a2", "down", "no\nes\u2028así"),
    ]
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"value": "up"}, "answer_id"), ({"answer_id": "a", "value": "good"}, "value"),
        ({"answer_id": "a", "value": "up", "reason": "x" * 1001}, "reason"),
        ({"answer_id": "", "value": "up"}, "answer_id"),
    ],
)  # fmt: skip
def test_what_is_no_feedback(client: httpx.Client, body: object, code: str) -> None:
    assert error_of(client.post("/feedback", json=body)) == (400, code)


def test_reload_is_for_the_owner(client: httpx.Client, holder: Holder) -> None:
    asked = []
    holder.reload = lambda: asked.append(1)
    assert error_of(client.post("/reload")) == (401, "token")
    assert error_of(client.post("/reload", headers={"Authorization": "Bearer wrong"})) == (401, "token")
    assert asked == []
    assert client.post("/reload", headers=TOKEN).status_code == 202
    assert asked == [1]


def test_the_book_is_at_the_root(client: httpx.Client, book: OpenBook) -> None:
    page = client.get("/clima.html")
    assert page.content == (book.site / "clima.html").read_bytes()
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "content-security-policy" not in page.headers
    assert client.get("/").content == (book.site / "index.html").read_bytes()
    assert client.head("/clima.html").headers["content-length"] == str(len(page.content))
    part = client.get("/clima.html", headers={"Range": "bytes=0-14"})
    assert (part.status_code, part.text) == (206, "<!doctype html>")
    assert client.get("/clima.html", headers={"If-None-Match": page.headers["etag"]}).status_code == 304


def test_errors_are_json_for_programs_and_a_page_for_browsers(client: httpx.Client) -> None:
    assert error_of(client.get("/nothing.html")) == (404, "not_found")
    page = client.get("/nothing.html", headers={"Accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert error_of(client.delete("/clima.html")) == (405, "http_405")
    assert error_of(client.post("/nothing", json={})) == (405, "http_405")


def test_use_is_counted_but_not_a_look_at_health(client: httpx.Client, holder: Holder) -> None:
    holder.last_used = 0.0
    client.get("/health")
    assert holder.last_used == 0.0
    client.get("/clima.html")
    assert holder.last_used > 0.0
