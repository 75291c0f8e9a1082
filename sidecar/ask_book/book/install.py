"""Put the extension into a book and list it in `_quarto.yml`, or take both out again.

The configuration is edited as text, at the places where the YAML parser saw its parts, so every other byte stays.
Each way of listing the filter leaves its own trace, from which `without_filter` knows what was there before:

    (nothing)              filters: [ask-book]        a line of its own
    filters:               - ask-book                 the only item of a block list
    filters: []            [ ask-book]
    filters: other         [other, ask-book]          last of two
    filters: [other]       [ask-book, other]          first
    - other                - ask-book / - other       a line before the others
"""

from __future__ import annotations

import difflib
import filecmp
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask_book import __version__
from ask_book.book.configuration import Configuration
from ask_book.book.notice import Notice
from ask_book.book.yaml_tree import Node, compose, parse_yaml, read_text, read_yaml
from ask_book.errors import AskBookError
from ask_book.files import write_atomically
from ask_book.resources import extension_dir

FILTER = "ask-book"
LINE = f"filters: [{FILTER}]"
_IGNORED = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")


@dataclass(frozen=True)
class Edit:
    """A configuration file before and after."""

    path: Path
    before: str
    after: str

    @property
    def difference(self) -> str:
        """The edit as a unified diff, "" when nothing changes."""
        before, after = (text.replace("\r\n", "\n").split("\n") for text in (self.before, self.after))
        name = self.path.name
        return "\n".join(difflib.unified_diff(before, after, name, f"{name} (new)", n=2, lineterm=""))


@dataclass(frozen=True)
class Extension:
    """An installed copy. `same` as the one that travels with this package; `linked`: reached by a symbolic link, so
    what it points to is not ours to change."""

    path: Path
    version: str
    same: bool
    linked: bool


def filters_listed(tree: Node) -> Node | None:
    """The node that lists our filter, at the top level or under a format."""
    formats = tree.get("format")
    places: list[Node] = [tree, *(formats.value.values() if formats and formats.is_mapping else ())]
    for place in places:
        if node := place.get("filters"):
            for item in node.items():
                if _is_ours(item.text or item.text_at("path")):
                    return item
    return None


def plan_listing(configuration: Configuration) -> Edit:
    """`_quarto.yml` with the filter listed. Nothing changes when the configuration lists it already."""
    if configuration.is_export:
        raise AskBookError(
            f"{configuration.root} is an exported book: its pages are as they were rendered.",
            "Use `ask-book init` where its sources are, render it there, and export it again.",
            "export",
        )
    path = configuration.main_file
    before = read_text(path, keep_bom=True)
    listed = filters_listed(configuration.tree)
    return Edit(path, before, before if listed else with_filter(before, path))


def plan_unlisting(configuration: Configuration) -> Edit:
    """`_quarto.yml` without the filter. Raises `AskBookError` where it would still be listed."""
    path = configuration.main_file
    before = read_text(path, keep_bom=True)
    edit = Edit(path, before, without_filter(before, path))
    others = {*configuration.files[1:], *configuration.root.glob("_quarto-*.y*ml")}
    rest = [parse_yaml(edit.after, path), *map(read_yaml, sorted(others))]
    if left := next(filter(None, map(filters_listed, rest)), None):
        raise AskBookError(
            f"{left.where}: the filter is listed here, too, which is no line that `ask-book init` wrote.",
            "Take it out yourself, then try again: a book that lists a filter which is not there cannot be rendered.",
            "install",
        )
    return edit


def apply(edit: Edit) -> None:
    """Write an edit, if it changes anything."""
    if edit.after != edit.before:
        try:
            write_atomically(edit.path.resolve(), edit.after.encode("utf-8"))
        except OSError as error:
            raise AskBookError(f"{edit.path} cannot be written ({error.strerror}).", "Nothing was changed.") from None


