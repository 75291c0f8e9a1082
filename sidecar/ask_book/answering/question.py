"""What somebody asks, checked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ask_book.errors import UsageError

LONGEST_QUESTION = 500
LONGEST_SCOPE = 300
TURNS = 4
MODES = ("extractive", "grounded", "tools")


@dataclass(frozen=True)
class Turn:
    """An earlier question of the same reader, and what was answered."""

    question: str
    answer: str = ""


@dataclass(frozen=True)
class Question:
    """A question that may be asked. `mode` None: the best there is; `scope`: a chapter file, part or anchor."""

    text: str
    history: tuple[Turn, ...] = ()
    mode: str | None = None
    scope: str | None = None
    report: bool | None = None


def question(
    text: object,
    history: object = None,
    mode: object = None,
    scope: object = None,
    report: object = None,
) -> Question:
    """Check what somebody asks. Raises `UsageError` that says what is wrong with it."""
    if not isinstance(mode, str | None) or (mode is not None and mode not in MODES):
        raise UsageError(f"There is no mode {mode!r}.", f"Use one of {', '.join(MODES)}, or none.", "mode")
    if not isinstance(scope, str | None) or len(scope or "") > LONGEST_SCOPE:
        raise UsageError("The scope is not a text.", "Name a chapter file, a part or an anchor.", "scope")
    if not isinstance(report, bool | None):
        raise UsageError("`report` is neither true nor false.", "Leave it out, or say true or false.", "report")
    return Question(question_text(text), _history(history), mode, scope or None, report)


def question_text(text: object) -> str:
    """The words of a question, white space collapsed. Raises `UsageError` when they cannot be asked."""
    if not isinstance(text, str):
        raise UsageError("The question is not a text.", 'Send {"question": "…"}.', "question")
    words = re.sub(r"\s+", " ", text).strip()
    if not words:
        raise UsageError("The question is empty.", "Write what you want to know.", "question_empty")
    if len(words) > LONGEST_QUESTION:
        raise UsageError(
            f"The question has {len(words)} characters; {LONGEST_QUESTION} are the most.",
            "Ask it in fewer words, or in two questions.",
            "question_too_long",
        )
    if any(unicodedata.category(char) in {"Cc", "Cs"} for char in words):
        raise UsageError("The question has control characters in it.", "Type it again.", "question_characters")
    return words


def _history(history: object) -> tuple[Turn, ...]:
    if history is None:
        return ()
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        raise UsageError("The history is not a list of turns.", 'Send [{"question": "…", "answer": "…"}].', "history")
    turns = [Turn(question_text(turn.get("question")), str(turn.get("answer") or "")) for turn in history[-TURNS:]]
    return tuple(turns)
