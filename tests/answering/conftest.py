"""Two small books, opened once for each module: `valley` in Spanish, `bees` in English."""

from __future__ import annotations

import pytest

from ask_book.answering.open_book import OpenBook
from small_books import small_book


@pytest.fixture(scope="module")
def valley(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("valley"))


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory) -> OpenBook:
    return small_book(tmp_path_factory.mktemp("bees"), "en")