def find_extension(root: Path) -> Extension | None:
    """The extension in a project: `_extensions/ask-book`, or `_extensions/<owner>/ask-book`."""
    base = root / "_extensions"
    for path in (base / FILTER, *sorted(base.glob(f"*/{FILTER}"))):
        manifest = path / "_extension.yml"
        if manifest.is_file():
            linked = path.resolve() != root.resolve() / path.relative_to(root)
            return Extension(path, read_yaml(manifest).text_at("version"), _same_tree(path, extension_dir()), linked)
    return None


def version_notice(root: Path, mine: str = __version__) -> Notice | None:
    """What to do when the project's copy of the extension is of another version than this package."""
    found = find_extension(root)
    if found is None or found.version == mine:
        return None
    if is_newer(found, mine):
        todo = "Upgrade ask-book: `pip install --upgrade ask-book`."
    else:
        todo = "Bring the extension up to date with `ask-book init`, then render the book."
    theirs = f"version {found.version}" if found.version else "no version that can be read"
    return Notice("extension_version", f"The book's extension has {theirs}, this is ask-book {mine}. {todo}")


def is_newer(extension: Extension, mine: str = __version__) -> bool:
    """Whether the project's copy comes from a later version of this package."""
    return _numbers(extension.version) > _numbers(mine)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def install_extension(root: Path) -> Path:
    """Copy the extension that this package carries into the project, in place of an older copy."""
    found = find_extension(root)
    target = found.path if found else root / "_extensions" / FILTER
    if found and (found.same or found.linked):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".ask-book-", dir=root) as folder:
            shutil.copytree(extension_dir(), Path(folder) / "new", ignore=_IGNORED)
            if target.exists():
                target.rename(Path(folder) / "old")
            (Path(folder) / "new").rename(target)
    except OSError as error:
        raise AskBookError(f"The extension cannot be copied to {target} ({error.strerror}).") from None
    return target


def remove_extension(root: Path) -> Path | None:
    """Delete the project's copy of the extension, and the folders that this leaves empty."""
    found = find_extension(root)
    if found is None or found.linked:
        return None
    shutil.rmtree(found.path)
    for parent in found.path.parents:
        if parent == root or any(parent.iterdir()):
            break
        parent.rmdir()
    return found.path


def with_filter(text: str, path: Path) -> str:
    """The YAML `text` with our filter in its top-level `filters`. Raises `AskBookError` where that is not safe."""
    bom, body = _split_bom(text)
    raw = compose(body, path)
    for change in _ways_to_add(body, raw):
        after = change()
        if _adds_only_ours(body, after, path) and without_filter(after, path) == body:
            return bom + after
    todo = f"Put `{FILTER}` into its `filters:` yourself, as in" if _filters_pair(raw) else "Add the line yourself:"
    raise AskBookError(
        f"{path} is written in a way that cannot be edited safely.",
        f"{todo} {LINE}\n  Then run `ask-book init` again, which copies the extension.",
        "install",
    )


def without_filter(text: str, path: Path) -> str:
    """The YAML `text` as it was before `with_filter`."""
    bom, body = _split_bom(text)
    pair = _filters_pair(compose(body, path))
    if pair is None:
        return text
    key, value = pair
    items = value.value if value.id == "sequence" else []
    ours = next((item for item in items if item.id == "scalar" and _is_ours(item.value)), None)
    if ours is None:
        return text
    start, end = ours.start_mark.index, ours.end_mark.index
    if not value.flow_style:
        dash = body.rindex("-", 0, start)
        return bom + _without_line(body, dash)
    if len(items) == 1:
        if body[value.start_mark.index + 1 : start] == " ":
            return bom + body[: start - 1] + body[end:]
        return bom + _without_pair(body, key, value)
    if len(items) == 2 and items[1] is ours:
        other = body[items[0].start_mark.index : items[0].end_mark.index]
        return bom + body[: value.start_mark.index] + other + body[value.end_mark.index :]
    if ours is items[-1]:
        return bom + body[: items[-2].end_mark.index] + body[end:]
    return bom + body[:start] + body[items[items.index(ours) + 1].start_mark.index :]


