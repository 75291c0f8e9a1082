"""What readers think of answers, kept for the author: JSON lines in a file that only the owner reads."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from ask_book.errors import AskBookError, UsageError

FILE_BYTES = 5_000_000
REASON_CHARS = 1000
VALUES = ("up", "down")


def keep_feedback(folder: Path, book_id: str, data: dict[str, object]) -> None:
    """Add one line. Raises `UsageError` when it is not feedback, `AskBookError` when there is no more room."""
    answer_id, value, reason = data.get("answer_id"), data.get("value"), data.get("reason")
    if not isinstance(answer_id, str) or not 0 < len(answer_id) <= 64:
        raise UsageError("`answer_id` is not the id of an answer.", "Send the `id` of the answer.", "answer_id")
    if value not in VALUES:
        raise UsageError(f"`value` is neither of {', '.join(VALUES)}.", "Send one of them.", "value")
    if not isinstance(reason, str | None) or len(reason or "") > REASON_CHARS:
        raise UsageError("`reason` is not a text.", f"Send up to {REASON_CHARS} characters.", "reason")
    line = {"time": int(time.time()), "book": book_id, "answer_id": answer_id, "value": value, "reason": reason or ""}
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / "feedback.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "ab") as file:
        if file.tell() > FILE_BYTES:
            raise AskBookError(
                "No more feedback is kept: its file is full.", "The author can move feedback.jsonl away.", "full"
            )
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
