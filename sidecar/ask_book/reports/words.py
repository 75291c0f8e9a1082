"""What reports say of themselves, in the languages that ask-book speaks, and dates as those languages write them."""

from __future__ import annotations

import json
from datetime import datetime
from functools import cache
from pathlib import Path

from ask_book.retrieval.language import FALLBACK, code_of


@cache
def words(lang: str) -> dict[str, str]:
    """The table of a language tag such as `es-MX`; that of English when there is none."""
    tables = _tables()
    return tables.get(code_of(lang), tables[FALLBACK])


def written_date(created: str, lang: str) -> str:
    """The day of an ISO 8601 time, in words."""
    day, table = datetime.fromisoformat(created), words(lang)
    months = table.get("months", "").split()
    return table["date"].format(
        day=day.day, month=months[day.month - 1] if months else "", number=day.month, year=day.year
    )


@cache
def _tables() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("words.json").read_bytes())
    return tables
