from pathlib import Path

import pytest

from ask_book.book.settings import NAMES, Settings, load_settings
from ask_book.errors import AskBookError


def settings(folder: Path, section: str, env: dict[str, str] | None = None, dotenv: str = "") -> Settings:
    (folder / "_quarto.yml").write_text(f"lang: es\n{section}", encoding="utf-8")
    (folder / ".env").write_text(dotenv, encoding="utf-8")
    return load_settings(folder, env or {})


def test_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    for nothing in ("", "ask-book:\n", "ask-book: {}\n"):
        found = settings(tmp_path, nothing)
        assert found == Settings(top_k=7, idle_minutes=120, endpoint=None, shortcut="i", suggestions=(), texts=())
        assert found.origins == ()


def test_every_setting(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "ask-book:\n  top-k: 5\n  idle-minutes: 10\n  endpoint: https://ask.example.org/book/\n  shortcut: K\n"
        "  suggestions: [One?, ' Two? ']\n  texts:\n    title: Pregúntale\n",
    )
    assert found == Settings(5, 10, "https://ask.example.org/book", "k", ("One?", "Two?"), (("title", "Pregúntale"),))


def test_the_settings_of_a_model(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "ask-book:\n  base-url: http://localhost:11434/v1/\n  chat-model: qwen3:8b\n  mode: grounded\n"
        "  temperature: 0\n  answer-language: question\n  style: [No em dashes.]\n"
        "  system-prompt: |\n    Be brief.\n  cache: false\n"
        "  passage-characters: 900\n  tokens-per-day: 0\n",
        {"ASK_BOOK_MODEL_SECONDS": "5", "ASK_BOOK_TEMPERATURE": "0.7"},
        "ASK_BOOK_CHAT_MODEL=mistral\nASK_BOOK_CACHE=true\n",
    )
    assert (found.base_url, found.chat_model, found.mode) == ("http://localhost:11434/v1", "mistral", "grounded")
    assert (found.temperature, found.model_seconds, found.cache) == (0.7, 5, True)
    assert (found.answer_language, found.style, found.system_prompt) == ("question", ("No em dashes.",), "Be brief.")
    assert (found.passage_characters, found.tokens_per_day) == (900, 0)


def test_the_later_place_wins_and_is_named(tmp_path: Path) -> None:
    section = "ask-book:\n  top-k: 1\n"
    assert settings(tmp_path, section).top_k == 1
    assert settings(tmp_path, section, dotenv="ASK_BOOK_TOP_K=2").top_k == 2
    found = settings(tmp_path, section, {"ASK_BOOK_TOP_K": "3"}, "ASK_BOOK_TOP_K=2")
    assert found.top_k == 3
    assert dict(found.origins)["top-k"] == "ASK_BOOK_TOP_K (environment)"


def test_settings_may_stand_where_editors_complete_those_of_extensions(tmp_path: Path) -> None:
    found = settings(tmp_path, "extensions:\n  ask-book: {top-k: 3, shortcut: b}\nask-book:\n  top-k: 4\n")
    assert (found.top_k, found.shortcut) == (4, "b")
    with pytest.raises(AskBookError, match=r":3: `ask-book:` has no setting `topk`"):
        settings(tmp_path, "extensions:\n  ask-book: {topk: 3}\n")


def test_the_name_of_the_seed_is_honoured(tmp_path: Path) -> None:
    assert settings(tmp_path, "", {"IA_TOP_K": "9"}).top_k == 9
    assert settings(tmp_path, "", {"IA_TOP_K": "9", "ASK_BOOK_TOP_K": "4"}).top_k == 4
    assert settings(tmp_path, "", {"IA_TOP_K": ""}).top_k == 7


