"""Scopes hide a tool from lists at most. Who lacks some learns which ones the tool needs, and nothing is sent.

Source: MCP 2026-07-28, basic/authorization ("Scope Challenge Handling"); RFC 6750, section 3.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.model import Bundle
from handler.bundle.stored import read_record, write_bundle
from handler.errors.access import CredentialRequired, InsufficientScope
from handler.server.auth.principal import ANONYMOUS, DEVELOPMENT, Principal, require_scopes, scopes_of
from tests.support.codes import graphql_errors
from tests.support.endpoints import READABLE, compiled, prescribed_tool, problems_of
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import with_catalog, with_kit
from tests.support.upstream import Upstream

SDL = "type Query { customer(email: String!): Customer } type Customer { id: ID! name: String! }"
EMAIL = "elif.nunez@example.com"
DOCUMENT = f'{{ customer(email: "{EMAIL}") {{ name }} }}'
FOUND = {"data": {"customer": {"name": "Elif Núñez"}}}

SCOPES = '["orders:read", "orders:write"]'
OPERATION = "query {}($email: String!) @mcpTool(name: {}) {{ customer(email: $email) {{ name }} }}"
T = OPERATION.format("T", f'"t" scopes: {SCOPES}')
T_DOCUMENT = f"sha256:{sha256(T.encode()).hexdigest()}"
CHALLENGE = 'Bearer realm="api/things", error="insufficient_scope", scope="orders:read orders:write{}"'

ENOUGH: list[Mapping[str, Any]] = [
    {"scope": "orders:read orders:write"},
    {"scope": "other  orders:write orders:read"},
    {"scp": ["orders:read", "orders:write", "other"]},
    {"scp": "orders:write orders:read"},
    {"scope": ["orders:read"], "scp": "orders:write"},
]
LACKING: list[tuple[Mapping[str, Any], str]] = [
    ({}, ""),
    ({"scope": ""}, ""),
    ({"scope": "orders:read"}, ""),
    ({"scope": "orders:write profile openid offline_access"}, " openid profile"),
    ({"scope": "orders:read,orders:write"}, " orders:read,orders:write"),
    ({"scope": "ORDERS:READ ORDERS:WRITE"}, " ORDERS:READ ORDERS:WRITE"),
    ({"scope": "orders:read orders:writer"}, " orders:writer"),
    ({"scope": ["orders:read orders:write"]}, ""),
    ({"scp": ['a"b', "a\\b", "é", "a\r\nb", "", "a,b"]}, " a,b"),
    ({"scope": {"orders:read": True, "orders:write": True}}, ""),
    ({"scp": [1, None, ["orders:read", "orders:write"]]}, ""),
    ({"scopes": "orders:read orders:write"}, ""),
]
"""Claims, and what the challenge says beside the scopes that are needed: those that the token has, too."""


@contextmanager
def serving(folder: Path, upstream: Upstream, claims: Mapping[str, Any] | None, **services: Any) -> Iterator[Function]:
    """A prescribed tool ``t`` and a GraphQL tool ``g`` with the same scopes, and ``free`` without any."""
    patterns = '[{expose: true, types: "Query", fields: ".*"}]'
    files = {
        "index.graphql": f'extend schema @tool(name: "g", graphql: {patterns}, scopes: {SCOPES}) {SDL}',
        "operations/t.graphql": T,
        "operations/free.graphql": OPERATION.format("Free", '"free"'),
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{READABLE}",
    }
    upstream.clear()
    with running_function(identified(compiled(folder, files), claims), **services) as function:
        yield function


def asked(function: Function, headers: Mapping[str, str] = HOLDER) -> list[Answer]:
    """Each way to use a tool that has scopes."""
    return [
        function.call("t", {"email": EMAIL}, headers=headers),
        function.call("g", {"query": DOCUMENT}, headers=headers),
        function.graphql({"query": DOCUMENT}, "/tools/g/graphql", headers=headers),
        function.get({"query": DOCUMENT}, "/tools/g/graphql", headers=headers),
        function.graphql({"documentId": T_DOCUMENT, "variables": {"email": EMAIL}}, headers=headers),
    ]


@pytest.mark.parametrize("claims", ENOUGH)
def test_claims_with_all_scopes_of_a_tool_may_use_it(
    tmp_path: Path, upstream: Upstream, claims: Mapping[str, Any]
) -> None:
    with serving(tmp_path, upstream, claims) as function:
        t, *_, by_get, by_id = asked(function)

        assert t.result["structuredContent"] == FOUND
        assert by_get.json == by_id.json == FOUND
        assert len(upstream.requests()) == 5


@pytest.mark.parametrize(("claims", "held"), LACKING)
def test_claims_that_lack_a_scope_are_403_and_told_all_that_are_needed_with_those_that_they_have(
    tmp_path: Path, upstream: Upstream, claims: Mapping[str, Any], held: str
) -> None:
    with serving(tmp_path, upstream, claims) as function:
        for answer in asked(function):
            assert answer.status == 403
            assert answer.headers["www-authenticate"] == CHALLENGE.format(held)
    assert upstream.requests() == []


def test_scopes_that_a_token_has_are_told_as_far_as_a_header_holds_them(tmp_path: Path, upstream: Upstream) -> None:
    many = [f"scope-{number:04}" for number in range(5_000)]
    with serving(tmp_path, upstream, {"scp": many}) as function:
        said = function.call("t", {"email": EMAIL}, headers=HOLDER).headers["www-authenticate"]

    told = said.partition('scope="')[2].partition('"')[0].split()
    assert told[:2] == ["orders:read", "orders:write"]
    assert set(told[2:]) < set(many)
    assert 1_900 < len(said) < 2_200


def test_client_that_asks_for_what_each_challenge_says_can_call_both_tools_in_the_end(
    tmp_path: Path, upstream: Upstream
) -> None:
    """TypeScript SDK 1.32 does; with the tool's scopes alone it would sign in anew for each call, for ever."""
    tools = {name: f'"{name}" scopes: ["orders:{name}"]' for name in ("read", "write")}
    files = {
        "index.graphql": SDL,
        **{f"operations/{name}.graphql": OPERATION.format(name, said) for name, said in tools.items()},
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{READABLE}",
    }
    endpoint, scope = compiled(tmp_path, files), "orders:read"
    for name in ("read", "write", "read"):
        with running_function(identified(endpoint, {"scope": scope})) as function:
            answer = function.call(name, {"email": EMAIL}, headers=HOLDER)
        if answer.status == 403:
            scope = answer.headers["www-authenticate"].partition('scope="')[2].partition('"')[0]

    assert set(scope.split()) == {"orders:read", "orders:write"}
    assert answer.status == 200


