"""`ask-book reports`: the answers that were kept: list, search, open, export, join, check, delete."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ask_book.answering.answer import Answer, Report
from ask_book.answering.open_book import OpenBook
from ask_book.book.edition import open_edition
from ask_book.book.manifest import Manifest, read_manifest
from ask_book.book.project import Project, find_project
from ask_book.book.settings import Settings, settings_of
from ask_book.commands import terminal
from ask_book.commands.open import browse
from ask_book.errors import AskBookError, UsageError
from ask_book.reports.check import standings, worst
from ask_book.reports.completion import complete
from ask_book.reports.document import Exchange, joined, new_document
from ask_book.reports.pdf import find_tools
from ask_book.reports.place import book_style, reports_of
from ask_book.reports.store import FILES, Store, Summary


def run(options: Namespace) -> int:
    """Do the one thing that is asked for; without any, list. 1 when nothing is found, or a quote is gone."""
    project = find_project(options.book, os.environ)
    settings = settings_of(project.configuration, os.environ)
    store = reports_of(project, settings)
    if options.open:
        return _open(store, store.find(options.open), options)
    if options.delete:
        return _delete(store, [store.find(beginning) for beginning in options.delete], options)
    if options.join:
        return _join(store, [store.find(beginning) for beginning in options.join], options)
    if options.pdf:
        return _pdf(store, store.find(options.pdf), project, settings, options)
    found = store.summaries(options.search or "")
    if options.export:
        return _export(store, found, Path(options.export), options)
    if options.check:
        return _check(found, _manifest(project), options)
    return _list(store, found, options)


def kept(answer: Answer, asked: str, book: OpenBook, project: Project, settings: Settings, model: str) -> Report:
    """Keep an answer that a command got, whole with its PDF if there can be one; where its files are."""
    store = reports_of(project, settings)
    document = new_document([Exchange(asked, answer)], book.manifest.book, book.index.lang, model)
    folder = store.save(document)
    if settings.reports_pdf:
        complete(store, document.id, find_tools(os.environ), book_style(project, settings))
    return Report(document.id, *(str(folder / name) if (folder / name).is_file() else "" for name in FILES))


def _list(store: Store, found: Sequence[Summary], options: Namespace) -> int:
    if options.json:
        terminal.say_json([_row(store, summary) for summary in found])
    for summary in () if options.json else found:
        terminal.say(f"{summary.id[:8]}  {summary.created[:10]}  {summary.title}")
        terminal.say(terminal.dim(terminal.wrapped(summary.excerpt, " " * 10)))
    if not found and not options.json:
        terminal.say("No report has these words." if options.search else "There are no reports yet.")
    return 0 if found or not options.search else 1


def _row(store: Store, summary: Summary) -> dict[str, Any]:
    row = {name: value for name, value in asdict(summary).items() if name not in ("words", "citations")}
    folder = store.folder / summary.id
    files = {name: str(folder / name) for name in FILES if (folder / name).is_file()}
    return {**row, "quotes": len(summary.citations), "files": files}


def _open(store: Store, report_id: str, options: Namespace) -> int:
    file = store.path(report_id) / "report.html"
    if options.json:
        terminal.say_json({"id": report_id, "file": str(file)})
    else:
        terminal.say(str(file))
    if not options.no_browser and not browse(file.as_uri()):
        terminal.tell("No browser could be opened: open that file yourself.")
    return 0


def _export(store: Store, found: Sequence[Summary], target: Path, options: Namespace) -> int:
    if not found:
        raise AskBookError("There is no report to export.", "`ask-book reports` lists them.", "no_report")
    if target.is_dir() or not target.parent.is_dir():
        raise UsageError(
            f"{target} is no file that can be written.", "Name a zip file in a folder that exists.", "export"
        )
    store.export((summary.id for summary in found), target)
    if options.json:
        terminal.say_json({"file": str(target), "reports": [summary.id for summary in found]})
    else:
        terminal.say(f"{len(found)} reports in {target}")
    return 0


def _delete(store: Store, report_ids: Sequence[str], options: Namespace) -> int:
    titles = {report_id: store.read(report_id).title for report_id in report_ids}
    if not _agreed(titles, options):
        terminal.say("Nothing was deleted.")
        return 1
    for report_id in report_ids:
        store.delete(report_id)
    if options.json:
        terminal.say_json({"deleted": report_ids})
    else:
        terminal.say(f"Deleted: {len(report_ids)}")
    return 0


def _agreed(titles: dict[str, str], options: Namespace) -> bool:
    if options.yes:
        return True
    if options.json or not terminal.is_attended():
        raise UsageError("There is nobody to ask whether to delete.", "Say it beforehand: --yes.", "yes")
    for report_id, title in titles.items():
        terminal.say(f"{report_id[:8]}  {title}")
    return terminal.agreed("Delete for good?")


def _join(store: Store, report_ids: Sequence[str], options: Namespace) -> int:
    folder = store.save(joined([store.read(report_id) for report_id in report_ids]))
    if options.json:
        terminal.say_json({"id": folder.name, "folder": str(folder)})
    else:
        terminal.say(f"{folder.name[:8]}  {folder}")
    return 0


def _pdf(store: Store, report_id: str, project: Project, settings: Settings, options: Namespace) -> int:
    made = complete(store, report_id, find_tools(os.environ), book_style(project, settings))
    folder = store.path(report_id)
    if made.pdf is None:
        raise AskBookError("No PDF could be made.", f"All that was tried is in {folder / 'pdf.error.log'}.", "pdf")
    if options.json:
        terminal.say_json({"file": str(folder / "report.pdf"), "by": made.by, "lost": made.lost})
    else:
        terminal.say(f"{folder / 'report.pdf'}  ({made.by})")
    return 0


def _check(found: Sequence[Summary], manifest: Manifest, options: Namespace) -> int:
    """Each report with what became of its quotes; 1 when some are gone."""
    rows = [(summary, standings(summary.citations, manifest)) for summary in found]
    gone = sum(item.fate == "gone" for _, quotes in rows for item in quotes)
    if options.json:
        reports = [
            {
                "id": summary.id,
                "title": summary.title,
                "fate": worst(quotes),
                "quotes": [{**asdict(item), "tag": str(item.tag) if item.tag else None} for item in quotes],
            }
            for summary, quotes in rows
        ]
        terminal.say_json({"reports": reports, "gone": gone})
        return 1 if gone else 0
    for summary, quotes in rows:
        terminal.say(f"{summary.id[:8]}  {worst(quotes) or '-':6}  {summary.title}")
        for item in quotes:
            if item.fate != "stands":
                terminal.say(terminal.wrapped(f"[{item.n}] {item.fate}: “{item.quote}”", " " * 10))
    terminal.say(f"{len(rows)} reports, {gone} quotes gone.")
    return 1 if gone else 0


def _manifest(project: Project) -> Manifest:
    progress = terminal.Progress()
    try:
        return read_manifest(open_edition(project, progress).manifest_path)
    finally:
        progress.clear()
