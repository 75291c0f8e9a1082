"""The two small books of `fixtures/`, open to be asked, with pages."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from ask_book.answering.open_book import OpenBook
from ask_book.book.manifest import Manifest, read_manifest
from ask_book.retrieval.index import open_index

FIXTURES = Path(__file__).parent / "fixtures"


def fixture(name: str) -> Any:
    """A JSON file of `fixtures/`."""
    return json.loads((FIXTURES / name).read_text(encoding="utf-8"))


def small_manifest(lang: str = "es") -> Manifest:
    """The book about a valley (es), or the one about bees (en)."""
    return read_manifest(FIXTURES / f"book.{lang}.json")


def small_book(folder: Path, lang: str = "es") -> OpenBook:
    """The open book; its pages are in `folder/site`, its index in `folder/index`."""
    manifest = small_manifest(lang)
    site = folder / "site"
    for chapter in manifest.chapters:
        page = site / chapter.href
        page.parent.mkdir(parents=True, exist_ok=True)
        body = ""
        for section in chapter.sections:
            paragraphs = "".join(f"<p>{escape(block.text)}</p>" for block in section.blocks)
            body += f'<section id="{section.anchor}">{paragraphs}</section>'
        page.write_text(f"<!doctype html><title>{escape(chapter.title)}</title>{body}", encoding="utf-8")
    return OpenBook(manifest, open_index(manifest, folder / "index"), site)