def test_bodies_of_a_lacking_scope_are_those_of_their_routes(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, {}) as function:
        mcp, _, graphql, *_ = asked(function)

    assert mcp.json == {
        "error": "insufficient_scope",
        "message": "t needs a token with the scopes orders:read orders:write",
        "code": "insufficient-scope",
    }
    sentence = "g needs a token with the scopes orders:read orders:write"
    assert graphql.json == graphql_errors(sentence, "insufficient-scope")


def test_scopes_hide_no_tool_and_ask_nothing_of_others(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, {}) as function:
        listed = function.request("tools/list", headers=HOLDER).result["tools"]

        assert [tool["name"] for tool in listed] == ["g", "free", "t"]
        assert function.call("free", {"email": EMAIL}, headers=HOLDER).result["structuredContent"] == FOUND


def test_caller_without_claims_is_not_asked_for_scopes(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, None) as function:
        assert {answer.status for answer in asked(function)} == {200}


def test_development_principal_is_not_asked_for_scopes(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, {}, development=True) as function:
        assert {answer.status for answer in asked(function, {})} == {200}


def test_anonymous_caller_is_asked_for_a_credential_with_the_tools_scopes(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, {}) as function:
        for answer in asked(function, {}):
            assert answer.status == 401
            assert answer.headers["www-authenticate"] == 'Bearer realm="api/things", scope="orders:read orders:write"'
    assert upstream.requests() == []


def test_missing_scopes_come_before_arguments_that_do_not_fit(tmp_path: Path, upstream: Upstream) -> None:
    with serving(tmp_path, upstream, {}) as function:
        assert function.call("t", {"nonsense": 1}, headers=HOLDER).status == 403
        assert function.graphql({"query": "{"}, "/tools/g/graphql", headers=HOLDER).status == 403


@pytest.mark.parametrize("modern", [False, True])
def test_lacking_scope_is_403_in_every_era(tmp_path: Path, upstream: Upstream, modern: bool) -> None:
    params = {"name": "t", "arguments": {"email": EMAIL}}
    with serving(tmp_path, upstream, {}) as function:
        assert function.request("tools/call", params, modern=modern, headers=HOLDER).status == 403


