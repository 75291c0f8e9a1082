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


@pytest.mark.usefixtures("home")
def test_the_guide_passes_its_exam(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    shutil.copytree(root / "examples" / "book", folder, ignore=shutil.ignore_patterns("_book", ".quarto"))
    book = open_book(open_edition(find_project(folder, {})))
    exam = read_exam(folder / "exam.yml")

    async def ask() -> Results:
        return Results(((exam, tuple([outcome async for outcome in examine(book, exam, 7)])),), 7)

    results = asyncio.run(ask())
    found = {name: share.fraction or 0.0 for name, share in shares(results.outcomes).items()}
    told = "\n".join(to_lines(results))
    assert found["evidence_at_k"] >= 0.95, told
    assert found["citation_hit"] >= 0.8, told
    assert found["refused_offtopic"] >= 0.9, told
    assert found["refused_near"] >= 0.5, told
    assert found["false_refusals"] <= 0.03, told
