"""The programs of the machine: Python, this package, Quarto, pandoc, TeX."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from ask_book import __version__
from ask_book.book.edition import rendered_edition
from ask_book.book.pandoc import find_pandoc
from ask_book.book.quarto import OLDEST, find_quarto
from ask_book.doctor.finding import Finding, Patient
from ask_book.errors import AskBookError
from ask_book.resources import extension_dir


def check_python(_: Mapping[str, str]) -> Iterator[Finding]:
    """This very Python."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "ok", f"Python {version} ({sys.executable})")


def check_package(_: Mapping[str, str]) -> Iterator[Finding]:
    """This package, and the extension that it carries."""
    carried = extension_dir()
    if (carried / "_extension.yml").is_file():
        yield Finding("package", "ok", f"ask-book {__version__}")
    else:
        message = f"ask-book {__version__} came without its Quarto extension ({carried})."
        yield Finding("package", "broken", message, "Install the package again.")


def check_quarto(env: Mapping[str, str]) -> Iterator[Finding]:
    """Quarto on the PATH."""
    quarto = find_quarto(env)
    oldest = ".".join(map(str, OLDEST))
    if quarto is None:
        message = "There is no Quarto on the PATH: books are read in a plain rendition."
        yield Finding("quarto", "note", message, "To render them, install Quarto (https://quarto.org).")
    elif not quarto.version:
        yield Finding("quarto", "broken", f"Quarto does not run ({quarto.path}).", "Install it again.")
    elif not quarto.is_supported:
        message = f"Quarto {quarto.version} ({quarto.path}) is older than {oldest}."
        yield Finding("quarto", "note", message, f"ask-book is tested with {oldest} and later: upgrade it.")
    else:
        yield Finding("quarto", "ok", f"Quarto {quarto.version} ({quarto.path})")


def check_pandoc(patient: Patient) -> Iterator[Finding]:
    """A pandoc, which only a book without rendered pages needs."""
    try:
        pandoc = find_pandoc(patient.env)
    except AskBookError as error:
        is_needed = rendered_edition(patient.project) is None
        if is_needed:
            yield Finding("pandoc", "broken", error.message, error.hint)
        else:
            yield Finding("pandoc", "note", f"{error.message} The rendered book needs none.", error.hint)
    else:
        yield Finding("pandoc", "ok", f"pandoc {pandoc.version} ({pandoc.origin})")


def check_pdf(env: Mapping[str, str]) -> Iterator[Finding]:
    """A TeX engine for the PDF of a report."""
    from ask_book.reports import tinytex

    found = tinytex.engines(tinytex.with_bin(env.get("PATH", ""), tinytex.find_bin(env)))
    if found:
        name, path = next(iter(found.items()))
        yield Finding("pdf", "ok", f"{name} ({path})")
    else:
        message = "There is no TeX: reports come as HTML and Markdown, without a PDF."
        yield Finding("pdf", "note", message, "For PDF too: `quarto install tinytex`.")
