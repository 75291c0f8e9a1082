from pathlib import Path

import pytest

from ask_book.book.configuration import find_root, load_configuration
from ask_book.errors import AskBookError


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", "-").replace("_yml", ".yml")).write_text(text, encoding="utf-8")
    return folder


def test_the_project_is_found_from_a_folder_inside_it(tmp_path: Path) -> None:
    inside = tmp_path / "chapters" / "one"
    inside.mkdir(parents=True)
    write(tmp_path, _quarto_yml="")
    assert find_root(inside) == tmp_path.resolve()


@pytest.mark.parametrize(("name", "says"), [("nowhere", "does not exist"), ("file.txt", "is a file, not a folder")])
def test_a_folder_that_is_none(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "file.txt").write_text("")
    with pytest.raises(AskBookError, match=says):
        find_root(tmp_path / name)


def test_no_project_at_all(tmp_path: Path) -> None:
    with pytest.raises(AskBookError, match=r"There is no _quarto\.yml in .*, nor in a folder above") as caught:
        find_root(tmp_path)
    assert caught.value.code == "no_project"


def test_metadata_files_come_before_profiles_and_local_last(tmp_path: Path) -> None:
    write(
        tmp_path,
        _quarto_yml="metadata-files: [more.yml, missing.yml]\na: main\nb: main\nc: main\nd: main\n",
        more_yml="b: more\nc: more\nd: more\n",
        _quarto__web_yml="c: web\nd: web\n",
    )
    (tmp_path / "_quarto.yml.local").write_text("d: local\n")
    configuration = load_configuration(tmp_path, {"QUARTO_PROFILE": "web"})
    assert [configuration.tree.text_at(key) for key in "abcd"] == ["main", "more", "web", "local"]
    assert [file.name for file in configuration.files] == [
        "_quarto.yml",
        "more.yml",
        "_quarto-web.yml",
        "_quarto.yml.local",
    ]


@pytest.mark.parametrize(
    ("main", "env", "profile"),
    [
        ("a: 1", "", "default"),
        ("profile: {default: x}", "", "x"),
        ("profile: {default: [x, y]}", "", "x+y"),
        ("profile: {default: x}", "z,w", "z+w"),
        ("profile: {default: x}", "z w", "z+w"),
        ("profile: {group: [a, b]}", "", "a"),
        ("profile: {group: [a, b]}", "b", "b"),
        ("profile: {default: x, group: [[a, b], [c, d]]}", "d", "d+a"),
    ],
)
def test_active_profiles(tmp_path: Path, main: str, env: str, profile: str) -> None:
    write(tmp_path, _quarto_yml=main)
    assert load_configuration(tmp_path, {"QUARTO_PROFILE": env}).profile == profile


def test_the_first_profile_named_wins(tmp_path: Path) -> None:
    write(tmp_path, _quarto_yml="", _quarto__a_yml="x: a\n", _quarto__b_yml="x: b\ny: b\n")
    tree = load_configuration(tmp_path, {"QUARTO_PROFILE": "a,b"}).tree
    assert (tree.text_at("x"), tree.text_at("y")) == ("a", "b")


def test_a_file_that_is_a_list_is_refused(tmp_path: Path) -> None:
    write(tmp_path, _quarto_yml="- a\n")
    with pytest.raises(AskBookError, match=r"_quarto\.yml:1: this must be `key: value` lines"):
        load_configuration(tmp_path, {})
