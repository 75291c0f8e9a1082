"""The plain rendition against what Quarto made of the same books: `pytest tests/bench -m bench -s`.

`ASK_BOOK_BOOKS` names a folder of books (each a Quarto project), `ASK_BOOK_RENDERED` a folder of the same books
rendered without ask-book.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ask_book.book.manifest import read_manifest
from ask_book.book.pandoc import Pandoc, find_pandoc
from ask_book.book.plain import make_plain, plain_manifest, plain_site
from ask_book.book.project import Project, find_project
from ask_book.resources import extension_dir
from bench.agreement import compare, dead_links

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

ANCHORS_GOAL, WORDS_GOAL, AGAIN_GOAL_S = 0.98, 0.97, 1.0


def _books() -> list[Path]:
    folder = os.environ.get("ASK_BOOK_BOOKS")
    return sorted(path.parent for path in Path(folder).glob("*/_quarto.yml")) if folder else []


def _cut_rendered(project: Project, pandoc: Pandoc, site: Path, folder: Path) -> Path:
    """The manifest of a rendered book, made by the same builder."""
    plain = json.loads((project.cache_dir / "staging/build.json").read_text(encoding="utf-8"))
    listed = [{key: chapter[key] for key in ("file", "href")} for chapter in plain["chapters"]]
    manifest = folder / "manifest.json"
    job = {
        **plain,
        "site": str(site),
        "manifest": str(manifest),
        "book_js": None,
        "cache": str(folder / "cut"),
        "chapters": listed,
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = [*pandoc.argv, "lua", str(extension_dir() / "lua/build.lua"), str(folder / "job.json")]
    subprocess.run(command, check=True, capture_output=True)
    return manifest


@pytest.mark.parametrize("book", _books() or [None], ids=lambda path: path.name if path else "none")
def test_agreement(book: Path | None, tmp_path: Path) -> None:
    rendered = os.environ.get("ASK_BOOK_RENDERED")
    if book is None or rendered is None:
        pytest.skip("NOT RUN: no real books to compare (set ASK_BOOK_BOOKS and ASK_BOOK_RENDERED)")
    project, pandoc = find_project(book, {}), find_pandoc(os.environ)
    site = Path(rendered) / book.name / project.output_dir.name
    if not site.is_dir():
        pytest.skip(f"NOT RUN: {book.name} is not rendered in ASK_BOOK_RENDERED")
    project.__dict__["cache_dir"] = tmp_path / "cache"
    shutil.rmtree(project.cache_dir, ignore_errors=True)

    began = time.perf_counter()
    make_plain(project, pandoc, lambda _: None)
    first = time.perf_counter() - began
    began = time.perf_counter()
    make_plain(project, pandoc, lambda _: None)
    again = time.perf_counter() - began

    plain = read_manifest(plain_manifest(project))
    found = compare(plain, read_manifest(_cut_rendered(project, pandoc, site, tmp_path)))
    dead = list(dead_links(plain, plain_site(project)))
    print(
        f"\n{book.name}: anchors {found.anchors:.2%}, words {found.words:.2%}, dead links {len(dead)}, "
        f"{len(plain.chapters)} chapters in {first:.1f} s, again {again:.2f} s"
    )
    for name in ("missing_anchors", "extra_anchors", "missing_words", "extra_words"):
        if some := getattr(found, name)[:8]:
            print(f"  {name.replace('_', ' ')}: {', '.join(map(str, some))}")
    assert found.anchors >= ANCHORS_GOAL
    assert found.words >= WORDS_GOAL
    assert dead == []
    assert again < AGAIN_GOAL_S
