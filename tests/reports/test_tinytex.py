import json
import os
import sys
from pathlib import Path

import pytest

from ask_book.reports.tinytex import engines, find_bin, known_bins, might_make_pdf, with_bin

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")


def program(path: Path, script: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".TinyTeX/bin/x86_64-linux"), ("linux", ".TinyTeX/bin/aarch64-linux"),
        ("linux", ".local/share/quarto/tools/tinytex/TinyTeX/bin/x86_64-linux"),
        ("linux", ".local/share/quarto/TinyTeX/bin/x86_64-linux"),
        ("darwin", "Library/TinyTeX/bin/universal-darwin"),
        ("darwin", "Library/Application Support/quarto/tools/tinytex/bin/universal-darwin"),
    ],
)  # fmt: skip
def test_known_places(tmp_path: Path, platform: str, place: str) -> None:
    program(tmp_path / place / "xelatex")
    assert find_bin({"HOME": str(tmp_path), "PATH": ""}, platform) == tmp_path / place


@pytest.mark.parametrize(
    "place",
    [
        "APPDATA/TinyTeX/bin/windows", "APPDATA/TinyTeX/bin/win32", "ProgramData/TinyTeX/bin/windows",
        "LOCALAPPDATA/TinyTeX/bin/windows", "LOCALAPPDATA/quarto/tools/tinytex/TinyTeX/bin/windows",
    ],
)  # fmt: skip
def test_known_places_on_windows(tmp_path: Path, place: str) -> None:
    env = {name: str(tmp_path / name) for name in ("APPDATA", "ProgramData", "LOCALAPPDATA")} | {"HOME": str(tmp_path)}
    assert tmp_path / place in known_bins(env, "win32")
    # without the variable that names it, a place is not looked at
    assert tmp_path / place not in known_bins(env | {place.split("/")[0]: ""}, "win32")


def test_what_quarto_says_comes_first(tmp_path: Path) -> None:
    program(tmp_path / ".TinyTeX/bin/x86_64-linux/xelatex")
    elsewhere = program(tmp_path / "opt/tex ñ/xelatex").parent
    said = json.dumps({"installed": True, "directory": "x", "bin-directory": str(elsewhere)}, ensure_ascii=False)
    program(tmp_path / "bin/quarto", f"[ \"$*\" = 'tools info tinytex' ] && echo '{said}'")
    assert find_bin({"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}) == elsewhere


@pytest.mark.parametrize(
    "said",
    [
        "exit 1", "echo nonsense", "echo '[]'", "echo '{\"installed\": false}'", "echo '{\"installed\": true}'",
        'echo \'{"installed": true, "bin-directory": 1}\'',
        'echo \'{"installed": true, "bin-directory": "/not/there"}\'',
        "kill -9 $$", "echo null",
    ],
)  # fmt: skip
def test_a_quarto_that_does_not_know(tmp_path: Path, said: str) -> None:
    known = program(tmp_path / ".TinyTeX/bin/x86_64-linux/pdflatex").parent
    program(tmp_path / "bin/quarto", said)
    assert find_bin({"HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/bin"}, "linux") == known


def test_a_folder_without_an_engine_is_no_tinytex(tmp_path: Path) -> None:
    program(tmp_path / ".TinyTeX/bin/x86_64-linux/tlmgr")
    (tmp_path / ".TinyTeX/bin/x86_64-linux/xelatex").write_text("not to be run", encoding="utf-8")
    assert find_bin({"HOME": str(tmp_path), "PATH": ""}, "linux") is None


def test_engines_in_the_order_they_are_tried(tmp_path: Path) -> None:
    for name in ("pdflatex", "xelatex", "lualatex", "tex"):
        program(tmp_path / name)
    assert list(engines(str(tmp_path))) == ["xelatex", "lualatex", "pdflatex"]
    (tmp_path / "xelatex").unlink()
    assert engines(str(tmp_path))["lualatex"] == str(tmp_path / "lualatex")
    assert engines("") == {}


def test_tinytex_is_before_the_rest_of_the_path(tmp_path: Path) -> None:
    assert with_bin("/usr/bin", tmp_path) == f"{tmp_path}{os.pathsep}/usr/bin"
    assert with_bin("/usr/bin", None) == "/usr/bin"


def test_a_quick_look(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    assert not might_make_pdf(env)
    program(tmp_path / "bin/pandoc")
    program(tmp_path / ".TinyTeX/bin/x86_64-linux/lualatex")
    assert might_make_pdf(env) == (sys.platform == "linux")
