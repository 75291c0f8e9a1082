"""The manifest of a render whose own hook never made it: one that a PDF ended after the pages were written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ask_book.book.pandoc import find_pandoc, run_lua
from ask_book.book.project import Project
from ask_book.errors import AskBookError
from ask_book.files import locked, write_atomically

LOCK_SECONDS = 60.0


def finish_render(project: Project, env: Mapping[str, str]) -> None:
    """Make the manifest as the hook would have made it, if there are pages that it has not seen.

    Where pandoc is missing or fails, all stays as it is: the book can still be read from its sources.
    """
    data = project.data_dir
    job = data / "job.json"
    if project.configuration.is_export or not _has_unseen_pages(project, job):
        return
    with suppress(AskBookError, OSError), locked(data / "lock", timeout=LOCK_SECONDS):
        pandoc = find_pandoc(env)
        asked = {
            "site": str(project.output_dir),
            "manifest": str(data / "manifest.json"),
            "book_js": str(project.output_dir / "ask-book" / "book.js"),
            "cache": str(data / "cut"),
            "records": str(data),
            "full": False,
        }
        write_atomically(job, json.dumps(asked).encode())
        run_lua(pandoc, "build.lua", job, project.root)


def _has_unseen_pages(project: Project, job: Path) -> bool:
    """Whether a page that the filter made is newer than the hook's last job."""
    seen = _modified(job)
    for record in (project.data_dir / "chapters").glob("*.json"):
        try:
            href = json.loads(record.read_bytes())["href"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if _modified(project.output_dir / href) > seen:
            return True
    return False


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
