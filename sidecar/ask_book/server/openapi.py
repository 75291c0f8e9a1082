"""`GET /openapi.json`: the routes as OpenAPI 3.1 says them. Tests hold it against what the server really answers."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ask_book import __version__
from ask_book.server.errors import json_response

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
COUNT: Json = {"type": "integer", "minimum": 0}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
QUESTION: Json = {"type": "string", "minLength": 1, "maxLength": 500}
TAG: Json = {"type": "string", "pattern": r"^\[?f\d{1,6}-\d{1,9}-\d{1,9}\]?$"}
REPORT_ID: Json = {"type": "string", "pattern": "^[0-9a-f]{32}$"}


def document() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ask-book",
            "version": __version__,
            "description": "Ask a book; every claim has its passage.",
        },
        "paths": {
            "/health": {"get": _get("What works now", _ref("Health"), _query("ready", TEXT), also=(503,))},
            "/ask": {"post": _ask()},
            "/search": {
                "get": _get(
                    "The passages that fit some words",
                    _ref("Found"),
                    _query("q", QUESTION, required=True),
                    _query("k", {"type": "integer", "minimum": 1, "maximum": 50}),
                    _query("scope", TEXT),
                    errors=(400, 429, 503),
                )
            },
            "/passages/{tag}": {
                "get": _get(
                    "The words at a tag, or where they are now",
                    _ref("Passage"),
                    _path("tag", TAG),
                    _query("hash", {"type": "string", "pattern": "^[0-9a-f]{8}$"}),
                    errors=(400, 404, 429, 503),
                )
            },
            "/feedback": {"post": _post("Keep what a reader thinks", _ref("Feedback"), _kept(), 201, (503,))},
            "/reports": {
                "get": _get("The reports of the book", _object(), _query("q", TEXT), errors=(401, 404, 429), owner=True)
            },
            "/reports/{id}": {
                "get": _get("The state of a report", _object(pdf=TEXT), _path("id", REPORT_ID), errors=(404, 429)),
                "delete": _delete(),
            },
            "/reload": {
                "post": _operation("Look for a newer edition", (), {202: _object(reloading=FLAG)}, (401,), True)
            },
            "/metrics": {"get": _metrics()},
            "/openapi.json": {"get": _get("This document", {"type": "object"})},
        },
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"owner": {"type": "http", "scheme": "bearer"}},
        },
    }


async def openapi(_: Request) -> Response:
    """This interface as an OpenAPI document."""
    return json_response(document())


def _schemas() -> Json:
    place = {"tag": TAG, "href": TEXT, "anchor": TEXT, "chapter_title": TEXT, "heading_path": _list(TEXT)}
    source = _object(**place, score=NUMBER, text=TEXT)
    citation = _object(n={"type": "integer", "minimum": 1}, **place, quote=TEXT, verified=FLAG)
    mark = _object(start=COUNT, end=COUNT, kind={"enum": ["uncited", "unsupported"]})
    counted = _object(cited=COUNT, uncited=COUNT, unsupported=COUNT, dropped_tags=COUNT, marks=_list(mark))
    notice = _object(code=TEXT, message=TEXT)
    answer = _object(
        id=TEXT,
        status={"enum": ["answered", "not_found"]},
        mode={"enum": ["extractive", "grounded", "tools"]},
        answer=TEXT,
        citations=_list(citation),
        sources=_list(_ref("Source")),
        absent_terms=_list(TEXT),
        nearest=_list(_ref("Source")),
        claims=counted,
        report={"anyOf": [{"type": "null"}, _object(id=TEXT, html=TEXT, md=TEXT, pdf=TEXT)]},
        notices=_list(notice),
        timings={"type": "object", "additionalProperties": NUMBER},
    )
    health = _object(
        book=_object(id=TEXT, title=TEXT, lang=TEXT, hash={"type": ["string", "null"]}),
        versions=_object(ask_book=TEXT, manifest=COUNT),
        index=_object(state={"enum": ["building", "ready", "failed"]}, progress=NUMBER, chunks=COUNT),
        edition={"type": ["string", "null"]},
        model_host={"type": ["string", "null"]},
        works=_object(chat=FLAG, embeddings=FLAG, pdf=FLAG),
        notices=_list(notice),
    )
    turn = _object(question=TEXT, answer=TEXT)
    return {
        "Answer": answer,
        "Source": source,
        "Health": health,
        "Found": _object(
            passages=_list(_ref("Source")),
            evidence=_object(enough=FLAG, confidence=NUMBER, found_terms=_list(TEXT), absent_terms=_list(TEXT)),
        ),
        "Passage": _object(**place, quote=TEXT, hash=TEXT, moved=FLAG),
        "Question": {
            "type": "object",
            "required": ["question"],
            "properties": {
                "question": QUESTION,
                "history": _list(turn),
                "mode": {"enum": ["auto", "extractive", "grounded", "tools", None]},
                "scope": {"type": ["string", "null"]},
                "report": {"type": ["boolean", "null"]},
            },
        },
        "Feedback": {
            "type": "object",
            "required": ["answer_id", "value"],
            "properties": {
                "answer_id": {"type": "string", "minLength": 1, "maxLength": 64},
                "value": {"enum": ["up", "down"]},
                "reason": {"type": ["string", "null"], "maxLength": 1000},
            },
        },
        "Error": _object(error=_object(code=TEXT, message=TEXT, hint=TEXT)),
    }


def _ask() -> Json:
    asking = _post("An answer, whole or as a stream of events", _ref("Question"), _ref("Answer"), 200, (502, 503, 504))
    asking["responses"]["200"]["content"]["text/event-stream"] = {"schema": TEXT}
    asking["responses"]["200"]["headers"] = {"X-Ask-Book-Sources": {"schema": TEXT}}
    return asking


def _metrics() -> Json:
    shown = _operation("Numbers for Prometheus", (), {200: TEXT}, (401,), True)
    shown["responses"]["200"]["content"] = {"text/plain": {"schema": TEXT}}
    return shown


def _delete() -> Json:
    gone = _operation("Take a report away", (_path("id", REPORT_ID),), {204: {}}, (401, 404, 429), True)
    gone["responses"]["204"] = {"description": "It is gone."}
    return gone


def _kept() -> Json:
    return _object(kept=FLAG)


def _get(
    summary: str,
    schema: Json,
    *given: Json,
    also: tuple[int, ...] = (),
    errors: tuple[int, ...] = (),
    owner: bool = False,
) -> Json:
    return _operation(summary, given, dict.fromkeys((200, *also), schema), errors, owner)


def _post(summary: str, body: Json, schema: Json, status: int, errors: tuple[int, ...] = ()) -> Json:
    operation = _operation(summary, (), {status: schema}, (400, 404, 408, 413, 415, 429, *errors))
    return {**operation, "requestBody": {"required": True, "content": {"application/json": {"schema": body}}}}


def _operation(
    summary: str, given: tuple[Json, ...], good: dict[int, Json], errors: tuple[int, ...], owner: bool = False
) -> Json:
    """Any operation may be refused for its host or origin, and fail for a reason of our own."""
    responses = {str(status): _response("Done.", schema) for status, schema in good.items()}
    for status in (403, *errors, 500):
        responses.setdefault(str(status), _response("It was refused, or failed: see `error`.", _ref("Error")))
    security: Json = {"security": [{"owner": []}]} if owner else {}
    return {"summary": summary, "parameters": list(given), "responses": responses, **security}


def _response(description: str, schema: Json) -> Json:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _query(name: str, schema: Json, required: bool = False) -> Json:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _path(name: str, schema: Json) -> Json:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


def _object(**properties: Json) -> Json:
    """With all of these; later versions may have more."""
    return {"type": "object", "required": list(properties), "properties": properties}
