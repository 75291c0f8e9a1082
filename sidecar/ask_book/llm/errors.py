"""What can go wrong with a model, each with what to do about it.

The messages are shown to readers: they name the host at most, never a key, a path or the provider's own words, which
may hold an account's name. Those go to the log, and are in `said` for whoever has to decide on them.
"""

from __future__ import annotations

from ask_book.errors import AskBookError


class ProviderError(AskBookError):
    """The model cannot be used now. `status` is what a route answers with when nothing else can be said."""

    name = "provider"
    status = 502

    def __init__(self, message: str, hint: str, said: str = "") -> None:
        super().__init__(message, hint, self.name)
        self.said = said


class NoKeyError(ProviderError):
    """A model on another machine, and no key that may go there."""

    name = "provider_no_key"


class WrongKeyError(ProviderError):
    """401 or 403."""

    name = "provider_key"


class UnknownModelError(ProviderError):
    """The host has no such model, or no such interface."""

    name = "provider_model"


class ContextTooLongError(ProviderError):
    """The question and its passages are more than the model reads at once."""

    name = "provider_context"


class ToolsUnsupportedError(ProviderError):
    """The model cannot call tools."""

    name = "provider_tools"


class RejectedError(ProviderError):
    """Another request that the host does not accept."""

    name = "provider_request"


class RateLimitError(ProviderError):
    """429, or an account without credit. `wait`: seconds after which to try again, if trying again can help."""

    name = "provider_rate"

    def __init__(self, message: str, hint: str, said: str = "", wait: float | None = None) -> None:
        super().__init__(message, hint, said)
        self.wait = wait


class NoAnswerError(ProviderError):
    """Nothing came for too long."""

    name = "provider_timeout"
    status = 504


class UnreachableError(ProviderError):
    """No connection."""

    name = "provider_unreachable"


class ServerFailedError(ProviderError):
    """5xx."""

    name = "provider_server"


class BrokenStreamError(ProviderError):
    """An answer that cannot be read, or that ended before its end."""

    name = "provider_stream"
