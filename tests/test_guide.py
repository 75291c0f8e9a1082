"""Every command in the guide and in the README is one that can be typed, and those for a book at hand are run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ask_book.book.project import find_project
from ask_book.cli import _parser
from ask_book.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples" / "book").rglob("*.qmd"))]
FENCE = re.compile(r"^(`{3,})\s*\{?\.?(?:bash|powershell|yaml|ini)\b[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:^|(?<=[\s=/\\&]))ask-book (?=[a-z-])(.*)")
# `$EXAMS`, `…` and the like stand for something
STANDS_FOR = re.compile(r"[$…<>|&;].*")


def commands() -> Iterator[tuple[str, str]]:
    """What follows `ask-book` in blocks of code and in the prose's code, each with the page it is on."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = "\n".join(block for _, block in FENCE.findall(text))
        inline = re.findall(r"(?<!`)`([^`\n]*)`(?!`)", FENCE.sub("", text))
        for line in (*blocks.replace("\\\n", " ").splitlines(), *inline):
            if (found := NAME.search(line)) and not line.lstrip().startswith("#"):
                yield page.relative_to(ROOT).as_posix(), STANDS_FOR.sub("", found[1].rstrip("&\\ ")).strip()


COMMANDS = sorted(set(commands()))


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) > 30
    assert ("examples/book/authors/commands.qmd", "doctor examples/book") in COMMANDS


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_it_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line)
    if words[:1] == ["--version"] or "--help" in words:
        return
    # in prose a command often stands without its operands
    tries = (words, [*words, "x"])
    for typed in tries:
        try:
            options = _parser().parse_args(typed)
        except UsageError as error:
            problem = error
        else:
            assert options.command == words[0]
            return
    raise AssertionError(f"{page}: ask-book {line}: {problem}")


RUN = sorted({line for _, line in COMMANDS if re.match("(ask|search) .*examples/book$", line)})


@pytest.mark.parametrize("line", RUN)
def test_it_does_what_the_guide_says(line: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "none")
    done = subprocess.run(
        [sys.executable, "-m", "ask_book", *shlex.split(line)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "plain rendition" in done.stdout


def test_references_lead_somewhere() -> None:
    sources = [*PAGES[2:], *(ROOT / "examples" / "book" / "_includes").glob("*.md")]
    text = "\n".join(FENCE.sub("", page.read_text(encoding="utf-8")) for page in sources)
    prose = re.sub(r"`[^`\n]*`", "", text)
    named = set(re.findall(r"@((?:sec|fig|tbl|eq|thm|def)-[\w-]+\w)", prose))
    there = set(re.findall(r"#((?:sec|fig|tbl|eq|thm|def)-[\w-]+)", text))
    assert named - there == set()
    twice = [name for name in there if len(re.findall(rf"\{{#{name}[\s}}]", text)) > 1]
    assert twice == []


def test_every_page_is_in_the_book() -> None:
    book = ROOT / "examples" / "book"
    listed = {chapter.file for chapter in find_project(book, {}).chapters}
    there = {path.relative_to(book).as_posix() for path in book.rglob("*.qmd") if "_extensions" not in path.parts}
    assert there == listed
