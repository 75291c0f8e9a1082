"""A book in one folder: what is in it, what is not, and what it never takes the place of."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from ask_book.book.dotenv import read_dotenv
from ask_book.book.edition import Edition, open_edition
from ask_book.book.export import Export, export
from ask_book.book.project import Project, find_project
from ask_book.book.settings import load_settings, settings_of
from ask_book.errors import AskBookError
from ask_book.files import exchanged

CONFIGURATION = """\
project: {type: book}
lang: es
book:
  title: "Ríos: un libro"
  author: [Ana Pérez, {name: {given: Luis, family: Gil}}]
  site-url: https://example.org/rios/
  chapters: [index.qmd]
ask-book:
  top-k: 5
  suggestions: ["¿Qué es un río?"]
"""


@pytest.fixture
def book(tmp_path: Path, home: Path) -> Path:
    """A rendered book, as far as an export looks at it."""
    root = tmp_path / "mi libro ñ #1"
    files = {
        "_quarto.yml": CONFIGURATION,
        ".env": "ASK_BOOK_IDLE_MINUTES=5\nASK_BOOK_API_KEY=sk-very-secret\n",
        "index.qmd": "# Un río\n\nAgua. <!-- nobody may read this -->\n",
        "_book/index.html": "<!doctype html><title>Un río</title><p>Agua.</p>",
        "_book/figuras/río.svg": "<svg/>",
        "_book/.nojekyll": "",
        ".quarto/ask-book/default/manifest.json": json.dumps(
            {"chapters": [{"file": "index.qmd", "href": "index.html"}]}
        ),
        ".quarto/ask-book/default/index/chunks.json": "[]",
        ".quarto/ask-book/default/index/.chunks.json.x1": "half",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def opened(root: Path) -> tuple[Project, Edition]:
    project = find_project(root, {})
    return project, open_edition(project, env={"PATH": ""})


def exported(root: Path, out: Path, env: dict[str, str] | None = None) -> Export:
    project, edition = opened(root)
    return export(project, settings_of(project.configuration, env or {}), edition, out)


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in files(folder)}


def test_what_is_in_it(book: Path, tmp_path: Path) -> None:
    done = exported(book, tmp_path / "out")
    assert files(tmp_path / "out") == [
        "ask-book.yml",
        "index/chunks.json",
        "manifest.json",
        "site/figuras/río.svg",
        "site/index.html",
    ]
    assert done.files == 5
    assert done.bytes == sum((tmp_path / "out" / name).stat().st_size for name in files(tmp_path / "out"))


def test_it_is_the_same_book_without_its_sources(book: Path, tmp_path: Path) -> None:
    original = find_project(book, {})
    exported(book, tmp_path / "out")
    shutil.copytree(tmp_path / "out", tmp_path / "elsewhere" / "copy")
    shutil.rmtree(book)
    project, edition = opened(tmp_path / "elsewhere" / "copy" / "site")
    for name in ("title", "authors", "lang", "site_url", "book_id"):
        assert getattr(project, name) == getattr(original, name)
    assert project.chapters == ()
    root = (tmp_path / "elsewhere" / "copy").resolve()
    assert edition == Edition("rendered", root / "manifest.json", root / "site", root / "index")
    settings = load_settings(root, {"ASK_BOOK_TOP_K": "9"})
    assert (settings.top_k, settings.suggestions) == (9, ("¿Qué es un río?",))


def test_secrets_and_what_belongs_to_the_machine_stay_behind(book: Path, tmp_path: Path) -> None:
    done = exported(book, tmp_path / "out", {"ASK_BOOK_TOP_K": "9"})
    assert done.left_out == (
        "1 hidden file or folder among the pages, which no server gives out",
        "the setting `top-k` of ASK_BOOK_TOP_K (environment): set it where the book is served",
        "the setting `idle-minutes` of ASK_BOOK_IDLE_MINUTES (.env): set it where the book is served",
    )
    written = b"".join(contents(tmp_path / "out").values())
    assert b"sk-very-secret" not in written
    assert b"nobody may read this" not in written
    assert read_dotenv(tmp_path / "out" / ".env") == {}
    assert load_settings(tmp_path / "out", {}).top_k == 5


def test_what_the_machine_has_stays_in_its_place(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(book, out)
    (out / ".env").write_text("ASK_BOOK_API_KEY=of-the-server\n")
    (out / ".env").chmod(0o600)
    assert exported(book, out).files == 5
    assert (out / ".env").read_text() == "ASK_BOOK_API_KEY=of-the-server\n"
    assert (out / ".env").stat().st_mode & 0o777 == 0o600


def test_an_exported_plain_rendition_says_what_it_is(book: Path, tmp_path: Path) -> None:
    project, edition = opened(book)
    plain = replace(edition, kind="plain")
    export(project, settings_of(project.configuration, {}), plain, tmp_path / "out")
    assert opened(tmp_path / "out")[1].kind == "plain"
    exported(tmp_path / "out", tmp_path / "again")
    assert opened(tmp_path / "again")[1].kind == "plain"


def test_whoever_reads_all_the_time_reads_the_old_export_or_the_new_one(book: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    if not exchanged(tmp_path / "a", tmp_path / "b"):
        pytest.skip("the disk cannot exchange two folders in one step")
    out = tmp_path / "out"
    exported(book, out)
    done = Event()
    seen: list[object] = []

    def reads() -> None:
        while not done.is_set():
            try:
                seen.append((out / "site" / "index.html").stat().st_size)
            except OSError as error:
                seen.append(error)

    reader = Thread(target=reads)
    reader.start()
    for _ in range(10):
        with (book / "_book" / "index.html").open("a") as page:
            page.write("more")
        exported(book, out)
    done.set()
    reader.join()
    assert [what for what in seen if isinstance(what, OSError)] == []


def test_the_same_book_gives_the_same_bytes(book: Path, tmp_path: Path) -> None:
    for out in ("one", "two"):
        exported(book, tmp_path / out)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_an_export_takes_the_place_of_an_earlier_one_and_leaves_nothing_beside_it(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "out [1]"
    exported(book, out)
    (book / "_book" / "figuras" / "río.svg").unlink()
    (out.parent / ".out [1].export-killed" / "new").mkdir(parents=True)
    exported(book, out)
    assert "site/figuras/río.svg" not in files(out)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
    exported(out, tmp_path / "copy of a copy")
    assert files(tmp_path / "copy of a copy") == files(out)


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (".", "it holds the book"),
        ("..", "it holds the book"),
        ("/", "it holds the book"),
        ("_book", "it holds its pages"),
        ("_book/export", "Quarto or ask-book"),
        (".quarto/ask-book/default/export", "Quarto or ask-book"),
        ("_extensions/export", "Quarto or ask-book"),
        ("~", "it holds your home folder"),
        ("index.qmd", "is no export of ask-book"),
        ("figures", "is no export of ask-book"),
        ("~/link-to-the-book", "it holds the book"),
    ],
)
def test_what_it_never_takes_the_place_of(
    book: Path, home: Path, monkeypatch: pytest.MonkeyPatch, out: str, why: str
) -> None:
    (book / "figures").mkdir()
    (book / "figures" / "mine.png").write_text("")
    (home / "link-to-the-book").symlink_to(book)
    monkeypatch.chdir(book)
    before = files(book)
    with pytest.raises(AskBookError) as caught:
        exported(book, Path(out).expanduser())
    assert why in caught.value.message
    assert caught.value.code == "export"
    assert files(book) == before


def test_links_are_followed_inside_the_pages_only(book: Path, tmp_path: Path) -> None:
    (book / "_book" / "same.svg").symlink_to(book / "_book" / "figuras" / "río.svg")
    (book / "_book" / "passwords").symlink_to("/etc/passwd")
    (book / "_book" / "nowhere").symlink_to("gone")
    done = exported(book, tmp_path / "out")
    assert "site/same.svg" in files(tmp_path / "out")
    assert not (tmp_path / "out" / "site" / "same.svg").is_symlink()
    for name in ("passwords", "nowhere"):
        assert f"site/{name}" not in files(tmp_path / "out")
        assert f"{book.resolve() / '_book' / name}, a link that leads to nothing among the pages" in done.left_out


def test_a_damaged_export_and_one_of_another_version_say_so(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(book, out)
    (out / "site" / "index.html").unlink()
    with pytest.raises(AskBookError, match="is not whole"):
        opened(out)
    (out / "ask-book.yml").write_text("export: 2\n")
    with pytest.raises(AskBookError, match=r"ask-book\.yml is no export that this ask-book can read"):
        opened(out)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there is no such file here that cannot be copied")
def test_an_export_that_fails_leaves_the_earlier_one(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(book, out)
    before = contents(out)
    os.mkfifo(book / "_book" / "pipe")
    with pytest.raises(AskBookError) as caught:
        exported(book, out)
    assert f"came to nothing ({book.resolve() / '_book' / 'pipe'}: " in caught.value.message
    assert caught.value.hint == "What was there before is as it was."
    assert contents(out) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
