"""A book with everything that moves a page or an anchor: what its manifest says is where readers find it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ask_book.book.manifest import Chapter, Manifest, read_manifest
from extension.quarto_book import data_dir, install, quarto, said, write
from lua.fidelity import Page, measure, misnamed

pytestmark = pytest.mark.quarto

CONFIGURATION = """\
project:
  type: book
  output-dir: ../sitio/libro
lang: es
book:
  title: Todo enlazado
  chapters:
    - index.qmd
    - part: partes/agua.qmd
      chapters:
        - cap/repetido.qmd
        - cap/sin título.qmd
    - part: "Segunda: el aire"
      chapters:
        - 水/川.qmd
        - viento.qmd
  appendices:
    - mapas.qmd
    - partes/tablas.qmd
format:
  html: default
  epub: default
filters: [ask-book]
"""
LONG = "El caudal sube en primavera y baja en verano, como saben quienes riegan sus huertas en la vega del río. "
PAGES = {
    "index.qmd": "# Prefacio\n\nVéase @sec-mapas.\n\n# Gracias\n\nA todos.\n",
    "partes/agua.qmd": "# El agua {#sec-agua}\n\nUna parte con página.\n\n## De dónde viene\n\nDe arriba.\n",
    "cap/_metadata.yml": "number-sections: false\ncode-fold: true\n",
    "cap/repetido.qmd": "---\ntitle: Repetido\n---\n\n"
    + "".join(f"## Ejemplo\n\n{name}: {LONG * 2}\n\n" for name in ("Uno", "Dos", "Tres")),
    "cap/sin título.qmd": "Un capítulo que no tiene título.\n\n## Ñandú y *énfasis*: ¿sí?\n\nUn ave.\n",
    "水/川.qmd": "# 川の話 {#sec-川}\n\n川は流れる。\n\n## 上流 {#上流}\n\n山から。\n\n## Исток\n\nВ горах.\n\n"
    "### مجرى\n\nنهر.\n\n## {#vacía}\n\nSin título.\n",
    "viento.qmd": "---\noutput-file: aire\n---\n\n# El viento {#sec-viento}\n\nSopla.\n\n## Norte {#sec-norte}\n\n"
    "$$ v = d / t $$ {#eq-v}\n\n::: {#thm-norte}\n## Del norte\n\nViene frío.\n:::\n\n"
    "::: {.panel-tabset}\n## Ayer\n\nCalma.\n\n## Hoy\n\nBrisa.\n:::\n",
    "mapas.qmd": "# Mapas {#sec-mapas}\n\n## Del norte\n\n![Un mapa](mapa.svg){#fig-mapa fig-alt='Dos cerros'}\n",
    "partes/tablas.qmd": "# Tablas\n\n| año | agua |\n|---|---|\n| 1984 | mucha |\n\n: Aguas {#tbl-aguas}\n",
    "mapa.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
}


@pytest.fixture(scope="module")
def whole_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book, in the folder of a bigger website that gets its pages; rendered once."""
    website = tmp_path_factory.mktemp("web")
    write(website / "_quarto.yml", "project: {type: website, output-dir: sitio, render: [index.qmd]}\n")
    write(website / "index.qmd", "---\ntitle: Inicio\n---\n\n[El libro](libro/index.html)\n")
    root = website / "libro"
    install(root)
    write(root / "_quarto.yml", CONFIGURATION)
    for name, text in PAGES.items():
        write(root / name, text)
    quarto(website, "render")
    assert "8 chapters new or changed" in said(quarto(root, "render"))[-1]
    return root


def manifest_of(root: Path) -> Manifest:
    return read_manifest(data_dir(root) / "manifest.json")


def chapter_of(manifest: Manifest, file: str) -> Chapter:
    return next(chapter for chapter in manifest.chapters if chapter.file == file)


def test_every_word_is_there_and_every_link_leads_to_it(whole_book: Path) -> None:
    made = manifest_of(whole_book)
    site = whole_book.parent / "sitio" / "libro"
    result = measure(made, site)
    assert (result.dead_anchors, result.unfaithful, dict(result.missing)) == ([], [], {})
    assert misnamed(made, site) == (1, [])
    for label in made.labels.values():
        page, _, anchor = label.href.partition("#")
        assert not anchor or anchor in Page(site / page).elements, label
    assert (site / "ask-book" / "book.js").is_file()
    assert (site.parent / "index.html").is_file()


