"""Renders that several tests look at."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from extension.quarto_book import make_book, quarto


@pytest.fixture(scope="session")
def full_render(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A book with the filter in an odd folder, rendered without Python and sidecar, and the output of the render."""
    root = make_book(tmp_path_factory.mktemp("full") / "mi libro ñ #1")
    return root, quarto(root, "render")


@pytest.fixture
def rendered(full_render: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the rendered book, to change."""
    return shutil.copytree(full_render[0], tmp_path / "mi libro ñ #1", symlinks=True)


@pytest.fixture
def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
