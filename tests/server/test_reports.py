import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from ask_book.reports.store import Store
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from ask_book.server.reports import Reports
from server.served import served

TOKEN = "t0ken-of-the-owner"
OWNER = {"Authorization": f"Bearer {TOKEN}"}
DRY = "¿Cuándo es la estación seca?"
UNKNOWN = "0" * 32


def serving(holder: Holder, store: Store, *, local: bool = True) -> Iterator[httpx.Client]:
    access = Access(TOKEN, local=local)

    def reports(_: object) -> Reports:
        return Reports(store, holder, access, {"PATH": ""}, by_default=local, has_pdf=False)

    app = create_app(holder, access, reports=reports)
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports")


@pytest.fixture
def keeper(holder: Holder, store: Store) -> Iterator[httpx.Client]:
    """A sidecar that keeps reports, without PDFs."""
    yield from serving(holder, store)


def ask(client: httpx.Client, question: str = DRY, **more: object) -> dict[str, str]:
    report = client.post("/ask", json={"question": question, **more}).json()["report"]
    return dict(report) if report else {}


def test_an_answer_says_where_its_report_is(keeper: httpx.Client, store: Store) -> None:
    answer = keeper.post("/ask", json={"question": DRY}).json()
    report = answer["report"]
    assert re.fullmatch("[0-9a-f]{32}", report["id"])
    assert report["html"] == f"reports/{report['id']}/report.html"
    assert report["pdf"] == f"reports/{report['id']}/report.pdf"
    saved = json.loads((store.folder / report["id"] / "report.json").read_bytes())
    assert (saved["question"], saved["answer"]["answer"]) == (DRY, answer["answer"])
    assert saved["book"]["hash"] == store.read(report["id"]).book.hash
    assert saved["versions"]["ask_book"]


def test_a_stream_says_it_when_it_is_done(keeper: httpx.Client, store: Store) -> None:
    response = keeper.post("/ask", json={"question": DRY}, headers={"Accept": "text/event-stream"})
    done = json.loads(response.text.strip().split("\n\n")[-1].split("\ndata: ")[1])
    assert store.has(done["report"]["id"])


