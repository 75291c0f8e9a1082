"""Reports over HTTP: kept when an answer is done, served beside the book, listed for the owner; the PDF comes after."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from anyio import to_thread
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from ask_book.answering.answer import Answer, Report
from ask_book.answering.open_book import OpenBook
from ask_book.answering.question import Question
from ask_book.book.manifest import Manifest
from ask_book.book.notice import Notice
from ask_book.errors import AskBookError, UsageError
from ask_book.reports.check import Fate, standings, worst
from ask_book.reports.completion import complete
from ask_book.reports.document import Document, Exchange, joined, new_document
from ask_book.reports.html import html, style
from ask_book.reports.mathml import with_drawn
from ask_book.reports.page import served_page
from ask_book.reports.pdf import Style, Tools, find_tools
from ask_book.reports.process import Runner
from ask_book.reports.store import FILES, Store, Summary
from ask_book.reports.words import words, written_date
from ask_book.server.access import Access
from ask_book.server.errors import OWN_PAGES, RequestError, json_response
from ask_book.server.holder import Holder

AT_ONCE = 2
MOST_JOINED = 50
BODY_BYTES = 16_384
ROOT = "../../"
_TYPES = {"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "pdf": "application/pdf"}
_GALLERY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

log = logging.getLogger(__name__)


class _ReportId(Convertor[str]):
    """Pages of a book whose folder has the same name stay pages."""

    regex = "[0-9a-f]{32}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _FileName(_ReportId):
    regex = r"report\.(?:html|md|pdf)"


register_url_convertor("report", _ReportId())
register_url_convertor("file", _FileName())


@dataclass
class Reports:
    """The reports of one server.

    `by_default`: an answer is kept unless its question says no. `has_pdf`: PDFs are made, with what `env` has.
    """

    store: Store
    holder: Holder
    access: Access
    env: Mapping[str, str]
    model: str = ""
    by_default: bool = True
    has_pdf: bool = True
    style: Style = field(default_factory=Style)
    _tools: Tools | None = None
    _making: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _fates: dict[tuple[str, str], Fate | None] = field(default_factory=dict)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _runner: Runner = field(default_factory=Runner)

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/reports", self.list),
            Route("/reports", self.join, methods=["POST"]),
            Route("/reports/{id:report}", self.show),
            Route("/reports/{id:report}", self.delete, methods=["DELETE"]),
            Route("/reports/{id:report}/{name:file}", self.file),
        ]

    async def keep(self, answer: Answer, asked: Question, book: OpenBook) -> Answer:
        """The answer with its report, if one is wanted. A report that cannot be written costs a notice, no answer."""
        if not (self.by_default if asked.report is None else asked.report) or (
            asked.report is None and _is_talk(answer)
        ):
            return answer
        model = "" if answer.mode == "extractive" else self.model
        document = new_document([Exchange(asked.text, answer)], book.manifest.book, book.index.lang, model)
        try:
            await to_thread.run_sync(self.store.save, document)
        except (AskBookError, OSError) as error:
            log.warning("A report could not be kept: %s", error)
            reason = error.strerror if isinstance(error, OSError) else error.message
            lost = Notice("report", f"The report could not be kept ({reason}).")
            return replace(answer, notices=(*answer.notices, lost))
        self._start(document.id)
        return replace(answer, report=_addresses(document.id))

    async def show(self, request: Request) -> Response:
        """The state of a report: whether its PDF is there, what became of its quotes."""
        document = await self._read(request)
        return json_response(await to_thread.run_sync(self._state, document, self._pdf_state(document.id)))

    async def file(self, request: Request) -> Response:
        """A report as HTML beside the book as it is now, as Markdown or as PDF; `?download` to save it."""
        report_id, name = self._known(request.path_params["id"]), request.path_params["name"]
        book = self.holder.current
        is_saved = "download" in request.query_params
        if name == "report.html" and book is not None and not is_saved:
            document = await self._read(request)
            page = await to_thread.run_sync(self._html, document, book.manifest)
            return HTMLResponse(page, headers={**OWN_PAGES, "Cache-Control": "no-store"})
        path = self.store.path(report_id)
        if not (path / name).is_file():
            raise RequestError(404, f"This report has no {name}.", "A PDF may come: look at its state.", "no_file")
        kind = name.rpartition(".")[2]
        headers = {"Cache-Control": "no-store", **({} if kind == "pdf" else OWN_PAGES)}
        wanted = f"report-{report_id[:8]}.{kind}" if is_saved else None
        return FileResponse(path / name, media_type=_TYPES[kind], filename=wanted, headers=headers)

    async def list(self, request: Request) -> Response:
        """The reports of the book, newest first, with `?q=` those that have all its words; the owner only."""
        if "text/html" in request.headers.get("accept", "") and "authorization" not in request.headers:
            return self._gallery()
        self._owner_only(request)
        book, search = self.holder.current, request.query_params.get("q", "")
        manifest = book.manifest if book else None
        found = await to_thread.run_sync(lambda: [self._row(item, manifest) for item in self.store.summaries(search)])
        total = len(found) if not search.strip() else len(await to_thread.run_sync(self.store.summaries))
        return json_response({"reports": found, "total": total})

    async def join(self, request: Request) -> Response:
        """Make one report of several, such as those of a conversation: `{"reports": [id, …]}`, in their order."""
        report_ids = await _report_ids(request)
        for report_id in report_ids:
            self._known(report_id)
        document = joined([await to_thread.run_sync(self.store.read, report_id) for report_id in report_ids])
        await to_thread.run_sync(self.store.save, document)
        self._start(document.id)
        return json_response({"report": vars(_addresses(document.id))}, status=201)

    async def delete(self, request: Request) -> Response:
        """Take a report away; the owner only."""
        self._owner_only(request)
        await to_thread.run_sync(self.store.delete, self._known(request.path_params["id"]))
        return Response(status_code=204)

    async def look_for_tools(self) -> None:
        """See whether PDFs can be made, and say so in `/health`."""
        if self.has_pdf and self._tools is None:
            self._tools = await to_thread.run_sync(find_tools, self.env)
            self.holder.works = replace(self.holder.works, pdf=self._tools.are_complete)

    async def aclose(self) -> None:
        """End what is being made."""
        self._runner.close()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    def _start(self, report_id: str) -> None:
        if self.has_pdf and report_id not in self._making:
            task = asyncio.create_task(self._make(report_id))
            self._making[report_id] = task
            task.add_done_callback(lambda _: self._making.pop(report_id, None))

    async def _make(self, report_id: str) -> None:
        async with self._slots:
            self.holder.busy += 1
            try:
                await self.look_for_tools()
                assert self._tools is not None
                await to_thread.run_sync(complete, self.store, report_id, self._tools, self.style, self._runner)
            except (AskBookError, OSError) as error:  # it was deleted meanwhile, or the disk is full
                log.warning("A PDF could not be made: %s", error)
            finally:
                self.holder.busy -= 1

    def _html(self, document: Document, manifest: Manifest) -> str:
        return html(with_drawn(served_page(document, manifest, ROOT), self.store.drawn(document.id)))

    def _pdf_state(self, report_id: str) -> str:
        state = self.store.pdf_state(report_id)
        if state == "none":
            # made by a server that ended before its PDF was done
            self._start(report_id)
            return "pending" if report_id in self._making else "failed"
        return state

    def _state(self, document: Document, pdf: str) -> dict[str, Any]:
        book, lost = self.holder.current, self.store.lost_in_pdf(document.id)
        said = words(document.lang)
        found = standings(document.citations, book.manifest) if book else ()
        return {
            "id": document.id,
            "title": document.title,
            "created": document.created,
            "pdf": pdf,
            "html": _addresses(document.id).html,
            "md": _addresses(document.id).md,
            "quotes": [{"n": item.n, "fate": item.fate, "tag": str(item.tag) if item.tag else None} for item in found],
            "notices": [{"code": "glyphs", "message": said["glyphs"].format(glyphs=lost)}] if lost else [],
        }

    def _row(self, summary: Summary, manifest: Manifest | None) -> dict[str, Any]:
        addresses, pdf = _addresses(summary.id), self.store.pdf_state(summary.id)
        return {
            "id": summary.id,
            "title": summary.title,
            "created": summary.created,
            "date": written_date(summary.created, self._lang),
            "status": summary.status,
            "mode": summary.mode,
            "excerpt": summary.excerpt,
            "quotes": len(summary.citations),
            "fate": self._fate(summary, manifest) if manifest else None,
            "html": addresses.html,
            "md": addresses.md,
            "pdf": addresses.pdf if pdf == "ready" else None,
        }

    def _fate(self, summary: Summary, manifest: Manifest) -> Fate | None:
        key = (summary.id, manifest.book.hash)
        if key not in self._fates:
            if len(self._fates) > 20_000:
                self._fates.clear()
            self._fates[key] = worst(standings(summary.citations, manifest))
        return self._fates[key]

    async def _read(self, request: Request) -> Document:
        return await to_thread.run_sync(self.store.read, self._known(request.path_params["id"]))

    def _known(self, report_id: str) -> str:
        if not self.store.has(report_id):
            raise RequestError(404, "There is no such report.", "It may have been deleted.", "no_report")
        return report_id

    @property
    def _lang(self) -> str:
        return self.holder.current.locale.lang if self.holder.current else self.holder.lang

    def _owner_only(self, request: Request) -> None:
        if not self.access.has_token(request.headers):
            raise RequestError(401, "This needs the owner's token.", "Open it with `ask-book open --reports`.", "token")

    def _gallery(self) -> Response:
        """The page of the list. It has nothing of anybody's: its script fetches that, with the token."""
        nonce, lang = secrets.token_urlsafe(16), self._lang
        said = words(lang)
        shown = {name: escape(text) for name, text in said.items()}
        page = _template("gallery.html").format(
            lang=escape(lang or "en"),
            title=escape(self.holder.title),
            nonce=nonce,
            style=style() + _template("gallery.css"),
            script=_template("gallery.js"),
            said=json.dumps(said, ensure_ascii=False).replace("<", "\\u003c"),
            **{name: shown[name] for name in ("reports", "search", "confirm", "delete", "cancel")},
        )
        policy = {"Content-Security-Policy": _GALLERY_POLICY.format(nonce=nonce)}
        return HTMLResponse(page, headers={**policy, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def _addresses(report_id: str) -> Report:
    """Relative to the server's root, as the links of an answer are."""
    folder = f"reports/{report_id}"
    return Report(report_id, *(f"{folder}/{name}" for name in FILES))


def _is_talk(answer: Answer) -> bool:
    """A greeting that was returned is nothing to keep."""
    return answer.status == "not_found" and not answer.nearest and not answer.absent_terms


async def _report_ids(request: Request) -> tuple[str, ...]:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            raise RequestError(413, "The request is too large.", "Send fewer ids.", "too_large")
    with suppress(ValueError, RecursionError):
        data = json.loads(body)
        ids = data.get("reports") if isinstance(data, dict) else None
        if isinstance(ids, list) and 0 < len(ids) <= MOST_JOINED and all(isinstance(one, str) for one in ids):
            return tuple(ids)
    raise UsageError("That is no list of reports.", 'Send {"reports": [id, …]}, up to 50.', "reports")


@cache
def _template(name: str) -> str:
    return files("ask_book.reports").joinpath("gallery", name).read_text(encoding="utf-8")
