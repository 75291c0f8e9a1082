"""The real TeX of this machine, laid out as the TinyTeX of another account, and the PDFs that it makes, read back."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pypdf

ENGINES = [name for name in ("xelatex", "lualatex", "pdflatex") if shutil.which(name)]
PROGRAMS = (*ENGINES, "xdvipdfmx", "dvipdfmx", "kpsewhich", "mktexpk", "fc-list")


def as_tinytex(home: Path) -> Path:
    """`~/.TinyTeX/bin/x86_64-linux`, with links to the programs that are installed."""
    folder = home / ".TinyTeX" / "bin" / "x86_64-linux"
    folder.mkdir(parents=True)
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def environment(home: Path, *folders: Path) -> dict[str, str]:
    """Of a person whose PATH has these folders and what every system has, but no TeX."""
    system = home / "system"
    if not system.exists():
        system.mkdir()
        for name in ("sh", "env", "cat", "sleep", "touch", "dirname", "readlink", "ls", "sed", "mkdir"):
            if found := shutil.which(name):
                (system / name).symlink_to(found)
    path = os.pathsep.join(map(str, (*folders, system)))
    # kept from one run of the tests to the next: without it lualatex reads all fonts again
    return {"HOME": str(home), "PATH": path, "TEXMFVAR": str(Path(tempfile.gettempdir()) / "ask-book-test-texmf-var")}


def program(path: Path, script: str) -> Path:
    """A program in place of a real one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def read(pdf: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(pdf))


def text_of(pdf: bytes) -> str:
    """All its text, white space collapsed."""
    return re.sub(r"\s+", " ", " ".join(page.extract_text() for page in read(pdf).pages))


def links_of(pdf: bytes) -> list[str]:
    """The addresses that it leads to outside, in order."""
    found = [annotation.get_object() for page in read(pdf).pages for annotation in page.get("/Annots", [])]
    return [str(one["/A"]["/URI"]) for one in found if "/URI" in one.get("/A", {})]


def jumps_of(pdf: bytes) -> list[str]:
    """The names of the places inside that it leads to."""
    found = [annotation.get_object() for page in read(pdf).pages for annotation in page.get("/Annots", [])]
    return [str(one.get("/A", {}).get("/D") or one.get("/Dest")) for one in found if "/URI" not in one.get("/A", {})]


def fonts_of(pdf: bytes) -> dict[str, bool]:
    """Its fonts, and whether each is embedded."""
    fonts: dict[str, bool] = {}
    for page in read(pdf).pages:
        resources: Any = page["/Resources"]
        for font in resources.get("/Font", {}).values():
            one: Any = font.get_object()
            inner = one["/DescendantFonts"][0].get_object() if "/DescendantFonts" in one else one
            descriptor = inner.get("/FontDescriptor")
            files = ("/FontFile", "/FontFile2", "/FontFile3")
            fonts[str(one["/BaseFont"])] = descriptor is not None and any(name in descriptor for name in files)
    return fonts
