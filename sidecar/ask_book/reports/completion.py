"""What comes after a report is saved, because it takes a while: its formulas drawn, its PDF."""

from __future__ import annotations

from ask_book.reports.mathml import draw
from ask_book.reports.page import saved_page
from ask_book.reports.pdf import Made, Style, Tools, make_pdf
from ask_book.reports.process import Runner
from ask_book.reports.store import Store


def complete(store: Store, report_id: str, tools: Tools, style: Style, runner: Runner | None = None) -> Made:
    """Put them beside the report. Raises `AskBookError` if there is no such report, OSError if it cannot be written."""
    runner = runner or Runner()
    page = saved_page(store.read(report_id))
    if tools.pandocs and (drawn := draw(page, tools.pandocs[0], tools.env, runner)):
        store.keep_drawn(report_id, page, drawn)
    made = make_pdf(page, tools, style, runner)
    if not runner.is_closed:
        store.keep_pdf(report_id, made)
    return made
