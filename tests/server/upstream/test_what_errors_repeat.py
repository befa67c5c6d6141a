"""Of what a caller wrote, an error repeats a piece."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handler.errors.protocol import McpError
from stile.testing import TestClient
from tests.support.acme_plugins import kit
from tests.support.endpoints import READABLE, compiled
from tests.support.function import META, Answer, Function, running_function
from tests.support.kits import with_kit

LONG = "x" * 200_000
MODULE = "tests.support.acme_tools"
MAX_ERROR_BYTES = 3_000
FILES = {
    "index.graphql": 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: "a"})\n'
    "type Query { a(b: Int): Int }\n",
    "operations/a.graphql": "query A($b: Int) @mcpTool { a(b: $b) }\n",
    "prompts/p.md": "---\narguments: [{name: tone, values: [warm]}]\n---\n{{tone}}\n",
    "config.yaml": READABLE + "graphql: on\n",
}


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    endpoint = with_kit(compiled(tmp_path, FILES), f"{MODULE}:kit")
    with running_function(endpoint, development=True, code_modules=[MODULE]) as running:
        yield running


def modern(function: Function, version: str) -> Answer:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": version}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    return function.post(message, headers={"mcp-protocol-version": version, "mcp-method": "tools/list"})


def completion(name: str, argument: str) -> dict[str, object]:
    return {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": "a"}}


REQUESTS: dict[str, Callable[[Function], Answer]] = {
    "tool": lambda function: function.call(LONG, {}),
    "tool in a batch": lambda function: function.post(
        json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": LONG}}]),
        headers={"mcp-protocol-version": "2025-03-26"},
    ),
    "argument": lambda function: function.call("A", {LONG: 1}),
    "argument's value": lambda function: function.call("A", {"b": LONG}),
    "prompt": lambda function: function.request("prompts/get", {"name": LONG}),
    "prompt's argument": lambda function: function.request("prompts/get", {"name": "p", "arguments": {LONG: "a"}}),
    "resource": lambda function: function.request("resources/read", {"uri": LONG}),
    "method": lambda function: function.request(LONG),
    "version": lambda function: modern(function, LONG),
    "completed prompt": lambda function: function.request("completion/complete", completion(LONG, "a")),
    "completed argument": lambda function: function.request("completion/complete", completion("p", LONG)),
    "operation's name": lambda function: function.graphql({"query": "query A { a }", "operationName": LONG}),
    "field": lambda function: function.graphql({"query": "{ " + LONG[:150_000] + " }"}),
    "variable": lambda function: function.graphql({"query": "query($b: Int) { a(b: $b) }", "variables": {"b": LONG}}),
    "persisted document": lambda function: function.graphql({"documentId": LONG}),
    "tool's path": lambda function: function.graphql({"query": "{ a }"}, f"/tools/{LONG}/graphql"),
    "parameter of a URL": lambda function: function.send("GET", f"/api/things/graphql?{LONG}=1&{LONG}=2"),
    "operation that a tool runs": lambda function: function.call("run_operation", {"name": LONG}),
    "variable of one": lambda function: function.call("run_operation", {"name": "A", "variables": {LONG: 1}}),
    "document that a tool asks": lambda function: function.call("ask_graphql", {"query": "{ " + LONG[:150_000] + " }"}),
}


@pytest.mark.lambda_alone
@pytest.mark.parametrize("name", REQUESTS)
def test_long_name_is_not_repeated_whole(function: Function, name: str) -> None:
    answer = REQUESTS[name](function)

    assert len(answer.body) < MAX_ERROR_BYTES
    assert b"error" in answer.body or b"isError" in answer.body


def test_long_progress_token_gets_no_reports(function: Function) -> None:
    for token, reports in (("x" * 1_000, 3), ("x" * 1_001, 0)):
        answer = function.request(
            "tools/call",
            {"name": "count", "arguments": {"to": 3}, "_meta": {"progressToken": token}},
            headers={"accept": "application/json, text/event-stream"},
        )

        assert answer.body.count(b"notifications/progress") == reports


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.call(LONG),
        lambda client: client.get_prompt(LONG),
        lambda client: client.read_resource(f"things://{LONG}"),
    ],
)
def test_long_name_is_not_repeated_whole_to_a_kits_client(ask: Callable[[TestClient], object]) -> None:
    with pytest.raises(McpError) as caught:
        ask(TestClient(kit))

    assert len(str(caught.value)) < 250
    assert len(json.dumps(caught.value.data)) < 250
