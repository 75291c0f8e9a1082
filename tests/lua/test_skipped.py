"""The builder and the widget leave the same elements of a page unread."""

from __future__ import annotations

import re
from pathlib import Path

from lua.builder import LUA


def test_the_widget_skips_what_the_builder_skips(root: Path) -> None:
    lua = (LUA / "visible.lua").read_text("utf-8")
    listed = re.findall(r'"([^"]+)"', lua[lua.index("local skipped = {") : lua.index("\n}\n")])
    script = (root / "_extensions" / "ask-book" / "widget" / "highlight.js").read_text("utf-8")
    declared = script[script.index("const SKIP =") :].split(";", 1)[0]
    skipped = [selector.strip() for selector in "".join(re.findall(r'"([^"]*)"', declared)).split(",")]
    assert len(listed) > 30
    assert [selector for selector in skipped if not selector.startswith("[style")] == listed
