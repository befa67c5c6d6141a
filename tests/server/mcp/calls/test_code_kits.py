"""Toolkits whose lists depend on who asks, and the catalog over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.policy.evaluation import HIDDEN
from tests.code_tools.cases import case
from tests.support.codes import rpc_error, unknown_tool
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Context, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import MODULES, PLUGINS, TOOLS, changed_tool, with_catalog, with_kit

SDL = """
extend schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: "a"})
type Query { a: Int }
type Mutation { b: Int }
"""
OPERATION = 'query A @mcpTool(name: "a", category: "reading") { a }'

UNLISTED = rpc_error(-32603, "The tools could not be listed", "code-failed")


@pytest.fixture
def plain(tmp_path: Path) -> Compiled:
    return compiled(tmp_path, {"index.graphql": SDL, "operations/a.graphql": OPERATION, "config.yaml": PUBLIC})


def serving(endpoint: Compiled, tenant: str | None = None, **claims: Any) -> Any:
    held = identified(endpoint, {"tenant": tenant, **claims})
    return running_function(held, code_modules=MODULES)


def names(function: Function, *, headers: Mapping[str, str] = HOLDER) -> list[str]:
    return [entry["name"] for entry in listed(function, headers=headers).result["tools"]]


def listed(function: Function, *, headers: Mapping[str, str] = HOLDER) -> Answer:
    return function.request("tools/list", modern=True, headers=headers)


def called(function: Function, tool: str, arguments: Any = None, headers: Mapping[str, str] = HOLDER) -> Answer:
    return function.request("tools/call", {"name": tool, "arguments": arguments or {}}, modern=True, headers=headers)


def test_each_caller_sees_the_tools_of_their_tenant(plain: Compiled) -> None:
    endpoint = with_kit(plain, PLUGINS)
    with serving(endpoint, "acme") as function:
        assert names(function) == ["ask", "a", "report", "help_me", "invoice", "refund"]
        assert names(function, headers={}) == ["ask", "a", "help_me"]
    with serving(endpoint, "globex") as function:
        assert names(function) == ["ask", "a", "help_me", "invoice"]


def test_provided_tool_gets_its_arguments_as_they_are(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS), "acme") as function:
        answer = called(function, "invoice", {"number": "7"})

        assert answer.result["structuredContent"] == {
            "done": "invoice",
            "for": "acme",
            "arguments": {"number": "7"},
        }
        line = function.lines[-1]
        assert (line["tool"], line["kind"], line["decision"], line["outcome"]) == ("invoice", "code", "allowed", "ok")
        assert called(function, "refund").text == "nothing to refund"
        assert function.lines[-1]["reason"] == "ToolError"


def test_provided_tool_has_its_headers_held_against_its_arguments(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS), "routed") as function:
        for headers, why in (
            ({}, "mcp-param-region is missing"),
            ({"mcp-param-region": "us"}, "mcp-param-region differs from the body"),
        ):
            refused = called(function, "regional", {"region": "eu"}, {**HOLDER, **headers})
            assert (refused.status, refused.json["error"]["code"]) == (400, -32020)
            assert refused.json["error"]["message"] == f"Header mismatch: {why}"
            assert function.lines[-1]["decision"] == "refused"
        taken = called(function, "regional", {"region": "eu"}, {**HOLDER, "mcp-param-region": "eu"})
        assert taken.result["structuredContent"]["arguments"] == {"region": "eu"}
        legacy = function.call("regional", {"region": "eu"}, headers=HOLDER)
        assert legacy.result["structuredContent"]["arguments"] == {"region": "eu"}


def test_tool_whose_argument_is_repeated_in_a_header_stays_listed(plain: Compiled) -> None:
    short = with_catalog(with_kit(plain, PLUGINS), unlisted="always")
    with serving(short, "routed") as function:
        assert names(function) == ["catalog", "catalog-call", "catalog-call-mutation", "regional"]
        named = {"name": "regional", "arguments": {"region": "eu"}}
        refused = called(function, "catalog-call-mutation", named)
        assert refused.json["error"]["message"] == "Header mismatch: mcp-param-region is missing"
        taken = called(function, "regional", {"region": "eu"}, {**HOLDER, "mcp-param-region": "eu"})
        assert taken.result["structuredContent"]["arguments"] == {"region": "eu"}


def test_provider_whose_tool_repeats_what_no_header_can_say_fails_the_list(
    plain: Compiled, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(with_kit(plain, PLUGINS), "misrouted") as function:
        assert listed(function).json["error"] == UNLISTED
        assert "region: x-mcp-header is for one of the types string, integer, boolean" in caplog.text


def test_tool_of_another_tenant_is_unknown_like_one_that_there_is_not(plain: Compiled) -> None:
    endpoint = with_kit(plain, PLUGINS)
    with serving(endpoint, "globex") as function:
        for name in ("refund", "report", "nothing"):
            answer = called(function, name)
            assert (answer.status, answer.json["error"]) == (
                400,
                unknown_tool(name),
            )
        assert called(function, "report", headers={}).status == 401
    with serving(endpoint, "acme") as function:
        assert called(function, "report").status == 403
    with serving(endpoint, "acme", scope="reports") as function:
        assert called(function, "report").text == "all well"


@case("T-002")
def test_list_that_depends_on_who_asks_is_private_for_everybody(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS), "acme") as function:
        for headers in (HOLDER, {}):
            assert listed(function, headers=headers).result["cacheScope"] == "private"
    with serving(with_kit(plain, TOOLS), "acme") as function:
        assert listed(function, headers=HOLDER).result["cacheScope"] == "public"


@pytest.mark.lambda_alone
def test_kit_that_cannot_list_fails_the_list_without_a_detail_and_no_call_of_others(
    plain: Compiled, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(with_kit(plain, PLUGINS), "broken") as function:
        answer = listed(function)

        assert (answer.status, answer.json["error"]["code"]) == (200, -32603)
        assert answer.json["error"]["message"] == "The tools could not be listed"
        assert b"boom" not in answer.body
        assert f"in request {Context.aws_request_id}" in caplog.text
        assert called(function, "help_me").text == "help"


def test_provider_that_takes_too_long_fails_the_list_in_time(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS), "slow") as function:
        answer = listed(replace(function, context=Context(remaining_ms=800)))

    assert answer.json["error"] == UNLISTED


def test_kit_that_cannot_tell_who_may_use_a_tool_lets_nobody(plain: Compiled, caplog: pytest.LogCaptureFixture) -> None:
    with serving(with_kit(plain, PLUGINS), "undecided") as function:
        assert listed(function).json["error"]["message"] == "The tools could not be listed"
        assert called(function, "help_me").json["error"]["message"] == "Unknown tool: help_me"
        assert "allow of tool help_me failed" in caplog.text


def test_kit_that_cannot_be_loaded_fails_the_list(plain: Compiled) -> None:
    endpoint = with_kit(plain, PLUGINS)
    with running_function(identified(endpoint, {}), code_modules=()) as function:
        assert listed(function).json["error"] == UNLISTED
        assert called(function, "a").status == 200


def test_tool_that_only_the_code_has_waits_to_be_published(plain: Compiled) -> None:
    bundle = with_kit(plain, PLUGINS).bundle
    tools = tuple(tool for tool in bundle.tools if tool.name != "help_me")
    with serving(replace(plain, bundle=replace(bundle, tools=tools)), "globex") as function:
        assert names(function) == ["ask", "a", "invoice"]
        assert called(function, "help_me").json["error"]["message"] == "Unknown tool: help_me"


def test_configuration_speaks_of_provided_tools_too(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS, category="plug-ins"), "globex") as function:
        (invoice,) = [each for each in listed(function).result["tools"] if each["name"] == "invoice"]
        assert invoice["_meta"] == {"category": "plug-ins"}
    with serving(with_kit(plain, PLUGINS, hidden=True), "globex") as function:
        assert "invoice" not in names(function)
        assert called(function, "invoice").result["structuredContent"]["done"] == "invoice"


def test_state_of_a_call_means_nothing_to_a_list(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS), "acme") as function:
        answer = function.request("tools/list", {"requestState": "e30="}, modern=True, headers=HOLDER)
        assert "invoice" in [each["name"] for each in answer.result["tools"]]


def test_kit_whose_condition_is_not_met_is_not_even_asked(plain: Compiled) -> None:
    with serving(with_kit(plain, PLUGINS, mask=HIDDEN), "broken") as function:
        assert names(function) == ["ask", "a"]
        assert called(function, "invoice").json["error"]["message"] == "Unknown tool: invoice"


def test_tool_of_the_endpoint_is_stronger_than_a_provided_one_of_its_name(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a: Int }\ntype Mutation { b: Int }",
        "operations/a.graphql": 'query A @mcpTool(name: "invoice", title: "Own") { a }',
        "config.yaml": PUBLIC,
    }
    with serving(with_kit(compiled(tmp_path, files), PLUGINS), "globex") as function:
        (invoice,) = [each for each in listed(function).result["tools"] if each["name"] == "invoice"]
        assert invoice["title"] == "Own"
        assert called(function, "invoice").result.get("structuredContent", {}).get("done") is None


def test_scopes_of_provided_tools_are_their_authors_matter_and_drift_is_none(plain: Compiled) -> None:
    changed = changed_tool(with_kit(plain, PLUGINS), "help_me", digest="0" * 64)
    with serving(changed, "acme") as function:
        assert called(function, "help_me").code == "code-changed"
        assert called(function, "invoice").result["structuredContent"]["done"] == "invoice"


@pytest.fixture
def stocked(plain: Compiled) -> Compiled:
    return with_catalog(with_kit(plain, TOOLS))


@pytest.fixture
def function(stocked: Compiled) -> Iterator[Function]:
    with serving(stocked, "acme") as running:
        yield running


def found(function: Function, arguments: Any = None, **more: Any) -> dict[str, list[dict[str, Any]]]:
    answer = called(function, "catalog", arguments, **more)
    sections: dict[str, list[dict[str, Any]]] = answer.result["structuredContent"]
    return sections


@case("C-001")
def test_catalog_has_tools_of_every_kind_hidden_ones_too(function: Function) -> None:
    shown = found(function, {"names": ["ask", "a", "echo", "unlisted", "catalog", "catalog-call"], "type": "tools"})
    tools = {each["name"]: each["hidden"] for each in shown["tools"]}

    assert tools == {"ask": False, "a": False, "echo": False, "unlisted": True}
    assert list(map(str, shown["unknown"])) == ["catalog", "catalog-call"]
    (echo,) = [each for each in shown["tools"] if each["name"] == "echo"]
    assert echo["inputSchema"]["properties"] == {"text": {"type": "string"}}
    sections = found(function, {"type": "prompts"})
    assert [each["name"] for each in sections["prompts"]] == ["greeting", "careful", "broken"]
    uris = found(function, {"names": ["acme://intro", "acme://pages/{page}"]})
    assert [each["uri"] for each in uris["resources"]] == ["acme://intro"]
    assert [each["uriTemplate"] for each in uris["resource_templates"]] == ["acme://pages/{page}"]
    assert "catalog" not in names(function)
    line = function.lines[-2]
    assert (line["tool"], line["kind"], line["decision"], line["outcome"]) == ("catalog", "catalog", "allowed", "ok")


@case("C-002", "C-003", "C-004", "C-005")
def test_catalog_finds_by_words_category_and_type(function: Function) -> None:
    (echo,) = found(function, {"type": "tools", "query": "SAY IT AGAIN"})["tools"][:1]
    assert echo == {
        "name": "echo",
        "about": "Say it again.",
        "arguments": "text",
        "call": "catalog-call-mutation",
        "hidden": False,
    }
    assert [each["name"] for each in found(function, {"category": "Reading"})["tools"]] == ["a"]
    assert list(found(function, {"type": "prompts"})) == ["prompts"]
    shown = found(function, {"type": "tools", "include_hidden": False})["tools"]
    assert not [each["name"] for each in shown if each["hidden"]]


@pytest.mark.parametrize(
    "arguments", [{"type": "everything"}, {"query": 7}, {"include_hidden": "yes"}, {"names": ["a"] * 11}]
)
def test_catalog_refuses_what_does_not_fit(function: Function, arguments: Any) -> None:
    answer = called(function, "catalog", arguments)

    assert answer.text.startswith("Invalid arguments for tool catalog: /")
    assert answer.result["isError"]
    assert function.lines[-1]["reason"] == "InvalidArguments"


def test_catalog_shows_nothing_that_its_caller_may_not_use(stocked: Compiled) -> None:
    bundle = stocked.bundle
    prompts = tuple(replace(each, mask=HIDDEN) for each in bundle.prompts)
    resources = tuple(replace(each, mask=HIDDEN) for each in bundle.resources)
    hidden = replace(stocked, bundle=replace(bundle, prompts=prompts, resources=resources))
    with serving(changed_tool(hidden, "unlisted", mask=HIDDEN), "acme") as function:
        named = found(function, {"names": ["unlisted", "acme://intro", "greeting"]})
        prompts_left = found(function, {"type": "prompts"})["prompts"]

    assert named["tools"] == named["prompts"] == named["resources"] == named["resource_templates"] == []
    assert list(map(str, named["unknown"])) == ["unlisted", "acme://intro", "greeting"]
    assert prompts_left == []


def test_catalog_has_what_each_caller_has_of_a_kit_that_asks(plain: Compiled) -> None:
    with serving(with_catalog(with_kit(plain, PLUGINS)), "globex") as function:
        shown = {each["name"] for each in found(function, {"type": "tools"})["tools"]}
        assert shown == {"ask", "a", "help_me", "invoice"}
        assert "invoice" not in str(found(function, {"type": "tools"}, headers={}))
        done = called(function, "catalog-call-mutation", {"name": "invoice", "arguments": {"number": "7"}})
        assert done.result["structuredContent"]["arguments"] == {"number": "7"}
        assert called(function, "catalog-call-mutation", {"name": "report"}).code == "not-in-catalog"


@case("T-001")
def test_list_says_for_how_long_and_whom_it_holds_and_is_the_same_twice(function: Function) -> None:
    first, second = listed(function).result, listed(function).result

    assert first["resultType"] == "complete"
    assert first["ttlMs"] >= 0
    assert first["cacheScope"] in ("public", "private")
    assert first["tools"] == second["tools"]


@case("T-003")
def test_earlier_revisions_have_the_same_content_without_what_is_newer(function: Function) -> None:
    legacy = function.request(
        "tools/call", {"name": "echo", "arguments": {"text": "hi"}}, headers={"mcp-protocol-version": "2025-11-25"}
    ).result
    modern = called(function, "echo", {"text": "hi"}).result

    assert "resultType" not in legacy
    assert legacy == {name: value for name, value in modern.items() if name not in ("resultType", "_meta")}
