"""The command `ask-book`: what can be typed, and how errors are told. Each command is a module of `commands`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ask_book import __version__
from ask_book.commands import terminal
from ask_book.errors import AskBookError, UsageError, system_error

DESCRIPTION = """\
Ask a Quarto book a question and get an answer that can be checked: every claim
carries a citation, every citation opens the exact passage in the book, and when
the book does not say it, the answer says so."""

EPILOG = """\
Begin with:
  ask-book ask "What does it say about bridges?" --book path/to/book
  ask-book open path/to/book       the book in the browser, with its panel
  ask-book init path/to/book       the panel in every render of the book

The book's folder is the one with _quarto.yml, or any folder inside it; without
one, it is the current folder. A book that was never rendered is read all the same.

Exit codes: 0 done; 1 no, or it failed; 2 used wrongly."""

FOLDER = "the book's folder (default: the current one)"


MODES = ("extractive", "grounded", "tools")


class _Parser(argparse.ArgumentParser):
    """Tells misuse as every other error is told."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[0].upper()}{message[1:]}.", self.format_usage().strip(), "usage")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    terminal.prepare()
    arguments = sys.argv[1:] if argv is None else argv
    as_json = "--json" in arguments
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.print_help()
            return 2
        options.book = _folder(options)
        if getattr(options, "render", False):
            importlib.import_module("ask_book.commands.quarto").render(options.book)
        command = importlib.import_module(f"ask_book.commands.{options.command}")
        return int(command.run(options))
    except AskBookError as error:
        terminal.tell_error(error, as_json)
        return error.exit_code
    except BrokenPipeError:
        terminal.abandon()
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - the last resort: a traceback tells a reader nothing
        terminal.tell_error(_unexpected(error), as_json)
        return 1


def _folder(options: argparse.Namespace) -> Path:
    given = [*options.book, *([] if options.folder is None else [options.folder])]
    if options.command == "exam":
        given += [name for name in options.files if Path(name).is_dir()]
        options.files = [name for name in options.files if name not in given]
    if options.command == "export":
        *before, options.out = options.places
        given += before
    if len(given) > 1:
        raise UsageError(
            f"The book's folder is given {len(given)} times: {', '.join(given)}.",
            "Give it once, as DIR or as --book DIR.",
            "usage",
        )
    return Path(given[0] if given else ".")


