"""How well the check of claims does on real books that it was not made for.

    pytest tests/bench/test_claims.py -m bench -s

The claims are made by rule (`book_claims.py`), from the books of `real_books.py`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ask_book.answering.answer import cite
from ask_book.answering.citations import note
from ask_book.answering.claims import check_claims
from ask_book.book.manifest import Manifest, read_manifest
from ask_book.book.project import find_project
from ask_book.retrieval.language import locale
from bench.book_claims import FRAMES, Claim, claims
from bench.real_books import job_of, projects
from lua.builder import run

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

SENTENCES = 300
RIGHT_MARKED = 0.03
FOUND = {"number": 0.95, "number word": 0.95, "unit": 0.95, "name": 0.95, "swapped": 0.95}
FOUND |= {"negation added": 0.9, "negation taken away": 0.9}
# Of fewer, one is too much of a share.
ENOUGH = 20


def is_marked(manifest: Manifest, claim: Claim, lang: str) -> bool:
    """Whether a reader is told, in an answer that cites another sentence too."""
    cited = [cite(manifest, 1, claim.tag, True), cite(manifest, 2, claim.other, True)]
    text = f"{claim.text.rstrip('.')} {note(1)}."
    answer = f"{text}\n\n{cited[1].quote.rstrip('.')} {note(2)}."
    marks = check_claims(answer, cited, manifest, lang).marks
    return any(mark.kind == "unsupported" and mark.start < len(text) for mark in marks)


@pytest.mark.parametrize("root", [pytest.param(path, id=path.name) for path in projects()])
def test_right_and_wrong_claims_are_told_apart(root: Path, tmp_path: Path) -> None:
    project = find_project(root, {})
    built = run(job_of(project, tmp_path, project.output_dir))
    assert built.returncode == 0, built.stderr
    manifest = read_manifest(tmp_path / "manifest.json")
    lang = locale(manifest.book.lang or "en").lang[:2]
    if lang not in FRAMES:
        pytest.skip(f"no claims are made in {lang}")
    total: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for claim in claims(manifest, lang, most=SENTENCES):
        kind = "right" if claim.kind.startswith("right") else claim.kind.removeprefix("wrong: ").split(",")[0]
        total[kind] += 1
        marked[kind] += is_marked(manifest, claim, lang)
    print(f"\n{root.name}:", ", ".join(f"{kind} {marked[kind]} of {count}" for kind, count in sorted(total.items())))
    assert marked["right"] <= RIGHT_MARKED * total["right"]
    for kind, share in FOUND.items():
        assert total[kind] < ENOUGH or marked[kind] >= share * total[kind], kind
