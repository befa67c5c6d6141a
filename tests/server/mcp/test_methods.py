"""Every MCP method in every era, and what both do with what does not exist."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.bundle.identity import Identity
from handler.compiler.compile import Compiled
from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.codes import unknown_tool
from tests.support.function import META, Answer, Function, running_function
from tests.support.identities import api_key, issuer

EMAIL = {"variables": {"email": "elif.nunez@example.com"}}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "list": ("tools/list", {}),
    "prescribed": ("tools/call", {"name": "customer-by-email", "arguments": EMAIL}),
    "graphql": ("tools/call", {"name": "customer-lookup", "arguments": {"query": "{ __typename }"}}),
    "tool error": ("tools/call", {"name": "customer-by-email", "arguments": {}}),
    "refused": ("tools/call", {"name": "employee-lookup", "arguments": {"query": "{"}}),
}


def _ask(function: Function, revision: str, method: str, params: dict[str, Any]) -> Answer:
    if revision in MODERN:
        return function.request(method, params, modern=True)
    return function.request(method, params, headers={"mcp-protocol-version": revision})


@pytest.mark.parametrize(("revision", "call"), [*itertools.product([*LEGACY, *MODERN], CALLS)])
def test_result_is_valid_at_its_revision(function: Function, revision: str, call: str) -> None:
    method, params = CALLS[call]

    result = _ask(function, revision, method, params).result

    oracle.validate_server_result(method, revision, result)
    assert ("resultType" in result) is (revision in MODERN)


def test_discover_is_valid_and_names_modern_revisions_only(function: Function) -> None:
    result = function.request("server/discover", modern=True).result

    oracle.validate_server_result("server/discover", "2026-07-28", result)
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "api.customers"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        (None, "2025-11-25"),
    ],
)
def test_initialize_answers_the_revision_asked_for_or_the_newest_legacy_one(
    function: Function, asked: str | None, answered: str
) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    result = function.request("initialize", params).result

    assert result["protocolVersion"] == answered
    oracle.validate_server_result("initialize", answered, result)


def test_ping_is_answered_in_the_legacy_era_only(function: Function) -> None:
    assert function.request("ping").result == {}
    assert function.request("ping", modern=True).status == 404


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "nonsense"])
def test_unknown_method_is_404_in_the_modern_era(function: Function, method: str) -> None:
    answer = function.request(method, modern=True)

    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (404, -32601, 1)


def test_level_of_log_messages_is_accepted_in_the_legacy_era(function: Function) -> None:
    assert function.request("logging/setLevel", {"level": "warning"}).result == {}
    for level in ("loud", "", None, 5, ["info"]):
        assert function.request("logging/setLevel", {"level": level}).json["error"]["code"] == -32602
    assert function.request("logging/setLevel").json["error"]["code"] == -32602


def test_unknown_method_is_an_error_with_status_200_in_the_legacy_era(function: Function) -> None:
    for method in ("server/discover", "subscriptions/listen", "nonsense"):
        answer = function.request(method)

        assert (answer.status, answer.json["error"]["code"]) == (200, -32601)


def test_list_says_how_long_it_may_be_kept_and_by_whom(function: Function, dev_function: Function) -> None:
    public = function.request("tools/list", modern=True).result
    private = dev_function.request("tools/list", modern=True).result

    assert (public["ttlMs"], public["cacheScope"]) == (60_000, "public")
    assert private["cacheScope"] == "private"  # it has place_order, which anonymous callers do not see
    assert "ttlMs" not in function.request("tools/list").result


def test_list_is_the_same_at_every_request(function: Function) -> None:
    assert function.request("tools/list").body == function.request("tools/list").body


def test_unknown_cursor_is_invalid_params(function: Function) -> None:
    answer = function.request("tools/list", {"cursor": "x"}, modern=True)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    "params", [{}, {"name": 5}, {"name": None, "arguments": {}}, {"name": "customer-lookup", "arguments": []}]
)
def test_malformed_call_is_invalid_params(function: Function, params: Any) -> None:
    answer = function.request("tools/call", params)

    assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


def test_call_without_arguments_is_judged_by_the_tools_schema(function: Function) -> None:
    result = function.request("tools/call", {"name": "customer-lookup"}).result

    assert result["content"][0]["text"] == "Invalid arguments for tool customer-lookup: /query: required, but missing"


WAYS_IN = {
    "an API key": Identity(issuers=(), api_keys=(api_key(),), trusted_apis=()),
    "an issuer": Identity(issuers=(issuer("https://idp.example"),), api_keys=(), trusted_apis=()),
    "an authorizer": Identity(issuers=(), api_keys=(), trusted_apis=("a1b2c3d4e5",)),
}


@pytest.mark.parametrize("name", WAYS_IN)
@pytest.mark.parametrize("modern", [False, True])
def test_unknown_and_invisible_tools_are_a_challenge_to_anonymous_callers_whom_a_credential_could_help(
    served_demo: Compiled, name: str, modern: bool
) -> None:
    bundle = replace(served_demo.bundle, identity=WAYS_IN[name])
    with running_function(replace(served_demo, bundle=bundle)) as function:
        unknown, invisible = (
            function.request("tools/call", {"name": tool, "arguments": {}}, modern=modern)
            for tool in ("no-such-tool", "place_order")
        )

    assert unknown.status == invisible.status == 401
    assert unknown.body == invisible.body
    assert unknown.headers["www-authenticate"].startswith('Bearer realm="api/customers"')


@pytest.mark.parametrize("modern", [False, True])
def test_unknown_and_invisible_tools_are_the_same_to_anonymous_callers_where_there_is_no_credential(
    function: Function, modern: bool
) -> None:
    for tool in ("no-such-tool", "place_order"):
        answer = function.request("tools/call", {"name": tool, "arguments": {}}, modern=modern)

        assert answer.status == (400 if modern else 200)
        assert answer.json["error"] == unknown_tool(tool)
        assert "www-authenticate" not in answer.headers


def test_unknown_tool_is_invalid_params_to_known_callers(dev_function: Function) -> None:
    legacy = dev_function.call("no-such-tool", {})
    modern = dev_function.request("tools/call", {"name": "no-such-tool", "arguments": {}}, modern=True)

    assert (legacy.status, modern.status) == (200, 400)
    assert legacy.json["error"] == modern.json["error"] == unknown_tool("no-such-tool")


def test_metadata_of_the_request_is_no_argument(function: Function) -> None:
    answer = function.request("tools/call", {"name": "customer-by-email", "arguments": EMAIL, "_meta": {}})

    assert META
    assert not answer.result.get("isError")


@pytest.mark.parametrize("text", [r"\ud800", r"a\udfffb", r"\u0000", "\U0001f600", "x" * 100_000])
def test_odd_texts_are_arguments_like_any_other(function: Function, text: str) -> None:
    body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%s", "arguments": %s}}'

    prescribed = function.post(body % ("customer-by-email", f'{{"variables": {{"email": "{text}"}}}}'))
    unknown = function.post(body % (text, "{}"))
    graphql = function.post(body % ("customer-lookup", f'{{"query": "{text}"}}'))

    assert json.loads(prescribed.text)["data"] == {"customer": None}
    assert unknown.json["error"]["code"] == -32602
    assert graphql.result["isError"] is True


def test_unknown_tool_with_half_a_surrogate_is_named_back(dev_function: Function) -> None:
    answer = dev_function.post(
        r'{"jsonrpc": "2.0", "id": "\ud800", "method": "tools/call", "params": {"name": "\ud800"}}'
    )

    assert answer.json == {
        "jsonrpc": "2.0",
        "id": "\ufffd",
        "error": unknown_tool("\ufffd"),
    }


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 5_000])
def test_number_that_json_cannot_carry_on_is_a_parse_error(function: Function, number: str) -> None:
    answer = function.post(f'{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {{"a": {number}}}}}')

    assert (answer.status, answer.json["error"]["code"]) == (400, -32700)
