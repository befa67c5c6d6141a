"""How a caller learns that a credential is missing, refused or unreadable, on every route alike.

Source: RFC 6750, section 3; RFC 9728, section 5; MCP 2026-07-28, basic/authorization.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers

from handler.errors.access import CredentialMalformed
from handler.server.auth.identification import require_readable_credential
from tests.support.codes import graphql_errors
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, KEY, identified
from tests.support.issuers import AUDIENCE, Provider, rsa_key
from tests.support.raw_http import answer as raw_answer
from tests.support.raw_http import answering, running_server

METADATA = (
    'resource_metadata="https://abc123.execute-api.us-east-1.amazonaws.com'
    '/.well-known/oauth-protected-resource/api/things/mcp"'
)
INDEX = """
extend schema
  @tool(name: "open", graphql: [{expose: true, types: "Query", fields: "a"}], scopes: ["a:read"])
  @tool(name: "closed", graphql: [{expose: true, types: "Query", fields: "b"}], scopes: ["b:read"])
type Query { a: Int b: Int }
"""
CONFIG = """
graphql: on
access:
  anonymous: {}
  policies: [{{type: Query, rules: [{{condition: false, fields: [b]}}], policyDefault: {{condition: true}}}}]
"""


@contextmanager
def serving(folder: Path, *, anonymous: str = "challenge", issuers: tuple[str, ...] = ("https://idp.example",)) -> Any:
    endpoint = compiled(folder, {"index.graphql": INDEX, "config.yaml": CONFIG.format(anonymous)})
    with running_function(identified(endpoint, {}, issuers=issuers)) as function:
        yield function


@pytest.fixture
def challenging(tmp_path: Path) -> Iterator[Function]:
    """An endpoint that asks everybody for a credential, and takes one issuer's tokens."""
    with serving(tmp_path) as function:
        yield function


def on_every_route(function: Function, headers: Mapping[str, str]) -> list[Answer]:
    query = {"query": "{ a }"}
    return [
        function.request("tools/list", headers=headers),
        function.request("server/discover", headers=headers, modern=True),
        function.call("open", query, headers=headers),
        function.call("no-such-tool", {}, headers=headers),
        function.post(b"{", headers=headers),
        function.graphql(query, headers=headers),
        function.get(query, headers=headers),
        function.graphql(query, "/tools/open/graphql", headers=headers),
        function.graphql(query, "/tools/no-such-tool/graphql", headers=headers),
    ]


def test_missing_credential_is_asked_for_with_the_place_of_the_metadata(challenging: Function) -> None:
    for answer in on_every_route(challenging, {}):
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == f'Bearer realm="api/things", scope="a:read", {METADATA}'


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer stile_wrong"},
        {"authorization": "Apikey wrong"},
        {"x-api-key": "wrong"},
        {"authorization": "Basic dXNlcjpwYXNz"},
    ],
)
def test_refused_credential_is_an_invalid_token(challenging: Function, headers: Mapping[str, str]) -> None:
    for answer in on_every_route(challenging, headers):
        assert answer.status == 401
        assert answer.headers["www-authenticate"] == (
            f'Bearer realm="api/things", error="invalid_token", scope="a:read", {METADATA}'
        )


MALFORMED: list[Mapping[str, str]] = [
    {"authorization": "Bearer"},
    {"authorization": "Bearer "},
    {"authorization": "Bearer one two"},
    {"authorization": "bearer a,Bearer b"},
    {"authorization": "Bearer ünïcödé"},
    {"authorization": 'Bearer "quoted"'},
    {"authorization": f"Bearer {KEY}", "x-api-key": KEY},
]


@pytest.mark.parametrize("headers", MALFORMED)
def test_credential_that_cannot_be_read_is_an_invalid_request(
    challenging: Function, headers: Mapping[str, str]
) -> None:
    for answer in on_every_route(challenging, headers):
        assert answer.status == 400
        assert answer.headers["www-authenticate"] == f'Bearer realm="api/things", error="invalid_request", {METADATA}'
    assert KEY not in str(challenging.lines)


