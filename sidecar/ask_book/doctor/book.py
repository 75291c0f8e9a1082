"""The book: its extension, its pages, its index, its secrets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ask_book import __version__
from ask_book.book import install
from ask_book.book.edition import rendered_edition
from ask_book.book.plain import plain_manifest
from ask_book.book.yaml_tree import read_yaml
from ask_book.doctor.finding import Finding, Patient
from ask_book.errors import AskBookError

_RENDER = "Render it: `quarto render`."
_BIN = "Scripts/ask-book.exe" if sys.platform == "win32" else "bin/ask-book"


def check_extension(patient: Patient) -> Iterator[Finding]:
    """The extension in the book: there, listed, whole and of this version."""
    configuration = patient.project.configuration
    if configuration.is_export:
        yield Finding("extension", "ok", "This is an exported book: it needs no extension.")
        return
    found, listed = install.find_extension(configuration.root), install.filters_listed(configuration.tree)
    if found is None and listed is None:
        message = "The book does not have the extension: its pages have no panel."
        yield Finding("extension", "note", message, "For the panel: `ask-book init`.")
    elif found is None and listed is not None:
        message = (
            f"{listed.where}: the filter is listed, but the extension is not there: Quarto cannot render the book."
        )
        yield Finding("extension", "broken", message, "Copy it into the book: `ask-book init`.")
    elif found and listed is None:
        message = f"The extension is there ({found.path}), but not listed under `filters`: it does nothing."
        yield Finding("extension", "note", message, "List it: `ask-book init`.")
    elif found and (notice := install.version_notice(configuration.root)):
        message, _, todo = notice.message.partition(". ")
        yield Finding("extension", "note", f"{message}.", todo)
    elif found and not found.same and not found.linked:
        message = f"The extension in the book ({found.path}) is not as it came with ask-book {__version__}."
        yield Finding("extension", "note", message, "If nobody changed it on purpose: `ask-book init`.")
    elif found and listed:
        yield Finding("extension", "ok", f"version {found.version}, listed in {listed.where}")


def check_hooks(patient: Patient) -> Iterator[Finding]:
    """What a render calls before and after it."""
    root = patient.project.root
    extension = install.find_extension(root)
    if extension is None:
        return
    hooks = read_yaml(extension.path / "_extension.yml").get("contributes", "metadata", "project")
    missing = [name for name in ("pre-render", "post-render") if hooks is None or hooks.get(name) is None]
    if missing or not (extension.path / "hooks.js").is_file():
        message = f"The hooks of the extension are not whole ({', '.join(missing) or 'hooks.js'} is missing)."
        yield Finding("hooks", "broken", message, "Copy the extension again: `ask-book init`.")
        return
    if patient.env.get("ASK_BOOK", "").lower() == "off":
        yield Finding("hooks", "note", "ASK_BOOK is `off`: a render starts no sidecar.", "Take it away to have one.")
    elif sidecar := _sidecar_of_a_render(root, patient.env):
        command, origin = sidecar
        yield from _judged(command, origin)
    else:
        message = "A render would find no sidecar: the package is in no environment that it looks in."
        mine = Path(sys.executable).with_name(Path(_BIN).name)
        todo = f"Name it, `ASK_BOOK={mine}`, or have it on the PATH or in a folder `.venv` of the book."
        yield Finding("hooks", "note", message, todo)


def _sidecar_of_a_render(root: Path, env: Mapping[str, str]) -> tuple[list[str], str] | None:
    """The command that hooks.js takes, and where it found it. The order is that of `findSidecar` there."""
    if named := env.get("ASK_BOOK"):
        on_path = shutil.which(named, path=env.get("PATH"))
        return [str(root / named) if "/" in named or "\\" in named else on_path or named], "ASK_BOOK"
    places = [(root / name, f"the project's {name}") for name in (".venv", "venv", "env")]
    places += [(Path(env[name]), name) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if env.get(name)]
    for folder, origin in places:
        if (folder / _BIN).is_file():
            return [str(folder / _BIN)], origin
    if on_path := shutil.which("ask-book", path=env.get("PATH")):
        return [on_path], "the PATH"
    python = env.get("QUARTO_PYTHON")
    return ([python, "-m", "ask_book"], "QUARTO_PYTHON") if python else None


def _judged(command: list[str], origin: str) -> Iterator[Finding]:
    try:
        done = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, timeout=20, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        message = f"A render would start the sidecar of {origin}, which does not run ({' '.join(command)})."
        yield Finding("hooks", "broken", message, "Install ask-book there again, or name another in ASK_BOOK.")
        return
    version = done.stdout.strip().removeprefix("ask-book ")
    if version == __version__:
        yield Finding("hooks", "ok", f"a render starts the sidecar of {origin} ({' '.join(command)})")
    else:
        message = f"A render starts ask-book {version} of {origin}, this is {__version__}."
        yield Finding("hooks", "note", message, f"Upgrade the one in {origin}.")


def check_pages(patient: Patient) -> Iterator[Finding]:
    """Which edition questions are answered from."""
    project = patient.project
    edition = rendered_edition(project)
    if edition is None and project.configuration.is_export:
        message = "The exported book is not whole: its manifest or one of its pages is missing."
        yield Finding("pages", "broken", message, "Export it again.")
    elif edition is None and not project.chapters:
        yield Finding("pages", "broken", "The website has no pages made with ask-book yet.", _RENDER)
    elif edition is None:
        made = plain_manifest(project).is_file()
        message = "The book is read in a plain rendition" + ("" if made else ", which is made at the first question")
        yield Finding("pages", "note", f"{message}.", "For its own pages, render it with the extension listed.")
    elif edition.notices:
        yield Finding("pages", "note", edition.notices[0].message, _RENDER)
    elif not project.configuration.is_export and not (edition.site / "ask-book" / "book.js").is_file():
        message = f"{edition.site / 'ask-book' / 'book.js'} is missing: published pages cannot answer."
        yield Finding("pages", "broken", message, _RENDER)
    else:
        chapters = json.loads(edition.manifest_path.read_bytes())["chapters"]
        yield Finding("pages", "ok", f"{len(chapters)} pages in {edition.site}")


def check_secrets(patient: Patient) -> Iterator[Finding]:
    """A `.env` that others could read."""
    path = patient.project.root / ".env"
    if not path.is_file():
        return
    if _is_in_git(path):
        message = f"{path} is under version control, with the keys in it."
        todo = "Take it out (`git rm --cached .env`), list it in .gitignore, and have new keys made."
        yield Finding("secrets", "broken", message, todo)
    elif os.name == "posix" and path.stat().st_mode & 0o044 and "ASK_BOOK_API_KEY" in patient.dotenv:
        message = f"Other users of this machine can read the key in {path}."
        yield Finding("secrets", "note", message, "Keep them out: `chmod 600 .env`.")
    else:
        yield Finding("secrets", "ok", f"{path} is not under version control")


def _is_in_git(path: Path) -> bool:
    git = shutil.which("git")
    if git is None:
        return False
    command = [git, "-C", str(path.parent), "ls-files", "--error-unmatch", path.name]
    try:
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def check_folders(patient: Patient) -> Iterator[Finding]:
    """The folders that ask-book writes in."""
    from ask_book.daemon.state import state_folder

    try:
        state_folder(patient.project)
    except AskBookError as error:
        yield Finding("folders", "broken", error.message, error.hint)
    cache = patient.project.cache_dir
    nearest = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        message = f"The cache folder cannot be written: {nearest}."
        yield Finding("folders", "broken", message, "Make it writable, or set XDG_CACHE_HOME to another folder.")
