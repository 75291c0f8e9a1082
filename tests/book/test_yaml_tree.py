from pathlib import Path

import pytest

from ask_book.book.yaml_tree import merge, parse_yaml, read_yaml
from ask_book.errors import AskBookError

HERE = Path("_quarto.yml")


def test_every_value_knows_its_line() -> None:
    tree = parse_yaml("a:\n  b:\n    - x\n    - y: 1\n", HERE)
    node = tree.get("a", "b")
    assert node is not None
    assert [item.line for item in node.items()] == [3, 4]
    assert tree.get("a", "missing", "more") is None


def test_yaml_1_2_reads_no_and_010_as_quarto_does() -> None:
    text = "a: no\nb: on\nc: 010\nd: 0o10\ne: 0x1F\nf: 1_000\ng: true\nh: ~\ni: 1.50\nj: 12:30:00\nk: 2024-01-02\n"
    assert parse_yaml(text, HERE).plain() == {
        "a": "no",
        "b": "on",
        "c": 10,
        "d": 8,
        "e": 31,
        "f": 1000,
        "g": True,
        "h": None,
        "i": 1.5,
        "j": "12:30:00",
        "k": "2024-01-02",
    }


def test_a_scalar_keeps_how_it_was_written() -> None:
    tree = parse_yaml("a: 1984\nb: 1.50\nc: yes\nd: ~\ne: [1]\n", HERE)
    assert [tree.text_at(key) for key in "abcde"] == ["1984", "1.50", "yes", "", ""]


def test_anchors_and_merge_keys() -> None:
    tree = parse_yaml("base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\nlist: [*b]\n", HERE)
    assert tree.plain()["more"] == {"x": 1, "y": 3}
    assert tree.plain()["list"] == [{"x": 1, "y": 2}]


def test_unknown_tags_are_texts() -> None:
    assert parse_yaml("a: !expr 1 + 1\n", HERE).text_at("a") == "1 + 1"


def test_crlf_bom_and_emptiness(tmp_path: Path) -> None:
    file = tmp_path / "_quarto.yml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n")
    assert read_yaml(file).plain() == {"a": 1, "b": ["x"]}
    file.write_bytes(b"# nothing\n")
    assert read_yaml(file).plain() == {}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "expected ',' or ']'"),
        ("a: 1\n\tb: 2\n", 2, "found character '\\t'"),
        ("a: 1\nb: 'open\n", 3, "found unexpected end of stream"),
        ("a: 1\nb: 2\na: 3\n", 3, "the key `a` is there twice"),
        ("a: 1\nb: \x00\n", 2, "U+0000"),
        ("a: &a [*a]\n", 1, "contains itself"),
        ("a: b: c\n", 1, "mapping values are not allowed here"),
        ("a: *missing\n", 1, "found undefined alias 'missing'"),
    ],
)
def test_broken_yaml_is_named_by_file_and_line(text: str, line: int, says: str) -> None:
    with pytest.raises(AskBookError) as caught:
        parse_yaml(text, HERE)
    assert caught.value.message.startswith(f"_quarto.yml:{line}: ")
    assert says in caught.value.message


def test_what_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "_quarto.yml"
    file.write_bytes("a: 1\nb: año\n".encode("latin-1"))
    with pytest.raises(AskBookError, match=r"_quarto\.yml:2: this is not UTF-8"):
        read_yaml(file)


def test_trees_merge_as_quarto_merges_them() -> None:
    base = parse_yaml("book: {title: A, chapters: [a, b]}\nx: 1\ny: one\n", HERE)
    over = parse_yaml("book: {chapters: [b, c], author: N}\nx: 2\ny: [two]\n", Path("other.yml"))
    merged = merge(base, over)
    assert merged.plain() == {
        "book": {"title": "A", "chapters": ["a", "b", "c"], "author": "N"},
        "x": 2,
        "y": ["one", "two"],
    }
    author = merged.get("book", "author")
    assert author is not None
    assert author.where == "other.yml:1"


def test_tabs_that_only_separate_are_no_error_and_move_nothing() -> None:
    text = 'a:\t1\t# one\r\n\t\r\nb: [x,\ty]\t\r\nc: "d\te"\t\r\n'
    tree = parse_yaml(text, Path("f.yml"))
    assert tree.plain() == {"a": 1, "b": ["x", "y"], "c": "d\te"}
    assert [tree.value[key].line for key in "abc"] == [1, 3, 4]
    with pytest.raises(AskBookError, match=r"f\.yml:2: broken YAML"):
        parse_yaml("a:\n\tb: 1\n", Path("f.yml"))


def test_aliases_of_aliases_take_no_more_room_than_they_are_written_in() -> None:
    """Written out, this would be nine to the power of forty."""
    levels = (f"l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 9)}]" for at in range(1, 41))
    tree = parse_yaml("\n".join(["l0: &l0 [x]", *levels]), Path("_quarto.yml"))
    node = tree.get("l40")
    while node and node.is_list:
        node = node.value[-1]
    assert node
    assert (node.value, node.line) == ("x", 1)
