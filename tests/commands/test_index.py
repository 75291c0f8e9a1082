"""`ask-book index` with models that embed: what it says, what it asks, what it costs."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ask_book.book.project import find_project
from ask_book.cli import main
from ask_book.retrieval.choice import URL_VARIABLE
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.remote import RemoteEmbedder
from provider import Json, Provider, Reply, _embeddings, fails, nobody, provider, vector

MODEL = "nomic-embed-text"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts of this machine count as another's."""
    make = RemoteEmbedder.__init__

    def made(self: RemoteEmbedder, *given: Any) -> None:
        make(self, *given)
        self.unasked = False

    monkeypatch.setattr(RemoteEmbedder, "__init__", made)


def use(monkeypatch: pytest.MonkeyPatch, base_url: str, model: str = MODEL) -> None:
    monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", model)
    monkeypatch.setenv(URL_VARIABLE, base_url)


def batches(host: Provider) -> list[Json]:
    """The requests for passages; `?` only asks what the model is like."""
    return [asked.json for asked in host.asked if not asked.json["input"][0].endswith("?")]


def indexed(book: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    code = main(["index", str(book), "--json", *more])
    return code, json.loads(capsys.readouterr().out)


def test_without_a_model_it_says_that_words_alone_count(small_book: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", str(small_book)]) == 0
    assert "found by their words alone" in capsys.readouterr().out
    assert indexed(small_book, capsys)[1]["embeddings"] is None


def test_a_model_on_this_machine_embeds_what_is_new(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as host:
        use(monkeypatch, host.base_url)
        code, first = indexed(small_book, capsys)
        chapter = small_book / "puentes.qmd"
        chapter.write_text(chapter.read_text(encoding="utf-8").replace("granito", "caliza"), encoding="utf-8")
        assert main(["index", str(small_book)]) == 0
        said = capsys.readouterr().out
    name = f"127.0.0.1:{host.port}/v1/{MODEL}"
    assert (code, first["notices"]) == (0, [])
    assert {**first["embeddings"], "seconds": 0} == {
        "model": name, "dimension": 8, "reused": 0, "embedded": 2, "seconds": 0,
    }  # fmt: skip
    assert f"1 embedded, 1 reused, with {name}, 8 dimensions" in said


def test_a_model_elsewhere_embeds_nothing_unasked(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, elsewhere: None
) -> None:
    monkeypatch.setenv("ASK_BOOK_EMBEDDING_PRICE", "0.02")
    with provider() as host:
        use(monkeypatch, host.base_url)
        assert main(["index", str(small_book)]) == 1
        out, err = capsys.readouterr()
        assert host.asked == []
    characters = re.search(r"2 passages are to be embedded with \S+: (\d+) characters, about (\d+) tokens", err)
    assert characters
    assert 200 < int(characters[1]) < 400
    assert "At 0.02 for a million tokens that is about 0.0000" in err
    assert "ask-book index --yes" in out


def test_yes_embeds_and_is_remembered_for_later_changes(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, elsewhere: None
) -> None:
    with provider() as host:
        use(monkeypatch, host.base_url)
        code, made = indexed(small_book, capsys, "--yes")
        assert (code, made["embeddings"]["embedded"]) == (0, 2)
        left = Consent(find_project(small_book, {}).key).left(made["embeddings"]["model"])
        assert left == 100_000
        chapter = small_book / "puentes.qmd"
        chapter.write_text(chapter.read_text(encoding="utf-8").replace("granito", "caliza"), encoding="utf-8")
        code, made = indexed(small_book, capsys)
        assert (code, made["embeddings"]["embedded"], made["embeddings"]["reused"]) == (0, 1, 1)
        use(monkeypatch, host.base_url, "another-model")
        assert indexed(small_book, capsys)[0] == 1


class Keyboard(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "code", "requests"), [("y\n", 0, 1), ("\n", 1, 0), ("n\n", 1, 0), ("", 1, 0)])
def test_on_a_terminal_it_asks_and_takes_no_for_an_answer(
    small_book: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: None, typed: str, code: int, requests: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))
    with provider() as host:
        use(monkeypatch, host.base_url)
        assert main(["index", str(small_book)]) == code
        assert len(host.asked) == requests


def test_back_to_the_first_model_costs_nothing(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as host:
        for model in (MODEL, "another-model", MODEL):
            use(monkeypatch, host.base_url, model)
            code, made = indexed(small_book, capsys)
            assert code == 0
        assert (made["embeddings"]["embedded"], made["embeddings"]["reused"]) == (0, 2)
        assert [batch["model"] for batch in batches(host)] == [MODEL, "another-model"]


def test_a_model_that_changed_under_its_name_is_noticed(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, elsewhere: None
) -> None:
    def longer(data: Json) -> Reply:
        rows = [{"index": at, "embedding": [1.0, *vector(text)]} for at, text in enumerate(data["input"])]
        return Reply(steps=(json.dumps({"data": rows}).encode(),))

    with provider(_embeddings, *[longer] * 9) as host:
        use(monkeypatch, host.base_url)
        assert indexed(small_book, capsys, "--yes")[1]["embeddings"]["dimension"] == 8
        code, made = indexed(small_book, capsys, "--yes")
        assert (code, made["embeddings"]["embedded"], made["embeddings"]["dimension"]) == (0, 2, 9)
        assert indexed(small_book, capsys)[1]["embeddings"]["reused"] == 2


def test_after_a_change_of_model_answers_go_by_words_with_a_notice(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, elsewhere: None
) -> None:
    def ask() -> Any:
        main(["ask", "¿Cuándo se terminó el puente de Alcántara?", str(small_book), "--json"])
        return json.loads(capsys.readouterr().out)

    with provider() as host:
        use(monkeypatch, host.base_url)
        indexed(small_book, capsys, "--yes")
        before = len(host.asked)
        with_vectors = ask()
        assert [asked.json["input"] for asked in host.asked[before:]] == [
            ["search_query: ¿Cuándo se terminó el puente de Alcántara?"]
        ]
        use(monkeypatch, host.base_url, "another-model")
        by_words = ask()
        assert len(host.asked) == before + 1
    assert with_vectors["status"] == by_words["status"] == "answered"
    assert with_vectors["notices"] == []
    assert [notice["code"] for notice in by_words["notices"]] == ["embeddings_pending"]


def test_a_host_that_fails_leaves_the_index_of_words(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(*[fails(401, "bad key sk-secret")] * 9) as host:
        use(monkeypatch, host.base_url)
        code, made = indexed(small_book, capsys)
    assert (code, made["chunks"], made["embeddings"]) == (1, 2, None)
    [notice] = made["notices"]
    assert "refused" in notice["message"]
    assert "sk-secret" not in json.dumps(made)


def test_a_host_that_is_not_there_is_told_within_seconds(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with nobody() as base_url:
        use(monkeypatch, base_url)
        code, made = indexed(small_book, capsys)
        assert (code, made["embeddings"]) == (1, None)
        assert "cannot be reached" in made["notices"][0]["message"]
        assert main(["ask", "¿Cuándo se terminó el puente de Alcántara?", str(small_book)]) == 0


def test_a_deleted_quarto_folder_costs_nothing(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as host:
        use(monkeypatch, host.base_url)
        indexed(small_book, capsys)
        shutil.rmtree(find_project(small_book, {}).cache_dir)
        code, made = indexed(small_book, capsys)
        assert (code, made["embeddings"]["reused"], len(batches(host))) == (0, 2, 1)


def test_no_key_is_written_anywhere(
    small_book: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as host:
        use(monkeypatch, host.base_url)
        monkeypatch.setenv("ASK_BOOK_EMBEDDING_API_KEY", "sk-secret-key-of-the-author")
        indexed(small_book, capsys)
        assert host.asked[0].headers["authorization"] == "Bearer sk-secret-key-of-the-author"
    files = [path for folder in (home, small_book) for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if b"sk-secret" in path.read_bytes()]


KILLED = """
import os, signal, sys
from ask_book.retrieval import kept
put, done = kept.Kept.put, []
def put_and_die(self, keys, vectors):
    put(self, keys, vectors)
    os.kill(os.getpid(), signal.SIGKILL)
kept.Kept.put = put_and_die
from ask_book.cli import main
main(["index", sys.argv[1]])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed in another way there")
def test_what_was_paid_for_survives_a_process_that_is_killed(
    small_book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(70):
        text = f"# Capítulo {number}\n\nEl puente número {number} cruza un río que no tiene nombre en los mapas.\n"
        (small_book / f"c{number}.qmd").write_text(text, encoding="utf-8")
    names = ", ".join(f"c{number}.qmd" for number in range(70))
    yaml = small_book / "_quarto.yml"
    yaml.write_text(yaml.read_text(encoding="utf-8").replace("puentes.qmd", f"puentes.qmd, {names}"), encoding="utf-8")
    with provider() as host:
        use(monkeypatch, host.base_url)
        killed = subprocess.run([sys.executable, "-c", KILLED, str(small_book)], capture_output=True, check=False)
        assert killed.returncode == -9
        code, made = indexed(small_book, capsys)
        assert code == 0
        assert made["embeddings"]["reused"] in (64, 8)
        assert made["embeddings"]["embedded"] + made["embeddings"]["reused"] == 72
