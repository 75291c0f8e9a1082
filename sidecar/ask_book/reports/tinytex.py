"""Finding TinyTeX: what Quarto itself says, the places where it is put on the three systems, and the PATH."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

ENGINES = ("xelatex", "lualatex", "pdflatex")
QUARTO_SECONDS = 20


def find_bin(env: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The folder of TinyTeX's programs; None where there is no TinyTeX."""
    return next(filter(_has_engine, (*_what_quarto_says(env), *known_bins(env, platform))), None)


def known_bins(env: Mapping[str, str], platform: str = sys.platform) -> Iterator[Path]:
    """Where a TinyTeX would have its programs, by its own installer and by Quarto's."""
    for root in _roots(env, platform):
        if platform == "win32":
            yield from (root / "bin" / name for name in ("win32", "windows"))
        else:
            with_programs = root / "bin"
            yield from sorted(with_programs.iterdir()) if with_programs.is_dir() else ()


def with_bin(path: str, folder: Path | None) -> str:
    """A PATH that begins with `folder`."""
    return os.pathsep.join(filter(None, (str(folder) if folder else "", path)))


def engines(path: str) -> dict[str, str]:
    """The TeX engines on a PATH, in the order in which they are tried."""
    found = ((name, shutil.which(name, path=path)) for name in ENGINES)
    return {name: program for name, program in found if program}


def might_make_pdf(env: Mapping[str, str]) -> bool:
    """Whether there seems to be a pandoc and a TeX engine: a look at files, for those who cannot wait."""
    path = os.pathsep.join((env.get("PATH", ""), *map(str, known_bins(env))))
    pandocs = (*(shutil.which(name, path=path) for name in ("quarto", "pandoc")), find_spec("pypandoc"))
    return any(pandocs) and bool(engines(path))


def _roots(env: Mapping[str, str], platform: str) -> Iterator[Path]:
    home = Path(env.get("HOME") or env.get("USERPROFILE") or Path.home())
    if platform == "win32":
        places = [env.get(name, "") for name in ("APPDATA", "ProgramData", "LOCALAPPDATA")]
        yield from (Path(place) / "TinyTeX" for place in places if place)
        data = [Path(place) for place in (places[2], places[0]) if place]
    elif platform == "darwin":
        yield from (home / "Library" / "TinyTeX", home / ".TinyTeX")
        data = [home / "Library" / "Application Support"]
    else:
        yield home / ".TinyTeX"
        data = [Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")]
    for tools in (folder / "quarto" / name for folder in data for name in ("", "tools", "tools/tinytex")):
        yield from (tools / name for name in ("TinyTeX", ".TinyTeX", "tinytex"))


def _what_quarto_says(env: Mapping[str, str]) -> Iterator[Path]:
    quarto = shutil.which("quarto", path=env.get("PATH"))
    if quarto is None:
        return
    try:
        done = subprocess.run(
            [quarto, "tools", "info", "tinytex"],
            env=dict(env),
            capture_output=True,
            timeout=QUARTO_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return
    folder = said.get("bin-directory") if isinstance(said, dict) and said.get("installed") else None
    if isinstance(folder, str) and folder:
        yield Path(folder)


def _has_engine(folder: Path) -> bool:
    return bool(engines(str(folder)))
