"""``@mcpBind``: where a variable's value comes from, decided and typed at deploy time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import Binding, PrescribedTool
from tests.support.endpoints import READABLE, compiled, doubted, prescribed_tool, reported

SDL = """
type Query {
  a(int: Int float: Float flag: Boolean text: String id: ID kind: Kind money: Money list: [Int] in: In): Int
}
enum Kind { ONE TWO }
scalar Money
input In { n: Int! }
"""
ARGUMENTS = {
    "Int": "int", "Float": "float", "Boolean": "flag", "String": "text", "ID": "id", "Kind": "kind", "Money": "money",
    "[Int]": "list", "In": "in",
}  # fmt: skip


def operation(type_: str, directive: str) -> str:
    argument = ARGUMENTS[type_.removesuffix("!")]
    return f"query O($n: Int, $x: {type_} {directive}) @mcpTool {{ a({argument}: $x, int: $n) }}".replace(
        "a(int: $x, int: $n)", "a(int: $x) b: a(int: $n)"
    )


def files_of(type_: str, directive: str) -> dict[str, str]:
    return {"index.graphql": SDL, "operations/o.graphql": operation(type_, directive), "config.yaml": READABLE}


def tool_of(folder: Path, type_: str, directive: str) -> PrescribedTool:
    return prescribed_tool(compiled(folder, files_of(type_, directive)), "O")


def binding_of(folder: Path, type_: str, directive: str) -> Binding:
    (binding,) = tool_of(folder, type_, directive).bindings
    return binding


def test_bound_variable_is_neither_shown_nor_taken_and_stays_in_the_text(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "Int!", '@mcpBind(header: "X-Tenant")')

    assert tool.entry["inputSchema"] == {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert set(tool.arguments["properties"]) == {"n"}
    assert tool.arguments["additionalProperties"] is False
    assert "$x: Int!)" in tool.operation.text
    assert "mcpBind" not in tool.operation.text
    assert tool.bound["required"] == ["x"]


@pytest.mark.parametrize(
    ("type_", "read_as"),
    [
        ("Int!", "integer"), ("Int", "integer"), ("Float", "number"), ("Boolean!", "boolean"), ("String", "string"),
        ("ID!", "string"), ("Kind", "string"), ("Money", "string"),
    ],
)  # fmt: skip
def test_header_is_read_as_the_variables_type_asks(tmp_path: Path, type_: str, read_as: str) -> None:
    assert binding_of(tmp_path, type_, '@mcpBind(header: "X-Tenant")') == Binding(
        variable="x", source="header", name="x-tenant", value=None, read_as=read_as
    )


@pytest.mark.parametrize(
    ("type_", "literal", "value"),
    [
        ("Int", "7", 7), ("Int", "null", None), ("Float", "7", 7), ("Boolean!", "true", True), ("String", '"a"', "a"),
        ("ID", "7", "7"), ("Kind", "TWO", "TWO"), ("Money", '{a: [1, "b"]}', {"a": [1, "b"]}),
        ("[Int]", "[1, null]", [1, None]),
        ("[Int]", "1", [1]), ("In!", "{n: 5}", {"n": 5}),
    ],
)  # fmt: skip
def test_constant_is_the_json_of_its_literal(tmp_path: Path, type_: str, literal: str, value: Any) -> None:
    assert binding_of(tmp_path, type_, f"@mcpBind(value: {literal})") == Binding(
        variable="x", source="value", name="", value=value, read_as=""
    )


def test_claim_may_be_a_path(tmp_path: Path) -> None:
    assert binding_of(tmp_path, "In!", '@mcpBind(claim: "org.id")') == Binding(
        variable="x", source="claim", name="org.id", value=None, read_as=""
    )


WRONG = {
    ("Int", '@mcpBind(value: "7")'): "1:42 wrong-value: Int & $x",
    ("Int!", "@mcpBind(value: null)"): "1:43 wrong-value: Int! & $x",
    ("Kind", "@mcpBind(value: THREE)"): "1:43 wrong-value: Kind & $x",
    ("In!", "@mcpBind(value: {})"): "1:42 wrong-value: In! & $x",
    ("Int", "@mcpBind"): "1:26 invalid-binding: @mcpBind & $x & one of claim, header or value",
    ("Int", '@mcpBind(header: "a", value: 1)'): "1:26 invalid-binding: @mcpBind & $x & one of claim, header or value",
    ("Int", '@mcpBind(claim: " ")'): "1:42 invalid-binding: @mcpBind & $x & name",
    ("Int", '@mcpBind(claim: "$jwt.org.id")'): "1:42 invalid-binding: @mcpBind & $x & expected org.id",
    ("Int", '@mcpBind(claim: "claim:sub")'): "1:42 invalid-binding: @mcpBind & $x & expected sub",
    ("Int", '@mcpBind(header: "Authorization")'): '1:43 invalid-binding: @mcpBind & "authorization" & credential',
    ("Int", '@mcpBind(header: "X-API-Key")'): '1:43 invalid-binding: @mcpBind & "x-api-key" & credential',
    ("Int", '@mcpBind(header: "x-forwarded-for")'): '1:43 invalid-binding: @mcpBind & "x-forwarded-for"',
    ("Int", '@mcpBind(header: "a b")'): '1:43 invalid-binding: @mcpBind & "a b" & header name',
    ("[Int]", '@mcpBind(header: "a")'): "1:45 invalid-binding: $x is [Int]",
    ("In!", '@mcpBind(header: "a")'): "1:43 invalid-binding: $x is In!",
    ("Int", '@mcpBind(header: "a") @mcpBind(value: 1)'): "1:48 repeated-directive: @mcpBind & $x",
    ("Int", '@mcpBind(claims: "a")'): '1:35 unknown-argument: @mcpBind & "claims" & did you mean claim?',
}


@pytest.mark.parametrize(("type_", "directive"), WRONG)
def test_binding_that_cannot_be_is_reported_at_its_place(tmp_path: Path, type_: str, directive: str) -> None:
    assert reported(tmp_path, files_of(type_, directive)) == [f"operations/o.graphql:{WRONG[type_, directive]}"]


def test_description_of_a_bound_variable_is_doubted(tmp_path: Path) -> None:
    index = 'extend schema @tool(name: "t", prescribed: "O", descriptions: {name: "x", value: "never shown"})' + SDL
    text = operation("Int", "@mcpBind(value: 1)").replace("@mcpTool", "")

    assert doubted(tmp_path, {"index.graphql": index, "operations/o.graphql": text, "config.yaml": READABLE}) == [
        'index.graphql:1:15 unknown-parameter: @tool & "t" & "x"'
    ]
