"""What an author can set: `ask-book:` in `_quarto.yml`, the project's `.env`, the environment.

The fields of `Settings` are the only list of settings: name, type, default, variables and
documentation. The later place wins: default, `_quarto.yml`, `.env`, environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ask_book.book.configuration import Configuration, load_configuration
from ask_book.book.dotenv import read_dotenv
from ask_book.book.yaml_tree import Node
from ask_book.errors import AskBookError

SECTION = "ask-book"
URL_PATTERN = r"https?://[^\s/?#@]+(/[^\s?#]*)?"
KEY_PATTERN = "[A-Za-z0-9]"


@dataclass(frozen=True)
class Kind:
    """A type of value: `says` names it in errors and in the guide; `read` raises ValueError for another one.

    `schema` describes it to editors, in the words of `_schema.yml`.
    """

    says: str
    read: Callable[[Any], Any]
    schema: Mapping[str, Any]


def _setting(kind: Kind, default: Any, doc: str, env: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"kind": kind, "doc": doc, "env": env})


def _whole(low: int, high: int) -> Kind:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,9}", str(value)) or not low <= int(value) <= high:
            raise ValueError
        return int(value)

    return Kind(f"a whole number from {low} to {high}", read, {"type": "integer", "min": low, "max": high})


def _decimal(low: float, high: float) -> Kind:
    def read(value: Any) -> float:
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,4}(\.\d{1,6})?", str(value)):
            raise ValueError
        if not low <= float(value) <= high:
            raise ValueError
        return float(value)

    return Kind(f"a number from {low:g} to {high:g}", read, {"type": "number", "min": low, "max": high})


def _one_of(*names: str) -> Kind:
    def read(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return Kind(f"one of {', '.join(names)}", read, {"type": "string", "enum": list(names)})


def _read_flag(value: Any) -> bool:
    try:
        return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]
    except KeyError:
        raise ValueError from None


def _read_url(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(URL_PATTERN, value):
        raise ValueError
    return value.rstrip("/")


def _read_key(value: Any) -> str:
    if not re.fullmatch(KEY_PATTERN, str(value)):
        raise ValueError
    return str(value).lower()


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError
    return tuple(item.strip() for item in value)


def _read_named_texts(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError
    return tuple(value.items())


_URL = Kind(
    "an address such as https://ask.example.org",
    _read_url,
    {"type": "string", "pattern": URL_PATTERN, "pattern-exact": True},
)
_FLAG = Kind("true or false", _read_flag, {"type": "boolean"})
_TEXT = Kind("a text", _read_text, {"type": "string", "min-length": 1})
_KEY = Kind(
    "one letter or digit",
    _read_key,
    {"type": ["string", "integer"], "pattern": KEY_PATTERN, "pattern-exact": True},
)
_TEXTS = Kind("a list of texts", _read_texts, {"type": "array", "items": {"type": "string", "min-length": 1}})
_NAMED_TEXTS = Kind("`name: text` lines", _read_named_texts, {"type": "object"})


@dataclass(frozen=True)
class Settings:
    """The settings of a book. `origins` says where each that is not a default comes from."""

    top_k: int = _setting(
        _whole(1, 50), 7, "How many passages are looked at for an answer.", ("ASK_BOOK_TOP_K", "IA_TOP_K")
    )
    idle_minutes: int = _setting(
        _whole(1, 100_000),
        120,
        "After how long without a request the sidecar ends by itself.",
        ("ASK_BOOK_IDLE_MINUTES",),
    )
    endpoint: str | None = _setting(_URL, None, "The public sidecar that published pages ask.")
    shortcut: str = _setting(_KEY, "i", "The key that opens the panel together with Ctrl or Cmd.")
    suggestions: tuple[str, ...] = _setting(_TEXTS, (), "Questions offered in the empty panel.")
    texts: tuple[tuple[str, str], ...] = _setting(_NAMED_TEXTS, (), "Texts of the panel to say in other words.")
    base_url: str | None = _setting(
        _URL, None, "Where the language model is reached: the address that ends in /v1.", ("ASK_BOOK_BASE_URL",)
    )
    chat_model: str | None = _setting(
        _TEXT, None, "The language model that writes answers; without one they are quotes.", ("ASK_BOOK_CHAT_MODEL",)
    )
    mode: str = _setting(
        _one_of("auto", "extractive", "grounded", "tools"),
        "auto",
        "The most that answers may use: quotes alone, a model with passages, or a model that searches the book itself.",
        ("ASK_BOOK_MODE",),
    )
    temperature: float = _setting(
        _decimal(0, 2), 0.2, "How freely the model words its answers.", ("ASK_BOOK_TEMPERATURE",)
    )
    answer_language: str = _setting(
        _one_of("book", "question"), "book", "The language that the model answers in: the book's or the question's."
    )
    style: tuple[str, ...] = _setting(_TEXTS, (), "Rules of style for the model, such as: no em dashes.")
    system_prompt: str | None = _setting(
        _TEXT, None, "Your own instructions to the model, in place of those of ask-book."
    )
    passage_characters: int = _setting(
        _whole(200, 20_000), 1800, "How much of each passage the model reads.", ("ASK_BOOK_PASSAGE_CHARACTERS",)
    )
    model_seconds: int = _setting(
        _whole(1, 3600), 60, "How long the model may be silent before it is given up.", ("ASK_BOOK_MODEL_SECONDS",)
    )
    answer_seconds: int = _setting(
        _whole(1, 3600), 300, "How long the model may take for an answer in all.", ("ASK_BOOK_ANSWER_SECONDS",)
    )
    tokens_per_question: int = _setting(
        _whole(1000, 10_000_000), 60_000, "How many tokens one answer may take.", ("ASK_BOOK_TOKENS_PER_QUESTION",)
    )
    tokens_per_day: int = _setting(
        _whole(0, 999_999_999),
        1_000_000,
        "How many tokens all answers of a day (UTC) may take; after that they are quotes.",
        ("ASK_BOOK_TOKENS_PER_DAY",),
    )
    cache: bool = _setting(
        _FLAG, True, "Whether a question asked again gets the answer that was written before.", ("ASK_BOOK_CACHE",)
    )
    embedding_model: str | None = _setting(
        _TEXT,
        None,
        "What finds passages by their meaning: `local` (the default, where `ask-book[local]` is installed), the name "
        "of a model, or `none`.",
        ("ASK_BOOK_EMBEDDING_MODEL",),
    )
    embedding_base_url: str | None = _setting(
        _URL, None, "Where the embedding model is reached, when not at `base-url`.", ("ASK_BOOK_EMBEDDING_BASE_URL",)
    )
    embedding_price: float | None = _setting(
        _decimal(0, 1000),
        None,
        "What a million tokens cost with that model, for the estimate of `ask-book index`.",
        ("ASK_BOOK_EMBEDDING_PRICE",),
    )
    reports: bool | None = _setting(
        _FLAG,
        None,
        "Whether answers are kept as reports; by default only on your own machine, not by a server for others.",
        ("ASK_BOOK_REPORTS",),
    )
    reports_folder: str | None = _setting(
        _TEXT, None, "Where reports are kept, outside the project.", ("ASK_BOOK_REPORTS_FOLDER",)
    )
    reports_pdf: bool = _setting(
        _FLAG, True, "Whether a report gets a PDF, where there is TeX.", ("ASK_BOOK_REPORTS_PDF",)
    )
    reports_font: str | None = _setting(_TEXT, None, "The main font of the PDF, instead of the one of the book's own.")
    record_questions: bool = _setting(
        _FLAG,
        False,
        "Whether readers' questions are kept, on the machine that answers them, for `ask-book exam`.",
        ("ASK_BOOK_RECORD_QUESTIONS",),
    )
    requests_per_reader: int = _setting(
        _whole(0, 1_000_000),
        60,
        "How many requests a reader of a public server may make in a minute; 0: any number.",
        ("ASK_BOOK_REQUESTS_PER_READER",),
    )
    requests_per_minute: int = _setting(
        _whole(0, 1_000_000),
        600,
        "How many requests all readers of a public server may make in a minute; 0: any number.",
        ("ASK_BOOK_REQUESTS_PER_MINUTE",),
    )
    answers_at_once: int = _setting(
        _whole(0, 10_000),
        8,
        "How many answers are written at the same time; 0: any number.",
        ("ASK_BOOK_ANSWERS_AT_ONCE",),
    )
    answers_waiting: int = _setting(
        _whole(0, 10_000),
        32,
        "How many readers may wait for their answer to begin; the next one is told when to come back.",
        ("ASK_BOOK_ANSWERS_WAITING",),
    )
    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False)


NAMES = {spec.name.replace("_", "-"): spec for spec in fields(Settings) if spec.metadata}


def load_settings(project: Path, env: Mapping[str, str]) -> Settings:
    """The settings of the project in the folder `project`. Raises `AskBookError` with file, line and nearest name."""
    return settings_of(load_configuration(project, env), env)


def settings_of(configuration: Configuration, env: Mapping[str, str]) -> Settings:
    """The settings of a configuration already read."""
    dotenv = read_dotenv(configuration.root / ".env")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    # Editors that complete the settings of extensions look for them under `extensions:`.
    sections = (configuration.tree.get("extensions", SECTION), configuration.tree.get(SECTION))
    for name, node in (_written(sections[0]) | _written(sections[1])).items():
        spec = NAMES.get(name)
        if spec is None:
            raise _unknown(name, node)
        if node.value is not None:
            values[spec.name] = _read(spec.metadata["kind"], node.plain(), f"{node.where}: `{SECTION}: {name}`")
            origins[name] = node.where
    for name, spec in NAMES.items():
        for place, variables in ((".env", dotenv), ("environment", env)):
            if variable := next((key for key in spec.metadata["env"] if variables.get(key)), None):
                where = f"{variable} ({place})"
                values[spec.name] = _read(spec.metadata["kind"], variables[variable], where)
                origins[name] = where
    return Settings(**values, origins=tuple(origins.items()))


def _written(section: Node | None) -> dict[str, Node]:
    if section is None or section.value is None:
        return {}
    if not section.is_mapping:
        raise AskBookError(
            f"{section.where}: `{SECTION}:` must hold `name: value` lines.",
            f"For example `top-k: 7`. The names are {', '.join(NAMES)}.",
            "settings",
        )
    written: dict[str, Node] = section.value
    return written


def _read(kind: Kind, value: Any, where: str) -> Any:
    try:
        return kind.read(value)
    except ValueError:
        raise AskBookError(
            f"{where} is {value!r}, but must be {kind.says}.", "Correct that value.", "settings"
        ) from None


def _unknown(name: str, node: Node) -> AskBookError:
    if re.search(r"key|token|secret|password", name):
        hint = "Secrets never go in _quarto.yml, which is published with the book: use the environment or .env."
    elif near := get_close_matches(name.lower().replace("_", "-"), NAMES, n=1, cutoff=0.5):
        hint = f"Did you mean `{near[0]}`?"
    else:
        hint = f"The names are {', '.join(NAMES)}."
    return AskBookError(f"{node.where}: `{SECTION}:` has no setting `{name}`.", hint, "settings")
