"""The widget's own unit tests and types, so that `pytest` runs them too."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
LONGEST = 120


@pytest.mark.node
def test_pure_functions() -> None:
    run = subprocess.run(["node", "--test", "widget/"], cwd=TESTS, capture_output=True, text=True, timeout=LONGEST)
    assert run.returncode == 0, run.stdout[-4000:]


@pytest.mark.node
@pytest.mark.typescript
def test_types() -> None:
    run = subprocess.run(
        ["npm", "run", "--silent", "types"], cwd=TESTS, capture_output=True, text=True, timeout=LONGEST
    )
    assert run.returncode == 0, run.stdout[-4000:]
