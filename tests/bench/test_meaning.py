"""How much the vectors of the `[local]` models add, against the bars of each.

    pytest tests/bench/test_meaning.py -m bench -s

`ASK_BOOK_EVERY=10` asks every tenth question only: the bars, which are those of all questions, are then lowered by two
standard errors of such a sample. Passages are embedded once and kept where all vectors are kept.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ask_book.retrieval.index import Index, open_index
from ask_book.retrieval.kept import Kept
from ask_book.retrieval.local import local_embedder
from ask_book.retrieval.vectors import embed, plan
from bench import question_sets
from bench.measures import NOWHERE, ndcg_at_10, success_at
from bench.question_sets import QuestionSet

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not question_sets.data_folder().is_dir(), reason="the public sets are not here"),
    pytest.mark.timeout(7200),
]

ACROSS, UNACCENTED, MISTYPED = "XQuAD es->en", "XQuAD-es, unaccented", "XQuAD-es, one typo"
EVERY = int(os.environ.get("ASK_BOOK_EVERY", "1"))
BARS = {
    ("XQuAD-es", "local-encoder"): (97.2, 99.3),
    ("XQuAD-en", "local-encoder"): (97.7, 99.4),
    (ACROSS, "local-encoder"): (92.0, 97.0),
    ("SQuAD-es", "local-encoder"): (83.7, 91.0),
    (UNACCENTED, "local-encoder"): (97.0, 0.0),
    (MISTYPED, "local-encoder"): (95.5, 0.0),
    ("XQuAD-es", "local-e5"): (97.8, 99.5),
    ("XQuAD-en", "local-e5"): (98.1, 99.6),
    (ACROSS, "local-e5"): (94.5, 98.5),
    ("SQuAD-es", "local-e5"): (86.5, 93.3),
    (UNACCENTED, "local-e5"): (97.5, 0.0),
    (MISTYPED, "local-e5"): (96.5, 0.0),
    ("XQuAD-es", "local"): (97.8, 99.5),
    ("XQuAD-en", "local"): (98.1, 99.6),
    (ACROSS, "local"): (94.5, 98.5),
    ("SQuAD-es", "local"): (86.5, 93.0),
    (UNACCENTED, "local"): (97.5, 0.0),
    (MISTYPED, "local"): (96.5, 0.0),
}


def asked(name: str) -> QuestionSet:
    """A set; Spanish questions about the English passages; Spanish ones as they are typed in a hurry. Sampled."""
    questions = question_sets.load({ACROSS: "XQuAD-en"}.get(name, name.split(",")[0]))
    texts = [question.text for question in (question_sets.load("XQuAD-es") if name == ACROSS else questions).questions]
    hurried = {UNACCENTED: question_sets.unaccented, MISTYPED: question_sets.with_a_typo}.get(name, str)
    pairs = list(zip(questions.questions, texts, strict=True))[::EVERY]
    return replace(questions, questions=tuple(replace(right, text=hurried(text)) for right, text in pairs))


def lowered(bar: float, ranks: list[int], measure: Callable[[list[int]], float]) -> float:
    """What a sample has to reach so that all questions may well reach the bar."""
    error = float(np.std([measure([rank]) for rank in ranks])) * math.sqrt((1 - 1 / EVERY) / len(ranks))
    return bar - 2 * error


@pytest.mark.parametrize(("name", "model"), BARS)
def test_the_right_passage_is_found_by_meaning_too(name: str, model: str, tmp_path: Path) -> None:
    embedder = local_embedder(model)
    if embedder is None:
        pytest.skip(f"{model} is not installed")
    questions = asked(name)

    async def search() -> tuple[list[int], list[int]]:
        manifest, kept = questions.manifest(), Kept(embedder.name)
        vectors = await embed(plan(manifest, kept), embedder, kept)
        index = replace(open_index(manifest, tmp_path), vectors=vectors)
        alone, together = [], []
        for question in questions.questions:
            vector = await embedder.query(question.text)
            alone.append(rank(index, question.text, question.answer))
            together.append(rank(index, question.text, question.answer, vector))
        return alone, together

    words, fused = asyncio.run(search())
    print(
        f"\n{name}, {model}, {len(fused)} questions: words {ndcg_at_10(words):.1f} / {success_at(words, 5):.1f}, ",
        end="",
    )
    print(f"with meaning {ndcg_at_10(fused):.1f} / {success_at(fused, 5):.1f} (nDCG@10 / s@5)")
    ndcg, success = BARS[name, model]
    assert round(ndcg_at_10(fused), 1) >= lowered(ndcg, fused, ndcg_at_10)
    assert round(success_at(fused, 5), 1) >= lowered(success, fused, lambda ranks: success_at(ranks, 5))


def rank(index: Index, question: str, right: int, vector: object = None) -> int:
    """Of the right passage, from 0."""
    hits = [hit.chunk for hit in index.search(question, 10, vector=vector).hits]  # type: ignore[arg-type]
    return hits.index(right) if right in hits else NOWHERE
