"""What an endpoint tells OAuth clients of itself. Source: RFC 9728; the official SDK is the judge of what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)
from mcp.shared.auth import ProtectedResourceMetadata

from tests.support.endpoints import compiled
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified

DOMAIN = "https://abc123.execute-api.us-east-1.amazonaws.com"
PATH = "/.well-known/oauth-protected-resource/api/things/mcp"
IDP = "https://idp.example/realms/one/"

TOOL = '@tool(name: "{}", graphql: [{{expose: true, types: "Query", fields: "{}"}}] {})'
FILES: Mapping[str, str] = {
    "index.graphql": "extend schema "
    + TOOL.format("a", "a", 'scopes: ["a:read", "offline_access"]')
    + TOOL.format("both", "a|b", 'scopes: ["b:read", "a:read"]')
    + TOOL.format("closed", "closed", 'scopes: ["secret:read"]')
    + TOOL.format("unlisted", "a", 'hidden: true, scopes: ["unlisted:read"]')
    + "type Query { a: Int, b: Int, closed: Int }",
}
POLICIES = """\
access:
  anonymous: {}
  policies:
    - {{type: Query, rules: [{{condition: false, fields: [closed]}}], policyDefault: {{condition: true}}}}
"""


@contextmanager
def serving(
    folder: Path, issuers: list[str], *, anonymous: str = "challenge", files: Mapping[str, str] = FILES, **services: Any
) -> Iterator[Function]:
    endpoint = compiled(folder, {**files, "config.yaml": POLICIES.format(anonymous)})
    with running_function(identified(endpoint, {}, issuers=issuers), **services) as function:
        yield function


@pytest.mark.parametrize("anonymous", ["challenge", "allow"])
def test_document_says_whose_tokens_are_taken_without_asking_for_one(tmp_path: Path, anonymous: str) -> None:
    with serving(tmp_path, [IDP], anonymous=anonymous) as function:
        answer = function.send("GET", PATH)

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json == {
        "resource": f"{DOMAIN}/api/things/mcp",
        "authorization_servers": [IDP],
        "scopes_supported": ["a:read", "b:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "api/things",
    }


def test_sdk_reads_the_document_and_finds_it_from_the_endpoint_alone(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        document = ProtectedResourceMetadata.model_validate_json(function.send("GET", PATH).body)

    assert str(document.resource) == f"{DOMAIN}/api/things/mcp"
    first, *_ = build_protected_resource_metadata_discovery_urls(None, f"{DOMAIN}/api/things/mcp")
    assert first == DOMAIN + PATH


def test_sdk_reads_the_challenge_and_is_led_to_the_document(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        refused = function.request("tools/list")
        response = Response(refused.status, headers=dict(refused.headers))
        url = extract_resource_metadata_from_www_auth(response)

        assert url == DOMAIN + PATH
        assert extract_scope_from_www_auth(response) == "a:read b:read"
        assert function.send("GET", url.removeprefix(DOMAIN)).status == 200


def test_issuers_are_named_as_configured_and_once(tmp_path: Path) -> None:
    issuers = ["https://a.example", "https://a.example/", "https://a.example", "http://127.0.0.1:9000/r"]
    with serving(tmp_path, issuers) as function:
        document = function.send("GET", PATH).json

    assert document["authorization_servers"] == ["https://a.example", "https://a.example/", "http://127.0.0.1:9000/r"]


def test_document_without_scopes_has_no_empty_list_of_them(tmp_path: Path) -> None:
    files = {"index.graphql": "type Query { a: Int, closed: Int }"}
    with serving(tmp_path, [IDP], files=files) as function:
        assert "scopes_supported" not in function.send("GET", PATH).json
        assert "scope=" not in function.request("tools/list").headers["www-authenticate"]


@pytest.mark.parametrize("issuers", [[], [""], ["stile", "urn:example:idp"]])
def test_endpoint_without_an_issuer_that_clients_can_find_has_no_document(tmp_path: Path, issuers: list[str]) -> None:
    with serving(tmp_path, issuers) as function:
        answer = function.send("GET", PATH)

        assert (answer.status, answer.code) == (404, "not-found")
        assert function.request("tools/list").headers["www-authenticate"] == 'Bearer realm="api/things"'


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource/api/nobody/mcp",
        "/.well-known/oauth-protected-resource/api/..%2Fx/mcp",
        "/.well-known/oauth-protected-resource/api/things",
        "/.well-known/oauth-protected-resource/api/things/mcp//",
        "/.well-known/oauth-protected-resource",
        "/api/things/mcp/.well-known/oauth-protected-resource",
    ],
)
def test_other_places_have_no_document(tmp_path: Path, path: str) -> None:
    with serving(tmp_path, [IDP]) as function:
        answer = function.send("GET", path)

    assert (answer.status, answer.code) == (404, "endpoint-not-found" if "nobody" in path else "not-found")


def test_unknown_endpoint_is_answered_as_on_its_own_route(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        document = function.send("GET", PATH.replace("things", "nobody"))
        endpoint = function.post({}, path="/api/nobody/mcp")

    assert (document.status, document.body) == (endpoint.status, endpoint.body)


def test_document_is_for_get_and_head_alone(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        assert function.send("HEAD", PATH).status == 200
        assert function.post({}, path=PATH).status == 405


def test_bad_credential_does_not_hinder_who_looks_where_to_get_a_good_one(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        assert function.send("GET", PATH, headers={"authorization": "Bearer stile_wrong"}).status == 200
        assert function.send("GET", PATH, headers=HOLDER).status == 200


def test_any_origin_may_read_the_document_after_a_preflight(tmp_path: Path) -> None:
    page = {"origin": "https://anywhere.example"}
    with serving(tmp_path, [IDP]) as function:
        preflight = function.send("OPTIONS", PATH, headers={**page, "access-control-request-method": "GET"})
        answer = function.send("GET", PATH, headers=page)
        missing = function.send("GET", PATH.replace("things", "nobody"), headers=page)

        assert function.request("tools/list", headers=page).status == 403

    assert (preflight.status, answer.status, missing.status) == (204, 200, 404)
    for each in (preflight, answer, missing):
        assert each.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in each.headers


def test_line_of_the_log_says_that_the_document_was_read(tmp_path: Path) -> None:
    with serving(tmp_path, [IDP]) as function:
        function.send("GET", PATH)
        function.send("GET", PATH.replace("things", "nobody"))

        keys = ("route", "endpoint", "outcome", "reason", "status")
        assert [tuple(line.get(key) for key in keys) for line in function.lines] == [
            ("resource_metadata", "api/things", "ok", None, 200),
            ("resource_metadata", None, "rejected", "there is no such endpoint", 404),
        ]