def test_chapters_have_their_place_number_and_page(whole_book: Path) -> None:
    rows = [(chapter.href, chapter.number, chapter.title, chapter.part) for chapter in manifest_of(whole_book).chapters]
    assert rows == [
        ("index.html", "", "Todo enlazado", ""),
        ("partes/agua.html", "", "El agua", "El agua"),
        ("cap/repetido.html", "2", "Repetido", "El agua"),
        ("cap/sin título.html", "3", "Ñandú y énfasis: ¿sí?", "El agua"),
        ("水/川.html", "4", "川の話", "Segunda: el aire"),
        ("aire.html", "5", "El viento", "Segunda: el aire"),
        ("mapas.html", "A", "Mapas", "Apéndices"),
        ("partes/tablas.html", "B", "Tablas", "Apéndices"),
    ]


def test_anchors_and_numbers_are_those_of_the_pages(whole_book: Path) -> None:
    made = manifest_of(whole_book)
    anchors = {chapter.file: [(part.anchor, part.number) for part in chapter.sections] for chapter in made.chapters}
    assert anchors == {
        "index.qmd": [("", ""), ("prefacio", "1"), ("gracias", "2")],
        "partes/agua.qmd": [("", ""), ("de-dónde-viene", "")],
        "cap/repetido.qmd": [("", "2"), ("ejemplo", ""), ("ejemplo-1", ""), ("ejemplo-2", "")],
        "cap/sin título.qmd": [("", "3")],
        "水/川.qmd": [("", "4"), ("上流", "4.1"), ("исток", "4.2"), ("مجرى", "4.2.1"), ("vacía", "4.3")],
        "viento.qmd": [("", "5"), ("sec-norte", "5.1")],
        "mapas.qmd": [("", "A"), ("del-norte", "A.1")],
        "partes/tablas.qmd": [("", "B")],
    }


def test_labels_are_what_readers_call_things(whole_book: Path) -> None:
    labels = {name: (label.text, label.href) for name, label in manifest_of(whole_book).labels.items()}
    assert labels == {
        "sec-agua": ("", "partes/agua.html"),
        "sec-川": ("Capítulo 4", "水/川.html"),
        "sec-viento": ("Capítulo 5", "aire.html"),
        "sec-norte": ("Sección 5.1", "aire.html#sec-norte"),
        "eq-v": ("Ecuación 5.1", "aire.html#eq-v"),
        "thm-norte": ("Teorema 5.1", "aire.html#thm-norte"),
        "sec-mapas": ("Apéndice A", "mapas.html"),
        "fig-mapa": ("Figura A.1", "mapas.html#fig-mapa"),
        "tbl-aguas": ("Tabla B.1", "partes/tablas.html#tbl-aguas"),
    }


def test_an_edit_changes_only_what_it_must_and_a_fresh_render_gives_the_same_bytes(
    whole_book: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole_book.parent, tmp_path / "web", symlinks=True)
    root = tmp_path / "web" / "libro"
    made = [data_dir(root) / "manifest.json", root.parent / "sitio" / "libro" / "ask-book" / "book.js"]
    old = manifest_of(root)
    page = root / "cap" / "repetido.qmd"
    write(page, page.read_text(encoding="utf-8").replace("Dos: El caudal", "Dos: El gran caudal"))
    quarto(root, "render", "cap/repetido.qmd", "--to", "html")
    new = manifest_of(root)
    changed = [a.file for a, b in zip(old.chapters, new.chapters, strict=True) if a.hash != b.hash]
    assert changed == ["cap/repetido.qmd"]
    assert len({chunk.id for chunk in new.chunks} - {chunk.id for chunk in old.chunks}) == 1
    assert len({chunk.id for chunk in old.chunks} - {chunk.id for chunk in new.chunks}) == 1
    assert new.labels == old.labels
    assert chapter_of(new, "cap/repetido.qmd").sections[2].blocks[1].text.startswith("Dos: El gran caudal")

    # one chapter rendered into an older book, or the whole with nothing kept: the same files
    before = [path.read_bytes() for path in made]
    shutil.rmtree(root / ".quarto")
    quarto(root, "render", "--to", "html")
    assert [path.read_bytes() for path in made] == before


def test_a_removed_chapter_leaves_no_ghost(whole_book: Path, tmp_path: Path) -> None:
    shutil.copytree(whole_book.parent, tmp_path / "web", symlinks=True)
    root = tmp_path / "web" / "libro"
    (root / "cap" / "repetido.qmd").unlink()
    configuration = (root / "_quarto.yml").read_text(encoding="utf-8")
    write(root / "_quarto.yml", configuration.replace("        - cap/repetido.qmd\n", ""))
    quarto(root, "render", "--to", "html", "--no-clean")
    made = manifest_of(root)
    assert [chapter.index for chapter in made.chapters] == list(range(7))
    assert "cap/repetido.qmd" not in [chapter.file for chapter in made.chapters]
    assert chapter_of(made, "viento.qmd").number == "4"
    assert made.labels["eq-v"].text == "Ecuación 4.1"
    assert len(list((data_dir(root) / "cut").iterdir())) == 7
