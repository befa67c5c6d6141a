"""What the enforced schema takes is what GraphQL takes: graphql-core's coercion of variables is the oracle.

Every difference between what is advertised, what is enforced and what GraphQL takes stands in ``DIFFERENCES``.
"""

from __future__ import annotations

import re
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import pytest
from graphql import (
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSchema,
    OperationDefinitionNode,
    build_schema,
    get_named_type,
    parse,
    type_from_ast,
)
from graphql.execution.values import get_variable_values
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from handler.bundle.tools import PrescribedTool
from handler.errors.calls import InvalidArguments
from handler.server.endpoints.arguments_validator import ArgumentsValidator
from tests.compiler.json_schemas.random_operations import CONFIG, object_values, operations
from tests.support.endpoints import compiled, prescribed_tool
from tests.support.examples import examples


class Difference(NamedTuple):
    """One value of one type, and who takes it."""

    type: str
    value: Any
    advertised: bool
    enforced: bool
    graphql: bool
    reason: str


DIFFERENCES = [
    Difference("Int", None, False, True, True, "models are not told of null: they can leave out what is optional"),
    Difference("ID", 5, False, True, True, "every GraphQL server takes an integer for ID; text is what it becomes"),
    Difference("Int", 5.0, True, True, True, "JSON Schema and JavaScript know one kind of 5"),
    Difference("ID", 5.0, False, True, True, "as for Int"),
    Difference("Int", 2**31, True, False, False, "the bounds would take bytes in every Int that is advertised"),
    Difference("Float", 10**400, True, False, False, "no double holds it, so no server takes it"),
    Difference("Float", 2**53 + 1, True, True, False, "graphql-core minds the lost digit; other servers round"),
    Difference("[Int]", 5, False, True, True, "GraphQL makes a list of it; models are told to send a list"),
    Difference("[[Int]]", 5, False, True, True, "as for a list: every edition of the specification has it"),
    Difference("[[Int]]", [5], False, False, True, "an error until the edition of 2025, so older servers refuse it"),
    Difference("In", {"other": 1}, True, False, False, "the documented schemas say nothing of other names"),
    Difference("BigInt", "five", True, False, False, "a description says it; a pattern would say it once more"),
    Difference("DateTime", "2026-01-31", False, True, True, "RFC 3339 has a time and an offset, many servers do not"),
    Difference("Money", "12.9", False, True, False, "an author's pattern is for clients, and the API judges"),
]  # fmt: skip

UNKNOWN_NAME = "GraphQL ignores variables that are not declared; here they are refused, for they are mostly misspelt"


def refuse(value: Any) -> Any:
    raise ValueError(value)


def read_big_integer(value: Any) -> Any:
    is_whole = isinstance(value, str) or (type(value) in (int, float) and value == int(value))
    return int(value) if is_whole else refuse(value)


def read_text(value: Any) -> Any:
    return value if isinstance(value, str) else refuse(value)


def read_money(value: Any) -> Any:
    is_money = isinstance(value, str) and re.fullmatch(r"[0-9]+\.[0-9]{2}", value)
    return value if is_money else refuse(value)


READERS: dict[str, Callable[[Any], Any]] = {
    "DateTime": datetime.fromisoformat,
    "UUID": uuid.UUID,
    "BigInt": read_big_integer,
    "Money": read_money,
    "Opaque": lambda value: value,
}
"""Custom scalars as a server has them, by the standard library's readers."""


def graphql_schema(sdl: str) -> GraphQLSchema:
    schema = build_schema(sdl)
    for name, read in READERS.items():
        scalar: Any = schema.type_map.get(name)
        if scalar:
            scalar.coerce_input_value = read
    return schema


def graphql_takes(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: dict[str, Any]) -> bool:
    found = get_variable_values(schema, operation.variable_definitions or (), variables)
    return not isinstance(found, list)


def operation_in(text: str) -> OperationDefinitionNode:
    (node,) = parse(text.replace("@mcpTool", "")).definitions
    assert isinstance(node, OperationDefinitionNode)
    return node


def enforced_takes(tool: PrescribedTool, arguments: dict[str, Any]) -> bool:
    try:
        ArgumentsValidator(tool.name, tool.arguments).check(arguments)
    except InvalidArguments:
        return False
    return True


def advertised_takes(tool: PrescribedTool, arguments: dict[str, Any]) -> bool:
    return Draft202012Validator(tool.entry["inputSchema"], format_checker=Draft202012Validator.FORMAT_CHECKER).is_valid(
        arguments
    )


NESTED = 'extend schema @tool(name: "nested", prescribed: "O")\n'


