"""Small rendered books, and the builder run on them as a render would run it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ask_book.book.manifest import Chapter, Manifest, read_manifest
from ask_book.book.pandoc import find_pandoc

LUA = Path(__file__).resolve().parents[2] / "_extensions" / "ask-book" / "lua"


@cache
def pandoc() -> tuple[str, ...]:
    """How a pandoc command line begins on this machine."""
    return find_pandoc(os.environ).argv


def page(main: str, title: str = '<h1 class="title">Rivers</h1>', lang: str = "en", before: str = "") -> str:
    """A page as Quarto makes it, around what is in `main`."""
    return f"""<!DOCTYPE html>
<html lang="{lang}"><head><title>Tab</title><script>var a = "<main><p>no</p></main>";</script></head>
<body><div id="quarto-search-results"></div>{before}
<div id="quarto-margin-sidebar"><nav id="TOC"><h2 id="toc-title">On this page</h2></nav></div>
<main class="content" id="quarto-document-content">
<header id="title-block-header" class="quarto-title-block default">
<div class="quarto-title">{title}</div>
<div class="quarto-title-meta"></div>
</header>
{main}
</main>
<nav class="page-navigation">Next</nav><script>window.after = "<p>no</p>";</script></body></html>
"""


def section(level: int, anchor: str, title: str, body: str, number: str = "") -> str:
    """A section as Quarto makes it."""
    shown = f'<span class="header-section-number">{number}</span> {title}' if number else title
    data = f' data-number="{number}"' if number else ""
    heading = f'<h{level}{data} class="anchored" data-anchor-id="{anchor}">{shown}</h{level}>'
    return f'<section id="{anchor}" class="level{level}"{data}>\n{heading}\n{body}\n</section>\n'


def write_job(folder: Path, pages: Mapping[str, str | bytes], **changes: Any) -> Path:
    """Write the pages into `folder/_book` and a job for them; `changes` replace entries of the job."""
    site = folder / "_book"
    for href, content in pages.items():
        path = site / href
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    job = {
        "site": str(site),
        "manifest": str(folder / "made" / "manifest.json"),
        "book_js": str(site / "ask-book" / "book.js"),
        "cache": str(folder / "made" / "cut"),
        "book": {"title": "Water", "authors": ["Ana"], "lang": "en", "site_url": "", "output_name": "_book"},
        "chapters": [{"file": href.removesuffix(".html") + ".qmd", "href": href} for href in pages],
    } | changes
    path = folder / "job.json"
    path.write_text(json.dumps(job, ensure_ascii=False), encoding="utf-8")
    return path


def run(job: Path) -> subprocess.CompletedProcess[str]:
    """The builder's own process."""
    command = [*pandoc(), "lua", str(LUA / "build.lua"), str(job)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)


def build(folder: Path, pages: Mapping[str, str | bytes], **changes: Any) -> Manifest:
    """The manifest of a book of these pages."""
    done = run(write_job(folder, pages, **changes))
    assert done.returncode == 0, done.stderr
    return read_manifest(folder / "made" / "manifest.json")


def as_the_panel_reads(book_js: Path) -> Any:
    """The book that the panel works out of what pages carry."""
    reader = Path(__file__).resolve().parents[1] / "widget" / "read.js"
    done = subprocess.run(["node", str(reader), str(book_js)], capture_output=True, check=True, timeout=120)
    return json.loads(done.stdout)


def for_the_panel(manifest: Path) -> Any:
    """A manifest without what only the sidecar needs: ids, hashes, captions."""
    book = json.loads(manifest.read_bytes())
    for chapter in book["chapters"]:
        del chapter["hash"]
        for section in chapter["sections"]:
            del section["id"]
    for chunk in book["chunks"]:
        del chunk["id"], chunk["section"]
    for label in book["labels"].values():
        del label["caption"]
    return book


def cut(folder: Path, main: str, **page_parts: str) -> Chapter:
    """The only chapter of a book with one page."""
    return build(folder, {"rivers.html": page(main, **page_parts)}).chapters[0]


def blocks(chapter: Chapter) -> list[tuple[str, str]]:
    """Kind and text of all blocks below the title."""
    return [(block.kind, block.text) for block in chapter.blocks if block.text != "Rivers"]
