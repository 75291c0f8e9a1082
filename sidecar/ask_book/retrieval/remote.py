"""Embedding models behind OpenAI's interface: a service, or Ollama, LM Studio, llama.cpp on this machine."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ask_book.llm.endpoint import Endpoint
from ask_book.llm.errors import (
    ContextTooLongError,
    NoAnswerError,
    ProviderError,
    RateLimitError,
    ServerFailedError,
    UnreachableError,
)
from ask_book.retrieval.embedding import Floats, kind_of, prefixes_of, unit

# The HTTP client is slow to import.
if TYPE_CHECKING:
    from ask_book.llm.http import Http

ATTEMPTS = 5
LONGEST_WAIT = 120.0
QUESTION_SECONDS = 4.0
REST_SECONDS = 20.0
SHORTEST_TEXT = 250

# As llama.cpp says it, which does not name the context.
_TOO_LONG = re.compile(r"input is too (?:large|long)", re.IGNORECASE)
_MAY_PASS = (RateLimitError, ServerFailedError, UnreachableError, NoAnswerError)

log = logging.getLogger(__name__)


class RemoteEmbedder:
    """Its name has the address and the model, no key. Used on one event loop at a time, closed at its end.

    A host that failed at a question is left alone for a while: the next questions do not wait for it.
    """

    batch = 64
    parallel = 3

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        address = urlsplit(endpoint.base_url)
        self.name = f"{address.netloc}{address.path}/{model}"
        self.kind = kind_of(model)
        self.unasked = endpoint.is_loopback
        self._endpoint = endpoint
        self._model = model
        self._prefixes = prefixes_of(model)
        self._http: Http | None = None
        self._failure: tuple[float, ProviderError] | None = None
        self._answered = False

    async def passages(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of passages, one a row. Patient: what may pass is tried again, as the host says or ever later.

        Texts that are more than the model can read are cut. Raises `ProviderError`.
        """
        texts = [self._prefixes.passage + text for text in texts]
        attempt = 1
        while True:
            try:
                return await self._embed(texts)
            except ProviderError as error:
                longest = max(map(len, texts))
                if _is_too_long(error) and longest > SHORTEST_TEXT:
                    texts = [text[: longest // 2] for text in texts]
                    continue
                wait = _wait(error, attempt)
                # What was never there is not about to come back.
                is_absent = isinstance(error, UnreachableError) and not self._answered
                if attempt == ATTEMPTS or wait is None or is_absent:
                    raise
                log.info("%s Trying again in %.0f s.", error.message, wait)
                await asyncio.sleep(wait)
                attempt += 1

    async def query(self, text: str) -> Floats:
        """The unit vector of a question. Raises `ProviderError`, after a failure at once."""
        if self._failure and time.monotonic() < self._failure[0]:
            raise self._failure[1].with_traceback(None)
        try:
            async with asyncio.timeout(QUESTION_SECONDS):
                vectors = await self._embed([self._prefixes.query + text])
        except TimeoutError:
            late = NoAnswerError(f"The embedding model at {self._endpoint.host} took too long.", "Ask again later.")
            self._failure = (time.monotonic() + REST_SECONDS, late)
            raise late from None
        except ProviderError as error:
            self._failure = (time.monotonic() + REST_SECONDS, error)
            raise
        vector: Floats = vectors[0]
        return vector

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http:
            await self._http.aclose()
            self._http = None

    async def _embed(self, texts: Sequence[str]) -> Floats:
        from ask_book.llm.embeddings import embed
        from ask_book.llm.http import Http

        if self._http is None:
            self._http = Http()
        vectors = unit(await embed(self._http, self._endpoint, self._model, texts))
        self._answered = True
        return vectors


def _is_too_long(error: ProviderError) -> bool:
    return isinstance(error, ContextTooLongError) or bool(_TOO_LONG.search(error.said))


def _wait(error: ProviderError, attempt: int) -> float | None:
    """Seconds until the next attempt; None when it would be too long or of no use."""
    if not isinstance(error, _MAY_PASS):
        return None
    wait = error.wait if isinstance(error, RateLimitError) else 2.0**attempt
    return None if wait is None or wait > LONGEST_WAIT else max(wait, 2.0**attempt)
