"""`ask-book init`: put the extension into a book, or take it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import Namespace

from ask_book import __version__
from ask_book.book import install
from ask_book.book.project import Project, find_project
from ask_book.commands import terminal
from ask_book.errors import AskBookError, UsageError

QUARTO_SECONDS = 20


def run(options: Namespace) -> int:
    """Show what will change, ask, change it. 1 when the answer is no."""
    project = find_project(options.book, os.environ)
    found = _found(project)
    extension = install.find_extension(project.root)
    plan = install.plan_unlisting if options.remove else install.plan_listing
    edit = plan(project.configuration)
    steps = _removal(extension) if options.remove else _installation(extension)
    if not options.json:
        terminal.say(f"Found: {found['title'] or 'a book without a title'}, in {project.root}")
        terminal.say(
            f"  Quarto {found['quarto'] or 'is not on the PATH'}; language {found['lang'] or 'not set'}; "
            f"output folder {found['output']}"
        )
        for step in (*steps, *edit.difference.splitlines()):
            terminal.say(step)
    changes = bool(edit.difference or steps)
    if changes and not _agreed(options):
        terminal.say("Nothing was changed.")
        return 1
    if options.remove:
        install.apply(edit)
        install.remove_extension(project.root)
    else:
        install.install_extension(project.root)
        install.apply(edit)
    if options.json:
        terminal.say_json({**found, "changed": changes, "difference": edit.difference, "steps": steps})
    elif not changes:
        terminal.say("Nothing to do." if options.remove else "Nothing to do: the book has ask-book already.")
    else:
        terminal.say("Done." if options.remove else "Done. Render the book, or try `ask-book open`.")
    return 0


def _found(project: Project) -> dict[str, str | None]:
    return {
        "title": project.title,
        "quarto": _quarto_version(),
        "lang": project.lang,
        "output": str(project.output_dir),
        "book_id": project.book_id,
    }


def _installation(extension: install.Extension | None) -> list[str]:
    if extension is None:
        return [f"New: _extensions/{install.FILTER} (version {__version__})"]
    if extension.same:
        return []
    if extension.linked:
        terminal.tell(f"{extension.path} is a link to another copy: it stays as it is.")
        return []
    if _numbers(extension.version) > _numbers(__version__):
        raise AskBookError(
            f"The book has version {extension.version} of the extension, newer than this ask-book ({__version__}).",
            "Upgrade ask-book: `pip install --upgrade ask-book`.",
            "version",
        )
    return [f"Replaced: {extension.path} (version {extension.version or 'unknown'}) by version {__version__}"]


def _removal(extension: install.Extension | None) -> list[str]:
    if extension is None:
        return []
    if extension.linked:
        terminal.tell(f"{extension.path} is a link to another copy: it stays as it is.")
        return []
    return [f"Deleted: {extension.path}"]


def _agreed(options: Namespace) -> bool:
    if options.yes:
        return True
    if options.json or not sys.stdin.isatty():
        raise UsageError("There is nobody to ask whether to go on.", "Say it beforehand: --yes.", "yes")
    sys.stdout.write("Go on? [Y/n] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("", "y", "yes", "s", "sí", "si")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _quarto_version() -> str | None:
    quarto = shutil.which("quarto")
    if quarto is None:
        return None
    try:
        done = subprocess.run([quarto, "--version"], capture_output=True, text=True, timeout=QUARTO_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
