"""Hot reload under load: each question sees one whole edition, the old one or the new one."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx

from ask_book.answering.open_book import OpenBook
from ask_book.server.access import Access
from ask_book.server.app import create_app
from ask_book.server.holder import Holder
from server.served import served
from small_books import small_book

QUESTION = {"question": "¿Cuándo es la estación seca?"}


def ask(client: httpx.Client, streamed: bool) -> str:
    """All that an answer says of the book, as text."""
    headers = {"Accept": "text/event-stream" if streamed else "application/json"}
    text = client.post("/ask", json=QUESTION, headers=headers).text
    whole: dict[str, Any] = json.loads(text.split("event: done\ndata: ")[1] if streamed else text)
    return json.dumps({name: value for name, value in whole.items() if name not in ("id", "timings")}, sort_keys=True)


def test_a_question_sees_one_whole_edition(book: OpenBook, tmp_path: Path) -> None:
    editions = (book, small_book(tmp_path, "en"))
    holder = Holder(book.manifest.book.id, "", "es", current=book)
    seen: list[str] = []
    stop = threading.Event()
    app = create_app(holder, Access("t0ken"))
    with served(app) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
        right: list[str] = []
        for edition in editions:
            holder.current = edition
            right += [ask(client, streamed=False)]

        def read(streamed: bool) -> None:
            while not stop.is_set():
                seen.append(ask(client, streamed))

        readers = [threading.Thread(target=read, args=(number % 2 == 0,)) for number in range(4)]
        for reader in readers:
            reader.start()
        while len(seen) < 60:
            holder.current = editions[holder.current is book]
            stop.wait(0.01)
        stop.set()
        for reader in readers:
            reader.join()
    assert "La estación seca va de junio a septiembre." in json.loads(right[0])["citations"][0]["quote"]
    assert json.loads(right[1])["answer"] == "Not found in the book"
    assert set(seen) == set(right), "both were seen, and no mixture of them"
