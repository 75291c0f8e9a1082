"""`ask-book start`: a sidecar in the background, answering."""

from __future__ import annotations

import os
from argparse import Namespace

from ask_book.commands import terminal
from ask_book.daemon.process import spare


def run(options: Namespace) -> int:
    """Start it if it does not run, and print where it is."""
    with spare(options.book, os.environ) as process:
        from ask_book.book.project import find_project
        from ask_book.book.settings import settings_of
        from ask_book.daemon import control

        project = find_project(options.book, os.environ)
        state = control.start(project, settings_of(project.configuration, os.environ), os.environ, process)
    if options.json:
        terminal.say_json(control.Status(True, state.url, state.pid, state.port, state.book_id, state.version))
    else:
        terminal.say(f"The sidecar answers at {state.url}")
    return 0
