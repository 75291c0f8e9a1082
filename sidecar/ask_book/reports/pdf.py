"""A report as PDF: pandocs and TeX engines are tried in turn until one makes it.

What TeX gets is `typeset.pandoc_tree`: nobody's raw TeX. Behind that stand more walls: no shell escape, paranoid file
access, an empty folder as working, temporary and home-made one, an environment without secrets, limits, a time-out.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

from ask_book.book.pandoc import Pandoc, find_pandocs
from ask_book.reports import tinytex
from ask_book.reports.font import Font, is_font_name
from ask_book.reports.fonts import choose_fonts, installed_fonts
from ask_book.reports.page import Page
from ask_book.reports.process import Outcome, Runner
from ask_book.reports.tree import Node
from ask_book.reports.typeset import Glyphs, is_visible, named, pandoc_tree

# lualatex reads all fonts of the machine the first time.
SECONDS = {"xelatex": 90.0, "lualatex": 240.0, "pdflatex": 90.0}
ROUNDS = 4
LOG_LINES = 25
DEFAULT_FONT = "Latin Modern Roman"

_KEPT = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TZ|USER|LOGNAME|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA"
    r"|PROGRAMDATA|PROGRAMFILES|PROGRAMFILES\(X86\)|USERPROFILE|NUMBER_OF_PROCESSORS|FONTCONFIG_\w+|XDG_(?:DATA|CACHE)_HOME"
    r"|TEXMF\w*|OSFONTDIR",
    re.IGNORECASE,
)
_MISSING = re.compile(r"Missing character: There is no (.)(?: \(U\+([0-9A-F]{4,6})\))*", re.DOTALL)
_NOT_SET_UP = re.compile(r"Unicode character\s+\S+\s+\(U\+([0-9A-F]{4,6})\)")
_PAPER = re.compile(r"[a-z]\d{1,2}|letter|legal|executive")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class Style:
    """What the book's own PDF says of its looks; "" where it says nothing."""

    paper: str = ""
    font: str = ""


@dataclass(frozen=True)
class Tools:
    """What there is to make a PDF with. `env` is that of the programs: no secrets, TinyTeX first on the PATH."""

    pandocs: tuple[Pandoc, ...]
    engines: Mapping[str, str]
    fonts: tuple[Font, ...]
    env: Mapping[str, str]

    @property
    def are_complete(self) -> bool:
        """Whether there is any hope."""
        return bool(self.pandocs and self.engines)


@dataclass(frozen=True)
class Attempt:
    """One command, how it ended and the last lines of what it said."""

    command: str
    ended: str
    said: str


@dataclass(frozen=True)
class Made:
    """A PDF, or None; how it was made; the characters it cannot show; and all that was tried."""

    pdf: bytes | None
    attempts: tuple[Attempt, ...]
    by: str = ""
    lost: str = ""

    @property
    def log(self) -> str:
        """The attempts for people."""
        if not self.attempts:
            return "No pandoc and TeX engine were found together: there was nothing to try.\n"
        return "\n".join(f"$ {attempt.command}\n{attempt.ended}\n{attempt.said}\n" for attempt in self.attempts)


def find_tools(env: Mapping[str, str]) -> Tools:
    """Look for pandocs, a TinyTeX, engines and fonts. Takes a second or two."""
    kept = {name: value for name, value in env.items() if _KEPT.fullmatch(name)}
    path = tinytex.with_bin(env.get("PATH", ""), tinytex.find_bin(env))
    kept |= {"PATH": path, "openin_any": "p", "openout_any": "p", "shell_escape": "f", "MKTEXTFM": "0", "MKTEXMF": "0"}
    return Tools(tuple(find_pandocs(env)), tinytex.engines(path), installed_fonts(kept), kept)


def make_pdf(page: Page, tools: Tools, style: Style = Style(), runner: Runner | None = None) -> Made:
    """Try until there is a PDF. Never raises for what pandoc or TeX do."""
    runner = runner or Runner()
    attempts: list[Attempt] = []
    for pandoc in tools.pandocs:
        for engine in tools.engines:
            made = _with_engine(page, tools, style, runner, pandoc, engine)
            attempts += made.attempts
            if made.pdf is not None:
                return replace(made, attempts=tuple(attempts))
    return Made(None, tuple(attempts))


def _with_engine(page: Page, tools: Tools, style: Style, runner: Runner, pandoc: Pandoc, engine: str) -> Made:
    """The rounds of one engine: each knows better than the one before which characters need what."""
    attempts: list[Attempt] = []
    font = style.font if _has_font(style.font, tools) else ""
    glyphs, lacking = _foreseen(page, tools, font, engine), frozenset[str]()
    glyphs = replace(glyphs, turns_brackets=engine == "lualatex")  # babel's do, there
    for _ in range(ROUNDS):
        pdf, outcome, attempt = _run(page, tools, replace(style, font=font), runner, pandoc, engine, glyphs)
        attempts.append(attempt)
        missing = frozenset(_missing(outcome.said))
        if pdf is not None and missing <= glyphs.unprintable:
            lost = named(filter(is_visible, glyphs.unprintable))
            return Made(pdf, tuple(attempts), f"{pandoc.origin} ({pandoc.version}), {engine}", lost)
        if missing - glyphs.unprintable:
            glyphs, lacking = _helped(glyphs, lacking, missing, tools, page.lang, engine)
        elif glyphs.has_maths and outcome.code is not None:
            glyphs = replace(glyphs, has_maths=False)
        elif font:
            font = ""
        else:
            break
    return Made(None, tuple(attempts))


