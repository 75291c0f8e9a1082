"""Real renders of a small book: what readers get, and what is left for the sidecar."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ask_book import __version__
from ask_book.book.identity import book_id
from ask_book.book.project import find_project
from extension.quarto_book import (
    EXTENSION,
    PAGES,
    append,
    clean_env,
    command,
    data_dir,
    install,
    make_book,
    manifest,
    page_config,
    preview,
    quarto,
    said,
    write,
)
from lua.builder import as_the_panel_reads, for_the_panel

pytestmark = [pytest.mark.quarto, pytest.mark.timeout(900)]

FORMATS = ("html", "epub", "docx", "latex")
WEBSITE = """\
project:
  type: website
website:
  title: Mi web
  sidebar:
    contents:
      - index.qmd
      - section: Cosas
        contents:
          - text: Zeta
            href: z.qmd
          - a.qmd
format: html
filters:
  - ask-book
"""


def blocks(manifest: Any) -> list[str]:
    return [
        block["text"]
        for chapter in manifest["chapters"]
        for section in chapter["sections"]
        for block in section["blocks"]
    ]


def snapshot(folder: Path) -> dict[str, int]:
    """When each file of a folder was written."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_the_extension_and_the_package_have_one_version() -> None:
    assert f"\nversion: {__version__}\n" in (EXTENSION / "_extension.yml").read_text(encoding="utf-8")


def test_without_python_the_book_gets_its_manifest(full_render: tuple[Path, str]) -> None:
    root, output = full_render
    no_sidecar, summary = said(output)
    assert no_sidecar.startswith("ask-book: no sidecar found")
    assert summary.startswith("ask-book: 3 chapters, ")
    assert summary.endswith("; 3 chapters new or changed")
    made = manifest(root)
    rows = [(chapter["file"], chapter["href"], chapter["number"], chapter["part"]) for chapter in made["chapters"]]
    assert rows == [
        ("index.qmd", "index.html", "", ""),
        ("cosas/río.qmd", "cosas/río.html", "2", "Primera parte"),
        ("tablas.qmd", "tablas.html", "A", "Apéndices"),
    ]
    assert [chapter["title"] for chapter in made["chapters"][1:]] == ["El río", "Tablas"]
    assert "Tiene tres, véase Capítulo 2." in [text.replace("\xa0", " ") for text in blocks(made)]
    book_js = root / "_book" / "ask-book" / "book.js"
    assert as_the_panel_reads(book_js) == for_the_panel(data_dir(root) / "manifest.json")


def test_the_page_knows_its_book_and_its_place(full_render: tuple[Path, str]) -> None:
    root, _ = full_render
    config = page_config(root / "_book" / "cosas" / "río.html")
    expected = book_id('Libro de "prueba"', "es", "https://example.org/libro/", "_book")
    assert config == {
        "version": __version__,
        "book": {"id": expected, "title": 'Libro de "prueba"', "lang": "es", "authors": ["Ana Pérez"]},
        "root": "../",
        "href": "cosas/río.html",
        "endpoint": None,
        "shortcut": "k",
        "suggestions": ["¿Qué es </script>?"],
        "texts": {},
    }
    assert manifest(root)["book"]["id"] == expected == find_project(root, {}).book_id
    assert page_config(root / "_book" / "index.html")["root"] == ""


def test_the_page_loads_the_launcher_and_finds_the_widget(full_render: tuple[Path, str]) -> None:
    site = full_render[0] / "_book"
    source = f"site_libs/quarto-contrib/ask-book-{__version__}/launcher.js"
    assert f'<script src="{source}" defer' in (site / "index.html").read_text(encoding="utf-8")
    assert f'<script src="../{source}" defer' in (site / "cosas" / "río.html").read_text(encoding="utf-8")
    copied = (site / source).parent
    names = {path.relative_to(copied).as_posix() for path in copied.rglob("*.*")}
    widget = EXTENSION / "widget"
    languages = {f"locales/{path.name}" for path in (widget / "locales").iterdir()}
    sheets_and_parts = {path.name for path in widget.iterdir() if path.suffix in {".css", ".js"}}
    bundles = json.loads((widget / "bundles.json").read_text(encoding="utf-8"))
    joined = {part for parts in bundles.values() for part in parts}
    assert names == languages | (sheets_and_parts - joined) | set(bundles)
    sources = sum((widget / name).stat().st_size for name in bundles["panel.js"])
    assert (copied / "panel.js").stat().st_size < 0.6 * sources


def test_a_render_leaves_the_extension_as_it_is(full_render: tuple[Path, str]) -> None:
    installed = full_render[0] / "_extensions" / "ask-book"
    assert sorted(snapshot(installed)) == sorted(snapshot(EXTENSION))


