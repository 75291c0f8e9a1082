"""How true, complete and cheap the manifest of real, rendered books is.

`pytest tests/bench/test_manifest.py -m bench -s` prints one paragraph for each book of `real_books.py`. A project may
bring ANCHORS.tsv: every heading as Quarto rendered it, with the columns html, level, id, number, title, context.
"""

from __future__ import annotations

import csv
import gzip
import os
import statistics
from pathlib import Path

import pytest

from ask_book.book.manifest import Manifest, read_manifest
from ask_book.book.project import find_project
from bench.real_books import job_of, projects
from lua.builder import as_the_panel_reads, for_the_panel, run
from lua.fidelity import measure, misnamed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

RUNS = 5
LARGEST_SHARE = 0.45


def seconds(job: Path) -> float:
    """Processor time of one run: on a busy machine the clock on the wall says little."""
    before = os.times()
    done = run(job)
    assert done.returncode == 0, done.stderr
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def anchors_of(table: Path, hrefs: set[str]) -> set[tuple[str, str]]:
    """The headings H1 to H4 that have an id, titles of chapters apart."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            (row["html"], row["id"])
            for row in rows
            if row["level"] in "1234" and row["id"] and row["context"] != "title" and row["html"] in hrefs
        }


def describe_chunks(manifest: Manifest) -> str:
    """Sizes in characters."""
    sizes = sorted(chunk.end - chunk.start for chunk in manifest.chunks)
    tenths = statistics.quantiles(sizes, n=10)
    middle = f"median {tenths[4]:.0f}, 80 % in {tenths[0]:.0f}…{tenths[8]:.0f}"
    return f"{len(sizes)} chunks of {sizes[0]}…{sizes[-1]} characters, {middle}"


@pytest.mark.parametrize("root", [pytest.param(path, id=path.name) for path in projects()])
def test_a_real_book(root: Path, tmp_path: Path) -> None:
    project = find_project(root, {})
    site = project.output_dir
    job = job_of(project, tmp_path, site)
    cold = []
    for _ in range(RUNS):
        for fragment in (tmp_path / "cut").glob("*.cut"):
            fragment.unlink()
        cold.append(seconds(job))
    manifest = read_manifest(tmp_path / "manifest.json")

    one_page = []
    largest = max((tmp_path / "cut").glob("*.cut"), key=lambda path: path.stat().st_size)
    for _ in range(RUNS):
        largest.unlink()
        (tmp_path / "manifest.json").write_text("old")
        one_page.append(seconds(job))

    result = measure(manifest, site)
    print(f"\n{root.name}: {result}")
    print(f"  {describe_chunks(manifest)}; {len(manifest.labels)} labels")
    print(f"  whole book {statistics.median(cold):.2f} s, one page changed {statistics.median(one_page):.2f} s")
    for place, text in result.unfaithful[:5]:
        print(f"  not in the page: {place}: {text[:100]!r}")
    print(f"  words in no block: {result.missing.most_common(5)}")
    references, wrong = misnamed(manifest, site)
    print(f"  references that name a thing as its label does: {references - len(wrong)} of {references}: {wrong[:5]}")
    if (table := root / "ANCHORS.tsv").exists():
        expected = anchors_of(table, {chapter.href for chapter in manifest.chapters})
        made = {(chapter.href, part.anchor) for chapter in manifest.chapters for part in chapter.sections}
        print(f"  headings of ANCHORS.tsv that are anchors: {len(expected & made)} of {len(expected)}")
        print(f"    the others: {sorted(expected - made)[:4]}")

    assert result.faithful >= 0.995 * result.blocks
    assert result.missing_words <= 0.001 * result.words
    assert not result.dead_anchors
    assert not wrong
    assert statistics.median(one_page) < 1

    book_js = tmp_path / "book.js"
    words = "\n".join(chapter.text for chapter in manifest.chapters).encode()
    share = len(gzip.compress(book_js.read_bytes(), 9)) / len(words)
    print(f"  book.js, compressed: {share:.1%} of the text")
    assert share <= LARGEST_SHARE
    assert as_the_panel_reads(book_js) == for_the_panel(tmp_path / "manifest.json")
