"""What a check says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ask_book.book.project import Project
from ask_book.book.settings import Settings
from ask_book.errors import AskBookError

State = Literal["ok", "note", "broken"]


@dataclass(frozen=True)
class Finding:
    """`check` is a stable name. `todo`: what to do about a note, or about what is broken."""

    check: str
    state: State
    message: str
    todo: str = ""


@dataclass(frozen=True)
class Patient:
    """What is looked at: a book and the machine that it is on."""

    project: Project
    settings: Settings
    env: Mapping[str, str]
    dotenv: Mapping[str, str]


def broken(check: str, error: AskBookError) -> Finding:
    """An error, as the finding that it is."""
    return Finding(check, "broken", error.message, error.hint)
