"""Every command in the guide and in the README is one that can be typed; the editions of the guide are the same."""

from __future__ import annotations

import re
import shlex
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


ENGLISH = ROOT / "examples" / "book"
SPANISH = ENGLISH / "es"
EDITIONS = pytest.mark.parametrize("edition", [ENGLISH, SPANISH], ids=["en", "es"])
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1", re.MULTILINE | re.DOTALL)
LABEL = r"((?:sec|fig|tbl|eq|thm|def|exm)-[\w-]*\w)"


def pages(edition: Path) -> dict[str, Path]:
    """The pages of an edition by their name in it."""
    here = {path.relative_to(edition): path for path in edition.rglob("*.qmd")}
    return {name.as_posix(): path for name, path in here.items() if name.parts[0] not in ("_extensions", "es")}


def prose(page: Path) -> str:
    return re.sub(r"`[^`\n]*`", "", CODE.sub("", page.read_text(encoding="utf-8")))


def labels(page: Path) -> list[str]:
    return re.findall(rf"\{{#{LABEL}[\s}}]", prose(page))


@EDITIONS
def test_references_lead_somewhere(edition: Path) -> None:
    sources = [*pages(edition).values(), *(ENGLISH / "_includes").glob("*.md")]
    named = {name for page in sources for name in re.findall(f"@{LABEL}", prose(page))}
    there = [name for page in sources for name in labels(page)]
    assert named - set(there) == set()
    assert [name for name in set(there) if there.count(name) > 1] == []


@EDITIONS
def test_every_page_is_in_the_book(edition: Path) -> None:
    assert set(pages(edition)) == {chapter.file for chapter in find_project(edition, {}).chapters}


def test_the_editions_have_the_same_pages_and_labels() -> None:
    english, spanish = ({name: labels(page) for name, page in pages(each).items()} for each in (ENGLISH, SPANISH))
    assert spanish == english
