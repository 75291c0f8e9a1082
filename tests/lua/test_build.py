"""The builder as a program: its files, its cache, its errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ask_book.book.identity import book_id
from ask_book.book.manifest import read_manifest
from lua.builder import as_the_panel_reads, build, for_the_panel, page, run, section, write_job

PREFIX, SUFFIX = 'if (location.protocol === "file:") askBookManifest(', ");\n"


def words(text: str) -> str:
    return f"<p>{text} {'flows ' * 30}</p>"


BOOK = {
    "index.html": page(words("Start"), '<h1 class="title">Water</h1>'),
    "rivers.html": page(section(2, "elbe", "Elbe", words("The Elbe")) + section(2, "oder", "Oder", words("The Oder"))),
    "sub/lakes.html": page(words("Lakes"), '<h1 class="title">Lakes</h1>'),
}


def summary(job: Path) -> dict[str, Any]:
    done = run(job)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_manifest_has_the_fields_of_the_contract_in_order(tmp_path: Path) -> None:
    build(tmp_path, BOOK)
    data = json.loads((tmp_path / "made" / "manifest.json").read_bytes())
    assert list(data) == ["version", "book", "chapters", "chunks", "labels"]
    assert list(data["book"]) == ["id", "title", "authors", "lang", "site_url", "hash"]
    chapter = data["chapters"][1]
    assert list(chapter) == ["index", "file", "href", "title", "number", "part", "hash", "sections"]
    part = chapter["sections"][1]
    assert list(part) == ["id", "anchor", "level", "title", "number", "heading_path", "start", "end", "blocks"]
    assert list(part["blocks"][0]) == ["kind", "start", "end", "text", "context", "label"]
    assert list(data["chunks"][0]) == ["id", "chapter", "section", "start", "end"]
    assert data["book"]["id"] == book_id("Water", "en", "", "_book")


def test_the_counts_are_those_of_the_manifest(tmp_path: Path) -> None:
    counts = summary(write_job(tmp_path, BOOK))
    manifest = read_manifest(tmp_path / "made" / "manifest.json")
    assert counts == {
        "chapters": 3,
        "sections": sum(len(chapter.sections) for chapter in manifest.chapters),
        "blocks": sum(len(chapter.blocks) for chapter in manifest.chapters),
        "chunks": len(manifest.chunks),
        "reused": 0,
        "chars": sum(len(chapter.text) for chapter in manifest.chapters),
        "changed": True,
    }


def test_a_second_run_cuts_nothing_and_writes_nothing(tmp_path: Path) -> None:
    job = write_job(tmp_path, BOOK)
    summary(job)
    made = [tmp_path / "made" / "manifest.json", tmp_path / "_book" / "ask-book" / "book.js"]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in made]
    counts = summary(job)
    assert (counts["reused"], counts["changed"]) == (3, False)
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in made] == before


def test_the_cache_does_not_change_the_bytes(tmp_path: Path) -> None:
    build(tmp_path / "a", BOOK | {"rivers.html": page(words("Old"))})
    build(tmp_path / "a", BOOK)
    build(tmp_path / "b", BOOK)
    manifests = [(tmp_path / name / "made" / "manifest.json").read_bytes() for name in "ab"]
    assert manifests[0] == manifests[1]


def test_only_a_changed_page_is_cut_again(tmp_path: Path) -> None:
    summary(write_job(tmp_path, BOOK))
    assert summary(write_job(tmp_path, BOOK | {"index.html": page(words("Begin"))}))["reused"] == 2


def test_an_edit_changes_only_what_it_must(tmp_path: Path) -> None:
    old = build(tmp_path / "a", BOOK)
    edited = str(BOOK["rivers.html"]).replace("The Elbe", "The long Elbe")
    new = build(tmp_path / "b", BOOK | {"rivers.html": edited})
    kept = {chunk.id for chunk in old.chunks} & {chunk.id for chunk in new.chunks}
    changed = [chunk for chunk in new.chunks if chunk.id not in kept]
    assert [new.text(tag) for tag, chunk in zip(new.tags(), new.chunks, strict=True) if chunk in changed] == [
        "Rivers\nElbe\nThe long Elbe " + "flows " * 29 + "flows\n"
    ]
    assert [a.hash == b.hash for a, b in zip(old.chapters, new.chapters, strict=True)] == [True, False, True]


def test_chunk_ids_survive_a_new_chapter_before_them(tmp_path: Path) -> None:
    old = build(tmp_path / "a", BOOK)
    new = build(tmp_path / "b", {"new.html": page(words("New"))} | BOOK)
    assert {chunk.id for chunk in old.chunks} < {chunk.id for chunk in new.chunks}
    assert [chapter.index for chapter in new.chapters] == [0, 1, 2, 3]
    assert {chunk.chapter for chunk in new.chunks} == {0, 1, 2, 3}


def test_a_removed_chapter_leaves_no_ghost(tmp_path: Path) -> None:
    build(tmp_path, BOOK)
    fewer = {href: content for href, content in BOOK.items() if href != "rivers.html"}
    assert [chapter.href for chapter in build(tmp_path, fewer).chapters] == ["index.html", "sub/lakes.html"]
    assert len(list((tmp_path / "made" / "cut").iterdir())) == 2


def test_a_page_that_was_not_rendered_is_left_out_with_a_warning(tmp_path: Path) -> None:
    job = write_job(tmp_path, BOOK)
    (tmp_path / "_book" / "rivers.html").unlink()
    done = run(job)
    assert done.returncode == 0
    assert done.stderr == "ask-book: left out rivers.qmd: the book has no page rivers.html\n"
    assert json.loads(done.stdout)["chapters"] == 2


def test_the_script_for_pages_opened_as_files_holds_the_same_book(tmp_path: Path) -> None:
    build(tmp_path, {"a.html": page("<pre><code>&lt;/script&gt; \u2028 x</code></pre>")})
    script = (tmp_path / "_book" / "ask-book" / "book.js").read_text("utf-8")
    assert script.startswith(PREFIX)
    assert script.endswith(SUFFIX)
    assert script.count("\n") == 1
    assert "</script" not in script
    assert "\u2028" not in script
    blocks = json.loads(script[len(PREFIX) : -len(SUFFIX)])["chapters"][0]["sections"][0]["blocks"]
    assert ["</script> \u2028 x", "code"] in blocks


@pytest.mark.node
def test_the_panel_reads_the_same_book(tmp_path: Path) -> None:
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1 😀</td><td>2</td></tr></table>"
    inner = section(4, "four", "Four", words("x") + table)
    deep = section(2, "sec-two", "Two 𝄞", words("𝄞") + inner + words("after"))
    title = '<h1 class="title"><span id="sec-top" class="quarto-section-identifier">3 Rivers</span></h1>'
    pages = {
        "deep.html": page(deep, title),
        "empty.html": "<main></main>",
        "plain.html": "<main><p>x</p></main>",
    }
    build(tmp_path, BOOK | pages)
    read = as_the_panel_reads(tmp_path / "_book" / "ask-book" / "book.js")
    assert read == for_the_panel(tmp_path / "made" / "manifest.json")
    assert {"sec-top", "sec-two"} <= set(read["labels"])


def test_no_script_when_none_is_asked_for(tmp_path: Path) -> None:
    build(tmp_path, BOOK, book_js=None)
    assert not (tmp_path / "_book" / "ask-book").exists()


def test_the_book_says_what_the_page_does_not(tmp_path: Path) -> None:
    chapters = [{"file": "a.qmd", "href": "a.html", "title": "Given", "number": "7", "part": "Part I"}]
    chapter = build(tmp_path, {"a.html": "<main><p>x</p></main>"}, chapters=chapters).chapters[0]
    assert (chapter.title, chapter.number, chapter.part) == ("Given", "7", "Part I")


def test_null_is_as_good_as_absent(tmp_path: Path) -> None:
    chapters = [{"file": "a.qmd", "href": "a.html", "title": None, "number": None, "part": None}]
    chapter = build(tmp_path, {"a.html": page("<p>x</p>")}, chapters=chapters).chapters[0]
    assert (chapter.title, chapter.number, chapter.part) == ("Rivers", "", "")


def test_a_label_twice_in_a_book_is_its_first(tmp_path: Path) -> None:
    body = page(section(2, "sec-a", "A", "<p>x</p>", "1.1"))
    assert build(tmp_path, {"a.html": body, "b.html": body}).labels["sec-a"].href == "a.html#sec-a"


def test_folders_with_spaces_accents_and_signs(tmp_path: Path) -> None:
    manifest = build(tmp_path / "mi libro ñ #1 100% 'x'", {"capítulo uno #1.html": page("<p>Sí.</p>")})
    assert manifest.chapters[0].href == "capítulo uno #1.html"


def test_a_broken_job_is_an_error_and_the_manifest_stays(tmp_path: Path) -> None:
    job = write_job(tmp_path, BOOK)
    summary(job)
    before = (tmp_path / "made" / "manifest.json").read_bytes()
    job.write_text('{"site": ')
    done = run(job)
    assert done.returncode == 1
    assert done.stderr.startswith("ask-book: the manifest was not written: ")
    assert (tmp_path / "made" / "manifest.json").read_bytes() == before


def test_no_job_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path / "none.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no job at" in done.stderr


def leave_records(folder: Path, pages: list[dict[str, str]], names: list[str], complete: bool = True) -> None:
    """What the filter writes during a render: the book, and a record of each page."""
    book = {"id": "0" * 12, "title": "Water", "authors": [], "lang": "en", "site_url": "", "output_name": "_book"}
    (folder / "chapters").mkdir(parents=True)
    of_book = {"version": "1", "book": book, "pages": pages, "complete": complete}
    (folder / "book.json").write_text(json.dumps(of_book))
    for name in names:
        record = {"input": f"{name}.qmd", "href": f"{name}.html", "lang": "", "title": name.upper(), "number": ""}
        (folder / "chapters" / f"{name}.json").write_text(json.dumps(record))


def listed(file: str, part: str = "", part_file: str = "") -> dict[str, str]:
    return {"file": file, "part": part, "part_file": part_file, "number": ""}


MARKED = page(words("Water"), "") + '<script id="ask-book-config"></script>'


def test_pages_that_the_filter_left_follow_the_book_and_others_come_last(tmp_path: Path) -> None:
    order = [listed("b.qmd", "", "b.qmd"), listed("a.qmd", "", "b.qmd"), listed("c.qmd", "Last")]
    leave_records(tmp_path / "data", order, ["z", "c", "b", "a", "index"], complete=False)
    (tmp_path / "data" / "chapters" / "broken.json").write_text("{")
    pages = {f"{name}.html": MARKED for name in ("a", "b", "c", "index", "z")}
    manifest = build(tmp_path, pages, records=str(tmp_path / "data"))
    assert [(chapter.file, chapter.part, chapter.title) for chapter in manifest.chapters] == [
        ("index.qmd", "", "INDEX"),
        ("b.qmd", "B", "B"),
        ("a.qmd", "B", "A"),
        ("c.qmd", "Last", "C"),
        ("z.qmd", "", "Z"),
    ]


def test_a_full_render_ends_the_records_of_pages_that_are_gone(tmp_path: Path) -> None:
    # a is in the book; b was made without the filter, c is not listed any more, d has no page
    order = [listed(f"{name}.qmd") for name in "abd"]
    leave_records(tmp_path / "data", order, ["a", "b", "c", "d"])
    pages = {"a.html": MARKED, "b.html": page(words("Other")), "c.html": MARKED}
    for full, left in ((False, ["a", "b", "c", "d"]), (True, ["a"])):
        manifest = build(tmp_path, pages, records=str(tmp_path / "data"), full=full)
        assert [chapter.file for chapter in manifest.chapters] == ["a.qmd"]
        assert sorted(path.stem for path in (tmp_path / "data" / "chapters").iterdir()) == left
