"""Files that anybody may have written or cut short: read as what they say, or refused in words, never anything else."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ask_book.book.manifest import Tag, read_manifest
from ask_book.book.settings import NAMES, load_settings
from ask_book.errors import AskBookError
from small_books import FIXTURES, fixture

BOOK = fixture("book.es.json")
LOOSE = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def refusal(of: Callable[[], object]) -> AskBookError | None:
    """What it is refused with; None when it is not."""
    try:
        of()
    except AskBookError as error:
        return error
    return None


def is_told(path: Path) -> bool:
    """Whether a manifest is refused; if so, as a manifest, by its path."""
    error = refusal(lambda: read_manifest(path))
    assert error is None or (error.code == "manifest" and str(path) in error.message)
    return error is not None


@LOOSE
@given(cut=st.integers(0, 4000), byte=st.integers(0, 255), how=st.sampled_from(["cut", "change", "add"]))
def test_a_manifest_with_other_bytes(tmp_path: Path, cut: int, byte: int, how: str) -> None:
    data = (FIXTURES / "book.es.json").read_bytes()
    cut %= len(data)
    tail = {"cut": b"", "change": data[cut + 1 :], "add": data[cut:]}[how]
    path = tmp_path / "manifest.json"
    path.write_bytes(data[:cut] + (b"" if how == "cut" else bytes([byte])) + tail)
    is_told(path)


@LOOSE
@given(choices=st.lists(st.integers(0, 1000), min_size=1, max_size=8), value=JSON, remove=st.booleans())
def test_a_manifest_with_another_value_somewhere(tmp_path: Path, choices: list[int], value: Any, remove: bool) -> None:
    data = copy.deepcopy(BOOK)
    node: Any = data
    for choice in choices:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = keys[choice % len(keys)]
        child = node[key]
        if not isinstance(child, dict | list) or not child or choice == choices[-1]:
            if remove:
                del node[key]
            else:
                node[key] = value
            break
        node = child
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    is_told(path)


YAML = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=60)


@LOOSE
@given(name=st.sampled_from(sorted(NAMES)) | YAML, value=YAML | st.integers().map(str) | JSON.map(json.dumps))
def test_settings_with_any_name_and_value(tmp_path: Path, name: str, value: str) -> None:
    (tmp_path / "_quarto.yml").write_text(
        f"project: {{type: book}}\nbook: {{title: x}}\nask-book:\n  {name}: {value}\n", encoding="utf-8"
    )
    error = refusal(lambda: load_settings(tmp_path, {}))
    assert error is None or ("_quarto.yml" in error.message and error.hint)


@LOOSE
@given(st.dictionaries(st.sampled_from([name for spec in NAMES.values() for name in spec.metadata["env"]]), YAML))
def test_settings_from_any_environment(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "_quarto.yml").write_text("project: {type: book}\nbook: {title: x}\n", encoding="utf-8")
    error = refusal(lambda: load_settings(tmp_path, env))
    assert error is None or re.search("|".join(env), error.message)


@given(st.text(max_size=40) | st.from_regex(r"\[?f[0-9\u0660-\u0669]{0,8}-\d{0,12}-\d{0,12}\]?", fullmatch=True))
def test_a_tag_is_what_it_says_or_none(text: str) -> None:
    tag = Tag.parse(text)
    if tag is None:
        assert not re.fullmatch(r"\[f0-1-2\]", text)
    else:
        assert re.fullmatch(r"\[f\d+-\d+-\d+\]", str(tag), re.ASCII)
        assert Tag.parse(str(tag)) == tag


NOT_MANIFESTS = (
    "", "[]", "null", "1", '"x"', '{"version": 1}', '{"version": 2}', "{" * 50_000, "[" * 50_000, "\ufeff{}",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_MANIFESTS)
def test_what_is_no_manifest(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text, encoding="utf-8")
    assert is_told(path)
