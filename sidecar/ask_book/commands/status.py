"""`ask-book status`: whether the sidecar runs, and where."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from ask_book import __version__
from ask_book.book.install import version_notice
from ask_book.book.project import find_project
from ask_book.commands import terminal
from ask_book.daemon import control


def run(options: Namespace) -> int:
    """0 when it runs, 1 when it does not."""
    project = find_project(options.book, os.environ)
    status = control.status(project)
    if options.json:
        terminal.say_json(status)
    elif status.running:
        terminal.say(f"The sidecar answers at {status.url} (process {status.pid}, ask-book {status.version})")
        if status.version != __version__:
            terminal.say(f"This is ask-book {__version__}: `ask-book start` puts it in its place.")
        if status.vectors:
            terminal.say(f"Passages are found {_how(status.vectors)}.")
    else:
        terminal.say("The sidecar does not run. Start it with `ask-book start`.")
    if not options.json and (notice := version_notice(project.root)):
        terminal.say(f"Note: {notice.message}")
    return 0 if status.running else 1


def _how(vectors: Mapping[str, Any]) -> str:
    model = vectors.get("model")
    match vectors.get("state"):
        case "ready":
            return f"by their words and, with {model}, by their meaning"
        case "building":
            return f"by their words until all are embedded with {model} ({vectors['progress']:.0%} done)"
        case "waiting":
            return f"by their words alone: `ask-book index` tells what embedding them with {model} takes"
        case "failed":
            return f"by their words alone: embedding them with {model} failed, and is tried again"
        case _:
            return "by their words alone"
