"""All checks of a book, one after the other; none of them can end the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask_book.book.dotenv import read_dotenv
from ask_book.book.project import Project, find_project
from ask_book.book.settings import NAMES, settings_of
from ask_book.doctor import book, machine, services
from ask_book.doctor.finding import Finding, Patient, broken
from ask_book.errors import AskBookError

ANYWHERE = (machine.check_python, machine.check_package, machine.check_quarto, machine.check_pdf)
OF_A_BOOK = (
    machine.check_pandoc,
    book.check_extension,
    book.check_hooks,
    book.check_pages,
    services.check_index,
    services.check_embeddings,
    services.check_model,
    services.check_sidecar,
    services.check_browser,
    book.check_secrets,
    book.check_folders,
)


@dataclass(frozen=True)
class Value:
    """A setting, and where it comes from: `default`, a file and line, or a variable."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True)
class Examination:
    """`book` names the book, when there is one."""

    book: str | None
    findings: tuple[Finding, ...]
    settings: tuple[Value, ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether nothing is broken."""
        return all(finding.state != "broken" for finding in self.findings)


def examine(folder: Path, env: Mapping[str, str]) -> Examination:
    """Look at the machine, and at the book in `folder`."""
    findings = [finding for check in ANYWHERE for finding in _guarded(check, env)]
    try:
        project = find_project(folder, env)
    except AskBookError as error:
        return Examination(None, (*findings, broken("book", error)))
    findings.append(Finding("book", "ok", f"{project.title or 'a book without a title'}, in {project.root}"))
    try:
        settings = settings_of(project.configuration, env)
    except AskBookError as error:
        return Examination(project.title, (*findings, broken("settings", error)))
    origins = dict(settings.origins)
    values = tuple(
        Value(name, getattr(settings, spec.name), _origin(origins.get(name, "default"), project))
        for name, spec in NAMES.items()
    )
    patient = Patient(project, settings, env, read_dotenv(project.root / ".env"))
    findings += [finding for check in OF_A_BOOK for finding in _guarded(check, patient)]
    return Examination(project.title, tuple(findings), values)


def _guarded(check: Callable[[Any], Iterator[Finding]], looked_at: object) -> list[Finding]:
    name = check.__name__.removeprefix("check_")
    try:
        return list(check(looked_at))
    except AskBookError as error:
        return [broken(name, error)]
    except Exception as error:  # noqa: BLE001 - what a check did not foresee is a finding, too
        message = f"This could not be looked at ({type(error).__name__}: {error})."
        return [Finding(name, "broken", message, "Report it, with the output of `ask-book doctor --json`.")]


def _origin(origin: str, project: Project) -> str:
    """Files of the book are named from its folder."""
    return origin.removeprefix(f"{project.root}/").removeprefix(f"{project.root}\\")
