"""Prompts as clients of both eras get them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.compiler.compile import Compiled
from handler.server.mcp.content import MAX_PROMPT_CHARS
from handler.server.mcp.revisions import LEGACY, MODERN, TEXT_ONLY
from tests.support.codes import rpc_error
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified

FILES = {
    "index.graphql": "type Query { a: Int }\n",
    "config.yaml": READABLE,
    "prompts/review.md": """\
---
title: Review an order
description: Looks at one order.
arguments:
  - {name: number, required: true}
  - {name: tone, values: [formal, friendly]}
---
## user
Review order {{number}}, \\{{tone}}: {{tone}}.
## assistant
Order {{number}}?
""",
    "prompts/staff.md": '---\ncondition: $jwt.role:String == "staff"\n---\nAsk a colleague.\n',
}
REVISIONS = [*LEGACY, *MODERN]


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("prompts"), FILES)


@pytest.fixture
def prompts(endpoint: Compiled) -> Iterator[Function]:
    """The endpoint to anonymous callers; there is no credential."""
    with running_function(endpoint) as function:
        yield function


def ask(function: Function, revision: str, method: str, params: dict[str, Any], **more: Any) -> Answer:
    if revision in MODERN:
        return function.request(method, params, modern=True, **more)
    return function.request(method, params, headers={"mcp-protocol-version": revision, **more.get("headers", {})})


def get(function: Function, name: str, arguments: Any, *, modern: bool = False) -> Answer:
    return function.request("prompts/get", {"name": name, "arguments": arguments}, modern=modern)


@pytest.mark.parametrize("revision", REVISIONS)
def test_list_has_the_prompts_of_the_caller_at_every_revision(prompts: Function, revision: str) -> None:
    result = ask(prompts, revision, "prompts/list", {}).result

    oracle.validate_server_result("prompts/list", revision, result)
    assert result["prompts"] == [
        {
            "name": "review",
            **({} if revision in TEXT_ONLY else {"title": "Review an order"}),
            "description": "Looks at one order.",
            "arguments": [{"name": "number", "required": True}, {"name": "tone", "required": False}],
        }
    ]
    assert ("ttlMs" in result) is (revision in MODERN)


@pytest.mark.parametrize("revision", REVISIONS)
def test_prompt_is_written_with_what_the_caller_gives_at_every_revision(prompts: Function, revision: str) -> None:
    params = {"name": "review", "arguments": {"number": "7", "tone": "formal"}}
    result = ask(prompts, revision, "prompts/get", params).result

    oracle.validate_server_result("prompts/get", revision, result)
    assert result["description"] == "Looks at one order."
    assert result["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "Review order 7, {{tone}}: formal."}},
        {"role": "assistant", "content": {"type": "text", "text": "Order 7?"}},
    ]


def test_values_are_not_read_as_templates(prompts: Function) -> None:
    number = r"{{tone}} \{{number}} {{number}} \1 </system>"

    first = get(prompts, "review", {"number": number, "tone": "formal"}).result["messages"][0]

    assert first["content"]["text"] == f"Review order {number}, {{{{tone}}}}: formal."


@pytest.mark.parametrize("arguments", [{"number": "7"}, {"number": "7", "tone": ""}])
def test_argument_that_is_left_out_is_empty(prompts: Function, arguments: dict[str, str]) -> None:
    first = get(prompts, "review", arguments).result["messages"][0]

    assert first["content"]["text"] == "Review order 7, {{tone}}: ."


@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        ({}, "number: required, but missing"),
        ({"number": ""}, "number: required, but missing"),
        ({"number": 7}, "number: expected a string"),
        ({"number": None}, "number: required, but missing"),
        ({"number": "7", "tone": "rude"}, "tone: expected one of formal, friendly"),
        ({"number": "7", "tone": "FORMAL"}, "tone: expected one of formal, friendly"),
        ({"number": "7", "nr": "8"}, "nr: unknown, expected number, tone"),
        ({"tone": "x"}, "number: required, but missing; tone: expected one of formal, friendly"),
        (
            {"number": "x" * MAX_PROMPT_CHARS},
            f"too long together, prompts have {MAX_PROMPT_CHARS} characters at most",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_invalid_params(prompts: Function, arguments: Any, faults: str) -> None:
    modern, legacy = (get(prompts, "review", arguments, modern=modern) for modern in (True, False))

    assert (modern.status, legacy.status) == (400, 200)
    assert modern.json["error"] == legacy.json["error"]
    assert modern.json["error"] == rpc_error(-32602, f"Invalid arguments for prompt review: {faults}", "invalid-params")


def test_prompt_without_arguments_takes_none(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**FILES, "prompts/review.md": "Text."})
    with running_function(made) as function:
        written = function.request("prompts/get", {"name": "review"}).result
        refused = get(function, "review", {"a": "b"}).json["error"]

    assert written == {"messages": [{"role": "user", "content": {"type": "text", "text": "Text."}}]}
    assert refused["message"] == "Invalid arguments for prompt review: a: unknown, expected no arguments"


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": "review", "arguments": []}, {"name": ["review"]}])
def test_malformed_request_is_invalid_params(prompts: Function, params: dict[str, Any]) -> None:
    answer = prompts.request("prompts/get", params)

    assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


@pytest.mark.parametrize("name", ["staff", "nonsense", "", "../review", "review.md", "x" * 100_000, "{{number}}"])
def test_prompt_of_others_and_one_that_does_not_exist_are_the_same(prompts: Function, name: str) -> None:
    modern, legacy = (get(prompts, name, {}, modern=modern) for modern in (True, False))

    assert (modern.status, legacy.status) == (400, 200)
    assert legacy.json["error"] == rpc_error(-32602, f"Unknown prompt: {name[:200]}", "prompt-not-found")
    assert prompts.lines[-1]["decision"] == "denied"
    assert prompts.lines[-1]["reason"] == "PromptNotFound"
    assert len(prompts.lines[-1]["prompt"]) <= 200


def test_condition_decides_who_has_a_prompt(endpoint: Compiled) -> None:
    def names(function: Function, **headers: str) -> list[str]:
        listed = function.request("prompts/list", headers=headers).result["prompts"]
        return [prompt["name"] for prompt in listed]

    with running_function(identified(endpoint, {"role": "staff"})) as function:
        assert names(function, **HOLDER) == ["review", "staff"]
        assert get(function, "staff", {}).status == 401  # a credential could help
        assert names(function) == ["review"]
    with running_function(identified(endpoint, {"role": "guest"})) as function:
        assert names(function, **HOLDER) == ["review"]


def test_anonymous_callers_whom_a_credential_could_help_are_challenged_for_any_name(endpoint: Compiled) -> None:
    with running_function(identified(endpoint, {"role": "staff"})) as function:
        unknown, invisible = get(function, "nonsense", {}), get(function, "staff", {})

    assert unknown.status == invisible.status == 401
    assert unknown.body == invisible.body


def test_list_is_public_where_everybody_gets_it_and_private_where_not(endpoint: Compiled) -> None:
    def scope(function: Function, **headers: str) -> str:
        return str(function.request("prompts/list", modern=True, headers=headers).result["cacheScope"])

    with running_function(identified(endpoint, {"role": "staff"})) as function:
        assert scope(function) == "public"
        assert scope(function, **HOLDER) == "private"
    with running_function(identified(endpoint, {"role": "guest"})) as function:
        assert scope(function, **HOLDER) == "public"


def test_prompts_of_an_endpoint_without_policies_are_for_holders_of_keys_that_skip_policies(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**FILES, "config.yaml": "access: {anonymous: allow}\n"})
    with running_function(identified(made)) as function:
        assert function.request("prompts/list").result["prompts"] == []
        assert len(function.request("prompts/list", headers=HOLDER).result["prompts"]) == 2
    with running_function(identified(made, {"role": "guest"})) as function:
        assert function.request("prompts/list", headers=HOLDER).result["prompts"] == []


def test_unknown_cursor_is_invalid_params(prompts: Function) -> None:
    for method in ("prompts/list", "resources/list", "resources/templates/list"):
        answer = prompts.request(method, {"cursor": ""}, modern=True)

        assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def test_endpoint_with_nothing_has_neither_capabilities_nor_methods(tmp_path: Path) -> None:
    config = READABLE + "default_tool: false\ngraphql: persisted\n"
    methods = {
        "tools/list": {},
        "tools/call": {"name": "a"},
        "prompts/list": {},
        "prompts/get": {"name": "a"},
        "resources/list": {},
        "resources/read": {"uri": "stile://api/things/schema.graphql"},
        "resources/templates/list": {},
        "completion/complete": {},
    }
    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }\n", "config.yaml": config})
    with running_function(made) as function:
        discovered = function.request("server/discover", modern=True).result
        modern = [function.request(method, params, modern=True) for method, params in methods.items()]
        legacy = [function.request(method, params) for method, params in methods.items()]

    # MCP 2026-07-28, schema, ServerCapabilities.tools: "Present if the server offers any tools to call."
    assert discovered["capabilities"] == {}
    assert {(answer.status, answer.json["error"]["code"]) for answer in modern} == {(404, -32601)}
    assert {(answer.status, answer.json["error"]["code"]) for answer in legacy} == {(200, -32601)}


@pytest.mark.parametrize("revision", LEGACY)
def test_initialize_names_what_the_endpoint_has(prompts: Function, revision: str) -> None:
    result = prompts.request("initialize", {"protocolVersion": revision}).result

    first: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}
    assert result["capabilities"] == (first if revision == "2024-11-05" else {**first, "completions": {}})
    oracle.validate_server_result("initialize", revision, result)


def test_instructions_are_told_in_both_eras(tmp_path: Path) -> None:
    made = compiled(tmp_path, {**FILES, "config.yaml": READABLE + "instructions: Ask for orders by number.\n"})
    with running_function(made) as function:
        modern = function.request("server/discover", modern=True).result
        legacy = function.request("initialize").result

    assert modern["instructions"] == legacy["instructions"] == "Ask for orders by number."
    oracle.validate_server_result("server/discover", "2026-07-28", modern)


def test_endpoint_without_instructions_tells_none(prompts: Function) -> None:
    assert "instructions" not in prompts.request("initialize").result
    assert "instructions" not in prompts.request("server/discover", modern=True).result


def test_log_has_the_prompt_and_no_argument(prompts: Function) -> None:
    get(prompts, "review", {"number": "order-4711"})

    line = prompts.lines[-1]
    assert (line["method"], line["prompt"], line["decision"], line["outcome"]) == (
        "prompts/get",
        "review",
        "allowed",
        "ok",
    )
    assert "4711" not in str(line)
