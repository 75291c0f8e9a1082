import shutil
import subprocess
from pathlib import Path

import pytest

from ask_book.reports.font_files import folders, fonts_in
from ask_book.reports.fonts import installed_fonts


@pytest.mark.tex
def test_a_file_says_what_fontconfig_says_of_it(tmp_path: Path) -> None:
    listed = {font.family: font for font in installed_fonts({"PATH": "/usr/bin:/bin"})}
    wanted = ["fc-list", ":style=Book:outline=True", "file"]
    files = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in files:
        shutil.copy(line.rpartition(":")[0], tmp_path)
    read = fonts_in([tmp_path])
    assert read
    assert read == tuple(listed[font.family] for font in read)


def test_what_is_no_font_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_bytes(b"not a font")
    (tmp_path / "b.otf").write_bytes(b"")
    (tmp_path / "c.ttc").mkdir()
    assert fonts_in([tmp_path, tmp_path / "nowhere"]) == ()


def test_where_fonts_are() -> None:
    assert Path("home", "Library", "Fonts") in folders("darwin", {"HOME": "home"})
    assert Path("C:/Windows", "Fonts") in folders("win32", {"SYSTEMROOT": "C:/Windows"})
    assert Path("local", "Microsoft", "Windows", "Fonts") in folders("win32", {"LOCALAPPDATA": "local"})
    assert folders("linux", {"HOME": "home"}) == ()
