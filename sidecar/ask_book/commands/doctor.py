"""`ask-book doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import asdict

from ask_book.commands import terminal
from ask_book.doctor.examine import Examination, Value, examine

CHECK_COLUMNS = 11
INDENT = " " * (2 + 8 + CHECK_COLUMNS)


def run(options: Namespace) -> int:
    """0 when nothing is broken, 1 when something is."""
    found = examine(options.book, os.environ)
    if options.json:
        terminal.say_json({**asdict(found), "is_well": found.is_well})
    else:
        _say(found)
    return 0 if found.is_well else 1


def _say(found: Examination) -> None:
    for finding in found.findings:
        state = "BROKEN" if finding.state == "broken" else finding.state
        terminal.say(terminal.wrapped(finding.message, INDENT, f"  {state:8}{finding.check:{CHECK_COLUMNS}}"))
        if finding.todo:
            terminal.say(terminal.wrapped(finding.todo, f"{INDENT}   ", f"{INDENT}-> "))
    if found.settings:
        terminal.say("\nSettings")
    for value in found.settings:
        terminal.say(f"  {value.name:21}{_shown(value):30}  {terminal.dim(value.origin)}")
    terminal.say()
    notes = sum(finding.state == "note" for finding in found.findings)
    broken = sum(finding.state == "broken" for finding in found.findings)
    terminal.say(f"{broken} broken, {notes} to note." if broken else f"Nothing is broken, {notes} to note.")


def _shown(value: Value) -> str:
    if value.value is None or value.value == ():
        return "-"
    if isinstance(value.value, bool):
        return str(value.value).lower()
    if isinstance(value.value, tuple):
        return f"{len(value.value)} of them"
    text = " ".join(str(value.value).split())
    return text if len(text) <= 40 else f"{text[:39]}…"
