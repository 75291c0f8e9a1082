"""The guide's own exam, by words alone: what holds the quality of search in every run of the tests."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from ask_book.answering.open_book import open_book
from ask_book.book.edition import open_edition
from ask_book.book.project import find_project
from ask_book.exam.format import read_exam
from ask_book.exam.report import Results, shares, to_lines
from ask_book.exam.run import examine

AT_LEAST = {
    "book": {"evidence_at_k": 0.95, "citation_hit": 0.8, "refused_offtopic": 0.9, "refused_near": 0.5},
    "book/es": {"evidence_at_k": 0.9, "citation_hit": 0.8, "refused_offtopic": 0.6},
}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("edition", AT_LEAST)
def test_the_guide_passes_its_exam(edition: str, root: Path, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("_book", ".quarto")
    shutil.copytree(root / "examples" / "book", tmp_path / "book", ignore=ignored)
    folder = tmp_path / edition
    book = open_book(open_edition(find_project(folder, {})))
    exam = read_exam(folder / "exam.yml")

    async def ask() -> Results:
        return Results(((exam, tuple([outcome async for outcome in examine(book, exam, 7)])),), 7)

    results = asyncio.run(ask())
    found = {name: share.fraction or 0.0 for name, share in shares(results.outcomes).items()}
    told = "\n".join(to_lines(results))
    for name, bar in AT_LEAST[edition].items():
        assert found[name] >= bar, f"{name}\n{told}"
    assert found["false_refusals"] <= 0.03, told