def test_body_of_an_unreadable_credential_says_what_was_expected(challenging: Function) -> None:
    sentence = "expected one credential, as Authorization: Bearer TOKEN, Authorization: Apikey KEY or X-API-Key: KEY"
    mcp, *_, graphql = on_every_route(challenging, {"authorization": "Bearer"})

    assert mcp.json == {"error": "invalid_request", "message": sentence, "code": "credential-malformed"}
    assert graphql.json == graphql_errors(sentence, "credential-malformed")


@pytest.mark.parametrize("headers", [HOLDER, {"authorization": f"Bearer {KEY}"}, {"authorization": f"Apikey {KEY}"}])
def test_good_credential_is_not_challenged(challenging: Function, headers: Mapping[str, str]) -> None:
    answer = challenging.request("tools/list", headers=headers)

    assert answer.status == 200
    assert "www-authenticate" not in answer.headers


def test_repeated_header_is_an_invalid_request() -> None:
    twice = Headers(raw=[(b"authorization", b"Bearer a"), (b"authorization", b"Bearer a")])

    with pytest.raises(CredentialMalformed):
        require_readable_credential(twice)
    require_readable_credential(Headers(raw=twice.raw[:1]))
    require_readable_credential(Headers({}))


def test_token_in_the_query_string_is_none(challenging: Function) -> None:
    for parameter in ("access_token", "authorization", "x-api-key"):
        answer = challenging.get({"query": "{ a }", parameter: KEY})

        assert answer.status == 401
        assert "error=" not in answer.headers["www-authenticate"]


def test_endpoint_without_issuers_asks_for_keys_alone(tmp_path: Path) -> None:
    with serving(tmp_path, issuers=()) as function:
        missing, *_ = on_every_route(function, {})
        refused, *_ = on_every_route(function, {"x-api-key": "wrong"})

    assert missing.headers["www-authenticate"] == 'Bearer realm="api/things"'
    assert refused.headers["www-authenticate"] == 'Bearer realm="api/things", error="invalid_token"'


def test_where_anonymous_callers_get_in_only_other_names_than_listed_ones_are_challenged(tmp_path: Path) -> None:
    with serving(tmp_path, anonymous="allow") as function:
        assert [tool["name"] for tool in function.request("tools/list").result["tools"]] == ["open"]
        unknown, invisible = function.call("no-such-tool", {}), function.call("closed", {"query": "{ b }"})
        asking = function.call("open", {"query": "{ a }"})

    assert unknown.status == invisible.status == asking.status == 401
    assert (unknown.body, unknown.headers) == (invisible.body, invisible.headers)
    assert asking.headers["www-authenticate"] == f'Bearer realm="api/things", scope="a:read", {METADATA}'


def test_scopes_of_tools_that_not_everybody_sees_are_told_to_nobody(tmp_path: Path) -> None:
    with serving(tmp_path, anonymous="allow") as function:
        answers = [*on_every_route(function, {}), *on_every_route(function, HOLDER)]

    assert "b:read" not in str([(answer.body, answer.headers) for answer in answers])


def test_token_whose_issuer_gives_no_keys_is_asked_for_again_later_and_not_refused(tmp_path: Path) -> None:
    """Who is refused signs in again, which would give them a token that nobody can judge either."""
    provider = Provider("https://idp.example", (rsa_key(),))
    headers = {"authorization": f"Bearer {provider.token()}"}
    with running_server(answering(raw_answer(status="500 Internal Server Error"))) as silent:
        identity = f"identity: {{issuer: {provider.name}, audience: {AUDIENCE}, jwksendpoint: '{silent.url}'}}\n"
        config = CONFIG.format("challenge") + identity
        with running_function(compiled(tmp_path, {"index.graphql": INDEX, "config.yaml": config})) as function:
            answers = on_every_route(function, headers)

    for answered in answers:
        assert (answered.status, answered.headers["retry-after"]) == (503, "10")
        assert "www-authenticate" not in answered.headers
        assert b"the credential cannot be verified at the moment" in answered.body
    assert {line["reason"] for line in function.lines} == {"key_set"}
