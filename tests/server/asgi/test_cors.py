"""Browsers of other origins, at every route. Source: the Fetch standard, "CORS protocol"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import identified
from tests.support.upstream import Upstream

APP = {"origin": "https://app.example"}
ROUTES = {
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "/graphql": {"query": "{ __typename }"},
    "/tools/customer-lookup/graphql": {"query": "{ __typename }"},
}


@pytest.fixture
def for_app(served_demo: Compiled) -> Iterator[Function]:
    """Serves the demo to one origin, and asks for credentials."""
    with running_function(identified(served_demo), allowed_origins=frozenset({"https://app.example"})) as function:
        yield function


def preflight(function: Function, path: str, **headers: str) -> Answer:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}
    return function.send("OPTIONS", f"/api/customers{path}", headers={**APP, **asked, **headers})


def cors_headers(answer: Answer) -> set[str]:
    return {name for name in answer.headers if name.startswith("access-control-")}


@pytest.mark.parametrize("path", ROUTES)
def test_preflight_of_an_allowed_origin_is_answered_without_a_credential(for_app: Function, path: str) -> None:
    answer = preflight(for_app, path)

    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["access-control-allow-methods"] == "GET, POST"
    assert answer.headers["access-control-allow-headers"] == "authorization, *"
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("path", ROUTES)
def test_answers_to_an_allowed_origin_may_be_read(for_app: Function, path: str) -> None:
    answer = for_app.post(ROUTES[path], path=f"/api/customers{path}", headers=APP)

    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert answer.headers["access-control-expose-headers"] == "www-authenticate, x-request-id, etag"
    assert answer.headers["vary"] == "Origin"


def test_refusals_may_be_read_too(for_app: Function) -> None:
    for answer in (
        for_app.post(b"{", path="/api/customers/graphql", headers=APP),
        for_app.post({}, path="/api/nobody/graphql", headers=APP),
        for_app.post({}, path="/nowhere", headers=APP),
        for_app.call("no-such-tool", {}, headers=APP),
    ):
        assert answer.status >= 400
        assert answer.headers["access-control-allow-origin"] == "https://app.example"


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "https://app.example.evil.example", "http://app.example", "*"]
)
def test_other_origins_are_refused_before_anything_happens(
    for_app: Function, upstream: Upstream, path: str, origin: str
) -> None:
    upstream.clear()
    answers = [
        for_app.post(ROUTES[path], path=f"/api/customers{path}", headers={"origin": origin}),
        for_app.send("GET", f"/api/customers{path}?query={{__typename}}", headers={"origin": origin}),
        preflight(for_app, path, origin=origin),
    ]

    for answer in answers:
        assert answer.status == 403
        message = answer.json["error"] if path == "/mcp" else answer.json["errors"][0]["message"]
        assert "STILE_ALLOWED_ORIGINS" in message
        assert cors_headers(answer) == set()
        assert answer.headers["vary"] == "Origin"
        assert answer.headers["content-type"].startswith("application/json")
    assert upstream.requests() == []
    assert {line["outcome"] for line in for_app.lines} == {"rejected"}


@pytest.mark.parametrize("path", ROUTES)
def test_callers_without_an_origin_get_no_cors_headers(for_app: Function, path: str) -> None:
    answer = for_app.post(ROUTES[path], path=f"/api/customers{path}")

    assert cors_headers(answer) == set()
    assert answer.headers["vary"] == "Origin"


def test_credentials_mode_is_never_offered(for_app: Function) -> None:
    answers: list[Any] = [preflight(for_app, "/graphql"), for_app.graphql(ROUTES["/graphql"], headers=APP)]

    for answer in answers:
        assert "access-control-allow-credentials" not in answer.headers
        assert answer.headers["access-control-allow-origin"] != "*"


@pytest.mark.parametrize(("path", "allowed"), [("/mcp", "POST"), ("/graphql", "GET, POST")])
def test_options_that_is_no_preflight_is_405(for_app: Function, path: str, allowed: str) -> None:
    answer = for_app.send("OPTIONS", f"/api/customers{path}", headers=APP)

    assert (answer.status, answer.headers["allow"]) == (405, allowed)


def test_without_a_setting_no_origin_is_allowed(function: Function) -> None:
    assert preflight(function, "/graphql").status == 403


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("origin", ["https://anywhere.example", "null", "http://localhost:3000"])
def test_any_origin_may_call_where_the_owner_says_so(served_demo: Compiled, path: str, origin: str) -> None:
    with running_function(served_demo, allowed_origins=frozenset({"*"})) as function:
        answers = [
            preflight(function, path, origin=origin),
            function.post(ROUTES[path], path=f"/api/customers{path}", headers={"origin": origin}),
        ]

    assert answers[0].status == 204
    for answer in answers:
        assert b"STILE_ALLOWED_ORIGINS" not in answer.body
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


def test_challenge_may_be_read_by_an_allowed_origin(for_app: Function) -> None:
    answer = for_app.call("no-such-tool", {}, headers=APP)

    assert answer.status == 401
    assert "www-authenticate" in answer.headers["access-control-expose-headers"].split(", ")
    assert answer.headers["www-authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("path", ["/.well-known/oauth-protected-resourcex/api/customers/mcp", "/.well-known/x"])
def test_only_the_metadata_itself_is_for_any_origin(for_app: Function, path: str) -> None:
    assert for_app.send("GET", path, headers={"origin": "https://evil.example"}).status == 403
