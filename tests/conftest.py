"""What every test may ask for, and a loud word about the real tools that are missing."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """The browser of the system, or the one that `ASK_BOOK_CHROMIUM` names."""
    return os.environ.get("ASK_BOOK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


TOOLS = {"quarto": lambda: shutil.which("quarto"), "browser": find_chromium}
_not_run: Counter[str] = Counter()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out benchmarks unless asked for, and tests whose real tool is not here."""
    wants_bench = "bench" in (config.option.markexpr or "")
    missing = {name for name, find in TOOLS.items() if not find()}
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        lacking = {mark.name for mark in item.iter_markers()} & missing
        _not_run.update(lacking)
        leave = lacking or (item.get_closest_marker("bench") and not wants_bench)
        (left_out if leave else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in capitals what was not tried."""
    for name, count in sorted(_not_run.items()):
        terminalreporter.write_line(
            f"NOT RUN: {count} test(s) need a real {name}, and there is none on this machine.", red=True, bold=True
        )


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
