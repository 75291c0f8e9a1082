from collections.abc import Mapping
from pathlib import Path

import pytest

from ask_book.book.identity import book_id
from ask_book.book.project import ChapterSource, Project, find_project
from ask_book.errors import AskBookError


def make(folder: Path, config: str, files: Mapping[str, str | bytes] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_quarto.yml").write_text(config, encoding="utf-8", newline="")
    for name, content in (files or {"index.qmd": "# Home\n"}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def project(folder: Path, config: str, files: Mapping[str, str | bytes] | None = None) -> Project:
    return find_project(make(folder, config, files), {})


def refused(folder: Path, config: str, files: Mapping[str, str | bytes] | None = None) -> AskBookError:
    with pytest.raises(AskBookError) as caught:
        project(folder, config, files)
    return caught.value


def test_a_website_has_pages_but_no_list_of_chapters(tmp_path: Path) -> None:
    website = "project: {type: website}\nlang: es\nwebsite: {title: Mi web, site-url: https://example.org/web/}\n"
    site = project(tmp_path / "web", website)
    assert (site.title, site.site_url, site.chapters) == ("Mi web", "https://example.org/web/", ())
    assert site.output_dir == (tmp_path / "web" / "_site").resolve()
    assert site.book_id == book_id("Mi web", "es", "https://example.org/web", "_site")


def test_a_small_book(tmp_path: Path) -> None:
    book = project(
        tmp_path / "mi libro ñ #1",
        "project: {type: book}\nlang: es\nbook:\n  title: Un libro\n  author: A. Autora\n"
        "  site-url: https://example.org/libro/\n  chapters: [index.qmd]\n",
    )
    assert (book.title, book.lang, book.authors) == ("Un libro", "es", ("A. Autora",))
    assert book.output_dir == tmp_path.resolve() / "mi libro ñ #1" / "_book"
    assert book.data_dir == book.root / ".quarto" / "ask-book" / "default"
    assert book.book_id == book_id("Un libro", "es", "https://example.org/libro", "_book")
    assert book.chapters == (ChapterSource("index.qmd"),)


def test_parts_part_pages_appendices_and_the_order_of_quarto(tmp_path: Path) -> None:
    config = """
book:
  title: T
  chapters:
    - part: "First part"
      chapters:
        - one.qmd
        - file: ./sub/two.md
          text: The second
    - part: second.qmd
      chapters: [three.ipynb]
    - index.qmd
    - "---"
  references: refs.qmd
  appendices:
    - a.Rmd
    - part: More
      chapters: [b.qmd]
"""
    names = ["one.qmd", "sub/two.md", "three.ipynb", "index.qmd", "refs.qmd", "a.Rmd", "b.qmd"]
    page = "---\nauthor: x\n---\n\n```\n# no heading\n```\n\n# Second *part* {#sec-second}\n"
    book = project(tmp_path, config, {**dict.fromkeys(names, "text\n"), "second.qmd": page})
    assert book.chapters == (
        ChapterSource("index.qmd"),
        ChapterSource("one.qmd", "First part"),
        ChapterSource("sub/two.md", "First part", title="The second"),
        ChapterSource("second.qmd", "Second *part*"),
        ChapterSource("three.ipynb", "Second *part*"),
        ChapterSource("refs.qmd"),
        ChapterSource("a.Rmd", appendix=True),
        ChapterSource("b.qmd", "More", appendix=True),
    )


def test_the_title_of_a_part_page_from_its_front_matter(tmp_path: Path) -> None:
    config = "book: {chapters: [index.qmd, {part: p.qmd, chapters: [a.qmd]}]}\n"
    files = {"index.qmd": "", "a.qmd": "", "p.qmd": '---\r\ntitle: "The part"\r\n---\r\n\r\n# Other\r\n'}
    assert [chapter.part for chapter in project(tmp_path, config, files).chapters] == ["", "The part", "The part"]


@pytest.mark.parametrize(
    ("config", "lang"),
    [
        ("lang: fr", "fr"),
        ("format: {html: {lang: de}}", "de"),
        ("format: html", ""),
        ("format: {html: default}", ""),
        ("lang: no", "no"),
    ],
)
def test_where_the_language_may_be(tmp_path: Path, config: str, lang: str) -> None:
    assert project(tmp_path, f"{config}\nbook: {{chapters: [index.qmd]}}\n").lang == lang


def test_a_language_that_is_only_in_the_book_is_not_in_its_id(tmp_path: Path) -> None:
    book = project(tmp_path, "book: {title: T, language: en, chapters: [index.qmd]}\n")
    assert (book.lang, book.book_id) == ("en", book_id("T", "", "", "_book"))


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("A", ("A",)),
        ("[A, B]", ("A", "B")),
        ("[{name: A, orcid: 1}, {name: {given: B, family: C}}, {name: {literal: D}}]", ("A", "B C", "D")),
        ("{name: A}", ("A",)),
        ("~", ()),
    ],
)
def test_authors_in_every_form(tmp_path: Path, author: str, names: tuple[str, ...]) -> None:
    assert project(tmp_path, f"book: {{author: {author}, chapters: [index.qmd]}}\n").authors == names


