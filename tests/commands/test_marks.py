"""What GitHub shows beside the lines of a pull request."""

from pathlib import Path

import pytest

from ask_book.cli import main
from ask_book.commands import marks
from ask_book.errors import AskBookError
from ask_book.exam.format import Exam, Place, Question
from ask_book.exam.report import Results
from ask_book.exam.run import Outcome


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository" / "my, book"
    folder.mkdir(parents=True)
    (folder / "dams.qmd").write_text(
        "# Dams\n\n## Who pays {#sec-pays}\n\nThe province pays *half of*\nthe dam.\n\n## Heights\n\nHigh.\n"
    )
    (folder / "_quarto.yml").write_text("book: {}\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    return folder


def test_an_error_at_its_file_and_line(book: Path) -> None:
    error = AskBookError(f"{book / '_quarto.yml'}:3: the chapter `gone.qmd` is missing.", "Create it, 100 %.\nSoon.")
    assert marks.of_error(error) == (
        "::error file=my%2C book/_quarto.yml,line=3,title=ask-book::"
        "the chapter `gone.qmd` is missing. Create it, 100 %25.%0ASoon."
    )
    assert marks.of_error(AskBookError("The port 80:1: is taken.")) == (
        "::error title=ask-book::The port 80:1: is taken."
    )


@pytest.mark.parametrize(
    ("place", "where"),
    [
        (Place("The province pays half of the dam", "dams.qmd", "Who pays", "sec-pays"), "my%2C book/dams.qmd,line=3"),
        (Place("The province pays *half", "dams.qmd"), "my%2C book/dams.qmd,line=5"),
        (Place("no such words", "dams.qmd", "Heights"), "my%2C book/dams.qmd,line=8"),
        (Place("no such words", "dams.qmd"), "my%2C book/dams.qmd,line=1"),
        (Place("The province", "gone.qmd"), "my%2C book/exam.yml,line=7"),
        (Place("The province"), "my%2C book/exam.yml,line=7"),
    ],
)
def test_a_failed_question_where_the_book_answers_it(book: Path, place: Place, where: str) -> None:
    question = Question("Who pays: whom?", 7, places=(place,))
    outcomes = (Outcome(question, refused=True, reason="refused"), Outcome(question, refused=False))
    results = Results(((Exam(book / "exam.yml", (question, question)), outcomes),), 7)
    assert list(marks.of_exam(results, book)) == [
        f"::warning file={where},title=Exam%3A Who pays%3A whom?::refused (exam.yml:7)"
    ]


def test_they_are_written_where_somebody_reads_them(
    book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for wanted in ("", "true"):
        monkeypatch.setenv("GITHUB_ACTIONS", wanted)
        assert main(["search", "x", str(book), "--json"]) == 1
        output = capsys.readouterr()
        assert output.out.startswith('{"error": {"code": "empty_book"')
        mark = "::error file=my%2C book/_quarto.yml,line=1,title=ask-book::the book lists no chapters. Add at least one"
        assert output.err.startswith(mark) is bool(wanted)
