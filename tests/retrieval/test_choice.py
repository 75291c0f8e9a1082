"""Which embedder a book has."""

from __future__ import annotations

from pathlib import Path

import pytest

from ask_book.book.settings import load_settings
from ask_book.retrieval import local as local_models
from ask_book.retrieval.choice import WORDS_ALONE, Choice, choose
from ask_book.retrieval.embedding import Embedder

REMOTE = {"ASK_BOOK_EMBEDDING_MODEL": "text-embedding-3-small"}


def chosen(folder: Path, env: dict[str, str], yaml: str = "", dotenv: dict[str, str] | None = None) -> Choice:
    (folder / "_quarto.yml").write_text(f"project: {{type: book}}\nask-book:\n  top-k: 7\n{yaml}", encoding="utf-8")
    return choose(load_settings(folder, env), dotenv or {}, env)


def embedder(choice: Choice) -> Embedder:
    assert choice.notice is None
    assert choice.embedder is not None
    return choice.embedder


def why_not(choice: Choice) -> str:
    assert choice.embedder is None
    assert choice.notice is not None
    assert choice.notice.message.endswith("Until then passages are found by their words alone.")
    return choice.notice.message


@pytest.mark.local
def test_the_local_model_is_used_where_it_is_installed(tmp_path: Path) -> None:
    assert embedder(chosen(tmp_path, {})).name.startswith("local/")
    assert "sentence-encoder" in embedder(chosen(tmp_path, {"ASK_BOOK_EMBEDDING_MODEL": "local-encoder"})).name


def test_without_it_nobody_is_told_unless_its_author_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_models, "_release", lambda _: None)
    assert chosen(tmp_path, {}) == WORDS_ALONE
    assert 'pip install "ask-book[local]"' in why_not(chosen(tmp_path, {"ASK_BOOK_EMBEDDING_MODEL": "local"}))


def test_none_is_none(tmp_path: Path) -> None:
    assert chosen(tmp_path, {}, "  embedding-model: none\n") == WORDS_ALONE


def test_a_model_needs_an_address(tmp_path: Path) -> None:
    assert "embedding-base-url" in why_not(chosen(tmp_path, REMOTE))


def test_a_model_on_this_machine_needs_no_key_and_no_consent(tmp_path: Path) -> None:
    yaml = "  embedding-model: nomic-embed-text\n  embedding-base-url: http://localhost:11434/v1\n"
    found = embedder(chosen(tmp_path, {}, yaml))
    assert (found.name, found.unasked) == ("localhost:11434/v1/nomic-embed-text", True)


def test_the_address_and_key_of_the_chat_model_serve_for_both(tmp_path: Path) -> None:
    env = {**REMOTE, "ASK_BOOK_BASE_URL": "https://api.example.org/v1", "ASK_BOOK_API_KEY": "sk-secret"}
    found = embedder(chosen(tmp_path, env))
    assert (found.name, found.unasked) == ("api.example.org/v1/text-embedding-3-small", False)
    assert "sk-secret" not in repr(vars(found))


def test_a_key_never_goes_to_an_address_that_a_book_brings_along(tmp_path: Path) -> None:
    env = {**REMOTE, "ASK_BOOK_BASE_URL": "https://api.example.org/v1", "ASK_BOOK_API_KEY": "sk-secret"}
    why = why_not(chosen(tmp_path, env, "  embedding-base-url: https://evil.example.com/v1\n"))
    assert "ASK_BOOK_EMBEDDING_API_KEY" in why
    assert "sk-secret" not in why


def test_the_key_of_the_chat_model_does_not_go_to_another_host(tmp_path: Path) -> None:
    env = {**REMOTE, "ASK_BOOK_API_KEY": "sk-chat", "ASK_BOOK_EMBEDDING_BASE_URL": "https://other.example.org/v1"}
    assert "no key" in why_not(chosen(tmp_path, env))
    assert embedder(chosen(tmp_path, {**env, "ASK_BOOK_EMBEDDING_API_KEY": "k"})).name.startswith("other.example.org")
