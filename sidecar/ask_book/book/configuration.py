"""The files that make up a project's configuration, merged as Quarto merges them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ask_book.book.yaml_tree import Node, merge, read_yaml
from ask_book.errors import AskBookError

PROFILE_VARIABLE = "QUARTO_PROFILE"
EXPORT_FILE = "ask-book.yml"


@dataclass(frozen=True)
class Configuration:
    """`tree`: the merged configuration; `files`: what it was read from; `profiles`: the active ones."""

    root: Path
    tree: Node
    files: tuple[Path, ...]
    profiles: tuple[str, ...]

    @property
    def main_file(self) -> Path:
        """The `_quarto.yml` of the project."""
        return self.files[0]

    @property
    def is_export(self) -> bool:
        """Whether this is a book without its sources, as `ask-book export` makes them."""
        return self.main_file.name == EXPORT_FILE

    @property
    def profile(self) -> str:
        """The name of the folder that holds what belongs to these profiles."""
        return "+".join(self.profiles) or "default"


def find_root(folder: Path) -> Path:
    """The project that `folder` is in: like Quarto, the nearest folder upwards with a `_quarto.yml`. Or an export."""
    start = folder.resolve()
    if not start.is_dir():
        what = "is a file, not a folder" if start.exists() else "does not exist"
        raise AskBookError(f"{folder} {what}.", "Give the folder that holds the book's _quarto.yml.", "no_project")
    for candidate in (start, *start.parents):
        if _first(candidate, "_quarto.yml", "_quarto.yaml", EXPORT_FILE):
            return candidate
    raise AskBookError(
        f"There is no _quarto.yml in {start}, nor in a folder above it.",
        "Go to the book's folder, or name it: `--book DIR`.",
        "no_project",
    )


def load_configuration(root: Path, env: Mapping[str, str]) -> Configuration:
    """Read `_quarto.yml`, its `metadata-files`, the files of the active profiles and `_quarto.yml.local`.

    Of an export, the one file that takes their place.
    """
    main = _first(root, "_quarto.yml", "_quarto.yaml")
    if main is None and (exported := _first(root, EXPORT_FILE)):
        return Configuration(root, _read_mapping(exported), (exported,), ())
    if main is None:
        raise AskBookError(f"There is no _quarto.yml in {root}.", "Give the book's folder.", "no_project")
    files = [main]
    tree = _read_mapping(main)
    for included in _included(root, tree):
        files.append(included)
        tree = merge(tree, _read_mapping(included))
    local = _first(root, "_quarto.yml.local", "_quarto.yaml.local")
    profiles = _active_profiles(tree, _read_mapping(local) if local else None, env)
    # The first profile named wins, so it is merged last.
    for name in reversed(profiles):
        if profile_file := _first(root, f"_quarto-{name}.yml", f"_quarto-{name}.yaml"):
            files.append(profile_file)
            tree = merge(tree, _read_mapping(profile_file))
    if local:
        files.append(local)
        tree = merge(tree, _read_mapping(local))
    return Configuration(root, tree, tuple(files), profiles)


def _first(folder: Path, *names: str) -> Path | None:
    return next((path for name in names if (path := folder / name).is_file()), None)


def _read_mapping(path: Path) -> Node:
    node = read_yaml(path)
    if node.value is None:
        return Node({}, path, 1)
    if not node.is_mapping:
        raise AskBookError(f"{node.where}: this must be `key: value` lines.", "Correct the file.", "yaml")
    return node


def _included(root: Path, tree: Node) -> list[Path]:
    nodes = [node for key in ("metadata-file", "metadata-files") if (found := tree.get(key)) for node in found.items()]
    return [path for node in nodes if node.text and (path := root / node.text).is_file()]


def _active_profiles(tree: Node, local: Node | None, env: Mapping[str, str]) -> tuple[str, ...]:
    """Order of authority: the environment, `_quarto.yml.local`, `profile: default`; then one of each group."""
    default = (local and local.get("profile", "default")) or tree.get("profile", "default")
    named = env.get(PROFILE_VARIABLE) or ",".join(node.text for node in (default.items() if default else ()))
    active = [name for name in re.split(r"[ ,]+", named) if name]
    for group in _groups(tree.get("profile", "group")):
        if group and not set(group) & set(active):
            active.append(group[0])
    return tuple(active)


def _groups(node: Node | None) -> list[list[str]]:
    if node is None or not node.is_list:
        return []
    if all(item.is_list for item in node.value):
        return [[name.text for name in item.value] for item in node.value]
    return [[name.text for name in node.value]]
