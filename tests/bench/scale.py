"""One engine, one size, one process of its own: what building and asking cost. `python -m bench.scale NAME SIZE`.

Passages are made of sentences of SQuAD-es, four to seven each, drawn by chance (the same every time); questions are
those of SQuAD-es. Times are of the processor. Prints one JSON line.
"""

from __future__ import annotations

import json
import random
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import question_sets, rivals
from bench.question_sets import Passage, QuestionSet

RANKING, WORDS, SEARCH = "ask-book, ranking", "ask-book, words", "ask-book, search"
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
    return QuestionSet("es", tuple(passages), base.questions[::16])


def ours(name: str, questions: QuestionSet) -> Callable[[str], object]:
    """The whole search with its evidence; or what the others do: the ranking, with or without 4-grams."""
    from ask_book.retrieval import bm25, index, passages, query, ranking
    from ask_book.retrieval.language import locale

    manifest = questions.manifest()
    if name == SEARCH:
        with TemporaryDirectory() as folder:
            return index.open_index(manifest, Path(folder)).search
    short = name == WORDS or len(manifest.chunks) > index.LARGE
    postings = bm25.build((passages.indexed_text(manifest, chunk) for chunk in manifest.chunks), short=short)
    stopwords = locale("es").stopwords

    def search(question: str) -> list[int]:
        asked = query.read(question, stopwords, short=short)
        return ranking.best(postings.scores(asked.weights), 10)

    return search


def main(name: str, size: int) -> None:
    """Build, ask until it has taken long enough, tell."""
    questions = corpus(size)
    pairs = [(passage.title, passage.text) for passage in questions.passages]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    search = rivals.ENGINES[name](pairs, "es") if name in rivals.ENGINES else ours(name, questions)
    build = time.process_time() - start
    times: list[float] = []
    for question in questions.questions:
        start = time.process_time()
        search(question.text)
        times.append(time.process_time() - start)
        if sum(times) > LONGEST:
            break
    half = times[len(times) // 2 :]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"build": build, "query": statistics.median(half), "mb": memory / 1024, "asked": len(half)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
