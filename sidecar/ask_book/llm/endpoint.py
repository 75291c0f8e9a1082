"""Where a model is reached, and the key that may go there."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ask_book.llm.errors import NoKeyError

URL_VARIABLE = "ASK_BOOK_BASE_URL"
KEY_VARIABLE = "ASK_BOOK_API_KEY"


@dataclass(frozen=True)
class Endpoint:
    """`base_url` ends before `/chat/completions`. `silence`: seconds without a byte after which to give up."""

    base_url: str
    key: str = field(default="", repr=False)
    silence: float = 60.0

    @property
    def host(self) -> str:
        """What a reader is told: the machine that gets the question."""
        return urlsplit(self.base_url).netloc

    @property
    def is_loopback(self) -> bool:
        """Whether that is this machine."""
        return is_loopback(self.base_url)


def endpoint_of(
    written: str | None,
    dotenv: Mapping[str, str],
    env: Mapping[str, str],
    *,
    url_variable: str = URL_VARIABLE,
    key_variables: Sequence[str] = (KEY_VARIABLE,),
    silence: float = 60.0,
) -> Endpoint | None:
    """The endpoint that is set: in the environment, else in the project's `.env`, else as `written` in `_quarto.yml`.

    A key goes only to the address that stands beside it, so that no book can bring along an address that gets it.
    None when no address is set; raises `NoKeyError` when it is another machine's and there is no key for it.
    """
    for place, variables in (("the environment", env), (".env", dotenv)):
        if url := variables.get(url_variable, "").strip():
            key = next(filter(None, (variables.get(name, "").strip() for name in key_variables)), "")
            return _checked(Endpoint(base_url(url), key, silence), place, url_variable, key_variables)
    if not written:
        return None
    return _checked(Endpoint(base_url(written), "", silence), "_quarto.yml", url_variable, key_variables)


def base_url(written: str) -> str:
    """The address as it is used: a bare host gets `/v1`, which every provider has; the path of a route is taken off."""
    url = written.rstrip("/")
    for route in ("/chat/completions", "/embeddings"):
        url = url.removesuffix(route).rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def is_loopback(url: str) -> bool:
    """Whether an address is of this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _checked(endpoint: Endpoint, place: str, url_variable: str, key_variables: Sequence[str]) -> Endpoint:
    name = key_variables[0]
    if endpoint.key and not (endpoint.key.isascii() and endpoint.key.isprintable() and " " not in endpoint.key):
        raise NoKeyError(f"{name} ({place}) is no key: it has blanks or odd characters.", "Copy the key again.")
    if not endpoint.key and not endpoint.is_loopback:
        where = "the environment" if place == "_quarto.yml" else place
        raise NoKeyError(
            f"There is no key for the model at {endpoint.host}, which {place} names.",
            f"Set {url_variable} and {name} side by side in {where}: a key goes only to an address set beside it.",
        )
    return endpoint
