"""What a passage is found by, and how much of it is no prose."""

from __future__ import annotations

from ask_book.retrieval.passages import asides, indexed_text
from small_books import small_manifest


def test_headings_come_twice_and_contexts_once() -> None:
    manifest = small_manifest("es")
    text = indexed_text(manifest, manifest.chunks[2])
    assert text.startswith("El clima\nLa lluvia\nEl clima\nLa lluvia\nLa lluvia\nLa estación seca")
    chunk = manifest.chunks[2]
    blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
    contexts = [block.context for block in blocks if block.context]
    assert contexts
    assert all(text.count(context) >= 1 for context in contexts)


def test_the_share_that_is_no_prose() -> None:
    manifest = small_manifest("es")
    table = asides(manifest)[2]
    chunk = manifest.chunks[2]
    blocks = manifest.chapters[chunk.chapter].blocks_in(chunk.start, chunk.end)
    assert 0 < table < 1
    assert table == sum(len(b.text) for b in blocks if b.kind in {"table", "math"}) / sum(len(b.text) for b in blocks)
    assert not asides(manifest)[0]
