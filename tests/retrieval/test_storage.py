"""The index on disk: used while it fits, replaced when it does not, done without where it cannot be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ask_book.retrieval import storage
from ask_book.retrieval.index import open_index
from disks import closed
from retrieval.texts import manifest_of
from small_books import small_manifest

FILES = ("chunks.json", "lexical.npz", "index.meta.json")


def written(folder: Path) -> dict[str, int]:
    """When each file was last replaced."""
    return {name: (folder / name).stat().st_ino for name in FILES}


def test_chunks_json_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    manifest = small_manifest("es")
    open_index(manifest, tmp_path / "index")
    rows = json.loads((tmp_path / "index" / "chunks.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in rows] == [chunk.id for chunk in manifest.chunks]
    row = rows[2]
    assert set(row) == {
        *("id", "file", "chapter_title", "heading_path", "anchor", "level", "text", "href", "chapter", "start", "end")
    }
    assert (row["file"], row["href"], row["chapter_title"]) == ("clima.qmd", "clima.html", "El clima")
    assert row["heading_path"] == ["El clima", "La lluvia"]
    assert row["text"] == manifest.chapters[1].text[row["start"] : row["end"]]


def test_a_loaded_index_answers_like_the_one_that_was_built(tmp_path: Path) -> None:
    manifest = small_manifest("es")
    built = open_index(manifest, tmp_path)
    before = written(tmp_path)
    loaded = open_index(manifest, tmp_path)
    assert written(tmp_path) == before
    assert loaded.postings.vocabulary == built.postings.vocabulary
    for array in ("starts", "passages", "counts", "lengths"):
        np.testing.assert_array_equal(getattr(loaded.postings, array), getattr(built.postings, array))
    assert loaded.search("¿Cuánta lluvia cae en abril?") == built.search("¿Cuánta lluvia cae en abril?")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def make_foreign(path: Path) -> None:
    path.write_text("[1, 2]", encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [cut_short, flip_a_byte, empty, make_foreign, Path.unlink])
def test_a_damaged_file_is_noticed_and_replaced(tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    manifest = small_manifest("es")
    expected = open_index(manifest, tmp_path).search("lluvia")
    damage(tmp_path / name)
    assert storage.load(manifest, tmp_path) is None
    assert open_index(manifest, tmp_path).search("lluvia") == expected
    assert storage.load(manifest, tmp_path) is not None


def test_an_index_of_another_book_or_edition_is_not_used(tmp_path: Path) -> None:
    manifest = manifest_of([("A", "The red fox."), ("B", "A hen.")])
    open_index(manifest, tmp_path)
    for other in (
        manifest_of([("A", "The red hen."), ("B", "A fox.")]),
        replace(manifest, chunks=manifest.chunks[:1]),
        replace(manifest, book=replace(manifest.book, lang="vi")),
    ):
        assert storage.load(other, tmp_path) is None
    assert storage.load(manifest, tmp_path) is not None


def test_an_index_of_another_way_to_cut_words_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = small_manifest("en")
    open_index(manifest, tmp_path)
    monkeypatch.setattr("ask_book.retrieval.tokens.VERSION", 0)
    assert storage.load(manifest, tmp_path) is None


def test_nothing_but_the_three_files_is_left(tmp_path: Path) -> None:
    open_index(small_manifest("en"), tmp_path / "index")
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == sorted(FILES)


def test_a_place_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert open_index(small_manifest("en"), tmp_path / "file" / "index").search("bees").hits


@pytest.mark.skipif(os.name == "nt", reason="modes do not close a folder there")
def test_a_read_only_folder_does_not_matter(tmp_path: Path) -> None:
    with closed(tmp_path):
        assert open_index(small_manifest("en"), tmp_path / "index").search("bees").hits


def test_a_book_with_no_passages(tmp_path: Path) -> None:
    manifest = manifest_of([])
    for _ in range(2):
        found = open_index(manifest, tmp_path).search("bees")
        assert found.hits == ()
        assert not found.evidence.enough
        assert found.evidence.absent_terms == ("bees",)
