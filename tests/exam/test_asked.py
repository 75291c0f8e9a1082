"""What readers asked, kept by a real server, and what an author makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.exam import asked
from ask_book.exam.asked import Asked, Cited, read_questions
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from server.served import served
from small_books import small_book

WEIGHT = "How much should a hive weigh?"
FOREIGN = "Who won the World Cup in 1998?"


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("bees"), "en")


@contextmanager
def reading(book: OpenBook, state: Path, records: bool = True) -> Iterator[httpx.Client]:
    """A reader's client of a real server."""
    about = book.manifest.book
    app = create_app(Holder(about.id, about.title, about.lang, current=book), Access("t"), state, records=records)
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client


def ask(client: httpx.Client, question: str, **more: Any) -> str:
    """The id of the answer."""
    return str(client.post("/ask", json={"question": question, **more}).json()["id"])


def lines(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (state / "questions.jsonl").read_bytes().splitlines()]


def test_nothing_is_kept_unless_the_author_wants_it(bees: OpenBook, tmp_path: Path) -> None:
    with reading(bees, tmp_path / "state", records=False) as client:
        ask(client, WEIGHT)
    assert not (tmp_path / "state").exists()


def test_a_question_is_kept_with_what_came_of_it_and_nothing_of_its_reader(bees: OpenBook, tmp_path: Path) -> None:
    with reading(bees, tmp_path) as client:
        answer = ask(client, WEIGHT)
        events = {"Accept": "text/event-stream"}
        client.post("/ask", json={"question": f"{FOREIGN} Tell ana.p@example.org"}, headers=events)
        ask(client, "Thank you!")
    found, refused = lines(tmp_path)
    assert set(found) == {"day", "book", "answer_id", "question", "status", "follows", "scope", "cited"}
    assert (found["question"], found["status"], found["answer_id"]) == (WEIGHT, "answered", answer)
    assert (found["follows"], found["scope"], found["book"]) == (False, "", bees.manifest.book.id)
    assert len(found["day"]) == len("2026-11-30")
    assert "at least 40 kg" in found["cited"][0].pop("quote")
    assert found["cited"][0] == {"file": "hives.qmd", "heading": "Hives", "anchor": "sec-hives"}
    assert (refused["question"], refused["status"]) == (f"{FOREIGN} Tell …@…", "not_found")
    assert (tmp_path / "questions.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_question_that_leans_on_another_is_marked(bees: OpenBook, tmp_path: Path) -> None:
    with reading(bees, tmp_path) as client:
        ask(client, "And why?", history=[{"question": WEIGHT, "answer": ""}])
    assert [line["follows"] for line in lines(tmp_path)] == [True]


def test_the_last_thumb_counts_and_other_books_and_damaged_lines_do_not(bees: OpenBook, tmp_path: Path) -> None:
    with reading(bees, tmp_path) as client:
        answer = ask(client, WEIGHT)
        client.post("/feedback", json={"answer_id": answer, "value": "up"})
        client.post("/feedback", json={"answer_id": answer, "value": "down", "reason": "not on\n\x1b[2Jslopes"})
    with (tmp_path / "questions.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"book": "another", "answer_id": "x"}\n{"answer_id": 1\n[]\n\n')
        file.write(json.dumps({"book": bees.manifest.book.id, "answer_id": "x"}) + "\n")
    (one,) = read_questions(tmp_path, bees.manifest.book.id)
    assert (one.question, one.value, one.reason) == (WEIGHT, "down", "not on [2Jslopes")
    assert read_questions(tmp_path / "none", bees.manifest.book.id) == []


def test_the_files_are_bounded_the_older_half_goes(
    bees: OpenBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "FILE_BYTES", 1500)
    with reading(bees, tmp_path) as client:
        for number in range(30):
            ask(client, f"{WEIGHT} {number}")
    sizes = [path.stat().st_size for path in tmp_path.glob("questions*.jsonl")]
    assert max(sizes) < 3000
    kept = [one.question for one in read_questions(tmp_path, bees.manifest.book.id)]
    assert kept[-1] == f"{WEIGHT} 29"
    assert kept == [f"{WEIGHT} {number}" for number in range(30 - len(kept), 30)]
    assert 1 < len(kept) < 12
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in tmp_path.glob("questions*.jsonl"))


def test_no_answer_is_lost_when_nothing_can_be_kept(bees: OpenBook, tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").mkdir()
    with reading(bees, tmp_path) as client:
        assert client.post("/ask", json={"question": WEIGHT}).json()["status"] == "answered"


def test_what_is_kept_comes_back_as_it_was(bees: OpenBook, tmp_path: Path) -> None:
    with reading(bees, tmp_path) as client:
        ask(client, FOREIGN)
        ask(client, WEIGHT, scope="hives.qmd")
    refused, found = read_questions(tmp_path, bees.manifest.book.id)
    assert refused == Asked(FOREIGN, refused.answer_id, "not_found")
    assert (found.scope, found.status) == ("hives.qmd", "answered")
    assert isinstance(found.cited[0], Cited)
