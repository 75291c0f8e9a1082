"""The book's pages: files of the output folder and of nothing else."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import NotModifiedResponse

from ask_book.errors import AskBookError
from ask_book.server.errors import error_page

# A project whose output folder is the project itself has its settings and secrets beside its pages.
_PRIVATE = re.compile(r"\..*|_quarto.*|_environment.*|_variables.*|.*~", re.IGNORECASE)
# What HFS+ does not see in a name, as git lists it: `.env` with one of these in it is `.env`.
_UNSEEN = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f\\]")
_ESCAPED = re.compile(rb"%(?:2f|5c|00)", re.IGNORECASE)
_ON_WINDOWS_ELSEWHERE = re.compile(r".*[:<>|?*\"].*|.*[. ]|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """A file, or the folder that needs a slash behind it."""

    path: Path
    stat: os.stat_result
    kind: Literal["file", "folder"] = "file"


def find_file(site: Path, path: str, windows: bool = os.name == "nt") -> Found | None:
    """The file of `site` that a decoded URL path (with its first `/`) names, or None.

    No part may be empty, begin with a dot, have a backslash or control character, or be a file of settings; and
    where links lead must be inside the folder too.
    """
    parts = path.removeprefix("/").split("/")
    wants_folder = parts[-1] == ""
    named = parts[:-1] if wants_folder else parts
    if not path.startswith("/") or any(_is_private(part, windows) for part in named):
        return None
    try:
        root = site.resolve(strict=True)
        file = root.joinpath(*named, *(["index.html"] if wants_folder else [])).resolve(strict=True)
        inside = file.relative_to(root).parts
        status = file.stat()
    except (OSError, ValueError, RuntimeError):
        return None
    if any(_is_private(part, windows) for part in inside):
        return None
    if stat.S_ISDIR(status.st_mode):
        return Found(file, status, "folder") if (file / "index.html").is_file() else None
    return Found(file, status) if stat.S_ISREG(status.st_mode) else None


def book_file(request: Request, site: Path) -> Response:
    """The response to a request for a page or another file of the book."""
    found = None if _ESCAPED.search(request.scope.get("raw_path") or b"") else find_file(site, request.scope["path"])
    if found is None:
        missing = AskBookError("The book has no such page.", "Start at its first page.", "not_found")
        return error_page(request, 404, missing)
    if found.kind == "folder":
        return RedirectResponse(f"./{quote(found.path.name)}/", 307)
    response = FileResponse(found.path, stat_result=found.stat, headers={"Cache-Control": "no-cache"})
    known = request.headers.get("if-none-match", "")
    if response.headers["etag"] in [tag.strip().removeprefix("W/") for tag in known.split(",")]:
        return NotModifiedResponse(response.headers)
    return response


def _is_private(part: str, windows: bool) -> bool:
    return (
        not part
        or _NOT_IN_A_NAME.search(part) is not None
        or _PRIVATE.fullmatch(_UNSEEN.sub("", part)) is not None
        or (windows and _ON_WINDOWS_ELSEWHERE.fullmatch(part) is not None)
    )
