"""`ask-book exam` for authors: drafts from the book, from its readers, by a model, and the gaps."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from ask_book.book.edition import open_edition
from ask_book.book.manifest import read_manifest
from ask_book.book.project import Project, find_project
from ask_book.cli import main
from ask_book.daemon.state import state_folder
from ask_book.exam.asked import read_questions
from ask_book.exam.format import read_exam
from provider import Json, Reply, fails, provider, says

ARCHES = "Tiene seis arcos desiguales."


def project_of(book: Path) -> Project:
    return find_project(book, {})


def record(book: Path, *lines: dict[str, object], thumbs: tuple[tuple[str, str, str], ...] = ()) -> None:
    """What a sidecar would have kept."""
    project = project_of(book)
    about = read_manifest(open_edition(project).manifest_path).book.id
    base: dict[str, object] = {"day": "2026-11-30", "book": about, "follows": False, "scope": "", "cited": []}
    folder = state_folder(project).path
    rows = [json.dumps({**base, **line}) for line in lines]
    (folder / "questions.jsonl").write_text("\n".join(rows), encoding="utf-8")
    told = [
        json.dumps({"book": about, "answer_id": answer, "value": value, "reason": why}) for answer, value, why in thumbs
    ]
    (folder / "feedback.jsonl").write_text("\n".join(told), encoding="utf-8")


def test_a_suggested_exam_is_one_that_the_book_passes(small_book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = small_book / "exam.yml"
    assert main(["exam", str(small_book), "--suggest", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 7 questions, 0 to be decided\n"
    questions = read_exam(out).questions
    assert questions[1].text == "¿Qué dice el libro sobre «Los puentes»?"
    assert questions[1].places[0].anchor == ""
    assert main(["exam", str(small_book), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert (summary["evidence_at_k"], summary["refused_offtopic"], summary["questions"]) == (1.0, 1.0, 7)
    assert main(["exam", str(small_book), "--suggest"]) == 0
    assert capsys.readouterr().out == out.read_text(encoding="utf-8")


def test_no_file_is_overwritten_and_nothing_is_drafted_and_asked_at_once(
    small_book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small_book / "exam.yml"
    out.write_text("mine", encoding="utf-8")
    assert main(["exam", str(small_book), "--suggest", "--out", str(out)]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert main(["exam", str(out), "--book", str(small_book), "--suggest"]) == 2
    assert main(["exam", str(out), "--book", str(small_book), "--with-model"]) == 2
    assert main(["exam", str(small_book), "--suggest", "--gaps"]) == 2


def test_without_the_setting_it_says_how_questions_are_kept(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for what in ("--record", "--gaps"):
        assert main(["exam", str(small_book), what]) == 1
        assert "record-questions: true" in capsys.readouterr().err
    monkeypatch.setenv("ASK_BOOK_RECORD_QUESTIONS", "true")
    assert main(["exam", str(small_book), "--record"]) == 1
    assert main(["exam", str(small_book), "--gaps"]) == 0
    assert "No reader was left" in capsys.readouterr().out


def test_what_readers_asked_becomes_items_and_gaps(small_book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cited = [{"quote": ARCHES, "file": "puentes.qmd", "heading": "Los puentes", "anchor": ""}]
    record(
        small_book,
        {"question": "¿Cuántos arcos tiene?", "answer_id": "a", "status": "answered", "cited": cited},
        {"question": "¿Quién pagó el peaje?", "answer_id": "b", "status": "not_found"},
        {"question": "¿Quién pagó los peajes?", "answer_id": "c", "status": "not_found"},
        {"question": "¿De qué son las dovelas?", "answer_id": "d", "status": "answered", "cited": cited},
        thumbs=(("a", "up", ""), ("d", "down", "falta el mortero")),
    )
    out = small_book / "asked.yml"
    assert main(["exam", str(small_book), "--record", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 1 questions, 3 to be decided\n"
    (question,) = read_exam(out).questions
    assert (question.text, question.places[0].quote) == ("¿Cuántos arcos tiene?", ARCHES)
    assert main(["exam", str(out), "--book", str(small_book), "--min-recall", "1"]) == 0
    capsys.readouterr()
    assert main(["exam", str(small_book), "--gaps", "--json"]) == 0
    toll, stones = json.loads(capsys.readouterr().out)["gaps"]
    assert (toll["count"], toll["refused"], toll["absent_terms"]) == (2, 2, ["pagó", "peaje"])
    assert (stones["down"], stones["reasons"], stones["answered"]) == (1, ["falta el mortero"], True)
    assert stones["nearest"][0]["href"] == "puentes.html"
    assert main(["exam", str(small_book), "--gaps"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "2 × ¿Quién pagó el peaje?\n     ¿Quién pagó los peajes?\n     the book never uses: pagó, peaje\n"
    )
    assert "     thumbs down: 1: falta el mortero\n" in said
    assert "near: Los puentes (puentes.qmd)" in said


@pytest.mark.parametrize("wanted", [True, False])
def test_a_sidecar_keeps_what_is_asked_only_if_its_author_wants_that(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wanted: bool
) -> None:
    monkeypatch.setenv("ASK_BOOK_RECORD_QUESTIONS", str(wanted))
    assert main(["start", str(small_book), "--json"]) == 0
    url = json.loads(capsys.readouterr().out)["url"]
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as client:
        while client.get("/health").json()["index"]["state"] != "ready":
            time.sleep(0.1)
        assert client.post("/ask", json={"question": "¿Quién pagó el peaje?"}).json()["status"] == "not_found"
    assert (state_folder(project_of(small_book)).path / "questions.jsonl").exists() is wanted
    assert main(["exam", str(small_book), "--gaps", "--json"]) == (0 if wanted else 1)
    told = json.loads(capsys.readouterr().out)
    assert [gap["questions"] for gap in told.get("gaps", [])] == [["¿Quién pagó el peaje?"]] * wanted


@pytest.mark.parametrize("wanted", [True, False])
def test_so_does_a_server_for_others(small_book: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool) -> None:
    monkeypatch.setenv("ASK_BOOK_RECORD_QUESTIONS", str(wanted))
    command = ["-m", "ask_book", "serve", str(small_book), "--port", "0", "--name", "ask.example.org", "--json"]
    server = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with httpx.Client(base_url=url, headers={"Host": "ask.example.org"}, trust_env=False, timeout=60) as client:
            while (asked := client.post("/ask", json={"question": "¿Quién pagó el peaje?"})).status_code == 503:
                time.sleep(0.2)
            thumb = {"answer_id": asked.json()["id"], "value": "down", "reason": "¡dímelo!"}
            assert client.post("/feedback", json=thumb).status_code == (201 if wanted else 404)
    finally:
        server.terminate()
        server.communicate(timeout=30)
    project = project_of(small_book)
    about = read_manifest(open_edition(project).manifest_path).book.id
    kept = read_questions(state_folder(project).path, about)
    assert [(one.question, one.value, one.reason) for one in kept] == [
        ("¿Quién pagó el peaje?", "down", "¡dímelo!")
    ] * wanted


def drafts(request: Json) -> Reply:
    """A question for each part, its quote the part's last sentence; a forged quote for the first part."""
    part = request["messages"][1]["content"]
    quote = "En un lugar de la Mancha." if "Inicio" in part else re.findall(r"[^.\n]+\.", part)[-1].strip()
    return says("Sure: " + json.dumps({"question": "¿Y eso cómo se sabe?" + quote[:1], "quote": quote}))


