"""What building and asking cost as a book grows, beside what an author could take instead (`scale.py`).

pytest tests/bench/test_scale.py -m bench -s
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from bench import question_sets, rivals, scale

BM25S = "bm25s, snowball"

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not question_sets.data_folder().is_dir(), reason="the public sets are not here"),
    pytest.mark.timeout(1800),
]


def cost(size: int, *names: str) -> dict[str, Any]:
    """What a process of its own says about these engines."""
    command = [sys.executable, "-m", "bench.scale", str(size), *names]
    done = subprocess.run(command, cwd=question_sets.ROOT / "tests", capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("size", [400, 5_000, 10_000, 100_000])
def test_what_a_question_costs(size: int) -> None:
    own = (scale.RANKING, scale.WORDS, scale.SEARCH, scale.FUSED)
    found = {name: cost(size, name) for name in (*own, *rivals.ENGINES)}
    print(f"\n{size:,} passages (median of the second half of the questions; memory: what the process grew by)")
    print(f"{'':20}{'build, s':>10}{'query, ms':>11}{'memory, MB':>12}{'as long as bm25s':>18}")
    peer = found.get(BM25S, {"query": {BM25S: float("nan")}})["query"][BM25S]
    for name, one in found.items():
        took = one["query"][name]
        print(f"{name:20}{one['build']:10.1f}{1000 * took:11.2f}{one['mb']:12.0f}{took / peer:18.2f}")
        assert one["mb"] <= 1500
    assert found[scale.SEARCH]["query"][scale.SEARCH] <= (0.002 if size <= 5000 else 0.025)
    assert found[scale.FUSED]["query"][scale.FUSED] <= (0.002 if size <= 5000 else 0.025)
    if BM25S in found:  # Each question asked of all in turn: steadier than the quotients above.
        took = cost(size, scale.RANKING, scale.WORDS, BM25S)["query"]
        grams, words = took[scale.RANKING] / took[BM25S], took[scale.WORDS] / took[BM25S]
        print(f"in turn, as long as bm25s: with 4-grams {grams:.2f}, words alone {words:.2f}")
        assert grams <= 2
        assert words <= 1.1  # The goal is 1; from run to run the quotient differs by a tenth.
