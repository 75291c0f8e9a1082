import json
import os
import shutil
from pathlib import Path

import pytest

from ask_book.book.edition import open_edition, rendered_edition
from ask_book.book.manifest import read_manifest
from ask_book.book.plain import plain_manifest, plain_site
from ask_book.book.project import find_project
from ask_book.errors import AskBookError
from book.plain_book import made, plain_book, project_at


def rendered(folder: Path) -> None:
    """Puts a rendered edition in the book: here the plain one, where Quarto's would be."""
    book = plain_book(folder, {"one.qmd": "# One\n\nText.\n"})
    shutil.copytree(plain_site(book.project), book.project.output_dir)
    book.project.data_dir.mkdir(parents=True)
    shutil.copy(plain_manifest(book.project), book.project.data_dir / "manifest.json")


def test_without_a_render_it_is_the_plain_rendition(tmp_path: Path) -> None:
    project = plain_book(tmp_path, {"one.qmd": "# One\n\nText.\n"}).project
    edition = open_edition(project)
    assert edition.kind == "plain"
    assert edition.manifest_path == tmp_path / "cache/manifest.json"
    assert (edition.site / "one.html").is_file()
    assert edition.index_dir == tmp_path / "cache/index"
    assert edition.notices == ()


def test_a_website_is_read_from_its_pages_only(tmp_path: Path) -> None:
    website = "project: {type: website}\nwebsite: {title: W}\n"
    (tmp_path / "_quarto.yml").write_text(website)
    with pytest.raises(AskBookError, match="has no pages made with ask-book yet"):
        open_edition(find_project(tmp_path, {}))
    pages = {"_site/index.html": "<p>Text.</p>", "index.qmd": "Text.\n"}
    manifest = json.dumps({"chapters": [{"file": "index.qmd", "href": "index.html"}]})
    for name, text in {**pages, ".quarto/ask-book/default/manifest.json": manifest}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    os.utime(tmp_path / "index.qmd", (1, 1))
    edition = open_edition(find_project(tmp_path, {}))
    assert (edition.kind, edition.site, edition.notices) == ("rendered", (tmp_path / "_site").resolve(), ())
    os.utime(tmp_path / "index.qmd", (2e9, 2e9))
    (notice,) = open_edition(find_project(tmp_path, {})).notices
    assert "(index.qmd)" in notice.message


def test_a_rendered_book_is_preferred(tmp_path: Path) -> None:
    rendered(tmp_path)
    project = project_at(tmp_path)
    later = (project.data_dir / "manifest.json").stat().st_mtime + 5
    os.utime(project.data_dir / "manifest.json", (later, later))
    edition = open_edition(project)
    assert edition.kind == "rendered"
    assert edition.site == project.output_dir
    assert edition.index_dir == project.data_dir / "index"
    assert edition.notices == ()


def test_a_render_older_than_its_sources_is_used_with_a_notice(tmp_path: Path) -> None:
    rendered(tmp_path)
    project = project_at(tmp_path)
    later = (project.data_dir / "manifest.json").stat().st_mtime + 60
    os.utime(project.root / "one.qmd", (later, later))
    (notice,) = open_edition(project).notices
    assert notice.code == "stale"
    assert "one.qmd" in notice.message


@pytest.mark.parametrize("loss", ["page", "manifest", "damaged manifest"])
def test_a_render_that_is_not_whole_gives_way(tmp_path: Path, loss: str) -> None:
    rendered(tmp_path)
    project = project_at(tmp_path)
    manifest = project.data_dir / "manifest.json"
    if loss == "page":
        (project.output_dir / "one.html").unlink()
    elif loss == "manifest":
        manifest.unlink()
    else:
        manifest.write_text(json.dumps({"version": 1}))
    assert rendered_edition(project) is None
    assert open_edition(project).kind == "plain"


def test_without_render_and_without_pandoc_the_message_says_what_to_install(tmp_path: Path) -> None:
    project = made(plain_book(tmp_path, {"one.qmd": "# One\n"}).project).project
    with pytest.raises(AskBookError, match="ASK_BOOK_PANDOC") as raised:
        open_edition(project, env={"ASK_BOOK_PANDOC": "/no/pandoc"})
    assert "ask-book[pandoc]" in raised.value.hint


def test_pages_that_no_hook_has_seen_get_their_manifest(tmp_path: Path) -> None:
    """A PDF that fails ends a render after its pages are written, and before its hook."""
    project = plain_book(tmp_path, {"one.qmd": "# One\n\nText.\n"}).project
    page = project.output_dir / "one.html"
    records = {
        "book.json": {
            "version": "1",
            "book": {"id": "0" * 12, "title": "B", "authors": [], "lang": "en", "site_url": "", "output_name": "_book"},
            "pages": [{"file": "one.qmd", "part": "", "part_file": "", "number": "1"}],
            "complete": True,
        },
        "chapters/one.json": {"input": "one.qmd", "href": "one.html", "lang": "en", "title": "One", "number": "1"},
    }
    for name, record in records.items():
        (project.data_dir / name).parent.mkdir(parents=True, exist_ok=True)
        (project.data_dir / name).write_text(json.dumps(record))
    page.parent.mkdir()
    for text in ("First.", "Second."):
        page.write_text(f'<main><h1>One</h1><p>{text}</p></main><script id="ask-book-config"></script>')
        os.utime(page, (2e9, 2e9) if text == "Second." else None)
        edition = open_edition(project)
        assert edition.kind == "rendered"
        assert [block.text for block in read_manifest(edition.manifest_path).chapters[0].blocks] == ["One", text]
    assert "First." not in (project.output_dir / "ask-book" / "book.js").read_text()


def test_a_chapter_rendered_again_is_no_longer_old(tmp_path: Path) -> None:
    rendered(tmp_path)
    project = project_at(tmp_path)
    os.utime(project.root / "one.qmd", (2e9, 2e9))
    assert [notice.code for notice in open_edition(project).notices] == ["stale"]
    # its words are the same, so that the manifest was left as it was
    os.utime(project.output_dir / "one.html", (2e9, 2e9))
    assert open_edition(project).notices == ()