@pytest.mark.parametrize(("setting", "name"), [("docs", "docs"), ("out/site/", "site"), ("../elsewhere", "elsewhere")])
def test_output_folders(tmp_path: Path, setting: str, name: str) -> None:
    book = project(tmp_path / "b", f"project: {{output-dir: {setting}}}\nbook: {{title: T, chapters: [index.qmd]}}\n")
    assert book.output_dir.name == name
    assert book.book_id == book_id("T", "", "", name)


def test_profiles_change_the_book_and_have_their_own_folder(tmp_path: Path) -> None:
    make(tmp_path, "book: {title: T, chapters: [index.qmd]}\n", {"index.qmd": "", "extra.qmd": ""})
    (tmp_path / "_quarto-long.yml").write_text("book: {chapters: [extra.qmd]}\nproject: {output-dir: long}\n")
    book = find_project(tmp_path, {"QUARTO_PROFILE": "long"})
    assert [chapter.file for chapter in book.chapters] == ["index.qmd", "extra.qmd"]
    assert (book.output_dir.name, book.data_dir.name) == ("long", "long")
    assert find_project(tmp_path, {}).cache_dir != book.cache_dir


def test_crlf_and_bom(tmp_path: Path) -> None:
    book = project(tmp_path, "\ufeffbook:\r\n  title: 'T'\r\n  chapters:\r\n    - index.qmd\r\n")
    assert (book.title, len(book.chapters)) == ("T", 1)


def test_a_missing_chapter_is_named_with_its_line(tmp_path: Path) -> None:
    error = refused(
        tmp_path, "book:\n  chapters:\n    - index.qmd\n    - Dams.qmd\n", {"index.qmd": "", "dams.qmd": ""}
    )
    assert error.message == f"{tmp_path}/_quarto.yml:4: the chapter `Dams.qmd` is missing."
    assert "dams.qmd" in error.hint


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("book: {title: T}", "_quarto.yml:1: the book lists no chapters"),
        ("book:\n  title: T\n  chapters:\n", "_quarto.yml:3: the book lists no chapters"),
        ("book:\n  chapters: []\n", "_quarto.yml:2: the book lists no chapters"),
        ("project:\n  type: manuscript\n", "of the type `manuscript`, not a book"),
        ("", "of the type `default`, not a book"),
        ("book: {chapters: [index.qmd, {foo: a}]}", "names neither a file nor a part"),
        ("book: {chapters: [../index.qmd]}", "is outside the project"),
        ("book: {chapters: [/etc/passwd]}", "is outside the project"),
    ],
)
def test_books_that_are_none(tmp_path: Path, config: str, says: str) -> None:
    assert says in refused(tmp_path / "b", config).message


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x00", "# Hola".encode("utf-16")])
def test_a_binary_chapter_is_refused_with_its_line(tmp_path: Path, content: bytes) -> None:
    error = refused(tmp_path, "book:\n  chapters:\n    - index.qmd\n", {"index.qmd": content})
    assert error.message.endswith("_quarto.yml:3: the chapter `index.qmd` is not text (it has binary content).")


def test_a_folder_as_chapter(tmp_path: Path) -> None:
    error = refused(tmp_path, "book:\n  chapters: [sub]\n", {"sub/a.qmd": ""})
    assert "the chapter `sub` cannot be read" in error.message
