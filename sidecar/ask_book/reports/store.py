"""The reports of a book on disk: one folder each, named by an id that cannot be guessed, whole or not there.

A report is written in a folder beside and renamed into place; it is deleted by renaming it away first. What a killed
process left behind has another kind of name, is never listed, and goes when the next report is saved.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ask_book.answering.answer import Citation
from ask_book.errors import AskBookError
from ask_book.excerpt import excerpt
from ask_book.files import write_atomically
from ask_book.reports.document import Document, document_json, read_document
from ask_book.reports.html import html
from ask_book.reports.markdown import markdown
from ask_book.reports.mathml import Drawn, with_drawn
from ask_book.reports.page import Page, saved_page
from ask_book.reports.pdf import Made
from ask_book.reports.tree import parse, words_of
from ask_book.retrieval.tokens import fold

LEFTOVER_SECONDS = 3600
EXCERPT = 240
MOST_KEPT = 10_000
FILES = ("report.html", "report.md", "report.pdf")
ERROR_LOG = "pdf.error.log"
PDF_FACTS = "pdf.json"
FORMULAS = "formulas.json"

PdfState = Literal["ready", "failed", "none"]

_ID = re.compile(r"[0-9a-f]{32}")
_NEW, _OLD = ".ask-book-new-", ".ask-book-old-"


@dataclass(frozen=True)
class Summary:
    """What a list shows of a report. `words` are all that may be searched for, folded."""

    id: str
    created: str
    title: str
    status: str
    mode: str
    excerpt: str
    book_hash: str
    citations: tuple[Citation, ...]
    words: str


@dataclass(frozen=True)
class Store:
    """The folder of one book's reports. It need not exist before the first is saved."""

    folder: Path

    def save(self, document: Document) -> Path:
        """Write a report, whole or not at all; its folder. Raises `AskBookError` when there are too many already.

        Old ones are not deleted for it: they may be somebody's.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._clear_leftovers()
        if sum(1 for _ in self._ids()) >= MOST_KEPT:
            most = f"The folder has {MOST_KEPT:,} reports, the most it may have."
            raise AskBookError(most, "`ask-book reports --help` tells how to export and delete them.", "reports_full")
        page = saved_page(document)
        fresh = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.folder))
        try:
            (fresh / "report.html").write_text(html(page), encoding="utf-8", newline="\n")
            (fresh / "report.md").write_text(markdown(page), encoding="utf-8", newline="\n")
            data = json.dumps(document_json(document), ensure_ascii=False, indent=1)
            (fresh / "report.json").write_text(data, encoding="utf-8", newline="\n")
            return fresh.rename(self.folder / document.id)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise

    def has(self, report_id: str) -> bool:
        """Whether there is such a report."""
        return _ID.fullmatch(report_id) is not None and (self.folder / report_id / "report.json").is_file()

    def path(self, report_id: str) -> Path:
        """The folder of a report. Raises `AskBookError` if there is none."""
        if not self.has(report_id):
            raise AskBookError("There is no such report.", "It may have been deleted.", "no_report")
        return self.folder / report_id

    def read(self, report_id: str) -> Document:
        """A report. Raises `AskBookError` if there is none, or if it is damaged."""
        file = self.path(report_id) / "report.json"
        try:
            return read_document(json.loads(file.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AskBookError(f"The report {file} is damaged ({error}).", "Delete it.", "report") from error

    def find(self, beginning: str) -> str:
        """The one id that begins like this. Raises `AskBookError` for none and for several."""
        found = [report_id for report_id in self._ids() if beginning and report_id.startswith(beginning.lower())]
        if len(found) == 1:
            return found[0]
        if found:
            raise AskBookError(f"{len(found)} reports begin with {beginning!r}.", "Give more of the id.", "report")
        raise AskBookError(f"There is no report {beginning!r}.", "`ask-book reports` lists them.", "no_report")

    def summaries(self, search: str = "") -> list[Summary]:
        """What there is, newest first; with `search`, only what has all its words. Damaged ones are left out."""
        wanted = fold(search).split()
        found = []
        for report_id in self._ids():
            file = self.folder / report_id / "report.json"
            with suppress(OSError, ValueError, KeyError, TypeError):
                summary = _summary(file, file.stat().st_mtime_ns)
                if all(word in summary.words for word in wanted):
                    found.append(summary)
        return sorted(found, key=lambda summary: (summary.created, summary.id), reverse=True)

    def pdf_state(self, report_id: str) -> PdfState:
        """Whether there is a PDF, or why there is none."""
        folder = self.folder / report_id
        if (folder / "report.pdf").is_file():
            return "ready"
        return "failed" if (folder / ERROR_LOG).is_file() else "none"

    def keep_drawn(self, report_id: str, page: Page, drawn: Drawn) -> None:
        """Draw the formulas of a report's page, now that there is their MathML."""
        with suppress(FileNotFoundError):
            folder = self.folder / report_id
            rows = [[*formula, markup] for formula, markup in drawn.items()]
            write_atomically(folder / FORMULAS, json.dumps(rows, ensure_ascii=False).encode(), 0o600)
            write_atomically(folder / "report.html", html(with_drawn(page, drawn)).encode(), 0o600)

    def drawn(self, report_id: str) -> Drawn:
        """The formulas of a report that are drawn."""
        try:
            rows = json.loads((self.folder / report_id / FORMULAS).read_bytes())
            return {(kind, formula): markup for kind, formula, markup in rows}
        except (OSError, ValueError):
            return {}

    def keep_pdf(self, report_id: str, made: Made) -> None:
        """Put a PDF beside a report, or the log of why there is none; nothing if the report has gone meanwhile."""
        with suppress(FileNotFoundError):
            folder = self.folder / report_id
            if made.pdf is None:
                write_atomically(folder / ERROR_LOG, made.log.encode(), 0o600)
            else:
                lost = json.dumps({"by": made.by, "lost": made.lost}, ensure_ascii=False)
                write_atomically(folder / PDF_FACTS, lost.encode(), 0o600)
                write_atomically(folder / "report.pdf", made.pdf, 0o600)
                (folder / ERROR_LOG).unlink(missing_ok=True)

    def lost_in_pdf(self, report_id: str) -> str:
        """The characters that the PDF of a report cannot show, for people; mostly ""."""
        try:
            return str(json.loads((self.folder / report_id / PDF_FACTS).read_bytes())["lost"])
        except (OSError, ValueError, KeyError):
            return ""

    def delete(self, report_id: str) -> None:
        """Take a report away. Raises `AskBookError` if there is none."""
        doomed = self.path(report_id).rename(self.folder / f"{_OLD}{report_id}")
        shutil.rmtree(doomed, ignore_errors=True)

    def export(self, report_ids: Iterable[str], target: Path) -> None:
        """Write reports into a zip file, a folder each, named by its day and question."""
        with tempfile.NamedTemporaryFile(prefix=f".{target.name}.", dir=target.parent, delete=False) as file:
            try:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    for report_id in report_ids:
                        name = _readable(self.read(report_id))
                        for part in sorted(self.path(report_id).iterdir()):
                            archive.write(part, f"{name}/{part.name}")
                file.close()
                Path(file.name).replace(target)
            except BaseException:
                file.close()
                Path(file.name).unlink(missing_ok=True)
                raise

    def _ids(self) -> Iterator[str]:
        with suppress(OSError):
            yield from (entry.name for entry in self.folder.iterdir() if _ID.fullmatch(entry.name))

    def _clear_leftovers(self) -> None:
        for entry in self.folder.iterdir():
            if entry.name.startswith((_NEW, _OLD)):
                with suppress(OSError):
                    if entry.name.startswith(_OLD) or time.time() - entry.stat().st_mtime > LEFTOVER_SECONDS:
                        shutil.rmtree(entry, ignore_errors=True)


@lru_cache(maxsize=4096)
def _summary(file: Path, _modified: int) -> Summary:
    document = read_document(json.loads(file.read_bytes()))
    last = document.exchanges[-1].answer
    text = " ".join(" ".join(words_of(parse(exchange.answer.answer)).split()) for exchange in document.exchanges)
    questions = [exchange.question for exchange in document.exchanges]
    places = [word for citation in document.citations for word in (citation.chapter_title, *citation.heading_path)]
    return Summary(
        id=file.parent.name,
        created=document.created,
        title=document.title,
        status=last.status,
        mode=last.mode,
        excerpt=excerpt(text, EXCERPT),
        book_hash=document.book.hash,
        citations=document.citations,
        words=fold(" ".join((*questions, text, *dict.fromkeys(places)))),
    )


def _readable(document: Document) -> str:
    slug = re.sub(r"[^\w]+", "-", document.exchanges[0].question).strip("-")[:50]
    return f"{document.created[:10]} {slug} {document.id[:8]}"
