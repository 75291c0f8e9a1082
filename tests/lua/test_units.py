"""The unit tests in Lua, run by pandoc as it runs the modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import find_luaunit
from lua.builder import LUA, pandoc

UNITS = Path(__file__).parent / "units"


@pytest.mark.luaunit
def test_modules() -> None:
    command = [*pandoc(), "lua", str(UNITS / "run.lua"), str(LUA), str(find_luaunit())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("OK")
