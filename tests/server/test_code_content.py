"""Prompts and resources in Python as clients of both eras get them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.bundle import CodePrompt, CodeResource
from handler.compiler.compile import Compiled
from handler.policy import HIDDEN
from handler.server.revisions import LEGACY, MODERN
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, Function, running_function
from tests.support.kits import MODULES, TOOLS, with_kit

SDL = "type Query { a: Int }\ntype Mutation { b: Int }\n"


@pytest.fixture
def endpoint(tmp_path: Path) -> Compiled:
    files = {"index.graphql": SDL, "config.yaml": PUBLIC + "graphql: persisted\n", "resources/a.md": "A"}
    return with_kit(compiled(tmp_path, files), TOOLS)


@pytest.fixture
def function(endpoint: Compiled) -> Iterator[Function]:
    with running_function(endpoint, code_modules=MODULES) as running:
        yield running


def ask(function: Function, revision: str, method: str, params: dict[str, Any]) -> Answer:
    if revision in MODERN:
        return function.request(method, params, modern=True)
    return function.request(method, params, headers={"mcp-protocol-version": revision})


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/list", {}),
        ("prompts/get", {"name": "greeting", "arguments": {"name": "Ada"}}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "acme://intro"}),
        ("resources/read", {"uri": "acme://pages/7"}),
    ],
)
def test_result_is_valid_at_its_revision(
    function: Function, revision: str, method: str, params: dict[str, Any]
) -> None:
    oracle.validate_server_result(method, revision, ask(function, revision, method, params).result)


def test_they_stand_beside_what_files_give(function: Function) -> None:
    prompts = function.request("prompts/list").result["prompts"]
    resources = function.request("resources/list").result["resources"]
    templates = function.request("resources/templates/list").result["resourceTemplates"]

    assert "greeting" in [prompt["name"] for prompt in prompts]
    assert [resource["uri"] for resource in resources[:2]] == ["stile://api/things/resources/a.md", "acme://intro"]
    assert [template["uriTemplate"] for template in templates] == ["acme://pages/{page}"]


def test_prompts_and_resources_are_what_their_functions_return(function: Function) -> None:
    greeting = function.request("prompts/get", {"name": "greeting", "arguments": {"name": "Ada"}}).result
    page = function.request("resources/read", {"uri": "acme://pages/a%20b"}, modern=True).result

    assert greeting["messages"] == [{"role": "user", "content": {"type": "text", "text": "Greet Ada"}}]
    assert page["contents"] == [{"uri": "acme://pages/a%20b", "mimeType": "text/plain", "text": "Page a b"}]
    assert page["cacheScope"] == "private"


def test_log_has_the_template_and_nothing_of_what_was_asked_for(function: Function) -> None:
    function.request("resources/read", {"uri": "acme://pages/ada@example.com"})

    line = function.lines[-1]
    assert (line["resource"], line["decision"]) == ("acme://pages/{page}", "allowed")
    assert "ada" not in str(line)


@pytest.mark.parametrize("uri", ["acme://pages/", "acme://pages/a/b", "acme://nothing", f"acme://pages/{'a' * 2_000}"])
def test_uri_that_is_of_no_template_is_not_found(function: Function, uri: str) -> None:
    assert function.request("resources/read", {"uri": uri}).json["error"]["code"] == -32002


def test_what_a_function_fails_with_is_told_to_nobody(function: Function) -> None:
    prompt = function.request("prompts/get", {"name": "broken"})
    page = function.request("resources/read", {"uri": "acme://pages/none"})

    assert (prompt.json["error"]["code"], prompt.json["error"]["message"]) == (-32603, "Prompt broken failed")
    assert page.json["error"]["code"] == -32603
    assert b"boom" not in prompt.body + page.body


def test_what_a_condition_keeps_from_a_caller_is_not_there(endpoint: Compiled) -> None:
    prompts = [replace(each, mask=HIDDEN) if isinstance(each, CodePrompt) else each for each in endpoint.bundle.prompts]
    resources = [
        replace(each, mask=HIDDEN) if isinstance(each, CodeResource) else each for each in endpoint.bundle.resources
    ]
    guarded = replace(endpoint.bundle, prompts=tuple(prompts), resources=tuple(resources))
    with running_function(replace(endpoint, bundle=guarded), code_modules=MODULES) as function:
        assert function.request("prompts/list").result["prompts"] == []
        assert function.request("resources/templates/list").result["resourceTemplates"] == []
        assert "acme" not in str(function.request("resources/list").result)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("prompts/get", {"name": "greeting", "arguments": {"name": "Ada"}}),
            ("resources/read", {"uri": "acme://intro"}),
            ("resources/read", {"uri": "acme://pages/7"}),
        ]
        for method, params in asked:
            assert function.request(method, params).json["error"]["code"] in (-32602, -32002)


def test_hidden_ones_are_not_listed_and_answer_all_the_same(endpoint: Compiled) -> None:
    prompts = [replace(each, hidden=True) if isinstance(each, CodePrompt) else each for each in endpoint.bundle.prompts]
    hidden = replace(endpoint.bundle, prompts=tuple(prompts))
    with running_function(replace(endpoint, bundle=hidden), code_modules=MODULES) as function:
        assert function.request("prompts/list").result["prompts"] == []
        assert "result" in function.request("prompts/get", {"name": "greeting", "arguments": {"name": "Ada"}}).json


def test_values_of_a_prompt_in_python_are_completed_and_those_of_a_template_are_none(endpoint: Compiled) -> None:
    prompts = [
        replace(each, completions={"name": ("Ada", "Alan")}) if each.name == "greeting" else each
        for each in endpoint.bundle.prompts
        if isinstance(each, CodePrompt)
    ]
    bundle = replace(endpoint.bundle, prompts=tuple(prompts))
    with running_function(replace(endpoint, bundle=bundle), code_modules=MODULES) as function:
        completed = [
            function.request("completion/complete", {"ref": ref, "argument": {"name": argument, "value": "AD"}}).result[
                "completion"
            ]["values"]
            for ref, argument in [
                ({"type": "ref/prompt", "name": "greeting"}, "name"),
                ({"type": "ref/resource", "uri": "acme://pages/{page}"}, "page"),
            ]
        ]

    assert completed == [["Ada"], []]
