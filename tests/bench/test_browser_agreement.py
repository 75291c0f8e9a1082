"""How often the search in the browser finds what the sidecar's lexical search finds.

    ASK_BOOK_RENDERED=... pytest tests/bench/test_browser_agreement.py -m bench -s

Public sets: see `question_sets.py`. Exams: `ASK_BOOK_EXAMS` (default `../shared/exams` beside the checkout) about the
books of `ASK_BOOK_RENDERED`, rendered with the extension; the guide's own exam if the guide is rendered.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from ask_book.book.manifest import Manifest, read_manifest
from ask_book.retrieval.index import open_index
from bench import question_sets
from bench.question_sets import FILES, ROOT
from bench.real_books import projects

pytestmark = [pytest.mark.bench, pytest.mark.node]

EXAMS = Path(os.environ.get("ASK_BOOK_EXAMS") or ROOT.parent / "shared" / "exams")
SCRIPT = ROOT / "tests" / "widget" / "ranked.js"
K = 5
BAR = 0.98
MOST = 2000


def in_browser(manifest: Manifest, lang: str, questions: list[str], folder: Path) -> list[tuple[list[int], bool]]:
    """The passages that `search.js` finds, and whether they are enough."""
    known = (ROOT / "_extensions/ask-book/widget/locales" / f"{lang}.js").is_file()
    job = {"lang": lang if known else "en", "manifest": asdict(manifest), "questions": questions, "k": K}
    path = folder / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    run = subprocess.run(["node", str(SCRIPT), str(path)], capture_output=True, text=True, check=True)
    return [(found, enough) for found, enough in json.loads(run.stdout)]


def agreement(name: str, manifest: Manifest, questions: list[str], folder: Path) -> float:
    """The share of questions for which both find the same `K` passages in the same order; prints a line."""
    index = open_index(manifest, folder / "index")
    ours = [index.search(question, K) for question in questions]
    pairs = list(zip(ours, in_browser(manifest, index.lang, questions, folder), strict=True))
    same = [[hit.chunk for hit in found.hits] == hits for found, (hits, _) in pairs]
    together = [found.evidence.enough == enough for found, (_, enough) in pairs]
    share = sum(same) / len(questions)
    print(f"{name:20} {len(questions):6} questions  top {K} {share:7.2%}  gate {sum(together) / len(questions):7.2%}")
    return share


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", FILES)
def test_on_public_sets(name: str, tmp_path: Path) -> None:
    if not question_sets.data_folder().is_dir():
        pytest.skip("the public sets are not here")
    questions = question_sets.load(name)
    texts = [question.text for question in questions.questions]
    texts = texts[:: 1 + len(texts) // MOST]
    assert agreement(name, questions.manifest(), texts, tmp_path) >= BAR


def exams() -> Iterator[tuple[str, Path, list[str]]]:
    """Every exam whose book is rendered: its name, the manifest, the questions."""
    files = {path.stem: path for path in EXAMS.glob("*.yml")} if EXAMS.is_dir() else {}
    books = {project.name: project for project in projects()}
    guide = os.environ.get("ASK_BOOK_TEST_GUIDE")
    if guide:
        files["guide"], books["guide"] = ROOT / "examples/book/exam.yml", Path(guide)
    for name in sorted(files.keys() & books.keys()):
        manifest = books[name] / ".quarto/ask-book/default/manifest.json"
        exam: dict[str, Any] = YAML(typ="safe").load(files[name])
        if manifest.is_file():
            yield name, manifest, [question["q"] for question in exam["questions"]]


@pytest.mark.timeout(1200)
def test_on_exams(tmp_path: Path) -> None:
    shares = {}
    for name, manifest, questions in exams():
        folder = tmp_path / name
        folder.mkdir()
        shares[name] = agreement(name, read_manifest(manifest), questions, folder)
    if not shares:
        pytest.skip("no exam with a rendered book here")
    assert min(shares.values()) >= BAR, shares
