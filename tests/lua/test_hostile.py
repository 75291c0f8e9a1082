"""Pages that no author would write on purpose: the builder ends, and nothing of a script gets in."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ask_book.book.manifest import Manifest
from lua.builder import build, cut, page, section
from lua.test_laws import check

PIECES = (
    "<p> </p> <div> </div> <table> <tr> <td> </table> <ul> <li> </ul> <b> </b> <svg> </svg> <h2> </h2> <pre> </pre>"
)


def built(folder: Path, main: str | bytes) -> Manifest:
    manifest = build(folder, {"rivers.html": main})
    check(manifest)
    return manifest


def test_a_chapter_of_ten_megabytes(tmp_path: Path) -> None:
    text = "water <b>flows</b> &amp; falls " * 40
    main = page("".join(section(2, f"s{i}", f"Part {i}", f"<p>{text}</p>" * 4) for i in range(2100)))
    assert len(main) > 10_000_000
    chapter = built(tmp_path, main).chapters[0]
    assert len(chapter.sections) == 2101
    assert {block.text for block in chapter.blocks if block.kind == "para"} == {("water flows & falls " * 40).strip()}


def test_five_thousand_headings(tmp_path: Path) -> None:
    parts = (section(2 + i % 3, f"s{i}", f"Part {i}", "") for i in range(5000))
    assert len(built(tmp_path, page("".join(parts))).chapters[0].sections) == 5001


@pytest.mark.parametrize(
    "main",
    [
        "<div>" * 100_000 + "x" + "</div>" * 100_000,
        "<p>" + "<span>" * 100_000 + "x",
        "<b><p>x" * 20_000,
        "<ul><li>x" * 20_000,
        "<table><tr><td>x" * 20_000,
        "</div>" * 200_000,
        "<" * 1_000_000 + "x",
        '<a href="' * 100_000,
        "<p " + "'\"" * 300_000 + ">x",
        "<p " + "= " * 300_000 + ">x",
        "<p " + " ".join(f'a{i}="v"' for i in range(50_000)) + ">x",
        "&" * 500_000 + "&unknown" * 50_000,
        "<!-- " * 200_000,
        '<!-- "-->" -->' * 50_000,
        "<script>" + "</scrip" * 100_000,
        "<svg>" * 20_000 + "<p>x",
        '<span id="eq-1">' * 5_000 + "\\tag{1}" * 5_000,
        "&nbsp;" * 200_000 + "x",
    ],
    ids=lambda main: main[:12],
)
def test_floods_end(tmp_path: Path, main: str) -> None:
    assert built(tmp_path, page(main)).chapters[0].title == "Rivers"


def test_random_tags_by_the_thousand(tmp_path: Path) -> None:
    pieces = [*PIECES.split(), "text", "é"]
    dice = random.Random(7)
    built(tmp_path, page(" ".join(dice.choices(pieces, k=100_000))))


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    main = b"<main><p>caf\xe9 \xff\xfe ok \xed\xa0\x80</p></main>"
    assert built(tmp_path, main).chapters[0].text == "caf\ufffd \ufffd\ufffd ok \ufffd\ufffd\ufffd"


def test_control_characters(tmp_path: Path) -> None:
    chapter = cut(tmp_path, "<p>a\0b\x01c\x0bd\x7fe</p><pre>x\0y\n\tz\x02</pre>")
    assert [block.text for block in chapter.blocks[1:]] == ["a b c d e", "xy\n\tz"]


def test_text_from_right_to_left_keeps_its_marks(tmp_path: Path) -> None:
    text = "\u202babc שלום, עולם 123\u202c مرحبا\u200f"
    chapter = cut(tmp_path, f'<p dir="rtl">{text}</p>')
    assert chapter.blocks[-1].text == text
    assert chapter.blocks[-1].end - chapter.blocks[-1].start == len(text)


def test_no_script_in_the_manifest(tmp_path: Path) -> None:
    main = """<script>evil('<p>one</p>')</script><SCRIPT type=x>evil()</SCRIPT ><p onclick="evil()">Good.</p>
<style>.evil {}</style><noscript><p>evil</p></noscript><template><p>evil</p></template><iframe>evil</iframe>
<svg><script>evil()</script><style>evil</style><text>Drawn.</text></svg><math><annotation>evil</annotation></math>
<textarea>evil</textarea><select><option>evil</select><!-- evil --><xmp hidden>evil</xmp>"""
    build(tmp_path, {"rivers.html": page(main)})
    manifest = (tmp_path / "made" / "manifest.json").read_text("utf-8")
    assert "evil" not in manifest
    assert "Good." in manifest
    assert "Drawn." in manifest


def test_an_empty_page(tmp_path: Path) -> None:
    manifest = built(tmp_path, "")
    assert [(part.start, part.end, part.blocks) for part in manifest.chapters[0].sections] == [(0, 0, ())]
    assert manifest.chunks == ()


def test_a_page_cut_short_in_a_tag(tmp_path: Path) -> None:
    assert built(tmp_path, '<main><p>One.</p><p>Two <a href="x').chapters[0].text == "One.\nTwo"
