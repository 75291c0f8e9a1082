"""What is published: the same bytes each time, nothing compiled, the extension inside, nothing of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ask_book import __version__

pytest.importorskip("hatchling", reason="the build back end is in the extra `dev`")
TRACKED = (".github", "_extensions", "sidecar", "examples", "tests")
FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", ".gitignore")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two folders, each with the wheel and the sdist built from a copy of its own at another time."""
    root = Path(__file__).resolve().parents[1]
    junk = shutil.ignore_patterns("__pycache__", "node_modules", "_book", ".quarto", ".venv", "*.quarto_ipynb")
    source = tmp_path_factory.mktemp("source")
    for name in TRACKED:
        shutil.copytree(root / name, source / name, symlinks=True, ignore=junk)
    for name in FILES:
        shutil.copy(root / name, source / name)
    folders = []
    for time in (1_000_000_000, 1_700_000_000):
        copy = tmp_path_factory.mktemp("copy") / f"checkout {time}"
        shutil.copytree(source, copy, symlinks=True)
        for path in copy.rglob("*"):
            os.utime(path, (time, time), follow_symlinks=False)
        # what a first run leaves behind is no part of it
        (copy / "sidecar" / "ask_book" / "__pycache__").mkdir()
        (copy / "sidecar" / "ask_book" / "__pycache__" / "x.cpython-311.pyc").write_text(str(time))
        out = copy.parent / "dist"
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=copy, check=True, capture_output=True
        )
        folders.append(out)
    return folders


def test_two_builds_give_the_same_bytes(built: list[Path]) -> None:
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in built)
    assert one == two
    assert sorted(one) == [f"ask_book-{__version__}-py3-none-any.whl", f"ask_book-{__version__}.tar.gz"]


def test_the_wheel_has_the_extension_and_nothing_compiled(built: list[Path], root: Path) -> None:
    (wheel,) = built[0].glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    inside = [name for name in names if not name.startswith(f"ask_book-{__version__}.dist-info/")]
    assert all(name.startswith("ask_book/") for name in inside)
    carried = {name.removeprefix("ask_book/_extension/") for name in names if "/_extension/" in name}
    extension = root / "_extensions" / "ask-book"
    assert carried == {path.relative_to(extension).as_posix() for path in extension.rglob("*") if path.is_file()}
    assert {"ask_book/cli.py", "ask_book/py.typed"} <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".so", ".pyd", ".dll", ".dylib", ".c"))]


def test_the_sdist_is_whole(built: list[Path]) -> None:
    (sdist,) = built[0].glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "LICENSE", "sidecar/ask_book/cli.py", "tests/test_package.py"} <= names
    assert {"_extensions/ask-book/hooks.js", "examples/book/_quarto.yml"} <= names
    assert not [name for name in names if "__pycache__" in name or "node_modules" in name]
