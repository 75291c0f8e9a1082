"""The index on disk: `chunks.json`, `lexical.npz`, `index.npz` and `index.meta.json`, in one folder.

`chunks.json` has the passages in words, for people and other programs; `lexical.npz` the arrays of `bm25.Postings`
(the vocabulary as UTF-8, a term a line); `index.npz` the vectors, a row a passage, and for a large book `vectors.npy`
the same, which is mapped into memory; `index.meta.json` what they were made from. They are used only while they fit
the manifest and this version: what is cut short, edited or of another book does not count and is written again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from ask_book.book.manifest import Manifest
from ask_book.files import replaced, write_atomically
from ask_book.retrieval import embedding, tokens
from ask_book.retrieval.bm25 import Postings
from ask_book.retrieval.embedding import Floats

FORMAT = 2
CHUNKS, LEXICAL, VECTORS, MAPPED, META = "chunks.json", "lexical.npz", "index.npz", "vectors.npy", "index.meta.json"
MAPPED_FROM = 20_000


def _fingerprint(manifest: Manifest) -> str:
    made_from = [FORMAT, tokens.VERSION, embedding.VERSION, manifest.book.hash, manifest.book.lang]
    made_from += [(chunk.id, chunk.chapter, chunk.start, chunk.end) for chunk in manifest.chunks]
    return sha256(json.dumps(made_from).encode()).hexdigest()


def load(manifest: Manifest, folder: Path) -> Postings | None:
    """The postings on disk, or None when they are missing, damaged or made from something else."""
    try:
        meta = json.loads((folder / META).read_bytes())
        files = {name: (folder / name).read_bytes() for name in (CHUNKS, LEXICAL)}
        if meta["fingerprint"] != _fingerprint(manifest) or meta["crc32"] != _checksums(files):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    with np.load(BytesIO(files[LEXICAL]), allow_pickle=False) as arrays:
        return Postings(
            tuple(filter(None, arrays["vocabulary"].tobytes().decode().split("\n"))),
            arrays["starts"],
            arrays["passages"],
            arrays["counts"],
            arrays["lengths"],
            bool(arrays["short"]),
        )


def save(manifest: Manifest, lang: str, postings: Postings, folder: Path) -> None:
    """Write the three files, the one that vouches for the others last. Raises `OSError` where that is not possible."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = BytesIO()
    np.savez(
        arrays,
        vocabulary=np.frombuffer("\n".join(postings.vocabulary).encode(), np.uint8),
        starts=postings.starts,
        passages=postings.passages,
        counts=postings.counts,
        lengths=postings.lengths,
        short=np.bool_(postings.short),
    )
    chunks = json.dumps(_chunk_rows(manifest), ensure_ascii=False, indent=1).encode()
    files = {CHUNKS: chunks, LEXICAL: arrays.getvalue()}
    meta = {
        "format": FORMAT,
        "tokens": tokens.VERSION,
        "manifest": manifest.book.hash,
        "fingerprint": _fingerprint(manifest),
        "lang": lang,
        "chunks": postings.size,
        "terms": len(postings.vocabulary),
        "crc32": _checksums(files),
    }
    for name, data in files.items():
        write_atomically(folder / name, data)
    write_atomically(folder / META, json.dumps(meta, indent=1).encode())


def load_vectors(manifest: Manifest, folder: Path, model: str) -> Floats | None:
    """The vectors that `model` made of this manifest; None when they are missing, damaged or of something else."""
    try:
        about = json.loads((folder / META).read_bytes())["vectors"]
        if (about["model"], about["fingerprint"]) != (model, _fingerprint(manifest)):
            return None
        name = MAPPED if MAPPED in about["crc32"] else VECTORS
        with (folder / name).open("rb") as file:
            if _checksum(file) != about["crc32"][name]:
                return None
        if name == MAPPED:
            return np.load(folder / name, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
        with np.load(folder / name, allow_pickle=False) as arrays:
            return arrays["vectors"]  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save_vectors(manifest: Manifest, folder: Path, model: str, vectors: Floats) -> None:
    """Write the vectors beside an index that is there already, as the only one who does.

    Raises `OSError` where that is not possible.
    """
    writers: dict[str, Callable[[IO[bytes]], None]] = {
        VECTORS: lambda file: np.savez_compressed(file, vectors=vectors),
        **({MAPPED: lambda file: np.save(file, vectors)} if len(vectors) > MAPPED_FROM else {}),
    }
    checksums = {}
    for name, write in writers.items():
        for half in folder.glob(f".{name}.*"):  # of a process that was killed
            half.unlink()
        with replaced(folder / name) as file:
            write(file)
            file.seek(0)
            checksums[name] = _checksum(file)
    about = {
        "model": model,
        "dimension": vectors.shape[1],
        "chunks": len(vectors),
        "fingerprint": _fingerprint(manifest),
        "crc32": checksums,
    }
    meta = {**json.loads((folder / META).read_bytes()), "vectors": about}
    write_atomically(folder / META, json.dumps(meta, indent=1).encode())


def _checksums(files: dict[str, bytes]) -> dict[str, int]:
    return {name: zlib.crc32(data) for name, data in files.items()}


def _checksum(file: IO[bytes]) -> int:
    """Of a file too large to have in memory."""
    value = 0
    while block := file.read(1 << 20):
        value = zlib.crc32(block, value)
    return value


def _chunk_rows(manifest: Manifest) -> list[dict[str, Any]]:
    rows = []
    for chunk in manifest.chunks:
        chapter = manifest.chapters[chunk.chapter]
        section = chapter.section_at(chunk.start)
        rows.append(
            {
                "id": chunk.id,
                "file": chapter.file,
                "chapter_title": chapter.title,
                "heading_path": list(section.heading_path),
                "anchor": section.anchor,
                "level": section.level,
                "text": chapter.text[chunk.start : chunk.end],
                "href": chapter.href,
                "chapter": chunk.chapter,
                "start": chunk.start,
                "end": chunk.end,
            }
        )
    return rows
