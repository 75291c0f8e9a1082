"""`init` on `_quarto.yml` files of every style: the difference is one line, and it can be undone to the byte."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ask_book.book.configuration import load_configuration
from ask_book.book.install import (
    apply,
    find_extension,
    install_extension,
    plan_listing,
    plan_unlisting,
    remove_extension,
    version_notice,
    with_filter,
    without_filter,
)
from ask_book.book.yaml_tree import parse_yaml
from ask_book.errors import AskBookError
from ask_book.resources import extension_dir

HERE = Path("_quarto.yml")
BOOK = "project:\n  type: book # a comment\nbook:\n  title: 'T'\n  chapters: [index.qmd]\n"

STYLES = {
    "no filters": (BOOK, BOOK + "filters: [ask-book]\n"),
    "no final newline": (BOOK.rstrip("\n"), BOOK + "filters: [ask-book]"),
    "comments at the end": (BOOK + "# end\n\n", BOOK + "# end\n\nfilters: [ask-book]\n"),
    "null": (BOOK + "filters:\nlang: es\n", BOOK + "filters:\n  - ask-book\nlang: es\n"),
    "null at the end": (BOOK + "filters:", BOOK + "filters:\n  - ask-book"),
    "null with a comment": (BOOK + "filters: # none\nlang: es\n", BOOK + "filters: # none\n  - ask-book\nlang: es\n"),
    "empty flow": (BOOK + "filters: []\n", BOOK + "filters: [ ask-book]\n"),
    "string": (BOOK + "filters: lightbox  # why\n", BOOK + "filters: [lightbox, ask-book]  # why\n"),
    "quoted string": (BOOK + 'filters: "a.lua"\n', BOOK + 'filters: ["a.lua", ask-book]\n'),
    "flow": (BOOK + "filters: [a.lua, quarto, 'b']\n", BOOK + "filters: [ask-book, a.lua, quarto, 'b']\n"),
    "flow of one": (BOOK + "filters: [ a.lua ]\n", BOOK + "filters: [ ask-book, a.lua ]\n"),
    "flow on lines": (
        BOOK + "filters: [\n  a.lua, # one\n  b.lua\n]\n",
        BOOK + "filters: [\n  ask-book, a.lua, # one\n  b.lua\n]\n",
    ),
    "block": (
        BOOK + "filters:\n  # first\n  - a.lua\n  - b.lua\nlang: es\n",
        BOOK + "filters:\n  # first\n  - ask-book\n  - a.lua\n  - b.lua\nlang: es\n",
    ),
    "block without indent": (BOOK + "filters:\n- a.lua\n", BOOK + "filters:\n- ask-book\n- a.lua\n"),
    "block of mappings": (
        BOOK + "filters:\n    -   path: a.lua\n        at: pre-ast\n",
        BOOK + "filters:\n    - ask-book\n    -   path: a.lua\n        at: pre-ast\n",
    ),
    "under a format": (
        BOOK + "format:\n  html:\n    filters: [a.lua]\n",
        BOOK + "format:\n  html:\n    filters: [a.lua]\nfilters: [ask-book]\n",
    ),
    "anchors and merges": (
        BOOK + "x: &x {a: 1}\nformat:\n  html:\n    <<: *x\n    toc: true\n",
        BOOK + "x: &x {a: 1}\nformat:\n  html:\n    <<: *x\n    toc: true\nfilters: [ask-book]\n",
    ),
    "block scalar at the end": (
        BOOK + "description: |\n  two\n  lines\n",
        BOOK + "description: |\n  two\n  lines\nfilters: [ask-book]\n",
    ),
    "block scalar without newline": (
        "lang: es\ndescription: |\n  last line",
        "filters: [ask-book]\nlang: es\ndescription: |\n  last line",
    ),
    "tabs in strings": ('title: "a\\tb"\ny: "c\td"\n', 'title: "a\\tb"\ny: "c\td"\nfilters: [ask-book]\n'),
    "tabs that separate": (
        BOOK + "filters:\n  - a.lua\t# why\n\t\nlang:\tes\t\n",
        BOOK + "filters:\n  - ask-book\n  - a.lua\t# why\n\t\nlang:\tes\t\n",
    ),
    "Windows paths": (
        "project:\n  output-dir: \"C:\\\\x\"\nfilters:\n  - 'C:\\f\\a.lua'\n",
        "project:\n  output-dir: \"C:\\\\x\"\nfilters:\n  - ask-book\n  - 'C:\\f\\a.lua'\n",
    ),
    "scalar on a line of its own": (BOOK + "filters:\n  a.lua\n", BOOK + "filters:\n  [a.lua, ask-book]\n"),
    "quoted key": (BOOK + "'filters' : a.lua\n", BOOK + "'filters' : [a.lua, ask-book]\n"),
    "trailing comma": (BOOK + "filters: [a.lua,]\n", BOOK + "filters: [ask-book, a.lua,]\n"),
    "indented": ("  lang: es\n  x: {}\n", "  lang: es\n  x: {}\n  filters: [ask-book]\n"),
    "includes and profiles": (
        BOOK + "metadata-files: [_web.yml]\nprofile:\n  group: [[a, b]]\n",
        BOOK + "metadata-files: [_web.yml]\nprofile:\n  group: [[a, b]]\nfilters: [ask-book]\n",
    ),
    "a website": (
        "project:\n  type: website\nwebsite:\n  title: W\nfilters:\n- b\n",
        "project:\n  type: website\nwebsite:\n  title: W\nfilters:\n- ask-book\n- b\n",
    ),
    "comments only": ("# to be written\n", "# to be written\nfilters: [ask-book]\n"),
    "YAML directive": ("%YAML 1.2\n---\nlang: es\n", "%YAML 1.2\n---\nlang: es\nfilters: [ask-book]\n"),
    "document marks": ("---\nlang: es\n...\n", "---\nfilters: [ask-book]\nlang: es\n...\n"),
    "json": ('{"lang": "es", "book": {}}', '{"filters": ["ask-book"], "lang": "es", "book": {}}'),
    "flow root": ("{lang: es}\n", "{filters: [ask-book], lang: es}\n"),
}
VARIANTS = {
    "as is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: "\ufeff" + text,
    "BOM and CRLF": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("style", STYLES)
def test_one_line_and_back(style: str, variant: str) -> None:
    before, after = map(VARIANTS[variant], STYLES[style])
    assert with_filter(before, HERE) == after
    assert without_filter(after, HERE) == before


PIECES = st.lists(
    st.sampled_from(
        ["lang: es", "# note", "", "book:\n  title: T # t", "text: |\n  a\n\n  b", "list:\n- a\n- b", "x: {a: [1, 2]}"]
    ),
    unique=True,
)
LISTINGS = st.sampled_from(["", "filters:", "filters: []", "filters: a", "filters: [a, b]", "filters:\n  - a\n  - b"])


@given(PIECES, LISTINGS, PIECES, st.sampled_from(["", "\n", "\n\n"]), st.sampled_from(["\n", "\r\n"]))
def test_undone_to_the_byte(above: list[str], listing: str, below: list[str], end: str, eol: str) -> None:
    below = [piece for piece in below if piece not in above]
    before = ("\n".join(["first: 1", *above, *filter(None, [listing]), *below]) + end).replace("\n", eol)
    after = with_filter(before, HERE)
    assert without_filter(after, HERE) == before
    assert "ask-book" in parse_yaml(after, HERE).plain()["filters"]


def test_an_empty_file() -> None:
    assert with_filter("", HERE) == "filters: [ask-book]\n"
    assert without_filter("filters: [ask-book]\n", HERE) == ""


@pytest.mark.parametrize("text", ["---\n", "{}\n", "- a\n", "only words\n", "filters: a\nfilters: b\n"])
def test_a_file_without_anything_to_add_to(text: str) -> None:
    with pytest.raises(AskBookError):
        with_filter(text, HERE)


def test_removing_from_a_file_without_it_changes_nothing() -> None:
    for text in (BOOK, BOOK + "filters: [a]\n", BOOK + "filters: a\n"):
        assert without_filter(text, HERE) == text


@pytest.mark.parametrize(
    "line",
    [
        "filters: a,b",
        "filters: {a: b}",
        "filters: ~",
        "x: &f [a]\nfilters: *f",
        "filters: &f [a]\nx: *f",
        "filters: >-\n  a.lua",
        "? filters\n: - a.lua",
        "x: &x {filters: [a]}\n<<: *x",
    ],
)
def test_what_cannot_be_edited_safely_is_left_to_the_author(line: str) -> None:
    with pytest.raises(AskBookError) as caught:
        with_filter(BOOK + line + "\n", HERE)
    assert "filters: [ask-book]" in caught.value.hint


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "mi libro ñ #1"
    folder.mkdir()
    (folder / "_quarto.yml").write_text(BOOK, encoding="utf-8", newline="")
    (folder / "index.qmd").write_text("# Hola\n", encoding="utf-8")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_install_and_remove_leave_the_folder_as_it_was(project: Path) -> None:
    before = snapshot(project)
    install_extension(project)
    apply(plan_listing(load_configuration(project, {})))
    installed = find_extension(project)
    assert installed is not None
    assert installed.same
    assert not installed.linked
    again = plan_listing(load_configuration(project, {}))
    assert again.difference == ""
    apply(plan_unlisting(load_configuration(project, {})))
    assert remove_extension(project) == project / "_extensions" / "ask-book"
    assert snapshot(project) == before
    assert not (project / "_extensions").exists()


def test_an_exported_book_has_nothing_to_list_it_in(tmp_path: Path) -> None:
    (tmp_path / "ask-book.yml").write_text("export: 1\n")
    with pytest.raises(AskBookError, match="is an exported book"):
        plan_listing(load_configuration(tmp_path, {}))
    assert plan_unlisting(load_configuration(tmp_path, {})).difference == ""


def test_the_difference_is_shown_as_a_diff(project: Path) -> None:
    lines = plan_listing(load_configuration(project, {})).difference.splitlines()
    assert [line for line in lines[2:] if line.startswith(("+", "-"))] == ["+filters: [ask-book]"]


@pytest.mark.parametrize("file", ["_quarto-web.yml", "extra.yml", "_quarto.yml.local"])
def test_a_filter_listed_in_another_file_counts(project: Path, file: str) -> None:
    (project / "_quarto.yml").write_text(BOOK + "metadata-files: [extra.yml]\nprofile: {default: web}\n")
    (project / file).write_text("format:\n  html:\n    filters: [someone/ask-book]\n")
    assert plan_listing(load_configuration(project, {})).difference == ""


@pytest.mark.parametrize("file", ["_quarto-print.yml", "extra.yml", "_quarto.yml.local"])
def test_it_is_not_taken_out_while_another_file_lists_it(project: Path, file: str) -> None:
    (project / "_quarto.yml").write_text(BOOK + "metadata-files: [extra.yml]\nfilters: [ask-book]\n")
    (project / file).write_text("lang: es\nfilters:\n  - ask-book\n")
    with pytest.raises(AskBookError, match=f"{file}:3: the filter is listed here, too"):
        plan_unlisting(load_configuration(project, {}))


def test_an_older_copy_of_an_owner_is_replaced_in_place(project: Path) -> None:
    old = project / "_extensions" / "someone" / "ask-book"
    old.mkdir(parents=True)
    (old / "_extension.yml").write_text("title: ask-book\nversion: 0.0.1\n")
    (old / "gone.lua").write_text("")
    found = find_extension(project)
    assert found is not None
    assert (found.version, found.same) == ("0.0.1", False)
    assert install_extension(project) == old
    assert not (old / "gone.lua").exists()
    assert {path.name for path in old.iterdir()} == {
        path.name for path in extension_dir().iterdir() if not path.name.startswith((".", "__pycache__"))
    }


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ("0.0.9", "has version 0.0.9, this is ask-book 0.1.0. Bring the extension up to date with `ask-book init`"),
        ("0.10.0", "has version 0.10.0, this is ask-book 0.1.0. Upgrade ask-book: `pip install --upgrade ask-book`."),
        ("", "has no version that can be read, this is ask-book 0.1.0. Bring the extension up to date"),
        ("0.1.0", None),
    ],
)
def test_two_versions_say_so_and_what_to_do(project: Path, theirs: str, says: str | None) -> None:
    assert version_notice(project) is None
    folder = project / "_extensions" / "ask-book"
    folder.mkdir(parents=True)
    (folder / "_extension.yml").write_text(f"title: ask-book\nversion: {theirs}\n")
    notice = version_notice(project, "0.1.0")
    assert (notice is None) == (says is None)
    assert notice is None or says is None or says in notice.message


def test_a_linked_extension_is_never_touched(project: Path) -> None:
    source = project.parent / "elsewhere"
    shutil.copytree(extension_dir(), source / "ask-book")
    (source / "ask-book" / "_extension.yml").write_text("title: ask-book\nversion: 0.0.1\n")
    (project / "_extensions").symlink_to(source, target_is_directory=True)
    before = snapshot(source)
    install_extension(project)
    assert remove_extension(project) is None
    assert snapshot(source) == before
