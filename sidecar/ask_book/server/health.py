"""`GET /health`: whose sidecar this is, and what works now. Needs nothing that is slow to import."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.requests import Request
from starlette.responses import Response

from ask_book import __version__
from ask_book.book.identity import MANIFEST_VERSION
from ask_book.server.errors import json_response
from ask_book.server.holder import Holder


@dataclass(frozen=True)
class Health:
    """The handler of one server."""

    holder: Holder

    async def health(self, request: Request) -> Response:
        """What works now; answers at once, also while the index is made. `?ready`: with 503 until there is one."""
        holder, book = self.holder, self.holder.current
        state = "ready" if book else "failed" if holder.failure else "building"
        notices = [vars(notice) for notice in (*(book.notices if book else ()), *holder.notices)]
        if holder.failure:
            notices.append({"code": holder.failure.code, "message": holder.failure.message})
        vectors = book.index.vectors if book else None
        works = {**asdict(holder.works), "embeddings": vectors is not None}
        return json_response(
            {
                "book": {
                    "id": holder.book_id,
                    "title": holder.title,
                    "lang": holder.lang,
                    # Two copies of a book have one id: a page knows its own by what is in it.
                    "hash": book.manifest.book.hash if book else None,
                },
                "versions": {"ask_book": __version__, "manifest": MANIFEST_VERSION},
                "index": {
                    "state": state,
                    "progress": 1.0 if book else holder.progress,
                    "chunks": len(book.manifest.chunks) if book else 0,
                    "vectors": {
                        "state": "ready" if vectors else holder.embedding.state or "none",
                        "progress": 1.0 if vectors else round(holder.embedding.progress, 3),
                        "model": book.embedder.name if book and book.embedder else None,
                    },
                },
                "edition": book.kind if book else None,
                "model_host": works.pop("model_host"),
                "works": works,
                "notices": notices,
            },
            status=503 if book is None and "ready" in request.query_params else 200,
        )
