"""Which edition of a book to read: the one Quarto rendered, else the plain rendition."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ask_book.book.leftover import finish_render
from ask_book.book.notice import Notice
from ask_book.book.pandoc import find_pandoc
from ask_book.book.plain import Progress, make_plain, plain_manifest, plain_site
from ask_book.book.project import Project
from ask_book.errors import AskBookError

EDITION = "edition"  # what an export calls its own kind


@dataclass(frozen=True)
class Edition:
    """Where the pages, the manifest and the index of a book are."""

    kind: Literal["rendered", "plain"]
    manifest_path: Path
    site: Path
    index_dir: Path
    notices: tuple[Notice, ...] = ()


def open_edition(project: Project, progress: Progress | None = None, env: Mapping[str, str] | None = None) -> Edition:
    """The rendered book if its manifest and pages are there, else the plain rendition, made or refreshed.

    A render that ended before its manifest was made is finished first.
    Raises `AskBookError` when neither is possible (nothing to make it from, no pandoc, or pandoc fails).
    """
    env = os.environ if env is None else env
    finish_render(project, env)
    if (rendered := rendered_edition(project)) is not None:
        return rendered
    if project.configuration.is_export:
        raise AskBookError(
            f"The exported book in {project.root} is not whole: its manifest or one of its pages is missing.",
            "Export it again: `ask-book export DIR OUT`.",
            "export",
        )
    if not project.chapters:
        raise AskBookError(
            f"The website in {project.root} has no pages made with ask-book yet.",
            "Render it with Quarto first: only books can be read from their sources.",
            "not_rendered",
        )
    pandoc = find_pandoc(env)
    make_plain(project, pandoc, progress or _silent)
    return Edition("plain", plain_manifest(project), plain_site(project), project.cache_dir / "index")


def _silent(_: str) -> None:
    pass


def rendered_edition(project: Project) -> Edition | None:
    """The edition that Quarto rendered; None when its manifest or one of its pages is not there."""
    manifest = project.data_dir / "manifest.json"
    try:
        chapters = json.loads(manifest.read_bytes())["chapters"]
        pages = {chapter["file"]: project.output_dir / chapter["href"] for chapter in chapters}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not pages or not all(page.is_file() for page in pages.values()):
        return None
    # a website lists no chapters, an export has no sources
    files = [chapter.file for chapter in project.chapters] or [
        name for name in pages if (project.root / name).is_file()
    ]
    # a page is as old as its last render, which leaves a manifest alone that says the same; a new chapter has no page
    changed = [name for name in files if _modified(project.root / name) > _modified(pages.get(name, manifest))]
    is_plain = project.configuration.is_export and project.configuration.tree.text_at(EDITION) == "plain"
    return Edition(
        "plain" if is_plain else "rendered",
        manifest,
        project.output_dir,
        project.data_dir / "index",
        _age(changed),
    )


def _age(changed: list[str]) -> tuple[Notice, ...]:
    """A notice when chapters were changed after they were rendered."""
    if not changed:
        return ()
    named = ", ".join(changed[:3]) + (", …" if len(changed) > 3 else "")
    return (Notice("stale", f"The book was rendered before its last changes ({named}): render it again."),)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError as error:
        raise AskBookError(f"{path} cannot be read ({error.strerror}).", "Render the book again.", "chapter") from error
