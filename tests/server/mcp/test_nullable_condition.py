"""The documented ``get_employee``, whose operation is not quite valid, is called as it is documented.

Source: Cosmo, "Add @mcpToolArg directive for MCP argument descriptions".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, graphql_sync

from tests.support.endpoints import READABLE, compiled
from tests.support.function import running_function
from tests.support.raw_http import Peer, answer, running_server

SDL = """
type Query { employee(id: Int!): Employee }
type Employee { id: Int! name: String! details: Details }
type Details { email: String! department: String! }
"""
OPERATION = '''
"""
Retrieve an employee by their unique identifier.
"""
query GetEmployee(
  $id: Int! @mcpToolArg(description: "The unique employee identifier")
  $includeDetails: Boolean @mcpToolArg(description: "Include extended profile details")
) @mcpTool(name: "get_employee") {
  employee(id: $id) {
    id
    name
    details @include(if: $includeDetails) { email department }
  }
}
'''
DETAILS = {"email": "a@example.com", "department": "Sales"}
PLAIN = {"id": 7, "name": "Ada"}


def executed(body: dict[str, Any]) -> dict[str, Any]:
    """What a server with this schema answers."""
    root = {"employee": lambda _, id: {**PLAIN, "details": DETAILS}}  # noqa: A006 - the argument's name
    result = graphql_sync(
        build_schema(SDL), body["query"], root, variable_values=body.get("variables"), operation_name="GetEmployee"
    )
    return dict(result.formatted)


@pytest.mark.parametrize(
    ("given", "with_details"),
    [
        ({}, False),
        ({"includeDetails": None}, False),
        ({"includeDetails": False}, False),
        ({"includeDetails": True}, True),
    ],
)
def test_documented_tool_with_a_nullable_condition_works(
    tmp_path: Path, given: dict[str, Any], *, with_details: bool
) -> None:
    bodies: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(json.dumps(executed(bodies[-1])).encode(), content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}graphql'}}\n{READABLE}"
        files = {"index.graphql": SDL, "operations/o.graphql": OPERATION, "config.yaml": config}
        with running_function(compiled(tmp_path, files)) as function:
            (tool,) = function.request("tools/list").result["tools"]
            result = function.call("get_employee", {"id": 7, **given}).result

    assert tool["inputSchema"] == {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "The unique employee identifier"},
            "includeDetails": {"type": "boolean", "description": "Include extended profile details"},
        },
        "required": ["id"],
    }
    assert tool["description"] == "Retrieve an employee by their unique identifier."
    employee = {**PLAIN, "details": DETAILS} if with_details else PLAIN
    assert result["structuredContent"] == {"data": {"employee": employee}}
    assert "isError" not in result
    assert None not in bodies[0]["variables"].values()


# GraphQL, "All Variables Used": a server refuses an operation that declares a variable and does not use it.
@pytest.mark.parametrize("tool", ["flat", "prescribed"])
def test_operation_with_an_unused_variable_is_called_at_a_server_that_refuses_it(tmp_path: Path, tool: str) -> None:
    bodies: list[dict[str, Any]] = []

    def strict(body: dict[str, Any]) -> dict[str, Any]:
        root = {"employee": lambda _, id: PLAIN}  # noqa: A006 - the argument's name
        result = graphql_sync(build_schema(SDL), body["query"], root, variable_values=body.get("variables"))
        return dict(result.formatted)

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(json.dumps(strict(bodies[-1])).encode(), content_type="application/json"))

    with running_server(script) as server:
        files = {
            "index.graphql": f'extend schema @tool(name: "prescribed", prescribed: "Named"){SDL}',
            "operations/flat.graphql": 'query Flat($id: Int!, $unused: String!) @mcpTool(name: "flat") '
            "{ employee(id: $id) { name } }",
            "operations/named.graphql": "query Named($id: Int!, $unused: String!) { employee(id: $id) { name } }",
            "config.yaml": f"{READABLE}upstream: {{url: '{server.url}'}}\n",
        }
        with running_function(compiled(tmp_path, files)) as function:
            arguments: dict[str, Any] = {"id": 7}
            called = function.call(tool, arguments if tool == "flat" else {"variables": arguments})

    assert called.result["structuredContent"] == {"data": {"employee": {"name": "Ada"}}}
    assert bodies[0]["variables"] == {"id": 7}
