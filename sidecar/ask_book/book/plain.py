"""The plain rendition: pages and manifest of a book that Quarto has not rendered.

Everything is made in a staging folder, then moved into place file by file, the manifest last: a
run that is cut short leaves what was there. A stamp of every file that was read says when there is
nothing to do.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ask_book import __version__
from ask_book.book.pandoc import Pandoc, run_lua
from ask_book.book.project import Project
from ask_book.book.settings import settings_of
from ask_book.book.yaml_tree import Node, read_yaml
from ask_book.files import locked, write_atomically
from ask_book.resources import extension_dir

Progress = Callable[[str], None]
_VARIABLES = "_variables.yml"
_WORTH_SHARING = 8
_MOST_SHARES = 4


@dataclass(frozen=True)
class _Folders:
    """Where the pieces of a plain rendition are."""

    root: Path

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def stamp(self) -> Path:
        return self.root / "stamp.json"

    @property
    def staging(self) -> Path:
        return self.root / "staging"


def plain_site(project: Project) -> Path:
    """The folder of the plain pages."""
    return _Folders(project.cache_dir).site


def plain_manifest(project: Project) -> Path:
    """The manifest of the plain pages."""
    return _Folders(project.cache_dir).manifest


def make_plain(project: Project, pandoc: Pandoc, progress: Progress) -> None:
    """Make or refresh the plain pages and their manifest in `project.cache_dir`.

    Two runs at once take turns. Raises `AskBookError` when pandoc fails; the old rendition then stays.
    """
    folders = _Folders(project.cache_dir)
    folders.root.mkdir(parents=True, exist_ok=True)
    with locked(folders.root / "lock", timeout=math.inf):
        if _is_current(folders, pandoc, project):
            return
        progress(f"Making plain pages of {len(project.chapters)} chapters with {pandoc.origin} {pandoc.version}")
        made = _render(project, pandoc, folders)
        progress("Cutting the pages into passages")
        _cut(project, pandoc, folders, made["chapters"])
        resources = _safe_files(project.root, made["resources"])
        _publish(project, folders, resources)
        _write_stamp(folders, pandoc, project, [*made["inputs"], *resources])


def _render(project: Project, pandoc: Pandoc, folders: _Folders) -> dict[str, Any]:
    job = folders.staging / "plain.json"
    settings = _without_nulls(_plain_job(project, pandoc, folders))
    _write_json(job, settings)
    if not (folders.staging / "fragments").is_dir() and len(project.chapters) >= _WORTH_SHARING:
        _render_shares(project, pandoc, folders, settings)
    result: dict[str, Any] = json.loads(run_lua(pandoc, "plain.lua", job, project.root))
    return result


def _render_shares(project: Project, pandoc: Pandoc, folders: _Folders, settings: dict[str, Any]) -> None:
    """Render the chapters of a whole book in several processes; the last run finds them rendered."""
    count = min(os.cpu_count() or 1, _MOST_SHARES)
    jobs = [folders.staging / f"share-{at}.json" for at in range(count)]
    for at, job in enumerate(jobs):
        _write_json(job, {**settings, "share": {"at": at, "of": count}})
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda job: run_lua(pandoc, "plain.lua", job, project.root), jobs))
    for job in jobs:
        job.unlink()


def _plain_job(project: Project, pandoc: Pandoc, folders: _Folders) -> dict[str, Any]:
    tree = project.configuration.tree
    variables = project.root / _VARIABLES
    config = _html_config(tree)
    config["lang"] = project.lang
    return {
        "project": str(project.root),
        "site": str(folders.staging / "site"),
        "pages": str(folders.staging / "pages"),
        "fragments": str(folders.staging / "fragments"),
        "version": f"{__version__} {_code_stamp()} {pandoc.version}",
        "config": config,
        "variables": read_yaml(variables).plain() if variables.is_file() else {},
        "profiles": list(project.configuration.profiles),
        "book": {
            "title": project.title,
            "subtitle": tree.text_at("book", "subtitle"),
            "description": tree.text_at("book", "description"),
            "authors": list(project.authors),
            "lang": project.lang,
        },
        "chapters": _chapters(project),
        "page": _page_config(project),
    }


def _without_nulls(value: Any) -> Any:
    """`value` without the keys that say nothing: pandoc's JSON has a null that Lua takes for something."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value


def _html_config(tree: Node) -> dict[str, Any]:
    """The configuration with what holds for HTML pages on top, without what pages do not depend on."""
    config: dict[str, Any] = tree.plain()
    formats = config.pop("format", None)
    html = formats.get("html") if isinstance(formats, dict) else None
    config.pop("ask-book", None)
    return {**config, **html} if isinstance(html, dict) else config


def _chapters(project: Project) -> list[dict[str, Any]]:
    parts = set(_part_pages(project.configuration.tree.get("book", "chapters")))
    chapters: list[dict[str, Any]] = []
    for chapter in project.chapters:
        path = PurePosixPath(chapter.file)
        if path.parent == PurePosixPath(".") and path.stem == "index":
            kind = "home"
        elif chapter.file in parts:
            kind = "part"
        else:
            kind = "appendix" if chapter.appendix else "chapter"
        chapters.append(
            {
                "file": chapter.file,
                "href": path.with_suffix(".html").as_posix(),
                "kind": kind,
                "part": chapter.part,
                "title": chapter.title,
            }
        )
    return chapters


def _part_pages(node: Node | None) -> Iterator[str]:
    for item in node.items() if node else ():
        if item.is_mapping:
            yield PurePosixPath(item.text_at("part").replace("\\", "/")).as_posix()
            yield from _part_pages(item.get("chapters"))


