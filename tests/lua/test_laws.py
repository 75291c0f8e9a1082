"""Laws that hold for every page, sane or not."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ask_book.book.manifest import Manifest
from lua.builder import build, page, section

# Text as books have it: emoji with joiners, combining accents, CJK, right to left, wide spaces, controls.
TEXT = st.lists(
    st.one_of(
        st.sampled_from(["a", "b", " ", "ñ", ":", "?", "&", "<", "\n", "\t", "\u00a0", "\u3000", "\u200d"]),
        st.sampled_from(["e\u0301", "👩‍👩‍👧", "🇩🇴", "水", "の", "שלום", "مرحبا", "\u2028", "\x00", "\x07", "𝕏"]),
        st.characters(codec="utf-8"),
    ),
    max_size=80,
).map("".join)


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def row(tag: str, inner: str, texts: list[str]) -> str:
    cells = "".join(f"<{inner}>{escape(text)}</{inner}>" for text in texts)
    return f"<{tag}>{cells}</{tag}>"


def figure(text: str) -> str:
    alt = escape(text).replace('"', "")
    return f'<figure><img src="x" alt="{alt}"><figcaption>{escape(text)}</figcaption></figure>'


LEAVES = st.one_of(
    TEXT.map(lambda text: row("div", "p", [text])),
    TEXT.map(lambda text: row("pre", "code", [text])),
    st.lists(TEXT, max_size=4).map(lambda texts: row("ul", "li", texts)),
    st.lists(TEXT, max_size=4).map(lambda texts: f"<table>{row('tr', 'td', texts)}</table>"),
    TEXT.map(figure),
    st.just(f"<p>{'long text ' * 90}</p>"),
)


@st.composite
def sections(draw: st.DrawFn, level: int = 1) -> str:
    body = "".join(draw(st.lists(LEAVES, max_size=4)))
    if level < 6:
        body += "".join(draw(st.lists(sections(level + 1), max_size=2)))
    anchor = draw(st.sampled_from(["a", "b", "ñ", "1.0", "toc-title", "水"]))
    return section(level, anchor, escape(draw(TEXT)), body + draw(st.sampled_from(["", "<p>after</p>"])))


TAGS = """<p> </p> <div> </div> <section id='x' class='level2'> </section> <h2> </h2> <table> <tr> <td> </table>
<ul> <li> </ul> <pre> </pre> <b> </b> <!-- --> <script> </script> <svg> </svg> <math> <a href=" ' " > < & &lt; &#0;
</main> <main> <dl> <dd> <figure> <figcaption> </figure> <details> <summary> <br/> text ñ 🎉 <template> </template>
<select> <button> </p"""
PIECES = st.sampled_from(TAGS.split())

quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(manifest: Manifest) -> None:
    """Blocks nest in sections, sections partition their chapter, chunks cover it, all in code points."""
    ids = [part.id for chapter in manifest.chapters for part in chapter.sections]
    assert len(set(ids)) == len(ids)
    assert len({chunk.id for chunk in manifest.chunks}) == len(manifest.chunks)
    for chapter in manifest.chapters:
        text = chapter.text
        at = 0
        for number, part in enumerate(chapter.sections):
            assert part.start == at
            at = part.end
            assert at == len(text) if number + 1 == len(chapter.sections) else at > part.start
            for block in part.blocks:
                assert part.start <= block.start < block.end <= part.end
                assert text[block.start : block.end] == block.text
        covered = 0
        borders = {block.start for block in chapter.blocks} | {len(text)}
        for chunk in (chunk for chunk in manifest.chunks if chunk.chapter == chapter.index):
            assert chunk.start == covered
            assert {chunk.start, chunk.end} <= borders
            assert chunk.section in ids
            covered = chunk.end
        assert covered == len(text)


def built(main: list[str]) -> Manifest:
    with tempfile.TemporaryDirectory() as folder:
        pages = {f"{number}.html": page(content) for number, content in enumerate(main)}
        manifest = build(Path(folder), pages)
        raw = (Path(folder) / "made" / "manifest.json").read_bytes().decode("utf-8")
        assert json.loads(json.dumps(json.loads(raw), ensure_ascii=False)) == json.loads(raw)
        return manifest


@quick
@given(st.lists(sections(), min_size=1, max_size=3))
def test_spans_nest_and_cover_in_sane_pages(pages: list[str]) -> None:
    check(built(pages))


@quick
@given(st.lists(st.lists(PIECES, max_size=60).map("".join), min_size=1, max_size=4))
def test_spans_nest_and_cover_in_tag_soup(pages: list[str]) -> None:
    check(built(pages))


@quick
@given(TEXT)
def test_a_paragraph_is_its_text_with_spaces_collapsed(text: str) -> None:
    visible = "".join(" " if ord(char) < 32 or char == "\x7f" else char for char in text).replace("\ufeff", " ")
    expected = " ".join(visible.replace("\x85", "\0").split()).replace("\0", "\x85")
    blocks = built([f"<p>{escape(text)}</p>"]).chapters[0].blocks
    assert [block.text for block in blocks[1:]] == ([expected] if expected else [])


@quick
@given(st.lists(TEXT.filter(str.strip), min_size=1, max_size=30), st.integers(1, 60))
def test_chunks_are_not_tiny_unless_the_chapter_is(texts: list[str], times: int) -> None:
    manifest = built(
        ["".join(section(2, f"s{i}", "T", f"<p>{escape(text * times)}</p>") for i, text in enumerate(texts))]
    )
    chapter = manifest.chapters[0]
    useful = sum(len("".join(block.text.split())) for block in chapter.blocks if block.kind != "heading")
    sizes = [chunk.end - chunk.start for chunk in manifest.chunks]
    assert min(sizes) >= 80 or (useful < 80 and len(sizes) == 1)