def _run(
    page: Page, tools: Tools, style: Style, runner: Runner, pandoc: Pandoc, engine: str, glyphs: Glyphs
) -> tuple[bytes | None, Outcome, Attempt]:
    with tempfile.TemporaryDirectory(prefix="ask-book-pdf-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        argv = [*pandoc.argv, *_arguments(page, tools, style, engine)]
        env = {**tools.env, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
        (folder / "report.json").write_text(json.dumps(pandoc_tree(page, glyphs)), encoding="utf-8")
        try:
            outcome = runner.run(argv, folder, env, SECONDS[engine])
        except OSError as error:
            outcome = Outcome(-1, str(error))
        file = folder / "report.pdf"
        data = file.read_bytes() if outcome.code == 0 and file.is_file() else b""
    ended = "Killed: its time was over." if outcome.code is None else f"Exit code {outcome.code}."
    said = "\n".join(outcome.said.replace(name, ".").strip().splitlines()[-LOG_LINES:])
    return data if data.startswith(b"%PDF-") else None, outcome, Attempt(shlex.join(argv), ended, said)


def _arguments(page: Page, tools: Tools, style: Style, engine: str) -> Iterator[str]:
    yield from ("--from", "json", "report.json", "--to", "latex", "--output", "report.pdf", "--standalone")
    yield from (f"--pdf-engine={tools.engines[engine]}", "--pdf-engine-opt=-no-shell-escape")
    variables = {"geometry": "margin=2.2cm", "fontsize": "11pt", "colorlinks": "true"}
    if _LANG.fullmatch(page.lang):
        variables["lang"] = page.lang
    variables["papersize"] = style.paper if _PAPER.fullmatch(style.paper) else "a4"
    if style.font and engine != "pdflatex":
        variables["mainfont"] = style.font
    yield from (f"--variable={name}={value}" for name, value in variables.items())


def _has_font(name: str, tools: Tools) -> bool:
    return is_font_name(name) and (not tools.fonts or any(font.family == name for font in tools.fonts))


def _foreseen(page: Page, tools: Tools, font: str, engine: str) -> Glyphs:
    """What is known before the first round: the characters that the main font has not, if its own are known."""
    leaves = tuple(_leaves(page))
    has_maths = any(is_formula for _, is_formula in leaves)
    chars = frozenset(char for text, is_formula in leaves if not is_formula for char in text if not char.isascii())
    if engine == "pdflatex":
        beyond = frozenset(char for char in chars if char > "\u017f" and char not in "‐–—‘’‚“”„†‡•…‰‹›€™")
        return Glyphs((), beyond, has_maths)
    main = next((known for known in tools.fonts if known.family == (font or DEFAULT_FONT)), None)
    if main is None:
        return Glyphs(has_maths=has_maths)
    lacking = chars - main.covered(chars)
    invisible = frozenset(char for char in lacking if not is_visible(char))
    families, rest = choose_fonts(lacking - invisible, tools.fonts, page.lang)
    return Glyphs(families, rest | invisible, has_maths)


def _helped(
    glyphs: Glyphs, lacking: frozenset[str], missing: frozenset[str], tools: Tools, lang: str, engine: str
) -> tuple[Glyphs, frozenset[str]]:
    """Other fonts for what was missing for the first time; what they lack too is unprintable."""
    given = frozenset[str]().union(*(chars for _, chars in glyphs.families))
    lost = (missing & (lacking | given)) | frozenset(char for char in missing if not is_visible(char))
    lacking |= missing - lost
    families, rest = choose_fonts(given | lacking, tools.fonts, lang) if engine != "pdflatex" else ((), lacking)
    return replace(glyphs, families=families, unprintable=glyphs.unprintable | lost | rest), lacking


def _missing(said: str) -> Iterator[str]:
    for found in _MISSING.finditer(said):
        yield chr(int(found[2], 16)) if found[2] else found[1]
    for found in _NOT_SET_UP.finditer(said):
        yield chr(int(found[1], 16))


def _leaves(item: object) -> Iterator[tuple[str, bool]]:
    """Every text of a page, and whether it is a formula."""
    match item:
        case str():
            yield item, False
        case Node(kind="math" | "display"):
            yield item.text, True
        case tuple():
            for part in item:
                yield from _leaves(part)
        case dict():
            yield from _leaves(tuple(item.values()))
        case _ if is_dataclass(item):
            yield from _leaves(tuple(getattr(item, field.name) for field in fields(item)))


def style_of(paper: str, font: str) -> Style:
    """A style from what a book's configuration says, as far as it can be understood."""
    size = re.sub(r"paper$", "", paper.strip().lower())
    return Style(size if _PAPER.fullmatch(size) else "", font.strip() if is_font_name(font.strip()) else "")
