"""The unit tests in Lua, run by pandoc as it runs the modules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lua.builder import LUA, pandoc

UNITS = Path(__file__).parent / "units"


def test_modules() -> None:
    luaunit = next(iter(sorted(Path("/usr/share/lua").glob("5.*/luaunit.lua"), reverse=True)), None)
    if luaunit is None:
        pytest.skip("NOT RUN: needs luaunit (Debian's lua-unit)")
    command = [*pandoc(), "lua", str(UNITS / "run.lua"), str(LUA), str(luaunit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("OK")