@pytest.mark.parametrize(
    ("section", "message", "hint"),
    [
        ("ask-book:\n  topk: 5\n", ":3: `ask-book:` has no setting `topk`.", "Did you mean `top-k`?"),
        (
            "ask-book:\n  sugestions: []\n",
            ":3: `ask-book:` has no setting `sugestions`.",
            "Did you mean `suggestions`?",
        ),
        ("ask-book:\n  top_k: 5\n", ":3: `ask-book:` has no setting `top_k`.", "Did you mean `top-k`?"),
        ("ask-book:\n  zzz: 5\n", ":3: `ask-book:` has no setting `zzz`.", "The names are top-k, "),
        ("ask-book:\n  api-key: x\n", ":3: `ask-book:` has no setting `api-key`.", "Secrets never go in _quarto.yml"),
        ("ask-book:\n  shortcut: x\n  top-k: many\n", ":4: `ask-book: top-k` is 'many', but must be a whole", ""),
        ("ask-book:\n  top-k: 0\n", ":3: `ask-book: top-k` is 0, but must be a whole number from 1 to 50.", ""),
        ("ask-book:\n  top-k: true\n", ":3: `ask-book: top-k` is True", ""),
        ("ask-book:\n  endpoint: ask.example.org\n", ":3: `ask-book: endpoint` is 'ask.example.org', but", ""),
        ("ask-book:\n  endpoint: https://u:p@example.org\n", ":3: `ask-book: endpoint` is", ""),
        ("ask-book:\n  shortcut: F2\n", ":3: `ask-book: shortcut` is 'F2', but must be one letter or digit.", ""),
        ("ask-book:\n  suggestions: One?\n", ":3: `ask-book: suggestions` is 'One?', but must be a list of texts.", ""),
        ("ask-book:\n  texts: [a]\n", ":3: `ask-book: texts` is ['a'], but must be `name: text` lines.", ""),
        ("ask-book:\n  mode: magic\n", ":3: `ask-book: mode` is 'magic', but must be one of auto, extractive, ", ""),
        ("ask-book:\n  temperature: 3\n", ":3: `ask-book: temperature` is 3, but must be a number from 0 to 2.", ""),
        ("ask-book:\n  temperature: warm\n", ":3: `ask-book: temperature` is 'warm'", ""),
        ("ask-book:\n  cache: perhaps\n", ":3: `ask-book: cache` is 'perhaps', but must be true or false.", ""),
        ("ask-book:\n  chat-model: ''\n", ":3: `ask-book: chat-model` is '', but must be a text.", ""),
        ("ask-book:\n  chatmodel: x\n", ":3: `ask-book:` has no setting `chatmodel`.", "Did you mean `chat-model`?"),
        ("ask-book:\n  api_key: x\n", ":3: `ask-book:` has no setting `api_key`.", "Secrets never go in _quarto.yml"),
        ("ask-book: yes please\n", ":2: `ask-book:` must hold `name: value` lines.", "top-k: 7"),
    ],
)
def test_mistakes_name_the_line_and_what_is_right(tmp_path: Path, section: str, message: str, hint: str) -> None:
    with pytest.raises(AskBookError) as caught:
        settings(tmp_path, section)
    assert f"_quarto.yml{message}" in caught.value.message
    assert hint in caught.value.hint


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(AskBookError, match=r"ASK_BOOK_TOP_K \(\.env\) is 'x', but must be a whole number"):
        settings(tmp_path, "", dotenv="ASK_BOOK_TOP_K=x")


def test_each_setting_is_documented() -> None:
    assert list(NAMES) == [
        "top-k", "idle-minutes", "endpoint", "shortcut", "suggestions", "texts", "base-url", "chat-model", "mode",
        "temperature", "answer-language", "style", "system-prompt", "passage-characters", "model-seconds",
        "answer-seconds", "tokens-per-question", "tokens-per-day", "cache",
        "embedding-model", "embedding-base-url", "embedding-price",
        "reports", "reports-folder", "reports-pdf", "reports-font", "record-questions",
        "requests-per-reader", "requests-per-minute", "answers-at-once", "answers-waiting",
    ]  # fmt: skip
    assert all(spec.metadata["doc"].endswith(".") for spec in NAMES.values())
