"""Small books given as texts, and their plain rendition."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from ask_book.book.manifest import Chapter, Manifest, read_manifest
from ask_book.book.pandoc import find_pandoc
from ask_book.book.plain import make_plain, plain_manifest, plain_site
from ask_book.book.project import Project, find_project


@dataclass(frozen=True)
class PlainBook:
    """A book after `make_plain`."""

    project: Project
    manifest: Manifest

    def page(self, href: str) -> str:
        """The HTML of a page."""
        return (plain_site(self.project) / href).read_text(encoding="utf-8")

    def main(self, href: str) -> str:
        """The HTML inside a page's `<main>`."""
        match = re.search(r"<main.*?</main>", self.page(href), re.DOTALL)
        assert match
        return match[0]

    def words(self, href: str) -> str:
        """What a reader sees in `<main>`, spaces collapsed."""
        text = re.sub(r"<!--.*?-->|<script.*?</script>", "", self.main(href), flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())

    def chapter(self, href: str) -> Chapter:
        """The chapter of a page."""
        return next(chapter for chapter in self.manifest.chapters if chapter.href == href)

    def anchors(self, href: str) -> list[str]:
        """The anchors of the chapter's sections, in order."""
        return [section.anchor for section in self.chapter(href).sections]


def write_book(folder: Path, files: Mapping[str, str | bytes], chapters: str, settings: str = "lang: en") -> Project:
    """A project in `folder/book` whose plain rendition goes to `folder/cache`."""
    root = folder / "book"
    configuration = f"project:\n  type: book\nbook:\n  title: A Book\n{chapters}\n{settings}\n"
    for name, content in {**files, "_quarto.yml": configuration}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return project_at(folder)


def project_at(folder: Path) -> Project:
    """The project of `write_book` as it is now."""
    project = find_project(folder / "book", {})
    project.__dict__["cache_dir"] = folder / "cache"
    return project


def listed(*files: str) -> str:
    """The `chapters:` of a configuration."""
    return "  chapters:\n" + "".join(f"    - {file}\n" for file in files)


def made(project: Project) -> PlainBook:
    """The plain rendition of a project."""
    make_plain(project, find_pandoc(os.environ), lambda _: None)
    return PlainBook(project, read_manifest(plain_manifest(project)))


def plain_book(folder: Path, files: Mapping[str, str | bytes], settings: str = "lang: en") -> PlainBook:
    """A book of a home page and the given chapters (files that begin with `_` or are no text are not listed)."""
    chapters = [name for name in files if re.search(r"(?:^|/)[^_/]+\.(?:qmd|md|Rmd|ipynb)$", name)]
    home = {} if "index.qmd" in files else {"index.qmd": "# Preface {.unnumbered}\n\nHello.\n"}
    return made(write_book(folder, {**home, **files}, listed(*home, *chapters), settings))
