"""`ask-book open`: the book in the browser, or the list of its reports, served by its sidecar."""

from __future__ import annotations

import os
import webbrowser
from argparse import Namespace

from ask_book.book.project import find_project
from ask_book.book.settings import settings_of
from ask_book.commands import terminal
from ask_book.daemon import control
from ask_book.daemon.state import state_folder


def run(options: Namespace) -> int:
    """Start the sidecar if needed, print the address, open the browser."""
    project = find_project(options.book, os.environ)
    state = control.start(project, settings_of(project.configuration, os.environ), os.environ)
    url = f"{state.url}reports" if options.reports else state.url
    if options.json:
        terminal.say_json({"url": url})
    else:
        terminal.say(url)
    if not options.no_browser and not browse(with_token(url, state_folder(project).token())):
        terminal.tell("No browser could be opened: open that address yourself.")
    return 0


def with_token(url: str, token: str) -> str:
    """The address with the owner's token in its fragment, which a browser never sends to a server."""
    return f"{url}#ask-book-token={token}"


def browse(url: str) -> bool:
    """Whether a browser took the address."""
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
