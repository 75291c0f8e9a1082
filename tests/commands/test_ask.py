"""`ask-book ask` with a model: JSON for programs, a stream on a terminal."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from provider import Reply, fails, provider, says

QUESTION = "¿Cuándo se terminó el puente de Alcántara?"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of Unix")


def good(asked: dict[str, Any]) -> Reply:
    tag = re.search(r"se terminó en el año 106\. (\[f[\d-]+\])", asked["messages"][-1]["content"])
    assert tag
    return says(f"Se terminó en el año 106 {tag[1]}.")


def environment(base_url: str) -> dict[str, str]:
    return {**os.environ, "ASK_BOOK_BASE_URL": base_url, "ASK_BOOK_CHAT_MODEL": "m", "ASK_BOOK_MODE": "grounded"}


def ask(book: Path, base_url: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ask_book", "ask", QUESTION, "--book", str(book), *options]
    return subprocess.run(
        command, env=environment(base_url), capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def on_a_terminal(book: Path, base_url: str) -> str:
    """All that a terminal of 100 columns gets."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "ask_book", "ask", QUESTION, "--book", str(book)]
    env = {**environment(base_url), "COLUMNS": "100", "NO_COLOR": "1"}
    with subprocess.Popen(command, env=env, stdin=follower, stdout=follower, stderr=subprocess.DEVNULL) as process:
        os.close(follower)
        text = b""
        try:
            while piece := os.read(leader, 65536):
                text += piece
        except OSError:  # the other side is closed
            pass
        assert process.wait(60) == 0
    os.close(leader)
    return text.decode().replace("\r\n", "\n")


def test_the_model_of_the_environment_answers(small_book: Path) -> None:
    with provider(good) as model:
        answer = json.loads(ask(small_book, model.base_url, "--json").stdout)
        assert len(model.asked) == 1
        quoted = json.loads(ask(small_book, model.base_url, "--json", "--mode", "extractive").stdout)
        assert len(model.asked) == 1
    assert (answer["mode"], answer["answer"]) == ("grounded", "Se terminó en el año 106 [1](#ask-book-1).")
    assert answer["citations"][0]["quote"] == "El puente de Alcántara se terminó en el año 106."
    assert quoted["mode"] == "extractive"


def test_on_a_terminal_the_text_comes_first_then_its_notes(small_book: Path) -> None:
    with provider(good) as model:
        lines = on_a_terminal(small_book, model.base_url).splitlines()
    assert lines[0] == "Se terminó en el año 106 [1]."
    assert lines[2] == "[1]  “El puente de Alcántara se terminó en el año 106.”"


def test_what_replaces_a_text_is_written_after_it(small_book: Path) -> None:
    with provider(says("Fue hace mucho.")) as model:
        text = on_a_terminal(small_book, model.base_url)
    assert text.startswith("Fue hace")
    assert text.split("\n\n")[1].startswith("El puente de Alcántara se terminó en el año 106.")
    assert "Note: Lo que escribió el modelo no nombraba ningún pasaje" in text


def test_a_failing_model_is_a_note_and_no_failure(small_book: Path) -> None:
    with provider(fails(401, "Incorrect API key provided: sk-secret-key")) as model:
        done = ask(small_book, model.base_url)
    assert done.returncode == 0
    assert done.stdout.startswith("El puente de Alcántara se terminó en el año 106.")
    assert "was refused by 127.0.0.1" in done.stdout.replace("\n", " ")
    assert "sk-secret" not in done.stdout + done.stderr


def test_asking_for_a_model_that_is_not_there_says_so(small_book: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ask_book",
        "ask",
        QUESTION,
        "--book",
        str(small_book),
        "--mode",
        "grounded",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False)
    answer = json.loads(done.stdout)
    assert (answer["mode"], [notice["code"] for notice in answer["notices"]]) == ("extractive", ["no_model"])