def _page_config(project: Project) -> dict[str, Any]:
    settings = settings_of(project.configuration, {})
    return {
        "version": __version__,
        "book": {"id": project.book_id, "title": project.title, "lang": project.lang, "authors": list(project.authors)},
        "endpoint": settings.endpoint,
        "shortcut": settings.shortcut,
        "suggestions": list(settings.suggestions),
        "texts": dict(settings.texts),
    }


def _cut(project: Project, pandoc: Pandoc, folders: _Folders, chapters: Sequence[dict[str, Any]]) -> None:
    job = folders.staging / "build.json"
    site = folders.staging / "site"
    _write_json(
        job,
        {
            "site": str(site),
            "manifest": str(folders.staging / "manifest.json"),
            "book_js": str(site / "ask-book" / "book.js"),
            "cache": str(folders.root / "cut"),
            "book": {
                "id": project.book_id,
                "title": project.title,
                "authors": list(project.authors),
                "lang": project.lang,
                "site_url": project.site_url,
                "output_name": project.output_dir.name,
            },
            "chapters": [{key: value for key, value in chapter.items() if value} for chapter in chapters],
        },
    )
    run_lua(pandoc, "build.lua", job, project.root)


def _safe_files(root: Path, names: Sequence[str]) -> list[str]:
    """Those of the files that are there and, links followed, inside the project; hidden ones are left out."""
    inside = root.resolve()
    safe = []
    for name in names:
        path = root / name
        hidden = any(part.startswith((".", "_")) for part in PurePosixPath(name).parts)
        try:
            if not hidden and path.is_file() and path.resolve().is_relative_to(inside):
                safe.append(name)
        except (OSError, ValueError):
            continue
    return safe


def _publish(project: Project, folders: _Folders, resources: Sequence[str]) -> None:
    """Move the staged pages into place, and nothing else stays there."""
    assets = extension_dir()
    wanted: dict[str, Path] = {name: project.root / name for name in resources}
    wanted |= {f"ask-book/widget/{name}": path for name, path in _widget(folders.staging / "widget").items()}
    wanted |= {f"ask-book/{name}": assets / "plain" / name for name in _files_under(assets / "plain")}
    wanted |= {chapter["href"]: folders.staging / "pages" / chapter["href"] for chapter in _chapters(project)}
    wanted["ask-book/book.js"] = folders.staging / "site/ask-book/book.js"
    for name, origin in wanted.items():
        _replace(origin, folders.site / name)
    for name in _files_under(folders.site):
        if name not in wanted:
            (folders.site / name).unlink()
    _replace(folders.staging / "manifest.json", folders.manifest)


def _widget(staging: Path) -> dict[str, Path]:
    """The files of the widget that pages load, by name: `bundles.json` says which sources become one of them."""
    source = extension_dir() / "widget"
    bundles: dict[str, list[str]] = json.loads((source / "bundles.json").read_text(encoding="utf-8"))
    inside = {part for parts in bundles.values() for part in parts}
    alone = [name for name in _files_under(source) if name.endswith((".js", ".css")) and name not in inside]
    staging.mkdir(parents=True, exist_ok=True)
    for name, parts in bundles.items():
        (staging / name).write_bytes(b"".join((source / part).read_bytes() for part in parts))
    return {name: source / name for name in alone} | {name: staging / name for name in bundles}


def _files_under(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]


def _replace(origin: Path, target: Path) -> None:
    """Copy a file in one step, unless the copy is already the same."""
    source = origin.stat()
    if target.is_file():
        copy = target.stat()
        if (copy.st_size, copy.st_mtime_ns) == (source.st_size, source.st_mtime_ns):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.new")
    shutil.copyfile(origin, temporary)
    os.utime(temporary, ns=(source.st_atime_ns, source.st_mtime_ns))
    temporary.replace(target)


def _code_stamp() -> int:
    """Changes when the code that makes the pages does."""
    lua = extension_dir() / "lua"
    return max(path.stat().st_mtime_ns for path in lua.rglob("*") if path.is_file())


def _identity(pandoc: Pandoc, project: Project) -> dict[str, Any]:
    return {
        "version": __version__,
        "code": _code_stamp(),
        "pandoc": pandoc.version,
        "project": str(project.root),
        "book": project.book_id,
        "widget": _files_stamp(
            extension_dir(), [f"widget/{name}" for name in _files_under(extension_dir() / "widget")]
        ),
    }


def _files_stamp(root: Path, names: Sequence[str]) -> dict[str, list[int] | None]:
    stamps: dict[str, list[int] | None] = {}
    for name in names:
        try:
            state = (root / name).stat()
            stamps[name] = [state.st_size, state.st_mtime_ns]
        except OSError:
            stamps[name] = None
    return stamps


def _write_stamp(folders: _Folders, pandoc: Pandoc, project: Project, names: Sequence[str]) -> None:
    configuration = [Path(os.path.relpath(path, project.root)).as_posix() for path in project.config_files]
    every = sorted({*names, *configuration, _VARIABLES})
    _write_json(
        folders.stamp,
        {
            "made_by": _identity(pandoc, project),
            "files": _files_stamp(project.root, every),
            "made": _files_stamp(folders.root, _made(project)),
        },
    )


def _made(project: Project) -> list[str]:
    """What a rendition cannot do without, relative to its folder."""
    return ["manifest.json", "site/ask-book/book.js", *(f"site/{chapter['href']}" for chapter in _chapters(project))]


def _is_current(folders: _Folders, pandoc: Pandoc, project: Project) -> bool:
    try:
        stamp = json.loads(folders.stamp.read_bytes())
        made_by, files, made = stamp["made_by"], stamp["files"], stamp["made"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(
        made_by == _identity(pandoc, project)
        and files == _files_stamp(project.root, list(files))
        and made == _files_stamp(folders.root, list(made))
    )


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(value, ensure_ascii=False).encode())