def tools_of(folder: Any, sdl: str, operation: str) -> tuple[PrescribedTool, PrescribedTool]:
    """The same operation as a flat tool and as one whose variables stand below ``variables``."""
    files = {"index.graphql": NESTED + sdl, "operations/o.graphql": operation, "config.yaml": CONFIG}
    made = compiled(folder, {**files, "config.yaml": CONFIG if "scalar Money" in sdl else ""})
    return prescribed_tool(made, "O"), prescribed_tool(made, "nested")


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda one: f"{one.type} {one.value!r:.20}")
def test_every_known_difference_is_one(tmp_path: Any, difference: Difference) -> None:
    sdl = f"""
        scalar BigInt scalar DateTime scalar Money input In {{ x: Int }}
        type Query {{ a(x: {difference.type}, m: Money): Int }}
    """
    text = f"query O($x: {difference.type}) @mcpTool {{ a(x: $x) }}"
    given = {"x": difference.value}

    for tool in tools_of(tmp_path, sdl, text):
        arguments = given if tool.flat else {"variables": given}
        assert advertised_takes(tool, arguments) == difference.advertised
        assert enforced_takes(tool, arguments) == difference.enforced
    assert graphql_takes(graphql_schema(sdl), operation_in(text), given) == difference.graphql
    assert difference.reason


def test_undeclared_variables_are_a_known_difference(tmp_path: Any) -> None:
    sdl, text = "type Query { a(x: Int): Int }", "query O($x: Int) @mcpTool { a(x: $x) }"

    flat, nested = tools_of(tmp_path, sdl, text)

    assert graphql_takes(graphql_schema(sdl), operation_in(text), {"y": 1})
    assert not enforced_takes(flat, {"y": 1})
    assert not enforced_takes(nested, {"variables": {"y": 1}})
    assert UNKNOWN_NAME


def test_enforced_schema_takes_what_graphql_takes_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")
    counted: Counter[str] = Counter()

    # Not made smaller where it fails: every smaller schema would be compiled again.
    @settings(max_examples=examples(150), derandomize=True, deadline=None, database=None, phases=[Phase.generate])
    @given(st.data())
    def check(data: st.DataObject) -> None:
        operation = data.draw(operations())
        tools = tools_of(folder, operation.sdl, operation.text)
        schema, node = graphql_schema(operation.sdl), operation_in(operation.text)
        money: Any = schema.type_map["Money"]
        money.coerce_input_value = read_text  # an author's pattern is not enforced, as DIFFERENCES say
        for tool in tools:
            Draft202012Validator.check_schema(tool.entry["inputSchema"])
            Draft202012Validator.check_schema(tool.arguments)
        for place in range(10):
            plain = place < 3
            given = data.draw(object_values(operation.variables, operation.objects, plain=plain, depth=3))
            expected = graphql_takes(schema, node, given) and not is_known_difference(schema, node, given)
            counted["taken" if expected else "refused"] += 1
            for tool in tools:
                arguments = given if tool.flat else {"variables": given}
                assert enforced_takes(tool, arguments) == expected, (operation.sdl, operation.text, given)
                assert not plain or (expected and advertised_takes(tool, arguments)), (operation.text, given)

    check()

    assert sum(counted.values()) >= examples(1_000)
    assert min(counted["taken"], counted["refused"]) >= examples(300), counted


def is_known_difference(schema: GraphQLSchema, node: OperationDefinitionNode, given: dict[str, Any]) -> bool:
    """Whether there is something among the values that GraphQL takes and the enforced schema refuses."""
    types = {one.variable.name.value: type_from_ast(schema, one.type) for one in node.variable_definitions or ()}
    if set(given) - set(types):
        return True
    return any(has_single_in_nested_list(types[name], value) for name, value in given.items())


def has_single_in_nested_list(type_: Any, value: Any) -> bool:
    """Whether one value stands for a list within a list somewhere; see ``[[Int]]`` in ``DIFFERENCES``."""
    if isinstance(type_, GraphQLNonNull):
        return has_single_in_nested_list(type_.of_type, value)
    if isinstance(type_, GraphQLList) and isinstance(value, list):
        item = type_.of_type.of_type if isinstance(type_.of_type, GraphQLNonNull) else type_.of_type
        is_nested = isinstance(item, GraphQLList)
        return any(
            (is_nested and one is not None and not isinstance(one, list)) or has_single_in_nested_list(item, one)
            for one in value
        )
    if isinstance(type_, GraphQLList):
        return has_single_in_nested_list(get_named_type(type_), value)
    if isinstance(type_, GraphQLInputObjectType) and isinstance(value, dict):
        known = [name for name in value if name in type_.fields]
        return any(has_single_in_nested_list(type_.fields[name].type, value[name]) for name in known)
    return False
