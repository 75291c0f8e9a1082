"""How many blocks of real, rendered books the widget's highlighter marks, in a real Chromium.

`pytest tests/bench/test_highlight.py -m bench -s` prints one paragraph for each book of `real_books.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from ask_book.book.manifest import Block, Chapter, Manifest, Section, read_manifest
from ask_book.book.project import find_project
from bench.real_books import job_of, projects
from conftest import ROOT, find_chromium
from lua.builder import run
from widget.marks import lost

pytestmark = [pytest.mark.bench, pytest.mark.browser]

HIGHLIGHTER = ROOT / "_extensions" / "ask-book" / "widget" / "highlight.js"
BLOCKS_OF_A_KIND = 60


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """A page that loads nothing from the network."""
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=find_chromium()) as browser:
        context = browser.new_context()
        context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        context.add_init_script("window.askBook = {}")
        yield context.new_page()


def sample(manifest: Manifest) -> Iterator[tuple[Chapter, list[tuple[Section, Block]]]]:
    """Blocks of every kind from all over a book, by chapter."""
    of_kind = defaultdict(list)
    for chapter in manifest.chapters:
        for section in chapter.sections:
            for block in section.blocks:
                of_kind[block.kind].append((chapter.index, section, block))
    chosen = defaultdict(list)
    for places in of_kind.values():
        step = -(-len(places) // BLOCKS_OF_A_KIND)
        for index, section, block in islice(places, 0, None, step):
            chosen[index].append((section, block))
    for index, blocks in sorted(chosen.items()):
        yield manifest.chapters[index], blocks


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("root", [pytest.param(path, id=path.name) for path in projects()])
def test_a_real_book(root: Path, tmp_path: Path, page: Page) -> None:
    project = find_project(root, {})
    assert run(job_of(project, tmp_path, project.output_dir)).returncode == 0
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    print()
    for chapter, blocks in sample(read_manifest(tmp_path / "manifest.json")):
        page.goto((project.output_dir / chapter.href).as_uri(), wait_until="domcontentloaded")
        page.add_script_tag(path=HIGHLIGHTER)
        not_marked = lost(page, [(block.text, section.anchor) for section, block in blocks])
        tried.update(block.kind for _, block in blocks)
        missed.update(block.kind for _, block in blocks if block.text in not_marked)
        for text, found in not_marked.items():
            print(f"  not marked: {chapter.href}: {text[:80]!r}, but {(found or '')[:80]!r}")
    kinds = ", ".join(f"{kind} {count - missed[kind]} of {count}" for kind, count in sorted(tried.items()))
    print(f"{root.name}: marked {1 - missed.total() / tried.total():.2%} of {tried.total()} blocks: {kinds}")
    assert missed.total() <= 0.005 * tried.total()
