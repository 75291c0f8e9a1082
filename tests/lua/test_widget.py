"""The widget as pages load it: few files, small where Quarto's own esbuild is there."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path

import pytest

from lua.builder import LUA, pandoc

WIDGET = LUA.parent / "widget"
BUNDLES: dict[str, list[str]] = json.loads((WIDGET / "bundles.json").read_text(encoding="utf-8"))
MAKE = """
local extension, target, cli = table.unpack(arg)
quarto = { config = { cli_path = function() return cli end } }
local loaded = {}
local function module(name)
  loaded[name] = loaded[name] or assert(loadfile(extension .. "/lua/" .. name .. ".lua"))(module)
  return loaded[name]
end
for _, file in ipairs(module("widget").make(extension .. "/widget", target)) do
  print(file.name)
end
"""


def make(folder: Path, esbuild: str = "") -> dict[str, bytes]:
    """The files that pages load, made in `folder`; `esbuild` is a shell script that stands for Quarto's."""
    script = folder / "make.lua"
    script.write_text(MAKE, encoding="utf-8")
    tool = folder / "bin" / "tools" / platform.machine() / "esbuild"
    tool.parent.mkdir(parents=True, exist_ok=True)
    if esbuild:
        tool.write_text(f"#!/bin/sh\n{esbuild}\n", encoding="utf-8")
        tool.chmod(0o755)
    command = [*pandoc(), "lua", str(script), str(LUA.parent), str(folder / "made"), str(folder / "bin" / "quarto")]
    names = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    return {name: (folder / "made" / name).read_bytes() for name in names}


@pytest.mark.parametrize("esbuild", ["", "exit 1", "exit 0"], ids=["none", "broken", "silent"])
def test_without_an_esbuild_that_works_the_files_are_their_sources(tmp_path: Path, esbuild: str) -> None:
    made = make(tmp_path, esbuild)
    for name, parts in BUNDLES.items():
        assert made[name] == b"".join((WIDGET / part).read_bytes() for part in parts)
    inside = {part for parts in BUNDLES.values() for part in parts}
    alone = {
        path.relative_to(WIDGET).as_posix() for suffix in ("js", "css") for path in WIDGET.rglob(f"*.{suffix}")
    } - inside
    assert made.keys() == alone | BUNDLES.keys()
    assert all(made[name] == (WIDGET / name).read_bytes() for name in alone)


def test_every_file_goes_through_esbuild_once(tmp_path: Path) -> None:
    note = 'cat > /dev/null; echo "$@" >> "$(dirname "$0")/calls"; echo small'
    made = make(tmp_path, note)
    assert set(made.values()) == {b"small\n"}
    assert make(tmp_path) == made
    calls = (tmp_path / "bin" / "tools" / platform.machine() / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == len(made)
    assert sum("--loader=css" in call for call in calls) == sum(name.endswith(".css") for name in made)


def test_a_file_that_was_lost_is_made_again(tmp_path: Path) -> None:
    made = make(tmp_path)
    (tmp_path / "made" / "panel.js").unlink()
    assert make(tmp_path) == made