def test_one_chapter_rendered_keeps_the_others_and_a_full_render_drops_the_gone(rendered: Path) -> None:
    append(rendered / "tablas.qmd", "\nUna palabra nueva: quiosco.\n")
    assert said(quarto(rendered, "render", "tablas.qmd"))[-1].endswith("; 1 chapter new or changed")
    made = manifest(rendered)
    assert len(made["chapters"]) == 3
    assert "Una palabra nueva: quiosco." in blocks(made)

    before = snapshot(data_dir(rendered)) | snapshot(rendered / "_book" / "ask-book")
    assert said(quarto(rendered, "render", "tablas.qmd"))[-1].endswith("; nothing changed")
    after = snapshot(data_dir(rendered)) | snapshot(rendered / "_book" / "ask-book")
    assert {name for name in before if before[name] != after[name]} <= {"job.json"}

    (rendered / "cosas" / "río.qmd").rename(rendered / "cosas" / "mar.qmd")
    configuration = (rendered / "_quarto.yml").read_text(encoding="utf-8")
    write(rendered / "_quarto.yml", configuration.replace("río.qmd", "mar.qmd"))
    quarto(rendered, "render")
    files = [chapter["file"] for chapter in manifest(rendered)["chapters"]]
    assert files == ["index.qmd", "cosas/mar.qmd", "tablas.qmd"]
    assert len(list((data_dir(rendered) / "chapters").iterdir())) == 3


@pytest.mark.parametrize("damage", ["missing", "broken"])
def test_a_damaged_hook_does_not_fail_a_render(rendered: Path, damage: str) -> None:
    hooks = rendered / "_extensions" / "ask-book" / "hooks.js"
    if damage == "missing":
        hooks.unlink()
    else:
        write(hooks, "({")
    output = quarto(rendered, "render", "tablas.qmd")
    assert len(said(output)) == (0 if damage == "missing" else 2)


def test_a_damaged_builder_or_filter_does_not_fail_a_render(rendered: Path) -> None:
    before = manifest(rendered)
    write(rendered / "_extensions" / "ask-book" / "lua" / "build.lua", "error('no builder', 0)")
    output = quarto(rendered, "render", "tablas.qmd")
    (line,) = said(output)
    assert line.startswith("ask-book: the manifest is not made anew: ")
    assert "no builder" in line
    assert manifest(rendered) == before
    write(rendered / "_extensions" / "ask-book" / "lua" / "identity.lua", "return { book_id = error }")
    assert "ask-book leaves this page as it is" in quarto(rendered, "render", "tablas.qmd")


