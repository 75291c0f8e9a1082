"""The guide as a site, with what its manifest says of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask_book.book.edition import open_edition
from ask_book.book.project import find_project

RENDER_SECONDS = 900
CARRY_THE_ID = ("_book/**/*.html", "_book/ask-book/book.js", ".quarto/ask-book/default/*.json")


@dataclass(frozen=True)
class Guide:
    """A book ready to be read: its project, its pages, its manifest."""

    root: Path
    site: Path
    book_id: str
    manifest: dict[str, Any]

    @property
    def widget(self) -> Path:
        """The widget's files as the pages load them."""
        return next(self.site.glob("**/launcher.js")).parent


def render_guide(source: Path, folder: Path) -> None:
    """A copy of the book, rendered where there is Quarto."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("_book", ".quarto"))
    if quarto := shutil.which("quarto"):
        subprocess.run(
            [quarto, "render", "--to", "html"], cwd=folder, env={**os.environ, "CI": "1"}, check=True,
            capture_output=True, timeout=RENDER_SECONDS,
        )  # fmt: skip


def make_guide(rendered: Path, folder: Path) -> Guide:
    """A copy with an identity of its own, for which no other sidecar of this machine speaks."""
    shutil.copytree(rendered, folder, symlinks=True)
    settings = folder / "_quarto.yml"
    state, text, old = settings.stat(), settings.read_text(encoding="utf-8"), find_project(folder, {}).book_id
    settings.write_text(re.sub(r"(?m)^  title: .*$", f'  title: "Guide {os.getpid()}"', text), encoding="utf-8")
    os.utime(settings, ns=(state.st_atime_ns, state.st_mtime_ns))  # Else its pages would be older than their sources.
    project = find_project(folder, os.environ)
    for path in [path for pattern in CARRY_THE_ID for path in folder.glob(pattern)]:
        path.write_bytes(path.read_bytes().replace(old.encode(), project.book_id.encode()))
    edition = open_edition(project)
    manifest = json.loads(edition.manifest_path.read_text(encoding="utf-8"))
    return Guide(folder, edition.site, project.book_id, manifest)
