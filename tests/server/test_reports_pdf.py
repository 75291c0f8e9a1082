"""The PDF comes after the answer: real TeX behind a real server."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ask_book.reports.store import Store
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from ask_book.server.reports import Reports
from reports.samples import of_the_book
from reports.tex import ENGINES, as_tinytex, environment, program, text_of
from server.served import served
from waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lays out a TinyTeX with links")

DRY = "¿Cuándo es la estación seca?"


@contextmanager
def serving(holder: Holder, store: Store, env: dict[str, str]) -> Iterator[httpx.Client]:
    access = Access("t0ken")
    app = create_app(holder, access, reports=lambda _: Reports(store, holder, access, env))
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client


def state_when_done(client: httpx.Client, report_id: str) -> str:
    def state() -> str:
        return str(client.get(f"/reports/{report_id}").json()["pdf"])

    wait_until(lambda: state() != "pending")
    return state()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "reports")


@pytest.mark.tex
def test_the_answer_does_not_wait_for_it(holder: Holder, store: Store, tmp_path: Path) -> None:
    as_tinytex(tmp_path)
    with serving(holder, store, environment(tmp_path)) as client:
        report = client.post("/ask", json={"question": DRY}).json()["report"]
        assert client.get(f"/reports/{report['id']}").json()["pdf"] == "pending"
        assert client.get(report["pdf"]).status_code == 404
        assert client.get(report["html"]).status_code == 200
        assert state_when_done(client, report["id"]) == "ready"
        assert "La estación seca va de junio a septiembre." in text_of(client.get(report["pdf"]).content)
        assert client.get("/health").json()["works"]["pdf"] is True


def test_without_tex_there_is_none_and_a_log_says_why(holder: Holder, store: Store, tmp_path: Path) -> None:
    with serving(holder, store, environment(tmp_path)) as client:
        report = client.post("/ask", json={"question": DRY}).json()["report"]
        assert state_when_done(client, report["id"]) == "failed"
        assert "nothing to try" in (store.folder / report["id"] / "pdf.error.log").read_text(encoding="utf-8")
        assert client.get(report["html"]).status_code == 200
        assert client.get("/health").json()["works"]["pdf"] is False


def fake_tex(home: Path, script: str) -> dict[str, str]:
    """A pandoc and engines that do what `script` says; `$out` is the file to make."""
    wanted = 'for one; do [ "$last" = --output ] && out=$one; last=$one; done; '
    version = 'if [ "$1" = --version ]; then echo "pandoc 3.6"; exit 0; fi; '
    folder = program(home / "fake" / "pandoc", version + wanted + script).parent
    for name in ENGINES or ["xelatex"]:
        program(folder / name, "exit 0")
    return environment(home, folder)


def test_two_at_a_time_at_most(holder: Holder, store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log"
    env = fake_tex(tmp_path, f"echo + >> '{log}'; sleep 0.3; echo - >> '{log}'; echo %PDF-1.5 > \"$out\"")
    with serving(holder, store, env) as client:
        ids = [client.post("/ask", json={"question": DRY}).json()["report"]["id"] for _ in range(5)]
        assert [state_when_done(client, report_id) for report_id in ids] == ["ready"] * 5
    running = most = 0
    for sign in log.read_text(encoding="utf-8").split():
        running += 1 if sign == "+" else -1
        most = max(most, running)
    assert most == 2


def test_a_server_that_ends_ends_what_it_makes(holder: Holder, store: Store, tmp_path: Path) -> None:
    pulse = tmp_path / "pulse"
    env = fake_tex(tmp_path, f"while :; do echo x >> '{pulse}'; sleep 0.05; done")
    with serving(holder, store, env) as client:
        report = client.post("/ask", json={"question": DRY}).json()["report"]
        wait_until(pulse.exists)
    size = pulse.stat().st_size
    time.sleep(0.3)
    assert pulse.stat().st_size == size
    assert store.pdf_state(report["id"]) == "none"


def test_what_a_dead_server_did_not_make_is_made_when_somebody_looks(
    holder: Holder, store: Store, tmp_path: Path
) -> None:
    document = of_the_book()
    store.save(document)
    with serving(holder, store, fake_tex(tmp_path, 'echo %PDF-1.5 > "$out"')) as client:
        assert client.get(f"/reports/{document.id}").json()["pdf"] == "pending"
        assert state_when_done(client, document.id) == "ready"


def test_a_report_deleted_while_its_pdf_is_made(holder: Holder, store: Store, tmp_path: Path) -> None:
    env = fake_tex(tmp_path, 'sleep 0.5; echo %PDF-1.5 > "$out"')
    with serving(holder, store, env) as client:
        report = client.post("/ask", json={"question": DRY}).json()["report"]
        assert client.delete(f"/reports/{report['id']}", headers={"Authorization": "Bearer t0ken"}).status_code == 204
        time.sleep(1.5)
        assert list(store.folder.iterdir()) == []
        assert client.get("/health").status_code == 200
    assert holder.busy == 0
