"""`ask-book init`: put the extension into a book, or take it out."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from ask_book import __version__
from ask_book.book import install
from ask_book.book.configuration import find_root, load_configuration
from ask_book.book.project import Project, describe, find_project
from ask_book.book.quarto import OLDEST, Quarto, find_quarto
from ask_book.commands import terminal
from ask_book.errors import AskBookError, UsageError


def run(options: Namespace) -> int:
    """Show what will change, ask, change it. 1 when the answer is no."""
    # It can be taken out of a book that lacks a chapter, too.
    find = _any_project if options.remove else find_project
    project = find(options.book, os.environ)
    quarto = find_quarto(os.environ)
    found = _found(project, quarto)
    extension = install.find_extension(project.root)
    plan = install.plan_unlisting if options.remove else install.plan_listing
    edit = plan(project.configuration)
    steps = _removal(extension) if options.remove else _installation(extension)
    if not options.json:
        terminal.say(f"Found: {found['title'] or 'a book without a title'}, in {project.root}")
        terminal.say(
            f"  Quarto {found['quarto'] or ('does not run' if quarto else 'is not on the PATH')}; "
            f"language {found['lang'] or 'not set'}; "
            f"output folder {found['output']}"
        )
        if quarto and not quarto.is_supported:
            terminal.say(f"  Note: ask-book is made for Quarto {'.'.join(map(str, OLDEST))} and later.")
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


def _any_project(folder: Path, env: Mapping[str, str]) -> Project:
    return describe(load_configuration(find_root(folder), env))


def _found(project: Project, quarto: Quarto | None) -> dict[str, str | None]:
    return {
        "title": project.title,
        "quarto": quarto.version if quarto else None,
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
    if install.is_newer(extension):
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
    if options.json or not terminal.is_attended():
        raise UsageError("There is nobody to ask whether to go on.", "Say it beforehand: --yes.", "yes")
    return terminal.agreed("Go on?", by_default=True)
