"""The outcomes of exams as a table, as JSON and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from ask_book.exam.format import Exam
from ask_book.exam.run import Outcome


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    @property
    def fraction(self) -> float | None:
        """From 0 to 1; None of nothing."""
        return self.count / self.of if self.of else None

    def __str__(self) -> str:
        return f"{self.count / self.of:.2f}  ({self.count} of {self.of})" if self.of else "-"

    @classmethod
    def true(cls, values: Iterable[bool | None]) -> Share:
        """Of the values that are not None, those that are true."""
        known = [value for value in values if value is not None]
        return cls(sum(known), len(known))


@dataclass(frozen=True)
class Results:
    """What came of some exams, each with its outcomes; `k` passages were looked at for a question."""

    exams: tuple[tuple[Exam, tuple[Outcome, ...]], ...]
    k: int

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of all exams."""
        return tuple(outcome for _, outcomes in self.exams for outcome in outcomes)


def shares(outcomes: Sequence[Outcome]) -> dict[str, Share]:
    """The figures of the summary by their names in the JSON."""
    answerable = [outcome for outcome in outcomes if not outcome.question.kind]
    return {
        "evidence_at_k": Share.true(outcome.evidence for outcome in answerable),
        "citation_hit": Share.true(outcome.cited for outcome in answerable),
        "refused_offtopic": Share.true(item.refused for item in outcomes if item.question.kind == "offtopic"),
        "refused_near": Share.true(item.refused for item in outcomes if item.question.kind == "near"),
        "false_refusals": Share.true(outcome.refused for outcome in answerable),
    }


def to_json(results: Results) -> dict[str, Any]:
    """The contract's JSON: shares as fractions (null of nothing), their counts beside them."""
    found = shares(results.outcomes)
    return {
        "summary": {
            "questions": len(results.outcomes),
            **{name: share.fraction for name, share in found.items()},
            "k": results.k,
            "counts": {name: [share.count, share.of] for name, share in found.items()},
        },
        "questions": [
            {
                "exam": str(exam.path),
                "line": outcome.question.line,
                "q": outcome.question.text,
                "type": outcome.question.type or outcome.question.kind,
                "passed": not outcome.reason,
                "evidence": outcome.evidence,
                "cited": outcome.cited,
                "refused": outcome.refused,
                "rank": outcome.rank,
                "reason": outcome.reason,
            }
            for exam, outcomes in results.exams
            for outcome in outcomes
        ],
    }


def to_junit(results: Results) -> bytes:
    """A test suite for each exam, a test case for each question."""
    root = ElementTree.Element("testsuites", name="ask-book exam")
    for exam, outcomes in results.exams:
        failures = sum(bool(outcome.reason) for outcome in outcomes)
        counts = {"tests": str(len(outcomes)), "failures": str(failures), "errors": "0", "skipped": "0"}
        suite = ElementTree.SubElement(root, "testsuite", {"name": exam.path.name, **counts})
        for outcome in outcomes:
            question = outcome.question
            place = {"classname": exam.path.stem, "file": str(exam.path), "line": str(question.line)}
            case = ElementTree.SubElement(suite, "testcase", {"name": question.text, **place})
            if outcome.reason:
                failure = ElementTree.SubElement(case, "failure", message=outcome.reason)
                failure.text = f"{exam.path}:{question.line}: {outcome.reason}"
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def to_lines(results: Results) -> Iterator[str]:
    """What went wrong, question by question, then the figures."""
    for exam, outcomes in results.exams:
        for outcome in outcomes:
            if outcome.reason:
                yield f"{exam.path}:{outcome.question.line}: {outcome.question.text}"
                yield f"    {outcome.reason}"
    if any(outcome.reason for outcome in results.outcomes):
        yield ""
    names = {
        "evidence_at_k": f"evidence among {results.k} passages",
        "citation_hit": "right passage cited",
        "refused_offtopic": "off-topic refused",
        "refused_near": "near misses refused",
        "false_refusals": "wrongly refused",
    }
    yield f"{len(results.outcomes)} questions"
    for name, share in shares(results.outcomes).items():
        yield f"  {names[name]:32}{share}"
    types = dict.fromkeys(item.question.type for item in results.outcomes if item.evidence is not None)
    for kind in types if len(types) > 1 else ():
        found = Share.true(item.evidence for item in results.outcomes if item.question.type == kind)
        yield f"    {'evidence, ' + (kind or 'no type'):30}{found}"
