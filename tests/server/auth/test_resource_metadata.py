"""What an endpoint tells OAuth clients of itself. Source: RFC 9728; the official SDK is the judge of what it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
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

from handler.policy.evaluation import NEVER
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import MODULES, with_kit
from tests.support.kits import TOOLS as KIT

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


ONLY = '[{{expose: true, types: "Query|T", fields: "{}"}}]'
TOOLS: Mapping[str, str] = {
    "signed": "b",
    "role": "c",
    "false": "closed",
    "false_beside_claims": "closed|pay",
    "variable": "d",
    "nobody": "e",
}
"""GraphQL tools and the fields that they expose; each has a scope of its own name."""

SCOPED: Mapping[str, str] = {
    "index.graphql": "extend schema "
    + " ".join(
        f'@tool(name: "{name}", graphql: {ONLY.format(fields)}, scopes: ["{name}"])' for name, fields in TOOLS.items()
    )
    + '@tool(name: "own", graphql: {expose: true, types: "Query", fields: "b"}, scopes: ["own"], '
    'condition: "$jwt.a.b:Int > 3") '
    '@tool(name: "shut", graphql: {expose: true, types: "Query", fields: "b"}, scopes: ["shut"], condition: "false") '
    '@tool(name: "unlisted", graphql: {expose: true, types: "Query", fields: "b"}, scopes: ["unlisted"], hidden: true)'
    "type Query { a: T, b: Int, c: Int, closed: T, d(n: Int): Int, e: Int } type T { pay: Int, x: Int }",
    "operations/o.graphql": """
query B @mcpTool(scopes: ["fixed"]) { b }
query Closed @mcpTool(scopes: ["fixed-closed"]) { closed { x } }
query D($n: Int) @mcpTool(scopes: ["fixed-variable"]) { d(n: $n) }
query E @mcpTool(scopes: ["fixed-nobody"]) { e }
query Own @mcpTool(scopes: ["fixed-own"], condition: "$jwt.role:String == 'x' && ?$jwt") { b }
query Unlisted @mcpTool(scopes: ["fixed-unlisted"], hidden: true) { b }
""",
}
BY_CLAIMS = """
access:
  anonymous: {anonymous}
  scopes: {{list: {list}, advertise: {advertise}}}
  policies:
    - type: Query
      policyDefault: {{condition: "?$jwt"}}
      rules:
        - {{condition: "$jwt.role:String == 'hr' && !($jwt.groups:String has 'x')", fields: [c]}}
        - {{condition: false, fields: [closed]}}
        - {{condition: "$variables.n:Int < 3", fields: [d]}}
        - {{condition: "?$jwt && !?$jwt", fields: [e]}}
    - {{type: T, policyDefault: {{condition: "?$jwt.staff/pay"}}}}
"""
OF_SOMEBODY = ["signed", "role", "own", "fixed", "fixed-variable", "fixed-own"]


@contextmanager
def by_claims(
    folder: Path, *, anonymous: str = "challenge", listed: str = "all", advertise: str = "true"
) -> Iterator[Function]:
    config = BY_CLAIMS.format(anonymous=anonymous, list=listed, advertise=advertise)
    endpoint = compiled(folder, {**SCOPED, "config.yaml": config})
    with running_function(identified(endpoint, {"role": "hr"}, issuers=[IDP])) as function:
        yield function


def scopes_of(answer: Answer) -> list[str]:
    return (extract_scope_from_www_auth(Response(answer.status, headers=dict(answer.headers))) or "").split()


@pytest.mark.parametrize("anonymous", ["challenge", "allow"])
@pytest.mark.parametrize("listed", ["all", "allowed"])
def test_first_sign_in_asks_for_the_scopes_of_all_tools_that_some_claims_open(
    tmp_path: Path, listed: str, anonymous: str
) -> None:
    with by_claims(tmp_path, listed=listed, anonymous=anonymous) as function:
        named = function.send("GET", PATH).json["scopes_supported"]
        wrong = function.request("tools/list", headers={"authorization": "Bearer a.b.c"})

        assert sorted(named) == sorted(OF_SOMEBODY)
        assert scopes_of(wrong) == named
        assert scopes_of(function.call("B", {})) == named
        card = function.send("GET", "/api/things", headers=HOLDER).json
        assert card["signIn"]["scope"] == " ".join(named)


def test_scopes_that_are_not_advertised_are_named_to_callers_with_a_token_alone(tmp_path: Path) -> None:
    with by_claims(tmp_path, anonymous="allow", advertise="false") as function:
        assert "scopes_supported" not in function.send("GET", PATH).json
        anonymous = [function.request("tools/list"), function.call("B", {}), function.call("D", {"n": 1})]
        anonymous.append(function.request("tools/list", headers={"authorization": "Bearer a.b.c"}))
        assert [each.status for each in anonymous] == [200, 401, 401, 401]
        anonymous.append(function.send("GET", "/api/things"))
        told = "".join(f"{each.headers} {each.body.decode()}" for each in anonymous)
        assert "scope=" not in told
        assert "fixed" not in told

        stepped_up = function.call("B", {}, headers=HOLDER)
        assert (stepped_up.status, scopes_of(stepped_up)) == (403, ["fixed"])
        assert function.call("Closed", {}, headers=HOLDER).code == "tool-not-found"


def test_scopes_of_toolkits_follow_their_conditions(tmp_path: Path) -> None:
    endpoint = compiled(tmp_path, {"index.graphql": "type Query { a: Int }"})
    for condition, expected in (({"exists": {"jwt": ["staff"]}}, ["things:write"]), ({"literal": False}, [])):
        bundle = replace(endpoint.bundle, conditions=(NEVER, condition), guards={}, tools=())
        made = with_kit(replace(endpoint, bundle=bundle), KIT, mask=frozenset({1}))
        with running_function(identified(made, {}, issuers=[IDP]), code_modules=MODULES) as function:
            assert function.send("GET", PATH).json.get("scopes_supported", []) == expected


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
