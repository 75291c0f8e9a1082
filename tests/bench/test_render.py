"""What the extension adds to `quarto render`: a real book with and without it, by turns, in one run.

The book is the first in `ASK_BOOK_RENDERED`, or the one that `ASK_BOOK_BENCH_BOOK` names there. The share is of
processor time, of Quarto and all it starts, because that bears other work on the machine; wall time is printed beside
it. The goals are 8 % for the whole book and one second for its largest chapter alone, as on a save of a preview.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ask_book.book.project import find_project
from bench.real_books import projects

pytestmark = [pytest.mark.bench, pytest.mark.quarto]

ROUNDS = int(os.environ.get("ASK_BOOK_BENCH_ROUNDS", "5"))
LONGEST_ROUND = 1200


def children_seconds() -> float:
    """Processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def render(folder: Path, chapter: str = ".") -> tuple[float, float]:
    """Wall and processor seconds of a render to HTML."""
    before, started = children_seconds(), time.perf_counter()
    subprocess.run(
        ["quarto", "render", chapter, "--to", "html"],
        cwd=folder,
        env={**os.environ, "ASK_BOOK": "off", "CI": "1"},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started, children_seconds() - before


@pytest.mark.timeout(4 * ROUNDS * LONGEST_ROUND)
def test_time_added_to_a_render(tmp_path: Path) -> None:
    named = os.environ.get("ASK_BOOK_BENCH_BOOK", "")
    book = next((path for path in projects() if not named or path.name == named), None)
    assert book is not None, "set ASK_BOOK_RENDERED to a folder of rendered books"
    left_out = shutil.ignore_patterns("_book", "_output", ".quarto")
    without = shutil.copytree(book, tmp_path / "without", ignore=left_out)
    with_us = shutil.copytree(book, tmp_path / "with", ignore=left_out)
    subprocess.run([sys.executable, "-m", "ask_book", "init", with_us, "--yes"], check=True, capture_output=True)
    project = find_project(book, {})
    largest = max((chapter.file for chapter in project.chapters), key=lambda name: (book / name).stat().st_size)
    print(f"\n{book.name}, median of {ROUNDS}")
    added = {}
    for what in (".", largest):
        pairs = [(render(without, what), render(with_us, what)) for _ in range(ROUNDS)]
        for at, clock in enumerate(("wall", "processor")):
            bare, ours = (statistics.median(pair[which][at] for pair in pairs) for which in (0, 1))
            added[what] = ours - bare
            print(f"{what}, {clock}: {bare:.1f} s, with us {ours:.1f} s: {added[what]:+.2f} s, {ours / bare - 1:+.1%}")
            if what == ".":
                assert clock == "wall" or ours / bare < 1.08
    assert added[largest] < 1
