"""How well the right passage is found, and how well the gate tells what the book does not say.

    pytest tests/bench/test_retrieval.py -m bench -s

prints one table a test. Public sets: see `question_sets.py`. Exams: `ASK_BOOK_EXAMS` (default `../shared/exams` beside
the checkout) about the books of `ASK_BOOK_RENDERED` (as in `test_manifest.py`). What is not here is not measured.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from ask_book.book.manifest import Manifest, read_manifest
from ask_book.book.project import find_project
from ask_book.retrieval.index import Index, open_index
from bench import question_sets, rivals
from bench.measures import NOWHERE, mrr_at_10, ndcg_at_10, success_at
from bench.question_sets import FILES, ROOT, QuestionSet
from bench.real_books import job_of, projects
from lua.builder import run

pytestmark = pytest.mark.bench

NEEDS_DATA = pytest.mark.skipif(not question_sets.data_folder().is_dir(), reason="the public sets are not here")
EXAMS = Path(os.environ.get("ASK_BOOK_EXAMS") or ROOT.parent / "shared" / "exams")
BARS = {"XQuAD-es": (97.0, 99.0), "XQuAD-en": (97.2, 98.9), "SQuAD-es": (82.5, 89.5)}
OURS = "ask-book"


class Timed:
    """A search engine with what its building took, in seconds of processor time; `ranks` measures the questions."""

    def __init__(self, build: Callable[[], Callable[[str], Sequence[int]]]) -> None:
        start = time.process_time()
        self.search = build()
        self.build_seconds = time.process_time() - start
        self.query_seconds = 0.0

    def ranks(self, questions: QuestionSet, change: Callable[[str], str] = str) -> list[int]:
        """The rank of the right passage for each question, after `change`."""
        start = time.process_time()
        found = [(self.search(change(question.text)), question.answer) for question in questions.questions]
        self.query_seconds = (time.process_time() - start) / len(found)
        return [list(passages).index(right) if right in passages else NOWHERE for passages, right in found]


def our_engine(questions: QuestionSet, folder: Path) -> Callable[[], Callable[[str], list[int]]]:
    def build() -> Callable[[str], list[int]]:
        index = open_index(questions.manifest(), folder)
        return lambda question: [hit.chunk for hit in index.search(question, 10).hits]

    return build


def row(name: str, engine: Timed, ranks: Sequence[int], to: Timed) -> str:
    quality = (success_at(ranks, 1), success_at(ranks, 5), mrr_at_10(ranks), ndcg_at_10(ranks))
    times = (engine.build_seconds / to.build_seconds, engine.query_seconds / to.query_seconds)
    return f"{name:18}" + "".join(f"{value:9.1f}" for value in quality) + "".join(f"{value:9.2f}" for value in times)


@NEEDS_DATA
@pytest.mark.parametrize("name", FILES)
def test_the_right_passage_is_found(name: str, tmp_path: Path) -> None:
    questions = question_sets.load(name)
    pairs = [(passage.title, passage.text) for passage in questions.passages]
    ours = Timed(our_engine(questions, tmp_path))
    ranks = ours.ranks(questions)
    print(f"\n{name}: {len(pairs)} passages, {len(questions.questions)} questions")
    print(f"{'':18}{'s@1':>9}{'s@5':>9}{'MRR@10':>9}{'nDCG@10':>9}{'build':>9}{'query':>9}   (times: ask-book = 1)")
    print(row(OURS, ours, ranks, ours))
    for rival, build in rivals.ENGINES.items():
        engine = Timed(lambda build=build: build(pairs, questions.lang))  # type: ignore[misc]
        theirs = engine.ranks(questions)
        print(row(rival, engine, theirs, ours))
        assert ndcg_at_10(ranks) > ndcg_at_10(theirs)
    print(f"{OURS}: build {ours.build_seconds:.2f} s, query {1000 * ours.query_seconds:.1f} ms (processor time)")
    ndcg, success = BARS[name]
    assert ndcg_at_10(ranks) >= ndcg
    assert success_at(ranks, 5) >= success


@NEEDS_DATA
@pytest.mark.parametrize("name", FILES)
def test_words_and_their_beginnings_do_for_a_very_large_book(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ask_book.retrieval.index.LARGE", 0)
    questions = question_sets.load(name)
    pairs = [(passage.title, passage.text) for passage in questions.passages]
    ranks = Timed(our_engine(questions, tmp_path)).ranks(questions)
    print(f"\n{name}, words and their first five letters: nDCG@10 {ndcg_at_10(ranks):.1f}")
    for rival, build in rivals.ENGINES.items():
        theirs = Timed(lambda build=build: build(pairs, questions.lang)).ranks(questions)  # type: ignore[misc]
        print(f"{rival}: {ndcg_at_10(theirs):.1f}")
        assert ndcg_at_10(ranks) > ndcg_at_10(theirs)


@NEEDS_DATA
@pytest.mark.parametrize(
    ("kind", "change", "bar"),
    [("unaccented", question_sets.unaccented, 96.9), ("one typo", question_sets.with_a_typo, 95.5)],
)
def test_the_right_passage_is_found_for_a_hurried_question(
    kind: str, change: Callable[[str], str], bar: float, tmp_path: Path
) -> None:
    questions = question_sets.load("XQuAD-es")
    ranks = Timed(our_engine(questions, tmp_path)).ranks(questions, change)
    print(f"\nXQuAD-es, {kind}: nDCG@10 {ndcg_at_10(ranks):.1f}, s@5 {success_at(ranks, 5):.1f}")
    assert ndcg_at_10(ranks) >= bar


@NEEDS_DATA
@pytest.mark.parametrize("name", FILES)
def test_questions_about_other_articles_are_refused(name: str, tmp_path: Path) -> None:
    """Each half of the articles is a book; the questions about the other half are off its topics."""
    questions = question_sets.load(name)
    titles = list(dict.fromkeys(passage.title for passage in questions.passages))
    refused = {"own": 0, "other": 0}
    asked = {"own": 0, "other": 0}
    for half in (0, 1):
        own, other = questions.restricted(titles[half::2]), questions.restricted(titles[1 - half :: 2])
        index = open_index(own.manifest(), tmp_path / str(half))
        for kind, part in (("own", own), ("other", other)):
            verdicts = [index.search(question.text).evidence.enough for question in part.questions[::2]]
            refused[kind] += verdicts.count(False)
            asked[kind] += len(verdicts)
    print(f"\n{name}: of other articles refused {share(refused['other'], asked['other'])}, ", end="")
    print(f"of its own refused {share(refused['own'], asked['own'])}")
    assert refused["own"] <= 0.03 * asked["own"]
    assert refused["other"] >= 0.35 * asked["other"]


def share(count: int, of: int) -> str:
    """A share with its counts."""
    return f"{count / of:.2f} ({count}/{of})" if of else "- (0/0)"


def books() -> Iterator[tuple[Path, Path]]:
    """Every exam whose book is rendered: the exam, the project."""
    by_name = {project.name: project for project in projects()}
    for exam in sorted(EXAMS.glob("*.yml")) if EXAMS.is_dir() else []:
        if exam.stem in by_name:
            yield exam, by_name[exam.stem]


def letters(text: str) -> str:
    """A text without whitespace, marks and markup."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()


