"""Lines of log, for people or as JSON for programs."""

from __future__ import annotations

import json
import logging
import math
import time
from typing import Literal

Form = Literal["text", "json"]


class Text(logging.Formatter):
    """`2026-11-30T12:00:00Z INFO request method=POST route=ask status=200 ms=12.5`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and a traceback if there is one."""
        words = (f"{name}={_word(value)}" for name, value in getattr(record, "said", {}).items())
        line = " ".join([_time(record), record.levelname, _on_one_line(record.getMessage()), *words])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class Json(logging.Formatter):
    """One JSON object a line: `time`, `level`, `event`, and what else there is to say."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {"time": _time(record), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "said", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Seldom(logging.Filter):
    """The same line once in `SECONDS`: a server that is out of files says so for each connection, again and again."""

    SECONDS = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it may be written."""
        error = record.exc_info[1] if record.exc_info else None
        line, now = f"{record.getMessage().partition(chr(10))[0]} {error!r}", time.monotonic()
        if now < self._last.get(line, -math.inf) + self.SECONDS:
            return False
        self._last[line] = now
        return True


def log_to_stderr(form: Form, level: int) -> None:
    """From now on, everything that is logged goes to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if form == "json" else Text())
    logging.basicConfig(handlers=[handler], level=level, force=True)


def _time(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"


def _on_one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _word(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and not value.isalnum() else str(value)
