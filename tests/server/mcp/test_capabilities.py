"""Capabilities of an endpoint, and the methods of those that it does not have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.endpoints import READABLE, compiled
from tests.support.every_method import ask
from tests.support.function import Function, running_function
from tests.support.kits import MODULES, PLUGINS, with_kit

SDL = "type Query { a: Int secret: Int }\n"
NO_TOOL = f"{READABLE}default_tool: false\ngraphql: persisted\n"
GUARDED = """\
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{fields: [secret], condition: "?$jwt"}]
      policyDefault: {condition: true}
"""
SECRET = 'query S @mcpTool(name: "s") { secret }'
TOOLS = {"tools/list": {}, "tools/call": {"name": "s", "arguments": {}}}
REVISIONS = (*LEGACY, *MODERN)


def capabilities(function: Function, revision: str) -> Any:
    method = "server/discover" if revision in MODERN else "initialize"
    params = {} if revision in MODERN else {"protocolVersion": revision}
    return ask(function, revision, method, params).result["capabilities"]


def code_of(function: Function, revision: str, method: str, params: Mapping[str, Any]) -> tuple[int, int]:
    answered = ask(function, revision, method, params)
    return answered.status, answered.json["error"]["code"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_endpoint_without_tools_has_neither_the_capability_nor_its_methods(tmp_path: Path, revision: str) -> None:
    # MCP, schema, ServerCapabilities.tools: "Present if the server offers any tools to call."
    # MCP 2025-11-25, basic/lifecycle: "Only use capabilities that were successfully negotiated".
    files = {"index.graphql": SDL, "config.yaml": NO_TOOL, "prompts/p.md": "P", "resources/r.md": "R"}
    with running_function(compiled(tmp_path, files)) as function:
        offered = capabilities(function, revision)
        codes = {code_of(function, revision, method, params) for method, params in TOOLS.items()}
        resources = ask(function, revision, "resources/list", {}).result["resources"]

    assert offered == {"prompts": {}, "resources": {}}
    assert codes == {(404 if revision in MODERN else 200, -32601)}
    assert [each["name"] for each in resources] == ["r.md"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_who_may_use_none_of_the_tools_gets_an_empty_list(tmp_path: Path, revision: str) -> None:
    # MCP 2026-07-28, server/tools: the tools that are returned "MAY" vary by the authorization of the request.
    files = {"index.graphql": SDL, "config.yaml": GUARDED, "operations/s.graphql": SECRET}
    with running_function(compiled(tmp_path, files)) as function:
        offered = capabilities(function, revision)
        listed = ask(function, revision, "tools/list", {}).result["tools"]
        status, code = code_of(function, revision, "tools/call", TOOLS["tools/call"])

    assert offered == {"tools": {}}
    assert listed == []
    assert (status, code) == (400 if revision in MODERN else 200, -32602)


def test_hidden_tools_are_offered_though_none_is_listed(tmp_path: Path) -> None:
    operation = 'query A @mcpTool(name: "a", hidden: true) { a }'
    files = {"index.graphql": SDL, "config.yaml": READABLE, "operations/a.graphql": operation}
    with running_function(compiled(tmp_path, files)) as function:
        assert capabilities(function, MODERN[0]) == {"tools": {}}
        assert ask(function, MODERN[0], "tools/list", {}).result["tools"] == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_kit_that_decides_for_each_caller_offers_tools_to_all(tmp_path: Path, revision: str) -> None:
    made = with_kit(compiled(tmp_path, {"index.graphql": SDL, "config.yaml": NO_TOOL}), PLUGINS)
    with running_function(made, code_modules=MODULES) as function:
        assert "tools" in capabilities(function, revision)
        assert [tool["name"] for tool in ask(function, revision, "tools/list", {}).result["tools"]] == ["help_me"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_capability_promises_to_tell_of_changes(tmp_path: Path, revision: str) -> None:
    # MCP, server/tools: "listChanged indicates whether the server will emit notifications"; this one emits none.
    files = {"index.graphql": SDL, "config.yaml": READABLE, "prompts/p.md": "P"}
    with running_function(compiled(tmp_path, files)) as function:
        assert capabilities(function, revision) == {"tools": {}, "prompts": {}, "resources": {}}


@pytest.mark.parametrize("revision", REVISIONS)
def test_who_may_use_none_of_the_prompts_gets_an_empty_list(tmp_path: Path, revision: str) -> None:
    prompt = '---\ncondition: "?$jwt"\n---\nP'
    files = {"index.graphql": SDL, "config.yaml": NO_TOOL, "prompts/p.md": prompt}
    with running_function(compiled(tmp_path, files)) as function:
        assert capabilities(function, revision) == {"prompts": {}}
        assert ask(function, revision, "prompts/list", {}).result["prompts"] == []
