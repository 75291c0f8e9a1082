"""Embedding a book: only what is new, each batch kept, one model at a time."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ask_book.errors import AskBookError
from ask_book.retrieval import storage
from ask_book.retrieval.index import open_index
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.vectors import Vectors, embed, embedded_text, plan, ready
from retrieval.embedders import WordEmbedder
from retrieval.texts import manifest_of
from small_books import small_manifest

BOOK = [("Rivers", "The Danube is long"), ("Bridges", "Stone lasts"), ("Bread", "Flour and water"), ("Salt", "White")]


def embedded(book: list[tuple[str, str]], embedder: WordEmbedder, folder: Path) -> Vectors:
    kept = Kept(embedder.name, folder)
    return asyncio.run(embed(plan(manifest_of(book), kept), embedder, kept))


def test_a_passage_is_embedded_with_its_headings() -> None:
    manifest = small_manifest("es")
    chunk = manifest.chunks[2]
    text = manifest.chapters[1].text[chunk.start : chunk.end]
    assert embedded_text(manifest, chunk) == f"El clima. La lluvia. {text}"


def test_a_long_passage_is_cut_and_half_a_character_replaced() -> None:
    manifest = manifest_of([("Long", "\ud800" + "x" * 9000)])
    text = embedded_text(manifest, manifest.chunks[0])
    assert len(text) == 4000
    assert text.startswith("Long. ?x")


def test_each_row_is_the_vector_of_its_passage(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    vectors = embedded(BOOK, embedder, tmp_path)
    assert (vectors.name, vectors.kind) == ("test/words", "other")
    np.testing.assert_array_equal(vectors.matrix, [embedder.vector(f"{title}. {text}") for title, text in BOOK])


def test_only_new_text_is_embedded(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    embedded(BOOK, embedder, tmp_path)
    embedder.seen.clear()
    changed = [BOOK[2], ("New", "Words"), BOOK[0], BOOK[0]]
    vectors = embedded(changed, embedder, tmp_path)
    assert embedder.seen == ["New. Words"]
    np.testing.assert_array_equal(vectors.matrix, [embedder.vector(f"{title}. {text}") for title, text in changed])


def test_what_was_embedded_before_a_failure_is_not_asked_for_again(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    embedder.fails_at = "Bread"
    with pytest.raises(AskBookError, match="broke off"):
        embedded(BOOK, embedder, tmp_path)
    assert embedder.seen == ["Rivers. The Danube is long", "Bridges. Stone lasts"]
    embedder.fails_at = None
    embedder.seen.clear()
    embedded(BOOK, embedder, tmp_path)
    assert embedder.seen == ["Bread. Flour and water", "Salt. White"]


def test_calls_under_way_at_a_failure_are_kept_too(tmp_path: Path) -> None:
    embedder = WordEmbedder(batch=1, parallel=3)
    embedder.fails_at = "Rivers"
    with pytest.raises(AskBookError):
        embedded(BOOK, embedder, tmp_path)
    manifest = manifest_of(BOOK)
    assert list(plan(manifest, Kept(embedder.name, tmp_path)).missing.values()) == [
        "Rivers. The Danube is long",
        "Salt. White",
    ]


def test_progress_is_told_from_nothing_to_all(tmp_path: Path) -> None:
    embedder, told = WordEmbedder(), []
    kept = Kept(embedder.name, tmp_path)
    asyncio.run(embed(plan(manifest_of(BOOK), kept), embedder, kept, lambda done, total: told.append((done, total))))
    assert told == [(0, 4), (2, 4), (4, 4)]


def test_a_model_that_changed_under_its_name_makes_all_vectors_anew(tmp_path: Path) -> None:
    embedded(BOOK, WordEmbedder(size=64), tmp_path)
    vectors = embedded([*BOOK, ("New", "Words")], WordEmbedder(size=32), tmp_path)
    assert vectors.matrix.shape == (5, 32)
    assert {len(row) for row in plan(manifest_of(BOOK), Kept("test/words", tmp_path)).known.values()} == {32}


def test_two_models_are_kept_beside_each_other(tmp_path: Path) -> None:
    first, second = WordEmbedder("first"), WordEmbedder("second", size=32)
    for embedder in (first, second, first):
        assert embedded(BOOK, embedder, tmp_path).name == embedder.name
    assert len(first.seen) == len(BOOK)


class TestOnDisk:
    """`index.npz`, `vectors.npy` and what vouches for them."""

    @pytest.fixture(autouse=True)
    def _own_account(self, home: Path) -> None:
        """Nothing is kept from before."""

    def built(self, folder: Path, name: str = "test/words") -> Vectors:
        embedder = WordEmbedder(name)
        manifest = manifest_of(BOOK)
        assert open_index(manifest, folder, embedder).vectors is None
        kept = Kept(embedder.name)
        vectors = asyncio.run(embed(plan(manifest, kept), embedder, kept))
        storage.save_vectors(manifest, folder, embedder.name, vectors.matrix)
        return vectors

    def forget(self, vectors: Vectors) -> None:
        Kept(vectors.name).path.unlink()

    def test_files_and_fields_are_those_of_the_contract(self, tmp_path: Path) -> None:
        vectors = self.built(tmp_path)
        with np.load(tmp_path / "index.npz") as arrays:
            assert arrays["vectors"].dtype == np.float32
            np.testing.assert_array_equal(arrays["vectors"], vectors.matrix)
        about = json.loads((tmp_path / "index.meta.json").read_text())["vectors"]
        assert (about["model"], about["dimension"], about["chunks"]) == ("test/words", 64, 4)
        assert not (tmp_path / "vectors.npy").exists()

    def test_an_index_opens_with_its_vectors(self, tmp_path: Path) -> None:
        vectors = self.built(tmp_path)
        self.forget(vectors)
        found = open_index(manifest_of(BOOK), tmp_path, WordEmbedder()).vectors
        assert found is not None
        np.testing.assert_array_equal(found.matrix, vectors.matrix)

    def test_a_large_book_is_mapped_into_memory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(storage, "MAPPED_FROM", 3)
        vectors = self.built(tmp_path)
        self.forget(vectors)
        found = ready(manifest_of(BOOK), tmp_path, WordEmbedder())
        assert found is not None
        assert isinstance(found.matrix, np.memmap)
        np.testing.assert_array_equal(found.matrix, vectors.matrix)

    def test_a_deleted_index_costs_nothing(self, tmp_path: Path) -> None:
        vectors = self.built(tmp_path / "index")
        shutil.rmtree(tmp_path / "index")
        found = open_index(manifest_of(BOOK), tmp_path / "index", WordEmbedder()).vectors
        assert found is not None
        np.testing.assert_array_equal(found.matrix, vectors.matrix)
        assert (tmp_path / "index" / "index.npz").is_file()

    @pytest.mark.parametrize("mapped_from", [3, 20_000], ids=["vectors.npy", "index.npz"])
    @pytest.mark.parametrize("damage", ["cut", "bytes", "gone", "meta"])
    def test_damaged_vectors_are_not_served(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped_from: int, damage: str
    ) -> None:
        monkeypatch.setattr(storage, "MAPPED_FROM", mapped_from)
        self.forget(self.built(tmp_path))
        path = tmp_path / ("vectors.npy" if mapped_from == 3 else "index.npz")
        data = path.read_bytes()
        if damage == "cut":
            path.write_bytes(data[:-9])
        elif damage == "bytes":
            path.write_bytes(data[:200] + bytes([data[200] ^ 1]) + data[201:])
        elif damage == "gone":
            path.unlink()
        else:
            (tmp_path / "index.meta.json").write_text('{"vectors": [1, 2]}')
        assert ready(manifest_of(BOOK), tmp_path, WordEmbedder()) is None

    def test_vectors_of_another_model_or_book_are_not_served(self, tmp_path: Path) -> None:
        self.forget(self.built(tmp_path))
        assert ready(manifest_of(BOOK), tmp_path, WordEmbedder("another/model")) is None
        assert ready(manifest_of(BOOK[:3]), tmp_path, WordEmbedder()) is None
