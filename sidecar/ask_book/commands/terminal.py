"""Writing to a terminal or a pipe, whatever its encoding, and to programs as JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any

from ask_book.commands import marks
from ask_book.errors import AskBookError

BAR = 20
WIDEST = 100


def prepare() -> None:
    """UTF-8 into files and pipes; on a terminal its own encoding, with `?` for what it cannot show. By lines."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            keeps = stream.isatty() or "PYTHONIOENCODING" in os.environ
            reconfigure(encoding=None if keeps else "utf-8", errors="replace", line_buffering=True)


def abandon() -> None:
    """Nobody reads our output any more (`| head`): say nothing about it when Python flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str = "") -> None:
    """One line, or more, of output."""
    sys.stdout.write(f"{text}\n")


def write(text: str) -> None:
    """A piece of a line, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def tell(text: str) -> None:
    """A line for the person at the terminal, apart from the output."""
    sys.stderr.write(f"{text}\n")


def is_attended() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty()


def agreed(question: str, by_default: bool = False) -> bool:
    """Ask for a yes; `by_default` is what an empty line means."""
    write(f"{question} {'[Y/n]' if by_default else '[y/N]'} ")
    said = sys.stdin.readline().strip().lower()
    return said in ("y", "yes", "s", "sí", "si") or (by_default and not said)


def say_json(data: Any) -> None:
    """One JSON value on one line. Readable letters where the encoding has them all."""
    if is_dataclass(data) and not isinstance(data, type):
        data = asdict(data)
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    say(json.dumps(data, ensure_ascii=not is_unicode))


def tell_error(error: AskBookError, as_json: bool) -> None:
    """An error: for programs as in the HTTP contract, for people with what to do next."""
    if as_json:
        say_json({"error": {"code": error.code, "message": error.message, "hint": error.hint}})
    else:
        tell(f"ask-book: {error}")
    if marks.wanted():
        tell(marks.of_error(error))


def width() -> int:
    """How many columns to fill."""
    return min(WIDEST, shutil.get_terminal_size((80, 24)).columns)


def wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    """`text` filled to the width of the terminal behind `indent`, line by line: lines and their indents are code's."""
    filled = []
    for number, line in enumerate(text.split("\n")):
        lead = line[: len(line) - len(line.lstrip())]
        filled.append(
            textwrap.fill(
                line.strip(),
                max(20, width()),
                initial_indent=(first if first is not None and not number else indent) + lead,
                subsequent_indent=indent + lead,
                break_long_words=False,
                break_on_hyphens=False,
            ).rstrip()
        )
    return "\n".join(filled)


def has_styles() -> bool:
    """Whether bold and dim may be used."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def dim(text: str) -> str:
    """Less important text, where the terminal can show that."""
    return f"\033[2m{text}\033[0m" if has_styles() else text


def duration(seconds: float) -> str:
    """About how long, in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """A line on a terminal that says what is being done, and goes away; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        """Say it in place of what was said before."""
        if self._shown:
            sys.stderr.write(f"\r\033[K{what[: width() - 1]}")
            sys.stderr.flush()

    def bar(self, what: str) -> Callable[[int, int], None]:
        """What to tell how many of how many are done: a bar, and how long it may still take. 0 of 0: others do it."""
        started = time.monotonic()

        def show(done: int, total: int) -> None:
            if not total:
                self(f"{what}: another process is at it")
                return
            full = BAR * done // total
            seconds = (time.monotonic() - started) * (total - done) / max(done, 1)
            left = f", {duration(seconds)} left" if 0 < done < total else ""
            self(f"{what} [{'=' * full}{' ' * (BAR - full)}] {done} of {total}{left}")

        return show

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