def _unexpected(error: Exception) -> AskBookError:
    if os.environ.get("ASK_BOOK_DEBUG"):
        raise error
    if isinstance(error, OSError) and (refused := system_error(error)):
        return refused
    return AskBookError(
        f"Something went wrong that ask-book did not foresee ({type(error).__name__}: {error}).",
        "Run it again with ASK_BOOK_DEBUG=1 to see where, and report it.",
        "unexpected",
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "ask-book", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"ask-book {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    def add(name: str, summary: str, description: str, first: str | None = None) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=summary,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if first == "FILE":
            command.add_argument("files", metavar=first, nargs="*", help="an exam (default: exam.yml of the book)")
            command.set_defaults(folder=None)
        elif first == "OUT":
            command.usage = f"%(prog)s [-h] [--book DIR] [--json] [DIR] {first}"
            command.add_argument("places", metavar=first, nargs="+", help="where to put it, after the book's folder")
            command.set_defaults(folder=None)
        else:
            if first:
                command.add_argument(first.lower(), metavar=first)
            command.add_argument("folder", metavar="DIR", nargs="?", help=FOLDER)
        command.add_argument("--book", metavar="DIR", action="append", default=[], help="the same, named")
        command.add_argument("--json", action="store_true", help="print JSON, for programs")
        return command

    init = add("init", "add ask-book to a book", INIT)
    init.add_argument("--yes", action="store_true", help="do it without asking")
    init.add_argument("--remove", action="store_true", help="undo it: take the line and the extension out again")
    index = add("index", "read the book and build its index", INDEX)
    index.add_argument("--yes", action="store_true", help="embed the book with the model that is set, at its price")
    index.add_argument("--summaries", action="store_true", help="let the chat model sum up the sections, at its price")
    ask = add("ask", "ask a question", ASK, "QUESTION")
    ask.add_argument("--mode", choices=MODES, help="the most that the answer may use (default: the setting `mode`)")
    ask.add_argument("--report", action="store_true", help="keep the answer as a document: HTML, Markdown, PDF")
    search = add("search", "show the passages that fit some words", SEARCH, "WORDS")
    for command in (ask, search):
        command.add_argument("-k", type=_count, metavar="N", help="how many passages to look at (setting: top-k)")
        command.add_argument("--scope", metavar="WHERE", help="only in this chapter file, part or anchor")
    opened = add("open", "open the book in the browser", OPEN)
    for command in (ask, opened):
        command.add_argument("--render", action="store_true", help="let Quarto render the book first, if it is here")
    opened.add_argument("--no-browser", action="store_true", help="only print the address")
    opened.add_argument("--reports", action="store_true", help="open the list of the answers that were kept")
    serve = add("serve", "serve the book in the foreground", SERVE)
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=_port, help="the port (default: one of the book's own four; 0: any free one)")
    serve.add_argument("--name", action="append", default=[], metavar="HOST", help="a name readers use for this server")
    serve.add_argument("--root-path", default="", metavar="PATH", help="the path under which a proxy shows the book")
    serve.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="a proxy, or a network of them, that says for whom it asks",
    )
    serve.add_argument("--workers", type=_count, default=1, metavar="N", help="how many processes serve (default: 1)")
    serve.add_argument(
        "--grace", type=_seconds, default=30.0, metavar="SECONDS", help="how long answers may go on at the end (30)"
    )
    serve.add_argument("--log", choices=("text", "json"), help="a line for each request, without what was asked")
    serve.add_argument("--log-questions", action="store_true", help="and with what was asked")
    serve.add_argument("--verbose", action="store_true", help="say what happens")
    serve.add_argument("--open", action="store_true", help="open the browser too")
    exam = add("exam", "ask questions whose right passages are known", EXAM, "FILE")
    exam.add_argument("-k", type=_count, metavar="N", help="how many passages to look at (setting: top-k)")
    exam.add_argument("--min-recall", type=_share, default=0.0, metavar="R", help="fail below this share, 0 to 1")
    exam.add_argument("--junit", type=Path, metavar="X", help="write JUnit's XML into this file, for CI")
    drafts = exam.add_mutually_exclusive_group()
    drafts.add_argument("--suggest", action="store_true", help="draft questions from the book instead")
    drafts.add_argument("--record", action="store_true", help="make questions of those that readers asked instead")
    drafts.add_argument("--gaps", action="store_true", help="tell what readers asked and did not find instead")
    exam.add_argument("--out", type=Path, metavar="FILE", help="where to put the drafts: a new file")
    exam.add_argument("--with-model", action="store_true", help="let the chat model draft better ones, at its price")
    exam.add_argument("--yes", action="store_true", help="agree to that price without being asked")
    add("doctor", "tell what works, what does not, and what to do", DOCTOR)
    add("export", "put the book in one folder, to be served anywhere", EXPORT, "OUT")
    add("start", "start the sidecar in the background", START)
    add("stop", "stop it", STOP)
    add("status", "tell whether it runs, and where", STATUS)
    reports = add("reports", "list, search, export, check or delete the answers that were kept", REPORTS)
    reports.add_argument("--search", metavar="WORDS", help="only reports that have all these words")
    action = reports.add_mutually_exclusive_group()
    action.add_argument("--open", metavar="ID", help="open one in the browser")
    action.add_argument("--export", metavar="FILE", help="write them into a zip file")
    action.add_argument("--join", metavar="ID", action="append", help="make one report of several; give it for each")
    action.add_argument("--pdf", metavar="ID", help="make its PDF, again if need be")
    action.add_argument("--check", action="store_true", help="tell whether their quotes still stand in the book")
    action.add_argument("--delete", metavar="ID", action="append", help="delete one; may be given several times")
    reports.add_argument("--yes", action="store_true", help="delete without asking")
    reports.add_argument("--no-browser", action="store_true", help="only print the file to open")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 50:
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 50")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be a number from 0 to 1, such as 0.9")
    return share


