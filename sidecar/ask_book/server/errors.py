"""Failures as the HTTP contract says them, and the headers of what is no page of the book."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from ask_book.errors import AskBookError, UsageError
from ask_book.llm.errors import ProviderError

OWN_PAGES = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{message}</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 32rem; padding: 0 1rem }}
:root {{ color-scheme: light dark }}</style>
<p>{message}</p>
<p>{hint}</p>
"""


class RequestError(AskBookError):
    """A request that cannot be served, with its HTTP status."""

    def __init__(self, status: int, message: str, hint: str, code: str, retry_after: int | None = None) -> None:
        super().__init__(message, hint, code)
        self.status = status
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}


def error_json(code: str, message: str, hint: str = "") -> dict[str, dict[str, str]]:
    """The body of every failure."""
    return {"error": {"code": code, "message": message, "hint": hint}}


def error_response(
    status: int, code: str, message: str, hint: str = "", headers: dict[str, str] | None = None
) -> Response:
    """A failure for programs."""
    return json_response(error_json(code, message, hint), headers, status)


def json_response(data: object, headers: dict[str, str] | None = None, status: int = 200) -> Response:
    """JSON that no cache keeps."""
    return JSONResponse(data, status, {**OWN_PAGES, "Cache-Control": "no-store", **(headers or {})})


def error_page(request: Request, status: int, error: AskBookError, headers: dict[str, str] | None = None) -> Response:
    """A failure for whoever asks: a page for a browser that wants one, else JSON."""
    if "text/html" not in request.headers.get("accept", ""):
        return error_response(status, error.code, error.message, error.hint, headers)
    page = _PAGE.format(message=escape(error.message), hint=escape(error.hint))
    return HTMLResponse(page, status, {**OWN_PAGES, "Cache-Control": "no-store", **(headers or {})})


async def on_error(request: Request, error: Exception) -> Response:
    """Every `AskBookError` as the contract's JSON, or a small page for a browser that opens one."""
    assert isinstance(error, AskBookError)
    if isinstance(error, RequestError):
        return error_page(request, error.status, error, error.headers)
    if isinstance(error, ProviderError):
        return error_page(request, error.status, error)
    return error_page(request, 400 if isinstance(error, UsageError) else 500, error)
