"""What building and asking cost, in a process of its own: `python -m bench.scale SIZE NAME...`.

Of several engines, each question is asked of all in turn, so that what else the machine does slows all alike.

Passages are made of sentences of SQuAD-es, four to seven each, drawn by chance (the same every time); questions are
those of SQuAD-es; vectors are made up. Times are of the processor. Prints one JSON line.
"""

from __future__ import annotations

import json
import random
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench import question_sets, rivals
from bench.question_sets import Passage, QuestionSet

RANKING, WORDS, SEARCH, FUSED = "ask-book, ranking", "ask-book, words", "ask-book, search", "ask-book, vectors"
SIZE = 384
LONGEST = 20.0


def corpus(size: int) -> QuestionSet:
    """So many passages, and questions that nobody answers for."""
    base = question_sets.load("SQuAD-es")
    sentences = [part for p in base.passages for part in re.split(r"(?<=[.!?])\s+", p.text) if len(part) > 20]
    titles = list(dict.fromkeys(p.title for p in base.passages))
    dice = random.Random(size)
    passages = (
        Passage(titles[i * len(titles) // size], " ".join(dice.choices(sentences, k=dice.randint(4, 7))))
        for i in range(size)
    )
    return QuestionSet("es", tuple(passages), base.questions[::8])


def ours(name: str, questions: QuestionSet) -> Callable[[str], object]:
    """The whole search with its evidence, with or without vectors; or what the others do: the ranking, with or without
    4-grams.
    """
    from ask_book.retrieval import bm25, index, passages, query, ranking
    from ask_book.retrieval.language import locale
    from ask_book.retrieval.vectors import Vectors

    manifest = questions.manifest()
    if name in (SEARCH, FUSED):
        with TemporaryDirectory() as folder:
            book = index.open_index(manifest, Path(folder))
        if name == SEARCH:
            return book.search
        rows = np.random.default_rng(1).standard_normal((len(manifest.chunks), SIZE), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        book = replace(book, vectors=Vectors("made up", "e5", rows))
        return lambda question: book.search(question, vector=rows[len(question)])
    short = name == WORDS or len(manifest.chunks) > index.LARGE
    postings = bm25.build((passages.indexed_text(manifest, chunk) for chunk in manifest.chunks), short=short)
    stopwords = locale("es").stopwords

    def search(question: str) -> list[int]:
        asked = query.read(question, stopwords, short=short)
        return ranking.best(postings.scores(asked.weights), 10)

    return search


def main(size: int, names: Sequence[str]) -> None:
    """Build, ask until it has taken long enough, tell."""
    questions = corpus(size)
    pairs = [(passage.title, passage.text) for passage in questions.passages]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    engines = {
        name: rivals.ENGINES[name](pairs, "es") if name in rivals.ENGINES else ours(name, questions) for name in names
    }
    build = time.process_time() - start
    times: dict[str, list[float]] = {name: [] for name in names}
    for question in questions.questions:
        for name, search in engines.items():
            start = time.process_time()
            search(question.text)
            times[name].append(time.process_time() - start)
        if sum(map(sum, times.values())) > LONGEST:
            break
    query = {name: statistics.median(took[len(took) // 2 :]) for name, took in times.items()}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"build": build, "query": query, "mb": memory / 1024}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