def open_book(project: Path, folder: Path) -> tuple[Manifest, Index]:
    found = find_project(project, {})
    done = run(job_of(found, folder, found.output_dir))
    assert done.returncode == 0, done.stderr
    manifest = read_manifest(folder / "manifest.json")
    return manifest, open_index(manifest, folder / "index")


def test_exams_of_real_books(tmp_path: Path) -> None:
    """Evidence: one of the first seven passages contains the quote (all of them, where the exam says so)."""
    counts: dict[str, list[bool]] = {"evidence@7": [], "off-topic": [], "near": [], "refused": [], "across": []}
    print()
    for exam, project in books():
        (tmp_path / exam.stem).mkdir()
        manifest, index = open_book(project, tmp_path / exam.stem)
        texts = [letters(manifest.text(tag) or "") for tag in manifest.tags()]
        for question in YAML(typ="safe").load(exam.read_text(encoding="utf-8"))["questions"]:
            measure(question, index, texts, counts)
        print(
            f"{exam.stem}: {len(texts)} passages; so far "
            + ", ".join(f"{k} {share(sum(v), len(v))}" for k, v in counts.items())
        )
    if not counts["evidence@7"]:
        pytest.skip("no exam with a rendered book here")
    assert sum(counts["evidence@7"]) >= 0.7 * len(counts["evidence@7"])
    assert sum(counts["off-topic"]) >= 0.9 * len(counts["off-topic"])


def measure(question: dict[str, Any], index: Index, texts: list[str], counts: dict[str, list[bool]]) -> None:
    """Ask one question of an exam and note the outcome; what was missed is printed."""
    found = index.search(question["q"])
    if question.get("refuse"):
        counts["off-topic" if question["kind"] == "offtopic" else "near"].append(not found.evidence.enough)
        return
    quotes = [letters(place["quote"]) for place in question["must_cite"]]
    held = [any(quote in texts[hit.chunk] for hit in found.hits) for quote in quotes]
    good = all(held) if question.get("all") else any(held)
    if question["type"] == "crosslingual":
        counts["across"].append(good)
        return
    counts["evidence@7"].append(good)
    counts["refused"].append(not found.evidence.enough)
    if not good or not found.evidence.enough:
        verdict = ("missed" if not good else "found") + (", refused" if not found.evidence.enough else "")
        print(f"  {verdict}: {question['q']}")
