"""Completion of what a user types into an argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mcp_types import methods as oracle

from handler.compiler.compile import Compiled
from handler.server.mcp.revisions import LEGACY, MODERN
from tests.graph.documents.test_limits import calls
from tests.support.codes import rpc_error
from tests.support.endpoints import READABLE, compiled
from tests.support.function import Answer, Function, running_function

STATES = ", ".join(f"state-{number:03}" for number in range(150))
FILES = {
    "index.graphql": "type Query { a: Int }\n",
    "config.yaml": READABLE,
    "prompts/p.md": (
        "---\narguments:\n"
        "  - {name: tone, values: [Formal, friendly, STRASSE, straße]}\n"
        f"  - {{name: state, values: [{STATES}]}}\n"
        "  - {name: free}\n"
        "---\n{{tone}} {{state}} {{free}}\n"
    ),
    "prompts/hidden.md": "---\narguments: [{name: a, values: [x]}]\ncondition: false\n---\n{{a}}\n",
}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("completion"), FILES)


@pytest.fixture
def function(endpoint: Compiled) -> Iterator[Function]:
    with running_function(endpoint) as running:
        yield running


def complete(function: Function, argument: str, begun: str, *, name: str = "p", **more: Any) -> Answer:
    ref = {"type": "ref/prompt", "name": name}
    return function.request("completion/complete", {"ref": ref, "argument": {"name": argument, "value": begun}}, **more)


def values(function: Function, argument: str, begun: str) -> list[str]:
    found: list[str] = complete(function, argument, begun).result["completion"]["values"]
    return found


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        ("", ["Formal", "friendly", "STRASSE", "straße"]),
        ("f", ["Formal", "friendly"]),
        ("FR", ["friendly"]),
        ("straß", ["STRASSE", "straße"]),
        ("x", []),
        ("f.*", []),
    ],
)
def test_values_that_begin_with_the_text_are_offered_in_either_case(
    function: Function, begun: str, found: list[str]
) -> None:
    assert values(function, "tone", begun) == found


def test_a_hundred_values_are_offered_and_all_are_counted(function: Function) -> None:
    completion = complete(function, "state", "STATE-").result["completion"]

    assert (len(completion["values"]), completion["total"], completion["hasMore"]) == (100, 150, True)
    assert complete(function, "state", "state-1").result["completion"]["hasMore"] is False


def test_argument_that_takes_any_text_has_no_values(function: Function) -> None:
    assert complete(function, "free", "a").result["completion"] == {"values": [], "total": 0, "hasMore": False}


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
def test_result_is_valid_at_its_revision(function: Function, revision: str) -> None:
    modern = revision in MODERN
    headers = {} if modern else {"mcp-protocol-version": revision}

    result = complete(function, "tone", "f", modern=modern, headers=headers).result

    oracle.validate_server_result("completion/complete", revision, result)


@pytest.mark.parametrize("name", ["hidden", "nonsense"])
def test_prompt_of_others_and_one_that_does_not_exist_are_the_same(function: Function, name: str) -> None:
    error = complete(function, "a", "", name=name).json["error"]

    assert error == rpc_error(-32602, f"Unknown prompt: {name}", "prompt-not-found")


def test_unknown_argument_is_invalid_params(function: Function) -> None:
    error = complete(function, "tones", "").json["error"]

    assert error == rpc_error(-32602, "Invalid params: the prompt p has no argument tones", "invalid-params")


def test_unknown_template_is_invalid_params_at_every_revision(function: Function) -> None:
    ref = {"type": "ref/resource", "uri": "things://{id}"}
    for modern in (True, False):
        params = {"ref": ref, "argument": {"name": "id", "value": ""}}
        error = function.request("completion/complete", params, modern=modern).json["error"]

        assert error == rpc_error(-32602, "Unknown resource template: things://{id}", "invalid-params")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/tool", "name": "p"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "p"}},
        {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "tone", "value": 5}},
        {"ref": "p", "argument": []},
    ],
)
def test_malformed_request_is_invalid_params(function: Function, params: dict[str, Any]) -> None:
    answer = function.request("completion/complete", params, modern=True)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)
    assert answer.json["error"]["message"].startswith("Invalid params: expected a ref")


@pytest.mark.lambda_alone
def test_text_longer_than_any_value_is_compared_with_none(function: Function) -> None:
    short = calls(lambda: values(function, "state", "x"))

    assert values(function, "state", "S" * 1_000_000) == []
    assert calls(lambda: values(function, "state", "ß" * 100_000)) + 100 < short  # of 150 values


def test_text_that_grows_when_it_is_folded_is_compared_as_a_whole(function: Function) -> None:
    assert values(function, "tone", "STRAß") == ["STRASSE", "straße"]
    assert values(function, "tone", "strassE") == ["STRASSE", "straße"]
