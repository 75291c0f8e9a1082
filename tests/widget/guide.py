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


def make_guide(folder: Path, *, rendered: bool) -> Guide:
    """Render the copy in `folder` under a title of its own, so that no other sidecar of this machine has its id."""
    settings = folder / "_quarto.yml"
    if not rendered:
        text = settings.read_text(encoding="utf-8")
        settings.write_text(re.sub(r"(?m)^(  title: ).*$", rf'\1"Ask the book {os.getpid()}"', text), encoding="utf-8")
        if quarto := shutil.which("quarto"):
            subprocess.run(
                [quarto, "render", "--to", "html"], cwd=folder, env={**os.environ, "CI": "1"}, check=True,
                capture_output=True, timeout=RENDER_SECONDS,
            )  # fmt: skip
    project = find_project(folder, os.environ)
    edition = open_edition(project)
    manifest = json.loads(edition.manifest_path.read_text(encoding="utf-8"))
    return Guide(folder, edition.site, project.book_id, manifest)
