from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ask_book.answering.open_book import OpenBook
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from server.served import served
from small_books import small_book

TOKEN = "t0ken-of-the-owner"


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    """The book about a valley, with pages."""
    return small_book(tmp_path_factory.mktemp("server"))


@pytest.fixture
def holder(book: OpenBook) -> Holder:
    return Holder(book.manifest.book.id, book.manifest.book.title, book.manifest.book.lang, current=book)


@pytest.fixture
def client(holder: Holder, tmp_path: Path) -> Iterator[httpx.Client]:
    """Speaks to a real server that keeps its feedback in `tmp_path/state`."""
    app = create_app(holder, Access(TOKEN), tmp_path / "state")
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client