def test_denial_carries_the_tool_and_all_its_scopes(tmp_path: Path, upstream: Upstream) -> None:
    files = {
        "index.graphql": f'extend schema @tool(name: "t", prescribed: "T", scopes: {SCOPES}) {SDL}',
        "operations/t.graphql": 'query T { customer(email: "x") { id } }',
        "config.yaml": READABLE,
    }
    tool = prescribed_tool(compiled(tmp_path, files), "t")

    with pytest.raises(InsufficientScope) as lacking:
        require_scopes(tool.name, tool.options.scopes, Principal(kind="token", claims={"scope": "orders:read"}))
    with pytest.raises(CredentialRequired) as anonymous:
        require_scopes(tool.name, tool.options.scopes, ANONYMOUS)

    assert (lacking.value.tool, lacking.value.scopes) == ("t", ("orders:read", "orders:write"))
    assert anonymous.value.scopes == ("orders:read", "orders:write")
    require_scopes(tool.name, tool.options.scopes, DEVELOPMENT)


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "a b"}, {"a", "b"}),
        ({"scp": ["a", "b"]}, {"a", "b"}),
        ({"scope": "a", "scp": ["b"]}, {"a", "b"}),
        ({"scope": None, "scp": 5}, set()),
        ({}, set()),
    ],
)
def test_scopes_are_read_from_texts_and_arrays(claims: Mapping[str, Any], scopes: set[str]) -> None:
    assert scopes_of(claims) == scopes


LISTED: list[tuple[Mapping[str, Any] | None, bool]] = [
    (ENOUGH[0], True),
    ({"scope": "orders:read"}, False),
    ({}, False),
    (None, True),
]
"""Claims of a key, and whether a list for the allowed has the tools with scopes."""


@contextmanager
def listing(
    folder: Path, claims: Mapping[str, Any] | None, *, access: str = "scopes: {list: allowed}"
) -> Iterator[Function]:
    """The tools ``t`` and ``scoped`` with scopes, ``free`` without, and a catalog; anonymous callers get in."""
    patterns = '[{expose: true, types: "Query", fields: ".*"}]'
    files = {
        "index.graphql": f'extend schema @tool(name: "g", graphql: {patterns}, scopes: {SCOPES}) {SDL}',
        "operations/t.graphql": T,
        "operations/free.graphql": OPERATION.format("Free", '"free"'),
        "config.yaml": READABLE.replace("{", f"{{anonymous: allow, {access}, ", 1),
    }
    made = with_kit(with_catalog(compiled(folder, files)), "tests.support.acme_tools:kit")
    with running_function(identified(made, claims), code_modules=("tests.support.acme_tools",)) as function:
        yield function


def names_in(answer: Answer) -> set[str]:
    return {tool["name"] for tool in answer.result["tools"]} & {"t", "g", "free", "scoped"}


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize(("claims", "has_all"), LISTED)
def test_list_for_the_allowed_has_the_tools_that_the_token_can_call(
    tmp_path: Path, claims: Mapping[str, Any] | None, has_all: bool, modern: bool
) -> None:
    with listing(tmp_path, claims) as function:
        listed = function.request("tools/list", modern=modern, headers=HOLDER)
        anonymous = function.request("tools/list", modern=modern)
        found = function.call("catalog", {"type": "tools"}, headers=HOLDER).text
        called = function.call("t", {"email": EMAIL}, headers=HOLDER)

    assert ("t" in names_in(listed), "g" in names_in(listed)) == (has_all, has_all)
    assert names_in(anonymous) == {"free"}
    assert ('"name":"t"' in found) == has_all
    assert called.status == (200 if has_all else 403)  # the call says which scopes are missing, as ever


def test_list_for_all_is_the_default_and_has_tools_whose_scopes_are_missing(tmp_path: Path) -> None:
    for access in ("scopes: {list: all}", "scopes: {}", "show: []"):
        with listing(tmp_path, {}, access=access) as function:
            assert names_in(function.request("tools/list", headers=HOLDER)) == {"t", "g", "free", "scoped"}


def test_scopes_of_unlisted_tools_are_still_asked_for_at_the_sign_in(tmp_path: Path) -> None:
    with listing(tmp_path, {}) as function:
        answer = function.call("t", {"email": EMAIL})

    assert answer.status == 401
    assert 'scope="orders:read orders:write"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("access", "problem"),
    [
        ("scopes: {list: alowed}", "invalid-value"),
        ("scopes: {lists: allowed}", "unknown-key"),
        ("scopes: allowed", "invalid-value"),
    ],
)
def test_other_words_for_the_list_are_problems(tmp_path: Path, access: str, problem: str) -> None:
    files = {"index.graphql": SDL, "config.yaml": f"access: {{{access}}}"}

    assert [each.code for each in problems_of(tmp_path, files)] == [problem]


def test_bundle_of_an_older_release_lists_all(tmp_path: Path) -> None:
    made = compiled(tmp_path, {"index.graphql": SDL, "config.yaml": "access: {scopes: {list: allowed}}"}).bundle
    stored = json.loads(write_bundle(made))["content"]
    del stored["access"]["listed"]
    old = read_record(Bundle, stored)

    assert (made.access.listed, old.access.listed) == ("allowed", "all")
