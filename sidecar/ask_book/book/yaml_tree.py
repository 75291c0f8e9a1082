"""YAML as a tree in which every value knows its file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ask_book.errors import AskBookError

MAX_DEPTH = 60


@dataclass(frozen=True)
class Node:
    """A value and where it stands. `value` is a `dict[str, Node]`, a `list[Node]`, or a scalar."""

    value: Any
    file: Path
    line: int
    source: str = ""

    @property
    def where(self) -> str:
        """`path/_quarto.yml:12`, as editors and terminals make clickable."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """A scalar as it was written (`1984`, not a number; nothing for null and for collections)."""
        return "" if self.value is None or self.is_mapping or self.is_list else self.source

    @property
    def is_mapping(self) -> bool:
        """Whether `value` is a dict."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether `value` is a list."""
        return isinstance(self.value, list)

    def get(self, *path: str) -> Node | None:
        """The node at a path of keys, or None."""
        node: Node | None = self
        for key in path:
            node = node.value.get(key) if node is not None and node.is_mapping else None
        return node

    def text_at(self, *path: str) -> str:
        """The scalar at a path as text, or ""."""
        node = self.get(*path)
        return node.text if node else ""

    def items(self) -> Iterator[Node]:
        """The items of a list; a lone scalar or mapping counts as a list of one, null as none."""
        if self.is_list:
            yield from self.value
        elif self.value is not None:
            yield self

    def plain(self) -> Any:
        """The value without positions."""
        if self.is_mapping:
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if self.is_list else self.value


def read_yaml(path: Path) -> Node:
    """The tree of a file (an empty file is an empty mapping). Raises `AskBookError` with file and line."""
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, path: Path) -> Node:
    """The tree of a text. `path` is only what errors and nodes name. YAML 1.2, as Quarto reads it."""
    root = compose(text, path)
    return Node({}, path, 1) if root is None else _node(root, path, MAX_DEPTH, {})


def compose(text: str, path: Path) -> Any:
    """The ruamel node of a text, with the marks of every part; None for an empty text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        try:
            return YAML(typ="safe", pure=True).compose(text)
        except MarkedYAMLError as error:
            if "found character '\\t'" not in str(error.problem):
                raise
            return YAML(typ="safe", pure=True).compose(_with_spaces(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = " ".join(filter(None, (error.problem, error.context if mark is not error.context_mark else "")))
        raise _broken(path, line, problem or "it cannot be parsed") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _broken(path, line, f"the character U+{ord(text[error.position]):04X} is not allowed") from None


def merge(base: Node, over: Node) -> Node:
    """Two trees as Quarto merges them: mappings key by key, lists one after the other without repetition."""
    if base.is_mapping and over.is_mapping:
        merged = dict(base.value)
        for key, node in over.value.items():
            merged[key] = merge(merged[key], node) if key in merged else node
        return Node(merged, base.file, base.line)
    if base.is_list or over.is_list:
        combined: list[Node] = []
        seen: list[Any] = []
        for node in (*base.items(), *over.items()):
            if (plain := node.plain()) not in seen:
                seen.append(plain)
                combined.append(node)
        return Node(combined, over.file, over.line)
    return over


def read_text(path: Path, keep_bom: bool = False) -> str:
    """The text of a file, its line breaks as they are. Raises `AskBookError` when it is not UTF-8."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8" if keep_bom else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise AskBookError(f"{path}:{line}: this is not UTF-8 text.", "Save the file as UTF-8.", "yaml") from None


def _with_spaces(text: str) -> str:
    """Spaces for the tabs that only separate: the parser knows none there, Quarto's does. No position changes."""
    return re.sub(r"(?m)[ \t]+(?=\r?$|#)|(?<=[:\]}\"',-])[ \t]+", lambda tabs: " " * len(tabs[0]), text)


def _broken(path: Path, line: int, problem: str) -> AskBookError:
    return AskBookError(f"{path}:{line}: broken YAML: {problem}.", "Correct that line and try again.", "yaml")


def _node(raw: Any, path: Path, depth: int, known: dict[int, Node]) -> Node:
    """A Node from a composed ruamel node. Aliases share nodes, so a loop can only be seen by its depth.

    They share ours too: written out, a few lines of aliases of aliases would fill the memory.
    """
    if id(raw) not in known:
        known[id(raw)] = _made(raw, path, depth, known)
    return known[id(raw)]


def _made(raw: Any, path: Path, depth: int, known: dict[int, Node]) -> Node:
    line = raw.start_mark.line + 1
    if depth == 0:
        raise _broken(path, line, "it is nested too deeply, or an alias contains itself")
    if raw.id == "mapping":
        return Node(_mapping(raw, path, depth, known), path, line)
    if raw.id == "sequence":
        return Node([_node(item, path, depth - 1, known) for item in raw.value], path, line)
    return Node(_scalar(raw.tag, raw.value), path, line, raw.value)


def _mapping(raw: Any, path: Path, depth: int, known: dict[int, Node]) -> dict[str, Node]:
    own: dict[str, Node] = {}
    inherited: dict[str, Node] = {}
    for key, value in raw.value:
        if key.id == "scalar" and key.tag == "tag:yaml.org,2002:merge":
            for node in _node(value, path, depth - 1, known).items():
                if node.is_mapping:
                    inherited = node.value | inherited
            continue
        name = key.value if key.id == "scalar" else str(key.value)
        if name in own:
            raise _broken(path, key.start_mark.line + 1, f"the key `{name}` is there twice")
        node = _node(value, path, depth - 1, known)
        is_empty = value.start_mark.index == value.end_mark.index
        # The parser sees nothing only when it comes to the next line.
        own[name] = replace(node, line=key.start_mark.line + 1) if is_empty else node
    return inherited | own


def _scalar(tag: Any, text: str) -> Any:
    match str(tag).removeprefix("tag:yaml.org,2002:"):
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return _int(text.replace("_", ""))
        case "float":
            return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").replace(".NaN", "nan"))
        case _:
            return text


def _int(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:  # `010` is ten in YAML 1.2
        return int(text)
