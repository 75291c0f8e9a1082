import os
import stat
import sys
from pathlib import Path

import pytest

from ask_book.book.pandoc import VARIABLE, find_pandoc
from ask_book.errors import AskBookError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def says(version: str) -> str:
    return f'echo "pandoc {version}"'


def test_a_real_pandoc_is_found() -> None:
    pandoc = find_pandoc(os.environ)
    assert tuple(map(int, pandoc.version.split("."))) >= (3, 1, 1)
    assert pandoc.origin


def test_the_one_named_in_the_environment_comes_first(tmp_path: Path) -> None:
    named = executable(tmp_path / "mine", says("3.5"))
    executable(tmp_path / "bin/pandoc", says("3.6"))
    pandoc = find_pandoc({VARIABLE: str(named), "PATH": str(tmp_path / "bin")})
    assert (pandoc.argv, pandoc.version, pandoc.origin) == ((str(named),), "3.5", VARIABLE)


def test_a_named_one_that_does_not_run_is_an_error_not_passed_over(tmp_path: Path) -> None:
    executable(tmp_path / "bin/pandoc", says("3.6"))
    with pytest.raises(AskBookError, match=r"ASK_BOOK_PANDOC \(/no/pandoc\) does not run") as raised:
        find_pandoc({VARIABLE: "/no/pandoc", "PATH": str(tmp_path / "bin")})
    assert 'pip install "ask-book[pandoc]"' in raised.value.hint


def test_the_pandoc_inside_quarto_is_started_without_quarto(tmp_path: Path) -> None:
    launcher = executable(tmp_path / "quarto/bin/quarto", "exit 1")
    own = executable(tmp_path / "quarto/bin/tools/x86_64/pandoc", says("3.6.3"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/quarto").symlink_to(launcher)
    executable(tmp_path / "bin/pandoc", says("3.8"))
    pandoc = find_pandoc({"PATH": str(tmp_path / "bin")})
    assert (pandoc.argv, pandoc.origin) == ((str(own),), "Quarto's pandoc")


def test_a_quarto_without_its_own_binary_is_asked_for_pandoc(tmp_path: Path) -> None:
    quarto = executable(tmp_path / "bin/quarto", says("3.6.3"))
    assert find_pandoc({"PATH": str(tmp_path / "bin")}).argv == (str(quarto), "pandoc")


def test_an_old_pandoc_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "bin/pandoc", says("2.17.1.1"))
    monkeypatch.setitem(sys.modules, "pypandoc", None)
    with pytest.raises(AskBookError, match=r"is version 2\.17\.1\.1, older than 3\.1\.1"):
        find_pandoc({"PATH": str(tmp_path / "bin")})


def test_without_any_the_message_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypandoc", None)
    with pytest.raises(AskBookError, match="There is no pandoc on this machine") as raised:
        find_pandoc({"PATH": str(tmp_path)})
    assert raised.value.code == "no_pandoc"
    assert 'pip install "ask-book[pandoc]"' in raised.value.hint


def test_the_packaged_one_comes_last(tmp_path: Path) -> None:
    pytest.importorskip("pypandoc", reason="needs pypandoc-binary")
    assert find_pandoc({"PATH": str(tmp_path)}).origin == "pypandoc-binary"
