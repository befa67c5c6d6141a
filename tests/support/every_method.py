"""An endpoint that has something for every MCP method, and a call of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import RequestStates
from handler.server.mcp.jsonrpc import NAMED_METHODS
from handler.server.mcp.revisions import LEGACY, MODERN
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import META, Answer, Function, running_function
from tests.support.kits import with_catalog, with_kit
from tests.support.secrecy import SESSION

MODULES = ("tests.support",)
STATE_KEY = SESSION.keep("a key of states", "mW3v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")

FILES = {
    "index.graphql": """
schema @tool(name: "look-up", graphql: [{expose: true, types: "Query", fields: "customer"}]) {
  query: Query
  mutation: Mutation
}
type Query { customer(email: String!): Customer }
type Mutation { placeOrder(customerId: ID!): Customer }
type Customer { id: ID! name: String! email: String }
""",
    "operations/o.graphql": """
query ByEmail($email: String!) @mcpTool(name: "by-email") { customer(email: $email) { name email } }
mutation Order($id: ID!) @mcpTool(name: "order", confirm: required) { placeOrder(customerId: $id) { id } }
""",
    "prompts/review.md": """\
---
title: Review
arguments:
  - {name: number, required: true}
  - {name: tone, values: [formal, friendly]}
---
Review {{number}}: {{tone}}.
""",
    "resources/notes.md": "# Notes\n",
}

EMAIL = "elif.nunez@example.com"
DOCUMENT = f'{{ customer(email: "{EMAIL}") {{ name }} }}'
ASKING = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
NOTES = "stile://api/things/resources/notes.md"
REVIEW = {"type": "ref/prompt", "name": "review"}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools": ("tools/list", {}),
    "prescribed": ("tools/call", {"name": "by-email", "arguments": {"email": EMAIL}}),
    "prescribed, misfit": ("tools/call", {"name": "by-email", "arguments": {"email": 7}}),
    "graphql": ("tools/call", {"name": "look-up", "arguments": {"query": DOCUMENT}}),
    "graphql, refused": ("tools/call", {"name": "look-up", "arguments": {"query": "{ nothing }"}}),
    "code": ("tools/call", {"name": "count", "arguments": {"to": 2}}),
    "code, failing": ("tools/call", {"name": "count", "arguments": {"to": 1, "stumble": True}}),
    "code, repeated in headers": ("tools/call", {"name": "look", "arguments": {"limit": None}}),
    "catalog": ("tools/call", {"name": "catalog", "arguments": {}}),
    "prompts": ("prompts/list", {}),
    "prompt": ("prompts/get", {"name": "review", "arguments": {"number": "7", "tone": "formal"}}),
    "resources": ("resources/list", {}),
    "templates": ("resources/templates/list", {}),
    "resource": ("resources/read", {"uri": NOTES}),
    "completion": ("completion/complete", {"ref": REVIEW, "argument": {"name": "tone", "value": "f"}}),
}
"""In every revision."""

LEGACY_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "initialize": (
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
    ),
    "ping": ("ping", {}),
    "level": ("logging/setLevel", {"level": "info"}),
}

MODERN_CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "discover": ("server/discover", {}),
    "asks first": ("tools/call", {"name": "order", "arguments": {"id": "1"}, "_meta": ASKING}),
}


def message_of(revision: str, method: str, params: Mapping[str, Any], *, identifier: Any = 1) -> dict[str, Any]:
    """The body of a request as a client of this revision writes it."""
    if revision in MODERN:
        params = {**params, "_meta": {**META, **params.get("_meta", {})}}
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def headers_of(revision: str, method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a request as a client of this revision writes them."""
    told = {"accept": "application/json, text/event-stream", "mcp-protocol-version": revision}
    if revision in LEGACY:
        return {"accept": told["accept"]} if method == "initialize" else told
    name = {"mcp-name": params[NAMED_METHODS[method]]} if method in NAMED_METHODS else {}
    return {**told, "mcp-method": method, **name}


def ask(function: Function, revision: str, method: str, params: Mapping[str, Any]) -> Answer:
    """Send a request as a client of this revision does."""
    return function.post(message_of(revision, method, params), headers=headers_of(revision, method, params))


def every_endpoint(folder: Path, url: str) -> Compiled:
    """The endpoint, asking an API at ``url``."""
    config = f"upstream: {{url: '{url}'}}\ninstructions: Be kind.\n{PUBLIC}"
    made = compiled(folder, {**FILES, "config.yaml": config})
    return with_catalog(with_kit(made, "tests.support.acme_signals:kit"), hidden=False)


@contextmanager
def running_every(endpoint: Compiled) -> Iterator[Function]:
    """A function that serves it, with the key that all of its instances have."""
    with running_function(endpoint, code_modules=MODULES, states=RequestStates([STATE_KEY])) as function:
        yield function
