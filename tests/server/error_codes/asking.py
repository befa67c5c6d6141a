"""An endpoint whose requests fail in every way, and the ways to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from handler.compiler.compile import Compiled
from tests.docs.reference import codes, page, tables
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.secrecy import SESSION

Ask = Callable[[Function], Answer]

STATE_KEY = SESSION.keep("a key of states", "kP4v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsE")
JSON = {"content_type": "application/json"}
DOWN = "http://127.0.0.1:1/graphql"
ROUTE = "/graphql"

MINE = "query Mine($n: Int!) { mine(n: $n) }"
SET = "mutation Set($n: Int!) @mcpTool(name: {name}, confirm: {confirm}) {{ set(n: $n) }}"
FILES = {
    "index.graphql": """
extend schema @tool(name: "g", graphql: {expose: true, types: "Query|Mutation", fields: ".*"})
type Query { a: Int, number(n: Int!): Int, mine(n: Int!): Int, secret: Int }
type Mutation { set(n: Int!): Int }
""",
    "operations/a.graphql": 'query A @mcpTool(name: "a") { a }',
    "operations/number.graphql": 'query Number($n: Int!) @mcpTool(name: "number") { number(n: $n) }',
    "operations/scoped.graphql": 'query Scoped @mcpTool(name: "scoped", scopes: ["things:read"]) { a }',
    "operations/of_tenant.graphql": (
        'query OfTenant($n: Int! @mcpBind(claim: "tenant")) @mcpTool(name: "of_tenant") { number(n: $n) }'
    ),
    "operations/secret.graphql": 'query Secret @mcpTool(name: "secret") { secret }',
    "operations/mine.graphql": MINE.replace("($n", "($n").replace(") {", ') @mcpTool(name: "mine") {', 1),
    "operations/advisory.graphql": SET.format(name='"advisory"', confirm="advisory"),
    "operations/required.graphql": SET.format(name='"required"', confirm="required").replace("Set", "SetAlways"),
    "prompts/p.md": "---\narguments: [{name: topic, required: true}]\n---\nWrite about {{topic}}.",
}
CONFIG = """
upstream: {{url: '{url}', timeout_s: 1{upstream}}}
graphql: {mode}
access:
  anonymous: {anonymous}
  policies:
    - type: Query
      rules:
        - {{condition: false, fields: [secret]}}
        - {{condition: "$variables.n:Int == 1", fields: [mine]}}
      policyDefault: {{condition: true}}
    - {{type: Mutation, policyDefault: {{condition: true}}}}
"""


def endpoint(
    folder: Path, *, url: str = DOWN, mode: str = "on", anonymous: str = "allow", upstream: str = ""
) -> Compiled:
    config = CONFIG.format(url=url, mode=mode, anonymous=anonymous, upstream=upstream)
    return compiled(folder, {**FILES, "config.yaml": config})


@contextmanager
def running(made: Compiled, **services: Any) -> Iterator[Function]:
    with running_function(made, **services) as function:
        yield replace(function, path="/api/things/mcp")


@contextmanager
def serving(folder: Path, *, url: str = DOWN, upstream: str = "", **services: Any) -> Iterator[Function]:
    with running(endpoint(folder, url=url, upstream=upstream), **services) as started:
        yield started


def expect(function: Function, ask: Ask, status: int, code: str) -> Answer:
    """Ask, and require the status, the code in the answer, and the same code in the log."""
    answered = ask(function)
    noted = function.lines[-1]

    assert (answered.status, answered.code, noted.get("code")) == (status, code, code), answered.body
    assert noted.get("failure") is None
    return answered


def call(tool: str, arguments: Any = None, *, headers: dict[str, str] | None = None) -> Ask:
    params = {"name": tool, "arguments": {} if arguments is None else arguments}
    return lambda function: function.request("tools/call", params, modern=True, headers=headers)


def ask(method: str, **params: Any) -> Ask:
    return lambda function: function.request(method, params, modern=True)


def asked_of(query: str, path: str = ROUTE, **more: Any) -> Ask:
    headers = more.pop("headers", None)
    return lambda function: function.graphql({"query": query, **more}, path, headers=headers)


def sent(method: str, path: str, *, body: str = "{}", **headers: str) -> Ask:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda function: function.send(method, path, body=body, headers=named)


def posted(message: Any, **headers: str) -> Ask:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda function: function.post(message, headers=named)


def id_of(name: str) -> str:
    return f"sha256:{sha256(FILES[f'operations/{name}.graphql'].encode()).hexdigest()}"


def persisted(name: str, **variables: Any) -> Ask:
    return lambda function: function.graphql({"documentId": id_of(name), "variables": variables})


def rows() -> dict[str, list[str]]:
    """The rows of the page of codes, by code."""
    found = tables(page("reference/request-errors").text)
    return {codes(row[0])[0]: row for rows in found for row in rows[1:] if codes(row[0])}