def test_a_model_drafts_only_when_asked_and_agreed_to(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK_BOOK_CHAT_MODEL", "m")
    with provider(drafts) as model:
        monkeypatch.setenv("ASK_BOOK_BASE_URL", model.base_url)
        assert main(["exam", str(small_book), "--suggest"]) == 0
        monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
        assert main(["exam", str(small_book), "--suggest", "--with-model"]) == 1
        said = capsys.readouterr().err
        assert "3 questions are to be drafted by m at 127.0.0.1" in said
        assert "Say `--yes`" in said
        assert model.asked == []
        assert main(["exam", str(small_book), "--suggest", "--with-model", "--yes", "--json"]) == 0
    told = capsys.readouterr()
    questions = json.loads(told.out)["questions"]
    assert [question["type"] for question in questions[:3]] == ["heading", "model", "model"]
    assert questions[1]["places"][0]["quote"] == ARCHES
    assert questions[1]["note"].startswith("Drafted by a model")
    assert re.search(r"2 of 3 by the model, with \d+ tokens\.\n", told.err)


def test_a_model_that_fails_leaves_the_drafts_as_they_were(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK_BOOK_CHAT_MODEL", "m")
    assert main(["exam", str(small_book), "--suggest", "--with-model"]) == 1
    assert "no chat model" in capsys.readouterr().err
    with provider(fails(401)) as model:
        monkeypatch.setenv("ASK_BOOK_BASE_URL", model.base_url)
        assert main(["exam", str(small_book), "--suggest", "--with-model", "--yes", "--json"]) == 0
    told = capsys.readouterr()
    assert [one["type"] for one in json.loads(told.out)["questions"][:3]] == ["heading"] * 3
    assert "0 of 3 by the model" in told.err
