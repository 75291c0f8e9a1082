import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ask_book.book.edition import open_edition
from ask_book.book.manifest import Manifest, Tag, read_manifest
from ask_book.book.project import Project, find_project
from ask_book.book.settings import settings_of
from ask_book.cli import main
from ask_book.errors import AskBookError
from ask_book.reports.document import Document, Exchange, new_document
from ask_book.reports.place import book_style, reports_of
from ask_book.reports.store import Store
from reports.samples import citation, saying

SIX = "Tiene seis arcos desiguales."


@pytest.fixture
def project(small_book: Path) -> Project:
    return find_project(small_book, os.environ)


@pytest.fixture
def store(project: Project) -> Store:
    return reports_of(project, settings_of(project.configuration, os.environ))


def place_of(manifest: Manifest, words: str) -> str:
    for chapter in manifest.chapters:
        start = chapter.text.find(words)
        if start >= 0:
            return str(Tag(chapter.index, start, start + len(words)))
    raise AssertionError(words)


def about_arches(project: Project) -> Document:
    """A report whose one quote is in the book."""
    manifest = read_manifest(open_edition(project).manifest_path)
    note = citation(tag=place_of(manifest, SIX), quote=SIX)
    answer = saying("Seis [1](#ask-book-1).", citations=(note,)).exchanges[0].answer
    return new_document([Exchange("¿Cuántos arcos tiene?", answer)], manifest.book, "es")


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    code = main(["reports", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_they_are_kept_outside_the_project(project: Project, store: Store, home: Path) -> None:
    assert store.folder.is_relative_to(home)
    assert not store.folder.is_relative_to(project.root)
    assert store.folder.name.endswith(project.key)


@pytest.mark.parametrize("folder", ["reports", ".", "_book/reports", "../mi libro ñ #1/x"])
def test_a_folder_inside_the_project_is_refused(small_book: Path, folder: str) -> None:
    project = find_project(small_book, {})
    settings = settings_of(project.configuration, {"ASK_BOOK_REPORTS_FOLDER": folder})
    with pytest.raises(AskBookError, match="inside the project"):
        reports_of(project, settings)


def test_the_author_may_choose_a_folder(small_book: Path, tmp_path: Path) -> None:
    project = find_project(small_book, {})
    settings = settings_of(project.configuration, {"ASK_BOOK_REPORTS_FOLDER": "../kept"})
    assert reports_of(project, settings).folder == tmp_path.resolve() / "kept"


def test_looks_come_from_the_books_own_pdf(small_book: Path) -> None:
    config = small_book / "_quarto.yml"
    looks = "format:\n  pdf:\n    papersize: a5\n    mainfont: Libertinus Serif\n"
    config.write_text(config.read_text(encoding="utf-8") + looks, encoding="utf-8")
    project = find_project(small_book, {})
    style = book_style(project, settings_of(project.configuration, {}))
    assert (style.paper, style.font) == ("a5", "Libertinus Serif")


def test_list_and_search(small_book: Path, project: Project, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, small_book) == (0, [])
    document = about_arches(project)
    folder = store.save(document)
    code, (row,) = said(capsys, small_book)
    assert (code, row["id"], row["title"], row["quotes"]) == (0, document.id, "¿Cuántos arcos tiene?", 1)
    assert row["files"] == {name: str(folder / name) for name in ("report.html", "report.md")}
    assert said(capsys, "--search", "ARCOS seis", "--book", small_book)[1] == [row]
    assert said(capsys, "--search", "nada", "--book", small_book) == (1, [])
    assert main(["reports", str(small_book)]) == 0
    assert f"{document.id[:8]}  {document.created[:10]}  ¿Cuántos arcos tiene?" in capsys.readouterr().out


def test_export_join_and_delete(
    small_book: Path, project: Project, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = about_arches(project), saying("Sí.", question="¿Y luego?")
    for document in (first, second):
        store.save(document)
    code, joined = said(capsys, "--join", first.id, "--join", second.id[:8], "--book", small_book)
    assert code == 0
    assert store.read(joined["id"]).title == "¿Cuántos arcos tiene? (+1)"
    code, exported = said(capsys, "--export", tmp_path / "all.zip", "--search", "luego", "--book", small_book)
    assert (code, len(exported["reports"])) == (0, 2)
    assert len(zipfile.ZipFile(tmp_path / "all.zip").namelist()) == 6
    assert said(capsys, "--delete", first.id, "--book", small_book)[0] == 2
    assert store.has(first.id)
    assert said(capsys, "--delete", first.id, "--delete", second.id, "--yes", "--book", small_book)[0] == 0
    assert [summary.id for summary in store.summaries()] == [joined["id"]]


def test_check_tells_what_became_of_the_quotes(
    small_book: Path, project: Project, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    store.save(about_arches(project))
    chapter = small_book / "puentes.qmd"
    text = chapter.read_text(encoding="utf-8")
    assert (said(capsys, "--check", small_book)[0], said(capsys, "--check", small_book)[1]["gone"]) == (0, 0)
    chapter.write_text(text.replace("El puente", "Se dice que el puente"), encoding="utf-8")
    code, found = said(capsys, "--check", small_book)
    assert (code, found["reports"][0]["fate"], found["reports"][0]["quotes"][0]["quote"]) == (0, "moved", SIX)
    chapter.write_text(text.replace("seis arcos", "seis grandes arcos"), encoding="utf-8")
    code, found = said(capsys, "--check", small_book)
    assert (code, found["gone"], found["reports"][0]["fate"]) == (1, 1, "gone")
    assert main(["reports", "--check", str(small_book)]) == 1
    assert f"[1] gone: “{SIX}”" in capsys.readouterr().out


def test_what_is_not_there(small_book: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for action in ("--open", "--delete", "--pdf", "--join"):
        code, error = said(capsys, action, "abc", "--yes", "--book", small_book)
        assert (code, error["error"]["code"]) == (1, "no_report")
    assert said(capsys, "--export", tmp_path / "x.zip", "--book", small_book)[1]["error"]["code"] == "no_report"


def test_open_prints_the_file(small_book: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    document = saying("Sí.")
    folder = store.save(document)
    code, opened = said(capsys, "--open", document.id[:8], "--no-browser", "--book", small_book)
    assert (code, opened) == (0, {"id": document.id, "file": str(folder / "report.html")})


def test_ask_keeps_its_answer_on_request(
    small_book: Path, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASK_BOOK_REPORTS_PDF", "false")
    assert (
        main(["ask", "¿Cuándo se terminó el puente de Alcántara?", "--report", "--json", "--book", str(small_book)])
        == 0
    )
    report = json.loads(capsys.readouterr().out)["report"]
    assert Path(report["html"]).is_file()
    assert report["pdf"] == ""
    assert [summary.id for summary in store.summaries()] == [report["id"]]


@pytest.mark.tex
def test_a_pdf_on_request(small_book: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    document = saying("Sí [1](#ask-book-1).")
    folder = store.save(document)
    code, made = said(capsys, "--pdf", document.id, "--book", small_book)
    assert (code, made["file"]) == (0, str(folder / "report.pdf"))
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_one_thing_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--check", "--open", "x")[0] == 2