def test_a_full_folder_costs_a_notice_and_no_answer(
    keeper: httpx.Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ask_book.reports.store.MOST_KEPT", 0)
    answer = keeper.post("/ask", json={"question": DRY}).json()
    assert answer["report"] is None
    assert answer["status"] == "answered"
    assert "0 reports, the most it may have" in answer["notices"][-1]["message"]


def test_no_report_unless_wanted(keeper: httpx.Client, store: Store) -> None:
    assert ask(keeper, report=False) == {}
    assert ask(keeper, question="hola") == {}
    assert store.summaries() == []
    assert ask(keeper, question="¿Dónde está el aeropuerto de Miami?") != {}


def test_a_server_for_others_keeps_only_what_is_asked_for(holder: Holder, store: Store) -> None:
    for client in serving(holder, store, local=False):
        assert ask(client) == {}
        assert ask(client, report=True) != {}
        assert client.get("/reports").status_code == 401


def test_without_reports_there_are_no_such_routes(client: httpx.Client) -> None:
    assert client.post("/ask", json={"question": DRY}).json()["report"] is None
    assert client.get("/reports", headers=OWNER).status_code == 404
    assert client.get(f"/reports/{UNKNOWN}").status_code == 404


def test_the_page_links_to_the_book_beside_it(keeper: httpx.Client) -> None:
    address = ask(keeper)["html"]
    page = keeper.get(address)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    links = re.findall(r'href="(\.\./[^"]*)"', page.text)
    assert "../../clima.html#sec-lluvia" in links
    for link in links:
        target = keeper.get(str(httpx.URL(f"/{address}").join(link)))
        anchor = link.partition("#")[2]
        assert target.status_code == 200
        assert not anchor or f'id="{anchor}"' in target.text


def test_a_saved_file_has_absolute_links_or_none(keeper: httpx.Client, store: Store) -> None:
    report = ask(keeper)
    saved = keeper.get(report["html"], params={"download": ""})
    assert saved.headers["content-disposition"].startswith("attachment; filename=")
    assert "../" not in saved.text
    text = keeper.get(report["md"])
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert text.text == (store.folder / report["id"] / "report.md").read_text(encoding="utf-8")


def test_the_state_of_a_report(keeper: httpx.Client, store: Store) -> None:
    report = ask(keeper)
    state = keeper.get(f"/reports/{report['id']}").json()
    assert (state["pdf"], state["title"], state["html"]) == ("failed", DRY, report["html"])
    assert [quote["fate"] for quote in state["quotes"]] == ["stands"]
    (store.folder / report["id"] / "report.pdf").write_bytes(b"%PDF-1.5")
    assert keeper.get(f"/reports/{report['id']}").json()["pdf"] == "ready"
    assert keeper.get(report["pdf"]).headers["content-type"] == "application/pdf"


@pytest.mark.parametrize("path", ["", "/report.html", "/report.md", "/report.pdf"])
def test_what_is_not_there(keeper: httpx.Client, path: str) -> None:
    response = keeper.get(f"/reports/{UNKNOWN}{path}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "no_report")


def test_no_other_file_can_be_had(keeper: httpx.Client, store: Store) -> None:
    report_id = ask(keeper)["id"]
    (store.folder / "secret").write_text("secret", encoding="utf-8")
    for path in ("report.json", "pdf.error.log", "..%2fsecret", "../secret", "%2e%2e/secret", "report.html/x"):
        assert keeper.get(f"/reports/{report_id}/{path}").status_code == 404
    assert keeper.get(f"/reports/{report_id}/report.pdf").json()["error"]["code"] == "no_file"


def test_the_list_is_for_the_owner_newest_first(keeper: httpx.Client) -> None:
    assert keeper.get("/reports").status_code == 401
    first, second = ask(keeper)["id"], ask(keeper, question="¿De dónde viene el viento del oeste?")["id"]
    listed = keeper.get("/reports", headers=OWNER).json()
    assert listed["total"] == 2
    assert [row["id"] for row in listed["reports"]] == [second, first]
    assert listed["reports"][1] | {"created": ""} == {
        "id": first, "title": DRY, "created": "", "date": listed["reports"][1]["date"], "status": "answered",
        "mode": "extractive", "excerpt": listed["reports"][1]["excerpt"], "quotes": 1, "fate": "stands",
        "html": f"reports/{first}/report.html", "md": f"reports/{first}/report.md", "pdf": None,
    }  # fmt: skip
    found = keeper.get("/reports", headers=OWNER, params={"q": "ESTACION seca"}).json()
    assert ([row["id"] for row in found["reports"]], found["total"]) == ([first], 2)


def test_the_page_of_the_list_has_nothing_before_the_token(keeper: httpx.Client) -> None:
    ask(keeper)
    page = keeper.get("/reports", headers={"Accept": "text/html"})
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", page.headers["content-security-policy"])
    assert page.status_code == 200
    assert nonce
    assert f'<script nonce="{nonce[1]}">' in page.text
    assert DRY not in page.text


def test_deleting_is_for_the_owner(keeper: httpx.Client, store: Store) -> None:
    report_id = ask(keeper)["id"]
    assert keeper.delete(f"/reports/{report_id}").status_code == 401
    assert keeper.delete(f"/reports/{report_id}", headers=OWNER).status_code == 204
    assert keeper.delete(f"/reports/{report_id}", headers=OWNER).status_code == 404
    assert list(store.folder.iterdir()) == []


def test_a_conversation_in_one_report(keeper: httpx.Client, store: Store) -> None:
    ids = [ask(keeper)["id"], ask(keeper, question="¿De dónde viene el viento del oeste?")["id"]]
    response = keeper.post("/reports", json={"reports": ids})
    assert response.status_code == 201
    document = store.read(response.json()["report"]["id"])
    assert [exchange.question for exchange in document.exchanges] == [DRY, "¿De dónde viene el viento del oeste?"]
    assert document.title == f"{DRY} (+1)"
    page = keeper.get(response.json()["report"]["html"]).text
    assert 'id="note-1-1"' in page
    assert 'id="note-2-1"' in page


@pytest.mark.parametrize("body", ["{}", "[]", "{", '{"reports": []}', '{"reports": [1]}', '{"reports": "x"}'])
def test_what_is_no_conversation(keeper: httpx.Client, body: str) -> None:
    assert keeper.post("/reports", content=body).status_code == 400


def test_an_unknown_report_joins_nothing(keeper: httpx.Client) -> None:
    for report_id in (UNKNOWN, "../..", ""):
        assert keeper.post("/reports", json={"reports": [report_id]}).status_code == 404


def test_a_report_tells_when_the_book_has_changed(keeper: httpx.Client, holder: Holder) -> None:
    address = ask(keeper)["html"]
    book = holder.current
    assert book is not None
    left = (chapter for chapter in book.manifest.chapters if chapter.href != "clima.html")
    chapters = tuple(replace(chapter, index=index) for index, chapter in enumerate(left))
    changed = replace(book.manifest, book=replace(book.manifest.book, hash="f" * 40), chapters=chapters)
    holder.current = replace(book, manifest=changed)
    page = keeper.get(address).text
    assert "ya no está en el libro" in page
    assert "El libro ha cambiado desde entonces (ahora, edición ffffffffff)." in page
    assert "clima.html" not in page
    assert keeper.get("/reports", headers=OWNER).json()["reports"][0]["fate"] == "gone"


def test_a_report_that_cannot_be_kept_costs_no_answer(holder: Holder, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    for client in serving(holder, Store(blocked / "reports")):
        answer = client.post("/ask", json={"question": DRY}).json()
        assert (answer["status"], answer["report"]) == ("answered", None)
        assert [notice["code"] for notice in answer["notices"]] == ["report"]


def test_other_loopback_pages_get_reports_by_id_only(keeper: httpx.Client) -> None:
    report = ask(keeper)
    preview = {"Origin": "http://localhost:4200"}
    assert keeper.get(f"/reports/{report['id']}", headers=preview).status_code == 200
    assert keeper.get(report["md"], headers=preview).status_code == 200
    assert keeper.get("/reports", headers=preview | OWNER).status_code == 403
    assert (
        keeper.delete(f"/reports/{report['id']}", headers={"Origin": "https://evil.example"} | OWNER).status_code == 403
    )
