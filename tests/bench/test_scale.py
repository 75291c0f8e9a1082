"""What building and asking cost as a book grows, beside what an author could take instead (`scale.py`).

pytest tests/bench/test_scale.py -m bench -s
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench import question_sets, rivals, scale

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not question_sets.data_folder().is_dir(), reason="the public sets are not here"),
    pytest.mark.timeout(1800),
]


@pytest.mark.parametrize("size", [400, 5_000, 10_000, 100_000])
def test_what_a_question_costs(size: int) -> None:
    print(f"\n{size} passages (median of the second half of the questions; memory: what the process grew by)")
    print(f"{'':20}{'build, s':>10}{'query, ms':>11}{'memory, MB':>12}")
    found = {}
    for name in (scale.RANKING, scale.WORDS, scale.SEARCH, *rivals.ENGINES):
        command = [sys.executable, "-m", "bench.scale", name, str(size)]
        done = subprocess.run(command, cwd=question_sets.ROOT / "tests", capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout)
        print(f"{name:20}{found[name]['build']:10.1f}{1000 * found[name]['query']:11.2f}{found[name]['mb']:12.0f}")
    assert found[scale.SEARCH]["query"] <= (0.002 if size <= 5000 else 0.025)
    if (peer := found.get("bm25s, snowball")) is not None:
        ratios = {name: found[name]["query"] / peer["query"] for name in (scale.RANKING, scale.WORDS)}
        print(f"as long as bm25s: with 4-grams {ratios[scale.RANKING]:.2f}, words alone {ratios[scale.WORDS]:.2f}")
        if size >= 5000:  # In a small book most of the time goes into reading the question, which takes 0.2 ms.
            assert ratios[scale.RANKING] <= 2
            assert ratios[scale.WORDS] <= 1
