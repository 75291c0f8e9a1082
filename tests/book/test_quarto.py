import sys
from pathlib import Path

import pytest

from ask_book.book.quarto import Quarto, find_quarto


@pytest.mark.parametrize(
    ("version", "supported"),
    [("1.7.34", True), ("1.10.18", True), ("2.0", True), ("99.9.9", True), ("1.6.43", False), ("", False)],
)
def test_which_are_supported(version: str, supported: bool) -> None:
    assert Quarto("quarto", version).is_supported is supported


@pytest.mark.skipif(sys.platform == "win32", reason="a script with a #! line")
def test_the_first_on_the_path(tmp_path: Path) -> None:
    assert find_quarto({"PATH": str(tmp_path)}) is None
    command = tmp_path / "quarto"
    command.write_text("#!/bin/sh\necho 1.8.2\n")
    command.chmod(0o755)
    assert find_quarto({"PATH": str(tmp_path)}) == Quarto(str(command), "1.8.2")
    command.write_text("#!/bin/sh\nexit 1\n")
    assert find_quarto({"PATH": str(tmp_path)}) == Quarto(str(command), "")