def _ways_to_add(body: str, raw: Any) -> list[Callable[[], str]]:
    """Candidate texts, best first: the caller takes the first that parses to what is wanted."""
    if raw is not None and not (raw.id == "mapping" and raw.value):
        return []
    pair = _filters_pair(raw)
    eol = "\r\n" if "\r\n" in body else "\n"
    if pair is None:
        if raw is not None and raw.flow_style:
            quoted = '"' if body[raw.value[0][0].start_mark.index] == '"' else ""
            line = f"{quoted}filters{quoted}: [{quoted}{FILTER}{quoted}], "
            return [lambda: _insert(body, raw.value[0][0].start_mark.index, line)]
        indent = " " * (raw.start_mark.column if raw is not None else 0)
        at_end = f"{indent}{LINE}{eol}" if not body or body.endswith("\n") else f"{eol}{indent}{LINE}"
        return [
            lambda: body + at_end,
            lambda: _insert(body, raw.value[0][0].start_mark.index, f"{LINE}{eol}{indent}"),
        ]
    key, value = pair
    start, end = value.start_mark.index, value.end_mark.index
    if value.id == "scalar" and start == end:
        line_end = body.find("\n", key.end_mark.index)
        return [
            lambda: f"{body}{eol}  - {FILTER}" if line_end < 0 else _insert(body, line_end + 1, f"  - {FILTER}{eol}")
        ]
    if value.id == "scalar":
        return [lambda: f"{body[:start]}[{body[start:end]}, {FILTER}]{body[end:]}"]
    if value.id != "sequence":
        return []
    if value.flow_style:
        if not value.value:
            return [lambda: _insert(body, start + 1, f" {FILTER}")]
        return [lambda: _insert(body, value.value[0].start_mark.index, f"{FILTER}, ")]
    indent = body[body.rfind("\n", 0, start) + 1 : start]
    return [lambda: _insert(body, start, f"- {FILTER}{eol}{indent}")]


def _filters_pair(raw: Any) -> tuple[Any, Any] | None:
    pairs = raw.value if raw is not None and raw.id == "mapping" else []
    return next((pair for pair in pairs if pair[0].value == "filters"), None)


def _adds_only_ours(before: str, after: str, path: Path) -> bool:
    """Whether the file says all it said before, in the same order, and lists our filter."""
    said = parse_yaml(before, path).plain()
    try:
        says = parse_yaml(after, path).plain()
    except AskBookError:
        return False
    filters = says.pop("filters", None)
    others = said.pop("filters", None)
    others = others if isinstance(others, list) else [] if others is None else [others]
    return bool(
        said == says
        and isinstance(filters, list)
        and FILTER in filters
        and others == [name for name in filters if name != FILTER]
    )


def _without_line(body: str, inside: int) -> str:
    """`body` without the line around a position; the last line takes the line break before it along."""
    start, end = body.rfind("\n", 0, inside) + 1, body.find("\n", inside) + 1
    if end == 0:
        return body[:start].removesuffix("\n").removesuffix("\r")
    return body[:start] + body[end:]


def _without_pair(body: str, key: Any, value: Any) -> str:
    start, rest = key.start_mark.index, body[value.end_mark.index :]
    # in a flow mapping it is the first of several pairs
    return body[:start] + rest[1:].lstrip(" ") if rest.startswith(",") else _without_line(body, start)


def _insert(body: str, at: int, what: str) -> str:
    return body[:at] + what + body[at:]


def _split_bom(text: str) -> tuple[str, str]:
    return ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)


def _is_ours(name: str) -> bool:
    return re.fullmatch(rf"(?:.*/)?{FILTER}(?:\.lua)?", name) is not None


def _files(folder: Path) -> Mapping[str, Path]:
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
    }


def _same_tree(one: Path, other: Path) -> bool:
    mine, theirs = _files(one), _files(other)
    return mine.keys() == theirs.keys() and all(
        filecmp.cmp(path, theirs[name], shallow=False) for name, path in mine.items()
    )
