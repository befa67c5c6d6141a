"""What fills a bound variable when a tool is called, and what is answered where nothing does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.errors.calls import BindingMissing
from handler.server.upstream.bound_variables import bound_value
from tests.compiler.tools.test_bindings import ARGUMENTS, SDL
from tests.support.api import Reply, running_api
from tests.support.endpoints import READABLE, compiled, prescribed_tool
from tests.support.function import Answer, running_function
from tests.support.identities import HOLDER, identified
from tests.support.raw_http import Peer, answer, running_server


def called(
    folder: Path, type_: str, directive: str, *, headers: Mapping[str, str], arguments: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], Answer]:
    """What reaches the API, and what the caller gets, of a tool with one bound variable and one of the model's."""
    argument = ARGUMENTS[type_.removesuffix("!")]
    text = f"query O($n: Boolean = true, $x: {type_} {directive}) @mcpTool {{ a({argument}: $x) @include(if: $n) }}"
    bodies: list[dict[str, Any]] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(json.loads(request.split(b"\r\n\r\n", 1)[1]))
            peer.send(answer(b'{"data":{"a":1}}', content_type="application/json"))

    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}graphql'}}\n{READABLE}"
        made = compiled(folder, {"index.graphql": SDL, "operations/o.graphql": text, "config.yaml": config})
        with running_function(made) as function:
            return bodies, function.call("O", arguments, headers=headers)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("Int!", "7", 7), ("Int", "-7", -7), ("Float", "1.5", 1.5), ("Boolean", "True", True), ("String", "a b", "a b"),
        ("ID!", "7", "7"), ("Kind!", "ONE", "ONE"), ("Money", "12", "12"),
    ],
)  # fmt: skip
def test_header_fills_the_variable(tmp_path: Path, type_: str, text: str, value: Any) -> None:
    bodies, result = called(
        tmp_path, type_, '@mcpBind(header: "X-Tenant")', headers={"X-Tenant": text}, arguments={"n": False}
    )

    assert "isError" not in result.result
    assert [body["variables"] for body in bodies] == [{"n": False, "x": value}]


def test_constant_fills_the_variable(tmp_path: Path) -> None:
    bodies, _ = called(tmp_path, "[Int]", "@mcpBind(value: [1, 2])", headers={}, arguments={})

    assert [body["variables"] for body in bodies] == [{"x": [1, 2]}]


@pytest.mark.parametrize(
    ("type_", "text"),
    [("Int", "7.5"), ("Int", "9999999999"), ("Int", ""), ("Float", "a"), ("Float", "nan"), ("Float", "1e999"),
     ("Boolean", "1"), ("Kind", "THREE")],
)  # fmt: skip
def test_header_that_does_not_fit_is_refused_and_nothing_is_sent(tmp_path: Path, type_: str, text: str) -> None:
    bodies, result = called(tmp_path, type_, '@mcpBind(header: "x-t")', headers={"x-t": text}, arguments={})

    assert result.result["isError"] is True
    assert result.code == "binding-missing"
    assert "the request header x-t, which does not have the form that it needs." in result.text
    assert bodies == []


@pytest.mark.parametrize(
    ("directive", "where"),
    [('@mcpBind(header: "x-t")', "the request header x-t"), ('@mcpBind(claim: "org.id")', "the verified claim org.id")],
)
@pytest.mark.parametrize("type_", ["Int", "Int!"])
def test_what_is_missing_is_said_and_nothing_is_sent(tmp_path: Path, directive: str, where: str, type_: str) -> None:
    bodies, result = called(tmp_path, type_, directive, headers={"org.id": "7"}, arguments={})

    assert result.result["isError"] is True
    assert result.text.startswith(f"O fills a variable from {where}, which is missing. ")
    assert bodies == []


def test_model_can_neither_set_nor_override_it(tmp_path: Path) -> None:
    tried: list[dict[str, Any]] = [{"x": 1}, {"x": None}, {"variables": {"x": 1}}]
    for number, arguments in enumerate(tried):
        bodies, result = called(
            tmp_path / str(number), "Int", '@mcpBind(header: "x-t")', headers={"x-t": "7"}, arguments=arguments
        )
        assert result.text.startswith("Invalid arguments for tool O: /")
        assert bodies == []


CLAIMS = {"sub": "u1", "org": {"id": 7, "deep": {"er": [1]}}, "https://example.com/tenant": "t", "org.name": "dots"}


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("sub", "u1"), ("org.id", 7), ("org.deep.er", [1]), ("https://example.com/tenant", "t"), ("org.name", "dots"),
    ],
)  # fmt: skip
def test_claim_is_found_by_name_or_path(tmp_path: Path, claim: str, value: object) -> None:
    text = f'query O($x: Money @mcpBind(claim: "{claim}")) @mcpTool {{ a(money: $x) }}'
    tool = prescribed_tool(
        compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": text, "config.yaml": READABLE}), "O"
    )

    (binding,) = tool.bindings
    assert bound_value("O", binding, headers={}, claims=CLAIMS) == value
    with pytest.raises(BindingMissing) as caught:
        bound_value("O", binding, headers={claim: "forged"}, claims={"other": 1})
    assert (caught.value.source, caught.value.name, caught.value.misfit) == ("claim", claim, False)


@pytest.mark.parametrize(
    ("claims", "sent"),
    [({"org": {"id": 7}}, [{"n": True, "x": 7}]), ({"org": {"id": "seven"}}, []), ({"org": {}}, []),
     ({}, []), (None, [])],
)  # fmt: skip
def test_verified_claim_fills_the_variable_and_nothing_that_a_caller_sends_does(
    tmp_path: Path, claims: Mapping[str, Any] | None, sent: list[dict[str, Any]]
) -> None:
    text = 'query O($n: Boolean, $x: Int! @mcpBind(claim: "org.id")) @mcpTool { a(int: $x) @include(if: $n) }'
    with running_api(lambda _: Reply({"data": {"a": 1}})) as api:
        config = f"upstream: {{url: '{api.url}'}}\n{READABLE}"
        made = compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": text, "config.yaml": config})
        with running_function(identified(made, claims)) as function:
            headers = {**HOLDER, "org.id": "1", "org": "1", "x": "1"}
            answer = function.call("O", {"n": True}, headers=headers)
            anonymous = function.call("O", {"n": True}, headers={"org.id": "1"})

        assert [each.json["variables"] for each in api.asked] == sent
    assert answer.result.get("isError", False) is not bool(sent)
    assert "the verified claim org.id, which" in answer.text or sent
    assert "the verified claim org.id, which is missing" in anonymous.text