def _seconds(text: str) -> float:
    if not text.isdecimal() or int(text) > 3600:
        raise argparse.ArgumentTypeError("must be a whole number of seconds, up to 3600")
    return float(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError("must be a port number, from 0 to 65535")
    return int(text)


INIT = """\
Copy the Quarto extension into `_extensions/ask-book` and list it in
`_quarto.yml`, so that each render of the book carries the panel.

The one new line is shown before anything is written; every other byte of the
file stays. Running it again changes nothing, except that an older copy of the
extension is replaced. `--remove` gives the folder back as it was."""

INDEX = """\
Read the book and build what questions are answered from. The other commands
do this by themselves when it is needed; run it to see what is in the index.

The rendered book is used if there is one that ask-book was part of; otherwise
the chapters listed in `_quarto.yml` are read with pandoc, into the cache folder
of your account: nothing is written into the book.

With an embedding model, passages are also found by their meaning. A model on this
machine embeds what is new or changed at once. One on another machine waits for
your consent: what it takes is shown first, and `--yes` agrees without being asked
(for CI). It is remembered for this book and this model; later changes are embedded
without a question until they come to as much again as the whole book.

Exit code 1: the model that is set did not embed the book, and why."""

ASK = """\
Answer a question from the book, with numbered notes: each quotes the book word
for word and says where the passage is. If the book does not say it, the answer
is just that, with the words the book never uses and the nearest passages.

Without a language model the answer is sentences of the book. With one (settings
`base-url` and `chat-model`) the model writes it from the passages found, and
its notes are checked; `--mode extractive` leaves the model out for once.

  ask-book ask "Who pays for the dam?"
  ask-book ask "Who pays for the dam?" --book ../hydrology --json

Exit code 0: answered; 1: not found in the book."""

SEARCH = """\
Show the passages that fit some words best, with a score from 0 to 1. Useful
when an answer surprises you: this is all that the answer was made from.

Exit code 0: some were found; 1: none."""

OPEN = """\
Open the book in the browser, served by the sidecar, which is started if it does
not run yet."""

SERVE = """\
Serve the book, its panel and its answers until you press Ctrl-C.

On another address than this machine's (`--host 0.0.0.0`) everybody who can
reach it may ask; nothing that only the owner may do is open to them. Requests
are answered only under names that are known: the address given, this machine's
name, those of `endpoint` and `site-url`, and each `--name`
(`--name ask.example.org`).

Behind a reverse proxy, name it, so that limits count readers and not the proxy:

  ask-book serve ../hydrology --port 8000 --name ask.example.org --trusted-proxy 127.0.0.1

With --name or --trusted-proxy the server counts as public, whatever it listens
on. The variable ASK_BOOK_TOKEN sets the owner's token, which /metrics needs."""

EXAM = """\
Ask the book a list of questions whose right passages are known, and tell how
often the right passage is found and cited, and how often what the book does not
say is refused. Nothing but the book is needed: no key, no network.

  ask-book exam exam.yml --book ../hydrology
  ask-book exam *.yml --book ../hydrology --min-recall 0.9 --junit exam.xml

Each question that went wrong is told with its line and the reason. The guide
describes the format of the file.

Without an exam yet, let ask-book draft one; with readers, use what they asked
(setting: record-questions). Drafts go to --out, or are printed:

  ask-book exam --suggest --out exam.yml
  ask-book exam --record --out asked.yml
  ask-book exam --gaps

Exit code 0: done; 1: the share of answerable questions whose passage was found
is below --min-recall."""

DOCTOR = """\
Look at Python, Quarto, pandoc and TeX, at the extension and the pages of the
book, at its index, its model and its sidecar, and say for each what to do. Each
setting is listed with its value and where that comes from.

The model's host is asked for the list of its models, which costs nothing; a
public `endpoint` is asked for its health. Keys are never shown.

Exit code 0: nothing is broken; 1: something is."""

EXPORT = """\
Put the book, its index and its settings into one folder, which needs neither
the sources nor Quarto nor pandoc:

  ask-book export ../hydrology hydrology-export
  ask-book serve hydrology-export

The folder is made beside its place and then put there as a whole, also where a
server reads an earlier one: it goes over to the new one by itself. Secrets stay
behind, and what else is left out is listed."""

START = """\
Start the sidecar of this book in the background and return when it answers.
If it runs already, nothing happens; if it runs with another version of
ask-book or with other settings, it is replaced. It ends by itself when nobody
has used it for two hours (setting: idle-minutes), or when the book is gone."""

STOP = """\
Stop the sidecar of this book, if it runs."""

REPORTS = """\
List the answers that were kept as documents, newest first, or do something
with them. An ID is the beginning of what the list shows.

  ask-book reports --search dam --export dams.zip
  ask-book reports --check

Exit code 1: nothing was found; with --check: a quote is no longer in the book."""

STATUS = """\
Tell whether the sidecar of this book runs, and where.

Exit code 0: it runs; 1: it does not."""
