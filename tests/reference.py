"""The parts of the extension and of the guide that are made from the code: `python tests/reference.py` writes them.

`test_reference.py` fails while they differ from the code.
"""

from __future__ import annotations

import argparse
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from starlette.routing import Route

from ask_book.book.settings import NAMES, SECTION
from ask_book.cli import _parser
from ask_book.reports.store import Store
from ask_book.server.access import Access
from ask_book.server.app import own_routes, readers_routes
from ask_book.server.holder import Holder
from ask_book.server.metrics import Metrics
from ask_book.server.reports import Reports
from ask_book.server.routes import Routes

ROOT = Path(__file__).resolve().parents[1]
INCLUDES = "examples/book/_includes"
MADE = "Made from the code by tests/reference.py: do not edit."
SCHEMA_OF_SCHEMAS = "https://m.canouil.dev/quarto-wizard/assets/schema/v1/extension-schema.json"
COMMON = ("help", "folder", "book", "json")
# Variables that are no settings of a book.
VARIABLES = {
    "ASK_BOOK_API_KEY": "the key of the model; it goes only to a `ASK_BOOK_BASE_URL` set beside it",
    "ASK_BOOK_EMBEDDING_API_KEY": "the key of the embedding model; it goes only to a `ASK_BOOK_EMBEDDING_BASE_URL` set "
    "beside it",
    "ASK_BOOK": "names the sidecar that a render starts; `off` starts none",
    "ASK_BOOK_START": "set to 1, lets a render start the sidecar even with `CI`",
    "ASK_BOOK_PANDOC": "names the Pandoc to use, if several are installed",
    "ASK_BOOK_TOKEN": "the owner's token of `ask-book serve`: 16 or more letters and digits",
    "ASK_BOOK_DEBUG": "set to 1, shows where in the program an unforeseen error happened",
}


def main() -> None:
    """Write every file."""
    for name, make in FILES.items():
        (ROOT / name).write_text(make(), encoding="utf-8", newline="\n")


def schema() -> str:
    """`_schema.yml`, from which editors complete and check the settings."""
    options: dict[str, Any] = {}
    for name, spec in NAMES.items():
        default = spec.default if isinstance(spec.default, str | int | float) else None
        options[name] = {
            **spec.metadata["kind"].schema,
            **({} if default is None else {"default": default}),
            "description": spec.metadata["doc"],
        }
    yaml = YAML()
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    text = io.StringIO()
    yaml.dump({"$schema": SCHEMA_OF_SCHEMAS, "options": options}, text)
    return f"# {MADE}\n{text.getvalue()}"


def settings() -> str:
    """The table of settings, in alphabetical order."""
    rows = [
        (f"`{name}`", _cell(spec.metadata["kind"].says), _default(spec.default), _cell(spec.metadata["doc"]))
        for name, spec in sorted(NAMES.items())
    ]
    return _table(("Setting", "Value", "Default", "What it is"), rows, "The settings in `_quarto.yml`.", "tbl-settings")


def environment() -> str:
    """The table of variables: those of settings, and the others."""
    named = [(variable, f"sets `{name}`") for name, spec in NAMES.items() for variable in spec.metadata["env"]]
    rows = [(f"`{variable}`", what) for variable, what in sorted({**VARIABLES, **dict(named)}.items())]
    return _table(("Variable", "What it does"), rows, "Variables of the environment.", "tbl-environment")


def commands() -> str:
    """The table of commands."""
    rows = [(f"`{name}`", summary) for name, summary, _ in _commands()]
    return _table(("Command", "What it does"), rows, "The commands of ask-book.", "tbl-commands")


def options() -> str:
    """For each command what it says of itself, and its arguments."""
    return _made("".join(_command(name, command) for name, _, command in _commands()))


def routes() -> str:
    """The table of HTTP routes, each with the first sentence of what its handler says."""
    holder, access = Holder("", "", ""), Access("")
    reports = Reports(Store(ROOT), holder, access, {}).routes()
    every = [*own_routes(holder, access, Metrics()), *reports, *readers_routes(Routes(holder, access))]
    rows = [
        (f"`{_methods(route)} {_path(route)}`", _cell(_first_sentences(route)))
        for route in every
        if not route.endpoint.__name__.startswith("_")
    ]
    return _table(("Route", "What you get"), rows, "The routes of the server.", "tbl-routes")


def _path(route: Route) -> str:
    return "/…" if route.path == "/{path:path}" else re.sub(r":\w+}", "}", route.path)


def _methods(route: Route) -> str:
    return ", ".join(sorted((route.methods or set()) - {"HEAD"}))


def _first_sentences(route: Route) -> str:
    return (route.endpoint.__doc__ or "").strip().split("\n\n")[0]


def _commands() -> list[tuple[str, str, argparse.ArgumentParser]]:
    (chosen,) = (action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    summaries = {action.dest: action.help or "" for action in chosen._choices_actions}
    return [(name, summaries[name], command) for name, command in chosen.choices.items()]


def _command(name: str, command: argparse.ArgumentParser) -> str:
    said = re.sub(
        r"(?m)^(  \S.*\n?)+", lambda found: f"```bash\n{_outdented(found[0])}\n```\n", f"{command.description}\n"
    )
    own = [action for action in command._actions if action.dest not in COMMON and action.help != argparse.SUPPRESS]
    listed = "\n".join(f"{written}\n:   {what}\n" for written, what in map(_argument, own))
    return f"### `ask-book {name}` {{#sec-cmd-{name}-reference}}\n\n{said}\n{listed}\n"


def _argument(action: argparse.Action) -> tuple[str, str]:
    names = ", ".join(action.option_strings) or str(action.metavar)
    value = f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
    return f"`{names}{value}`", (action.help or "what to ask").replace("%(default)s", str(action.default))


def _outdented(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.rstrip("\n").split("\n"))


def _default(value: Any) -> str:
    return "none" if value is None or value == () else f"`{json.dumps(value, ensure_ascii=False).strip(chr(34))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str, label: str) -> str:
    lines = [" | ".join(cells) for cells in (head, (":---",) * len(head), *rows)]
    widths = {2: "[30,70]", 4: "[18,22,12,48]"}[len(head)]
    body = "\n".join(f"| {line} |" for line in lines)
    return _made(f'{body}\n\n: {caption} {{#{label} tbl-colwidths="{widths}"}}\n')


def _made(text: str) -> str:
    return f"<!-- {MADE} -->\n\n{text.rstrip()}\n"


FILES: dict[str, Callable[[], str]] = {
    f"_extensions/{SECTION}/_schema.yml": schema,
    f"{INCLUDES}/settings.md": settings,
    f"{INCLUDES}/environment.md": environment,
    f"{INCLUDES}/commands.md": commands,
    f"{INCLUDES}/options.md": options,
    f"{INCLUDES}/routes.md": routes,
}

if __name__ == "__main__":
    main()