def unzipped(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_other_formats_are_the_same_with_and_without_the_filter(tmp_path: Path) -> None:
    contents: list[dict[str, Any]] = []
    for listed in (True, False):
        root = make_book(tmp_path / str(listed) / "book", listed=listed, formats=FORMATS)
        append(root / "_quarto.yml", "identifier: urn:x\n")
        output = quarto(root, "render", env=clean_env(SOURCE_DATE_EPOCH="1704153600"))
        site = root / "_book"
        (epub,), (docx,), (tex,) = (list(site.rglob(f"*.{suffix}")) for suffix in ("epub", "docx", "tex"))
        contents.append({"epub": unzipped(epub), "docx": unzipped(docx), "tex": tex.read_bytes()})
        if listed:
            assert len(said(output)) == 2
            assert len(manifest(root)["chapters"]) == 3
        else:
            # installed but not listed: no word, no file, nothing in the pages
            assert said(output) == []
            assert not (root / ".quarto" / "ask-book").exists()
            assert not (site / "ask-book").exists()
            assert not any(b"ask-book" in page.read_bytes() for page in site.rglob("*.html"))
            assert not list(site.rglob("*ask-book*"))
    assert contents[0] == contents[1]


def test_an_owner_folder_a_profile_and_an_output_folder_elsewhere(tmp_path: Path) -> None:
    root = make_book(tmp_path / "l'été à 100% & más", owner="acme")
    write(root / "_quarto-web.yml", "project:\n  output-dir: ../salida web\nbook:\n  title: Otro título\n")
    output = quarto(root, "render", "--profile", "web")
    assert said(output)[-1].startswith("ask-book: 3 chapters, ")
    made = manifest(root, "web")
    assert made["book"]["title"] == "Otro título"
    assert made["book"]["id"] == book_id("Otro título", "es", "https://example.org/libro/", "salida web")
    assert made["book"]["id"] == find_project(root, {"QUARTO_PROFILE": "web"}).book_id
    assert (tmp_path / "salida web" / "ask-book" / "book.js").is_file()
    assert page_config(tmp_path / "salida web" / "tablas.html")["book"]["id"] == made["book"]["id"]
    assert not data_dir(root).exists()


def test_a_website_follows_its_navigation(tmp_path: Path) -> None:
    root = tmp_path / "web"
    install(root)
    write(root / "_quarto.yml", WEBSITE)
    for name in ("index", "a", "z", "b"):
        write(root / f"{name}.qmd", f"---\ntitle: Página {name}\n---\n\nTexto de la página {name}.\n")
    quarto(root, "render")
    made = manifest(root)
    assert made["book"]["title"] == "Mi web"
    rows = [(chapter["file"], chapter["part"], chapter["title"]) for chapter in made["chapters"]]
    assert rows == [
        ("index.qmd", "", "Página index"),
        ("z.qmd", "Cosas", "Página z"),
        ("a.qmd", "Cosas", "Página a"),
        ("b.qmd", "", "Página b"),
    ]


def test_a_document_outside_a_project_is_left_alone(tmp_path: Path) -> None:
    install(tmp_path)
    write(tmp_path / "solo.qmd", "---\ntitle: Solo\nfilters: [ask-book]\n---\n\nHola.\n")
    output = quarto(tmp_path, "render", "solo.qmd", "--to", "html")
    assert "ask-book" not in output.replace("- ask-book", "")
    assert "ask-book-config" not in (tmp_path / "solo.html").read_text(encoding="utf-8")
    assert not (tmp_path / ".quarto" / "ask-book").exists()


@pytest.mark.skipif(os.name == "nt", reason="the commands are scripts with a #! line")
def test_a_sidecar_that_hangs_floods_or_crashes_does_not_stop_a_render(rendered: Path, tmp_path: Path) -> None:
    bodies = {
        "hangs": "import time\ntime.sleep(600)",
        "floods": "while True:\n print('x' * 100_000)",
        "crashes": "raise SystemExit('no')",
    }

    def render(name: str) -> list[str]:
        root = shutil.copytree(rendered, tmp_path / name / rendered.name, symlinks=True)
        sidecar = command(tmp_path / f"sidecar that {name}", bodies[name])
        return said(quarto(root, "render", "tablas.qmd", env=clean_env(ASK_BOOK=str(sidecar))))

    with ThreadPoolExecutor() as pool:
        for trouble, summary in pool.map(render, bodies):
            assert "did not start" in trouble
            assert summary.startswith("ask-book: 3 chapters, ")


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


@pytest.mark.skipif(os.name == "nt", reason="ends the preview by its process group")
def test_preview_follows_saves_and_does_not_loop(rendered: Path, tmp_path: Path, free_port: int) -> None:
    log = tmp_path / "preview.log"
    (data_dir(rendered) / "manifest.json").unlink()

    def renders() -> int:
        return sum(line.startswith("ask-book: 3 chapters") for line in said(log.read_text(encoding="utf-8")))

    with preview(rendered, free_port, log):
        wait_for(lambda: "Browse at" in log.read_text(encoding="utf-8"))
        assert renders() == 1
        for saves, word in enumerate(("alfa", "beta", "gamma"), start=1):
            # Quarto forgets a save that comes while it still renders the one before
            time.sleep(2)
            write(rendered / "tablas.qmd", f"{PAGES['tablas.qmd']}\nLa palabra {word}.\n")
            wait_for(partial(lambda wanted: renders() == wanted, saves + 1))
            assert f"La palabra {word}." in blocks(manifest(rendered))
        time.sleep(6)
        assert renders() == 4


@pytest.mark.skipif(os.name == "nt", reason="the environment of an author is made of symbolic links")
def test_the_real_sidecar_is_started_found_again_and_knows_the_new_page(rendered: Path, tmp_path: Path) -> None:
    sidecar = shutil.which("ask-book", path=str(Path(sys.executable).parent))
    assert sidecar, "the package is not installed in the environment of the tests"
    (rendered / ".venv" / "bin").mkdir(parents=True)
    (rendered / ".venv" / "bin" / "ask-book").symlink_to(sidecar)
    env = clean_env(HOME=str(tmp_path / "home"))
    try:
        first, _ = said(quarto(rendered, "render", "tablas.qmd", env=env))
        url = first.removeprefix("ask-book: answers at ").removesuffix(" (found in the project's .venv)")
        assert health(url)["book"]["id"] == manifest(rendered)["book"]["id"]
        append(rendered / "tablas.qmd", "\nEl quiosco de la plaza vende limones.\n")
        # one line only: the sidecar answers, nothing is started
        (summary,) = said(quarto(rendered, "render", "tablas.qmd", env=env))
        assert summary.endswith("1 chapter new or changed")
        wait_for(lambda: "vende limones" in fetch(f"{url}/search?q=quiosco"))
    finally:
        subprocess.run([sidecar, "stop", "--book", str(rendered)], env=env, check=True, capture_output=True)


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())


def health(url: str) -> Any:
    return json.loads(fetch(f"{url}/health"))
