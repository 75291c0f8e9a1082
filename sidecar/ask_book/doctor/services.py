"""What runs: the index that answers, the model, the sidecar and whom its browser rules let in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ask_book import __version__
from ask_book.book.edition import rendered_edition
from ask_book.book.identity import ports
from ask_book.book.manifest import read_manifest
from ask_book.book.plain import plain_manifest
from ask_book.daemon import control
from ask_book.daemon.ports import bind
from ask_book.doctor.finding import Finding, Patient
from ask_book.llm.endpoint import Endpoint, endpoint_of, is_loopback

MODEL_SECONDS = 8.0
ENDPOINT_SECONDS = 8.0
PREVIEW = "http://localhost:4200"
STRANGER = "https://stranger.example"


def check_index(patient: Patient) -> Iterator[Finding]:
    """Whether the index on disk is the one of the book as it is."""
    from ask_book.retrieval import storage

    path, folder = _manifest_and_index(patient)
    if not path.is_file():
        yield Finding("index", "ok", "is made at the first question")
        return
    postings = storage.load(read_manifest(path), folder)
    state = "is made at the next question" if postings is None else f"{postings.size} chunks"
    yield Finding("index", "ok", f"{state}, in {folder}")


def check_embeddings(patient: Patient) -> Iterator[Finding]:
    """With what passages are found by their meaning, and whether the index has its vectors."""
    from ask_book.retrieval.choice import choose
    from ask_book.retrieval.vectors import ready

    choice = choose(patient.settings, patient.dotenv, patient.env)
    if choice.notice:
        yield Finding("embeddings", "broken", choice.notice.message, "Correct that, or set `embedding-model: none`.")
        return
    if choice.embedder is None:
        message = "Passages are found by their words alone."
        chosen = patient.settings.embedding_model == "none"
        todo = "" if chosen else 'By their meaning too, on this machine: `pip install "ask-book[local]"`.'
        yield Finding("embeddings", "ok" if chosen else "note", message, todo)
        return
    path, folder = _manifest_and_index(patient)
    name = choice.embedder.name
    if not path.is_file():
        yield Finding("embeddings", "ok", f"{name}, for a book that is not read yet")
    elif ready(read_manifest(path), folder, choice.embedder):
        yield Finding("embeddings", "ok", f"vectors of {name}")
    else:
        other = _model_of_the_vectors(folder)
        has = f"The index has vectors of {other}" if other and other != name else "Not all passages are embedded"
        message = f"{has}, the book is to have those of {name}: until then passages are found by their words alone."
        yield Finding("embeddings", "note", message, "`ask-book index` tells what that takes, and does it.")


def _manifest_and_index(patient: Patient) -> tuple[Path, Path]:
    edition = rendered_edition(patient.project)
    if edition:
        return edition.manifest_path, edition.index_dir
    path = plain_manifest(patient.project)
    return path, path.parent / "index"


def _model_of_the_vectors(folder: Path) -> str:
    from ask_book.retrieval import storage

    try:
        return str(json.loads((folder / storage.META).read_bytes())["vectors"]["model"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def check_model(patient: Patient) -> Iterator[Finding]:
    """The language model: its address, its key, its name."""
    settings = patient.settings
    if not settings.chat_model:
        message = "No language model is set: answers are quotes of the book."
        yield Finding("model", "ok", message)
        return
    endpoint = endpoint_of(settings.base_url, patient.dotenv, patient.env)
    if endpoint is None:
        message = f"The model `{settings.chat_model}` is set, but not its address."
        yield Finding("model", "broken", message, "Set `base-url`, or ASK_BOOK_BASE_URL beside the key.")
        return
    yield _asked(endpoint, settings.chat_model)


def _asked(endpoint: Endpoint, model: str) -> Finding:
    """What the host's list of models says. It costs nothing; hosts without such a list are taken at their word."""
    import httpx

    key = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    with_key = "with a key" if endpoint.key else "without a key"
    try:
        response = httpx.get(
            f"{endpoint.base_url}/models", headers=key, timeout=MODEL_SECONDS, trust_env=not endpoint.is_loopback
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        message = f"The model's host {endpoint.host} cannot be reached ({type(error).__name__})."
        todo = "Start it." if endpoint.is_loopback else "Check `base-url` and the network."
        return Finding("model", "broken", message, todo)
    if response.status_code in (401, 403):
        message = f"{endpoint.host} refuses the request {with_key} ({response.status_code})."
        return Finding("model", "broken", message, "Check the key that stands beside the base URL.")
    listed = _ids(response) if response.status_code == 200 else set()
    if listed and not listed & {model, f"{model}:latest"}:
        message = f"{endpoint.host} has no model `{model}`."
        return Finding("model", "broken", message, f"It has {', '.join(sorted(listed)[:8])}.")
    seen = f"`{model}` at {endpoint.host}, {with_key}"
    return Finding("model", "ok", seen if listed else f"{seen}; the host has no list of its models")


def _ids(response: Any) -> set[str]:
    try:
        return {str(model["id"]) for model in response.json()["data"]}
    except (ValueError, KeyError, TypeError):
        return set()


def check_sidecar(patient: Patient) -> Iterator[Finding]:
    """Whether the sidecar runs, or has a port to run on."""
    status = control.status(patient.project)
    if status.running and status.version == __version__:
        yield Finding("sidecar", "ok", f"answers at {status.url}")
    elif status.running:
        message = f"The sidecar at {status.url} is of ask-book {status.version}, this is {__version__}."
        yield Finding("sidecar", "note", message, "Replace it: `ask-book start`.")
    else:
        free = [port for port in ports(patient.project.book_id) if _is_free(port)]
        if free:
            yield Finding("sidecar", "ok", f"does not run; port {free[0]} is free for it")
        else:
            first, *_, last = ports(patient.project.book_id)
            message = f"The four ports of the book ({first} to {last}) are all taken by other programs."
            yield Finding("sidecar", "broken", message, "End one of them, or use `ask-book serve --port 0`.")


def _is_free(port: int) -> bool:
    try:
        bind("127.0.0.1", port).close()
    except OSError:
        return False
    return True


def check_browser(patient: Patient) -> Iterator[Finding]:
    """Whom the sidecar lets in, and whether published pages can reach their `endpoint`."""
    status = control.status(patient.project)
    if status.running and status.port:
        welcome, refused = (_asks(f"http://127.0.0.1:{status.port}", origin) for origin in (PREVIEW, STRANGER))
        if welcome.allowed == PREVIEW and refused.status == 403:
            yield Finding("browser", "ok", "pages of `quarto preview` may ask the sidecar, pages of websites may not")
        else:
            message = f"The sidecar's rules are not as they should be (preview {welcome}, website {refused})."
            yield Finding("browser", "broken", message, "Start it again: `ask-book stop`, then `ask-book start`.")
    if patient.settings.endpoint:
        yield _published(patient, patient.settings.endpoint)


def _published(patient: Patient, endpoint: str) -> Finding:
    site = urlsplit(patient.project.site_url)
    if is_loopback(endpoint):
        message = f"`endpoint` is {endpoint}, this machine: readers' browsers would ask their own."
        return Finding("endpoint", "broken", message, "Name the public address of the server, or leave `endpoint` out.")
    if site.scheme == "https" and not endpoint.startswith("https://"):
        message = f"The site is served with https, `endpoint` ({endpoint}) is not: browsers block that."
        return Finding("endpoint", "broken", message, "Put a server that speaks HTTPS before `ask-book serve`.")
    if _is_of_a_local_network(endpoint):
        message = f"`endpoint` ({endpoint}) is in a local network: browsers ask readers before a page may call it."
        todo = "Give the server a public name, unless all readers are in that network."
        return Finding("endpoint", "note", message, todo)
    origin = f"{site.scheme}://{site.netloc}" if site.netloc else ""
    answer = _asks(endpoint, origin)
    if answer.status != 200:
        message = f"{endpoint}/health answers {answer}."
        return Finding(
            "endpoint", "broken", message, "See that `ask-book serve` runs there, and its proxy lets it through."
        )
    if answer.book_id != patient.project.book_id:
        message = f"{endpoint} serves another book ({answer.book_id or 'none'})."
        todo = (
            "The identity of a book is made of title, language, site-url and output folder: export and serve it again."
        )
        return Finding("endpoint", "broken", message, todo)
    if origin and answer.allowed not in (origin, "*") and not endpoint.startswith(origin):
        message = f"{endpoint} does not let pages of {origin} ask."
        return Finding(
            "endpoint", "broken", message, "Set `site-url` to where the pages are, then serve the book again."
        )
    if not origin:
        message = f"{endpoint} answers; without a `site-url` it cannot be told whether the published pages may ask it."
        return Finding("endpoint", "note", message, "Set `site-url` under `book:`.")
    return Finding("endpoint", "ok", f"{endpoint} answers for this book, also to pages of {origin}")


def _is_of_a_local_network(url: str) -> bool:
    try:
        return ip_address(urlsplit(url).hostname or "").is_private
    except ValueError:
        return False


@dataclass(frozen=True)
class _Answer:
    """`status` 0: none, and `why`. `allowed`: the origin that may read it."""

    status: int
    allowed: str = ""
    book_id: str = ""
    why: str = ""

    def __str__(self) -> str:
        return str(self.status) if self.status else f"not at all ({self.why})"


def _asks(url: str, origin: str) -> _Answer:
    import httpx

    try:
        response = httpx.get(
            f"{url}/health",
            headers={"Origin": origin} if origin else {},
            timeout=ENDPOINT_SECONDS,
            trust_env=not is_loopback(url),
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _Answer(0, why=type(error).__name__)
    try:
        book_id = str(response.json()["book"]["id"])
    except (ValueError, KeyError, TypeError):
        book_id = ""
    return _Answer(response.status_code, response.headers.get("access-control-allow-origin", ""), book_id)
