"""Which embedder a book has, from its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ask_book.book.notice import Notice
from ask_book.book.settings import Settings
from ask_book.llm.endpoint import Endpoint, endpoint_of
from ask_book.llm.errors import NoKeyError

# What needs numpy is imported where it is used: a sidecar answers before it has read its book.
if TYPE_CHECKING:
    from ask_book.retrieval.embedding import Embedder

LOCAL = ("local", "local-e5", "local-encoder")
URL_VARIABLE = "ASK_BOOK_EMBEDDING_BASE_URL"
KEY_VARIABLE = "ASK_BOOK_EMBEDDING_API_KEY"


@dataclass(frozen=True)
class Choice:
    """An embedder, or none. `notice`: why there is none although the author wants one."""

    embedder: Embedder | None = None
    notice: Notice | None = None


WORDS_ALONE = Choice()


def choose(
    settings: Settings, dotenv: Mapping[str, str], env: Mapping[str, str], in_background: bool = False
) -> Choice:
    """The embedder that is set, else the local one where it is installed. Never fails.

    `in_background`: a local one leaves half of the processors to others.
    """
    model = settings.embedding_model
    if model == "none":
        return WORDS_ALONE
    if model is None or model in LOCAL:
        from ask_book.retrieval.local import local_embedder, processors

        embedder = local_embedder(model or "local", max(1, processors() // 2) if in_background else processors())
        return Choice(embedder) if embedder or model is None else _none(_NOT_INSTALLED.format(model))
    try:
        endpoint = _endpoint(settings, dotenv, env)
    except NoKeyError as error:
        return _none(f"{error.message} {error.hint}", error.code)
    if endpoint is None:
        return _none(f"`embedding-model` is {model}, but no address is set for it: set `embedding-base-url`.")
    from ask_book.retrieval.remote import RemoteEmbedder

    return Choice(RemoteEmbedder(endpoint, model))


_NOT_INSTALLED = (
    '`embedding-model` is {}, but it is not installed here: pip install "ask-book[local]". Where that brings only '
    "another model, `local` takes it."
)


def _endpoint(settings: Settings, dotenv: Mapping[str, str], env: Mapping[str, str]) -> Endpoint | None:
    """Its own address with its own key; without one, those of the chat model."""
    if settings.embedding_base_url is None:
        return endpoint_of(settings.base_url, dotenv, env)
    return endpoint_of(
        settings.embedding_base_url, dotenv, env, url_variable=URL_VARIABLE, key_variables=(KEY_VARIABLE,)
    )


def _none(why: str, code: str = "embeddings_missing") -> Choice:
    return Choice(notice=Notice(code, f"{why} Until then passages are found by their words alone."))
