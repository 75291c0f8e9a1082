"""The document is true: it has the routes that there are, and whatever is sent, the answers are those it promises."""

import json
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ask_book.server.access import Access
from ask_book.server.app import create_app, own_routes, readers_routes
from ask_book.server.holder import Holder
from ask_book.server.metrics import Metrics
from ask_book.server.openapi import document
from ask_book.server.routes import Routes
from server.asgi import Asgi

PAGES = "/{path:path}"
# What each error of a request can be called, by its status.
REFUSALS = {400, 404, 413, 415}


def test_it_names_the_routes_that_there_are(holder: Holder) -> None:
    access = Access("t0ken")
    routes = [*own_routes(holder, access, Metrics()), *readers_routes(Routes(holder, access))]
    served = {route.path for route in routes} - {PAGES}
    named = set(document()["paths"])
    assert served <= named
    assert {path for path in named - served if not path.startswith("/reports")} == set()


def test_it_is_served_and_every_reference_leads_somewhere(holder: Holder) -> None:
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    served = client.get("/openapi.json").json()
    assert served == json.loads(json.dumps(document()))
    names = set(served["components"]["schemas"])
    text = json.dumps(served)
    assert {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]} == names


def test_schemathesis_finds_no_lie(client: httpx.Client) -> None:
    import schemathesis  # here: it takes seconds
    from schemathesis.checks import not_a_server_error
    from schemathesis.core.result import Ok
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    schema = schemathesis.openapi.from_dict(document())
    tried = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path.startswith("/reports"):  # this server keeps none
            continue

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def holds(case: Any) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(base_url=str(client.base_url), checks=checks)

        holds()
    assert tried > 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
WORDS = st.text(st.characters(codec="utf-8"), max_size=600)
NAMES = ("question", "history", "mode", "scope", "report", "answer_id", "value", "reason")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["/ask", "/feedback", "/reload"]), body=JSON | st.dictionaries(st.sampled_from(NAMES), JSON)
)
def test_any_json_is_answered_or_refused(holder: Holder, path: str, body: Any) -> None:
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    is_told(client.post(path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=st.binary(max_size=300), kind=st.sampled_from(["application/json", "application/json; charset=latin1", "x"])
)
def test_any_bytes_are_refused(holder: Holder, body: bytes, kind: str) -> None:
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    is_told(client.post("/ask", content=body, headers={"Content-Type": kind}))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(q=WORDS, k=st.none() | WORDS, scope=st.none() | WORDS)
def test_any_search_is_answered_or_refused(holder: Holder, q: str, k: str | None, scope: str | None) -> None:
    client = Asgi(create_app(holder, Access("t0ken")), "http://127.0.0.1:1")
    wanted = {
        name: value.encode("utf-8", "replace")
        for name, value in (("q", q), ("k", k), ("scope", scope))
        if value is not None
    }
    is_told(client.get("/search", params=wanted))


def is_told(answer: httpx.Response) -> None:
    """A good answer, or an error in the words of the contract."""
    assert answer.headers["content-type"] == "application/json"
    data = answer.json()
    if answer.status_code >= 300:
        assert answer.status_code in {401, *REFUSALS}, answer.text
        assert set(data["error"]) == {"code", "message", "hint"}
        assert data["error"]["message"]
