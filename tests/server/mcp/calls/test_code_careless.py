"""What careless code of an author cannot do: change who calls, what is asked, or how an answer looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from handler.server.auth.sealed_state import RequestStates
from tests.support.acme_careless import ODD
from tests.support.endpoints import compiled
from tests.support.function import META, MODERN, Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.kits import with_kit
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream

STATE_KEY = SESSION.keep("a key of states", "cT6v9Xq2Zc7Lr1Tb6Wn8Kd3Hf5Jp0GsU")
MODULE = "tests.support.acme_careless"
CLAIMS = {"sub": "ada", "role": "clerk", "teams": ["sales"]}
FAILED = [{"type": "text", "text": "Tool execution failed"}]

FILES = {
    "index.graphql": "type Query { customer(email: String!): Customer } type Customer { name: String! }",
    "operations/secret.graphql": "query Secret($email: String!) { customer(email: $email) { name } }",
}
BY_ROLE = '$jwt.role:String == "admin"'
BY_ROLE_AND_VARIABLE = '$jwt.role:String == "admin" && $variables.email:String != ""'


def config(upstream: Upstream, condition: str) -> str:
    policy = f"{{type: Query, rules: [{{condition: '{condition}', fields: [customer]}}]}}"
    return f"upstream: {{url: '{upstream.url}'}}\naccess: {{policies: [{policy}]}}\n"


@contextmanager
def serving(folder: Path, upstream: Upstream, condition: str = BY_ROLE) -> Iterator[Function]:
    upstream.clear()
    own = compiled(folder, {**FILES, "config.yaml": config(upstream, condition)})
    endpoint = with_kit(identified(own, CLAIMS), f"{MODULE}:kit")
    with running_function(endpoint, code_modules=[MODULE], states=RequestStates([STATE_KEY])) as running:
        yield running


@pytest.fixture
def function(tmp_path: Path, upstream: Upstream) -> Iterator[Function]:
    with serving(tmp_path, upstream) as running:
        yield running


def called(function: Function, tool: str, arguments: Mapping[str, Any], **more: Any) -> Answer:
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    params = {"name": tool, "arguments": arguments, "_meta": meta, **more}
    routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return function.post(message, headers={**routing, **HOLDER})


def test_claims_that_a_tool_changes_are_those_of_its_call_alone(function: Function) -> None:
    claims = {"role": "clerk", "teams": ["sales"]}

    assert called(function, "promote", {}).result["structuredContent"] == claims
    assert called(function, "promote", {}).result["structuredContent"] == claims


@pytest.mark.parametrize("condition", [BY_ROLE, BY_ROLE_AND_VARIABLE])
def test_policies_judge_the_claims_of_the_caller_whatever_a_tool_makes_of_them(
    tmp_path: Path, upstream: Upstream, condition: str
) -> None:
    with serving(tmp_path, upstream, condition) as function:
        first, second = called(function, "secret", {}), called(function, "secret", {})

    assert first.result["isError"]
    assert second.result["isError"]
    assert upstream.requests() == []


@pytest.fixture
def raised_recursion_limit() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(30_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("what", ["depth", "depth of the state"])
@pytest.mark.usefixtures("raised_recursion_limit")
def test_what_is_too_deep_does_not_hang_on_how_deep_python_goes(function: Function, what: str) -> None:
    assert called(function, "odd", {"what": what}).result["content"] == FAILED


@pytest.mark.parametrize("what", ODD)
def test_what_cannot_be_sent_is_a_failure_of_the_tool(function: Function, what: str) -> None:
    answer = called(function, "odd", {"what": what})

    assert (answer.status, answer.result["content"], answer.result["isError"]) == (200, FAILED, True)


def test_state_is_for_the_arguments_as_they_were_sent(function: Function) -> None:
    arguments = {"filter": {"empty": "", "city": "Oslo"}}
    state = called(function, "tidy", arguments).result["requestState"]

    again = called(function, "tidy", arguments, requestState=state, inputResponses={"sure": {"action": "accept"}})

    assert again.text == "done"


def test_arguments_that_are_nested_too_deeply_are_refused_whatever_the_schema_takes(function: Function) -> None:
    deep: Any = []
    for _ in range(200):
        deep = [deep]

    answer = called(function, "tidy", {"filter": deep})

    assert answer.text == "Invalid arguments for tool tidy: /: nested more than 64 deep"
