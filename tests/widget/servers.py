"""Small servers around the guide: a plain web server, and one whose answers a test writes."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

Stream = Callable[[str], Iterator[tuple[str, Any]]]
CONFIG = re.compile(r'(<script type="application/json" id="ask-book-config">)(.*?)(</script>)', re.DOTALL)


class _Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a log on the terminal."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        pass


class SiteServer:
    """A folder on a free port of loopback."""

    handler: type[_Quiet] = _Quiet

    def __init__(self, folder: Path) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), partial(self.handler, directory=str(folder)))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class ScriptedServer(SiteServer):
    """A sidecar whose health and answers are attributes; `config` is laid over the pages' config.

    `stream` gives events for a question; one named `cut` ends the connection there. `refusal` is `(status, headers,
    body)` instead. `go_on` holds events named `wait` back until it is set. `pdf` is the state of every report's.
    """

    def __init__(self, folder: Path, book_id: str) -> None:
        self.health: dict[str, Any] = {"book": {"id": book_id}, "index": {"state": "ready", "progress": 1.0}}
        self.stream: Stream = lambda _: iter(())
        self.refusal: tuple[int, dict[str, str], dict[str, Any]] | None = None
        self.config: dict[str, Any] = {}
        self.page_headers: dict[str, str] = {}
        self.asked: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.pdf = "ready"
        self.slowness = 0.0
        self.go_on = threading.Event()
        self.handler = type("_Bound", (_Scripted,), {"script": self})
        super().__init__(folder)


class _Scripted(_Quiet):
    script: ScriptedServer

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if self.path == "/health":
            time.sleep(self.script.slowness)
            self._send(200, json.dumps(self.script.health).encode(), "application/json")
        elif re.fullmatch(r"/reports/[\w-]+", self.path):
            self._send(200, json.dumps({"pdf": self.script.pdf}).encode(), "application/json")
        elif path.suffix == ".html" and path.is_file():
            page = CONFIG.sub(self._with_config, path.read_text(encoding="utf-8"))
            self._send(200, page.encode(), "text/html; charset=utf-8", self.script.page_headers)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/feedback":
            self.script.told.append(body)
            self._send(201, b'{"kept": true}', "application/json")
            return
        self.script.asked.append(body)
        if self.script.refusal:
            status, headers, error = self.script.refusal
            self._send(status, json.dumps(error).encode(), "application/json", headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for kind, data in self.script.stream(body["question"]):
                if kind == "cut":
                    return
                if kind == "wait":
                    self.script.go_on.wait(20)
                    continue
                self.wfile.write(f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode())
        except OSError:
            pass  # The reader has left: what a test of Stop wants to see.

    def _with_config(self, found: re.Match[str]) -> str:
        config = {**json.loads(found[2]), **self.script.config}
        return found[1] + json.dumps(config).replace("</", "<\\/").replace("<!", "<\\u0021") + found[3]

    def _send(self, status: int, body: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def answer_json(text: str, *citations: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An answer as the contract has it."""
    lists: dict[str, Any] = {name: [] for name in ("sources", "absent_terms", "nearest", "notices")}
    text_fields = {"id": "a", "status": "answered", "mode": "extractive", "answer": text}
    return {**text_fields, **lists, "citations": list(citations), "claims": {}, "report": None, "timings": {}, **fields}


def place(**fields: Any) -> dict[str, Any]:
    """A citation or source of the guide's first page."""
    where = {"tag": "[f0-0-9]", "href": "index.html", "anchor": "", "chapter_title": "Welcome"}
    what = {"heading_path": ["Welcome"], "quote": "Welcome", "text": "Welcome", "n": 1, "verified": True, "score": 0.5}
    return {**where, **what, **fields}
