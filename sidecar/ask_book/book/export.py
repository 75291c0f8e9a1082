"""A book in one folder that can be served anywhere: without its sources, Quarto, pandoc or secrets.

OUT/ask-book.yml     what the book is, and what its author set
OUT/manifest.json    the text of the book
OUT/index/           what questions are answered from
OUT/site/            the pages
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ask_book.book.configuration import EXPORT_FILE
from ask_book.book.edition import EDITION, Edition
from ask_book.book.project import EXPORT_VERSION, EXPORTED_SITE, Project
from ask_book.book.settings import SECTION, Settings
from ask_book.book.yaml_tree import read_yaml
from ask_book.errors import AskBookError
from ask_book.files import exchanged, locked

_HEAD = """\
# Made by `ask-book export`: `ask-book serve` on this folder serves the book. Settings may be changed below;
# what belongs to the machine, such as keys, goes into its environment or into a file `.env` beside this one.
"""


@dataclass(frozen=True)
class Export:
    """What was written, and what was not: each of `left_out` is a sentence."""

    out: str
    files: int
    bytes: int
    left_out: tuple[str, ...]


def export(project: Project, settings: Settings, edition: Edition, out: Path) -> Export:
    """Write the export beside `out`, then put it in its place: a reader of `out` sees the old one or the new one.

    The index of the edition is taken as it is, so it is built before. A file `.env` in `out` stays: it belongs to the
    machine. Raises `AskBookError`.
    """
    out = checked(project, edition, out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with locked(_lock(out), 0) as got:
            if not got:
                raise AskBookError(f"Another export to {out} is under way.", "Wait for its end.", "export")
            prefix = f".{out.name}.export-"
            for left_behind in [path for path in out.parent.iterdir() if path.name.startswith(prefix)]:
                shutil.rmtree(left_behind, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=prefix, dir=out.parent) as workshop:
                made = Path(workshop) / "new"
                made.mkdir()
                left_out = (*_fill(made, project, edition), *_of_this_machine(settings))
                files = [path for path in made.rglob("*") if path.is_file()]
                size = sum(path.stat().st_size for path in files)
                if (out / ".env").is_file():
                    _kept(out / ".env", made / ".env")
                _switch(made, out, Path(workshop) / "old")
    except OSError as error:
        # of several files that could not be copied, the first
        where, why = error.args[0][0][::2] if isinstance(error, shutil.Error) else (error.filename, error.strerror)
        raise AskBookError(
            f"The export to {out} came to nothing ({where or out}: {why}).",
            "What was there before is as it was.",
            "export",
        ) from None
    return Export(str(out), len(files), size, left_out)


def checked(project: Project, edition: Edition, out: Path) -> Path:
    """The folder that `out` names, absolute. Raises `AskBookError` where something else would be lost."""
    out = out.resolve()
    kept = {
        "the book": project.root,
        "its pages": edition.site,
        "its manifest": edition.manifest_path,
        "your home folder": Path.home(),
    }
    holds = next((what for what, path in kept.items() if path.resolve().is_relative_to(out)), None)
    written = (edition.site, edition.index_dir.parent, project.root / "_extensions")
    if holds or any(out.is_relative_to(folder.resolve()) for folder in written):
        why = f"it holds {holds}" if holds else "Quarto or ask-book writes there"
        raise AskBookError(f"{out} cannot be replaced by an export: {why}.", "Name a folder of its own.", "export")
    if out.exists() and not _is_ours(out):
        raise AskBookError(
            f"{out} is there already and is no export of ask-book.", "Name a new or an empty folder.", "export"
        )
    return out


def _is_ours(out: Path) -> bool:
    if not out.is_dir():
        return False
    with suppress(AskBookError, OSError):
        return bool(read_yaml(out / EXPORT_FILE).text_at("export"))
    return not any(out.iterdir())


def _lock(out: Path) -> Path:
    import platformdirs

    folder = platformdirs.user_cache_path("ask-book", appauthor=False)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"export-{sha256(os.fsencode(out)).hexdigest()[:16]}.lock"


def _fill(made: Path, project: Project, edition: Edition) -> Iterator[str]:
    """Write the files; yields what is left out, in words."""
    shutil.copyfile(edition.manifest_path, made / "manifest.json")
    _copied(edition.index_dir, made / "index")
    hidden, elsewhere = _copied(edition.site, made / EXPORTED_SITE)
    (made / EXPORT_FILE).write_text(_described(project, edition), encoding="utf-8", newline="\n")
    if hidden:
        what = "hidden file or folder" if hidden == 1 else "hidden files or folders"
        yield f"{hidden} {what} among the pages, which no server gives out"
    for link in elsewhere:
        yield f"{link}, a link that leads to nothing among the pages"


def _kept(source: Path, target: Path) -> None:
    """The same file, with its owner, where the disk has links."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copy2(source, target)


def _copied(source: Path, target: Path) -> tuple[int, list[Path]]:
    """Copy a folder. Returns what is not copied: how many hidden entries, and the links that lead out of it."""
    base = source.resolve()
    hidden = 0
    elsewhere: list[Path] = []

    def unwanted(folder: str, names: list[str]) -> list[str]:
        nonlocal hidden
        left = []
        for name in names:
            path = Path(folder) / name
            if name.startswith("."):
                hidden += 1
                left.append(name)
            elif path.is_symlink() and not (path.exists() and path.resolve().is_relative_to(base)):
                elsewhere.append(path)
                left.append(name)
        return left

    shutil.copytree(base, target, ignore=unwanted, copy_function=shutil.copyfile)
    return hidden, elsewhere


def _described(project: Project, edition: Edition) -> str:
    from ruamel.yaml import YAML

    written: dict[str, object] = {}
    tree = project.configuration.tree
    for section in (tree.get("extensions", SECTION), tree.get(SECTION)):
        if section is not None and section.is_mapping:
            written |= section.plain()
    yaml = YAML()
    yaml.width = 4096
    text = io.StringIO()
    yaml.dump(
        {
            "export": EXPORT_VERSION,
            EDITION: edition.kind,
            "book-id": project.book_id,
            "title": project.title,
            "authors": list(project.authors),
            "lang": project.lang,
            "site-url": project.site_url,
            SECTION: written,
        },
        text,
    )
    return _HEAD + text.getvalue()


def _of_this_machine(settings: Settings) -> Iterator[str]:
    """Settings of the environment and of `.env` belong to the machine, and may be secrets."""
    for name, where in settings.origins:
        if where.endswith((" (.env)", " (environment)")):
            yield f"the setting `{name}` of {where}: set it where the book is served"


def _switch(made: Path, out: Path, old: Path) -> None:
    if exchanged(made, out):
        return
    if out.exists():
        out.rename(old)
    try:
        made.rename(out)
    except OSError:
        if old.exists():
            old.rename(out)
        raise
