"""The vectors of `fixtures/ranking.json`: what a question must find, in Python and in the browser alike.

Run as a program to compute them anew after a deliberate change of the ranking; the questions are those of the file.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ask_book.book.manifest import read_manifest
from ask_book.retrieval.index import Index, open_index

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
RANKING = FIXTURES / "ranking.json"


@cache
def book(name: str) -> Index:
    """The index of `fixtures/book.<name>.json`."""
    with tempfile.TemporaryDirectory() as folder:
        return open_index(read_manifest(FIXTURES / f"book.{name}.json"), Path(folder))


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    """The case with what is found for it: passages and scores in order, and the evidence."""
    found = book(case["book"]).search(case["question"], case["k"], case["scope"])
    return {
        **{key: case[key] for key in ("book", "question", "k", "scope")},
        "hits": [[hit.chunk, round(hit.score, 9)] for hit in found.hits],
        "enough": found.evidence.enough,
        "confidence": round(found.evidence.confidence, 9),
        "found_terms": list(found.evidence.found_terms),
        "absent_terms": list(found.evidence.absent_terms),
    }


def write(cases: list[dict[str, Any]]) -> None:
    """One case a line."""
    lines = ",\n".join("  " + json.dumps(outcome(case), ensure_ascii=False) for case in cases)
    RANKING.write_text(f'{{\n "tolerance": 1e-6,\n "cases": [\n{lines}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    write(json.loads(RANKING.read_text(encoding="utf-8"))["cases"])
