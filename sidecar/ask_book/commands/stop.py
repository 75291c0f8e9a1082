"""`ask-book stop`: end the sidecar."""

from __future__ import annotations

import os
from argparse import Namespace

from ask_book.book.project import find_project
from ask_book.commands import terminal
from ask_book.daemon import control


def run(options: Namespace) -> int:
    """End it; that it did not run is no failure."""
    stopped = control.stop(find_project(options.book, os.environ))
    if options.json:
        terminal.say_json({"stopped": stopped})
    else:
        terminal.say("The sidecar is stopped." if stopped else "The sidecar did not run.")
    return 0
