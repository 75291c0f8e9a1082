"""Real books for the benchmarks: the Quarto projects in the folder `ASK_BOOK_RENDERED`, rendered to HTML already."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ask_book.book.project import Project


def projects() -> Iterator[Path]:
    """Every folder with a rendered book."""
    rendered = os.environ.get("ASK_BOOK_RENDERED", "")
    for configuration in sorted(Path(rendered).glob("*/_quarto.yml")) if rendered else []:
        yield configuration.parent


def job_of(project: Project, folder: Path, site: Path) -> Path:
    """A job for all chapters of a project whose pages are in `site`."""
    book: dict[str, Any] = {"title": project.title, "authors": list(project.authors), "lang": project.lang}
    book |= {"site_url": project.site_url, "output_name": project.output_dir.name}
    chapters = [
        {"file": chapter.file, "href": str(Path(chapter.file).with_suffix(".html"))} for chapter in project.chapters
    ]
    job = {"site": str(site), "book": book, "chapters": chapters, "cache": str(folder / "cut")}
    job |= {"manifest": str(folder / "manifest.json"), "book_js": str(folder / "book.js")}
    path = folder / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    return path
