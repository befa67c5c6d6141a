"""The judge of arguments for calls that authors dispatch by hand.

Source: noizu_mcp, "Tools & Schemas", "Dynamic tools": hand-written calls get "no validation ... unless you do it
yourself", and ``Noizu.MCP.Schema`` "exposes the same JSV plumbing".
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from stile import Context, InvalidArguments, SchemaValidator, ToolDefinitionError, Toolkit, describe, tool
from stile.testing import TestClient

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 2},
        "mail": {"type": "string", "format": "email"},
    },
    "required": ["query"],
    "additionalProperties": False,
}
TEXT = '{"type": "object", "properties": {"query": {"type": "string", "minLength": 2}}}'


class Plugins:
    """Tools of a list that nobody knows before it is asked for."""

    def __init__(self) -> None:
        self.validators = {"search": SchemaValidator(SCHEMA)}

    def tools(self, ctx: Context) -> list[dict[str, Any]]:
        return [{"name": name, "inputSchema": each.schema} for name, each in self.validators.items()]

    def call(self, name: str, arguments: dict[str, Any], ctx: Context) -> dict[str, Any]:
        return {"done": self.validators[name].validate(arguments, tool=name)}


def client() -> TestClient:
    kit = Toolkit()
    kit.add_provider(Plugins())
    return TestClient(kit)


def test_provider_validates_its_own_calls() -> None:
    assert client().list_tools()[0]["inputSchema"] == SCHEMA
    assert client().call("search", query="abc").data == {"done": {"query": "abc"}}


def test_arguments_that_do_not_fit_are_told_as_those_of_any_tool() -> None:
    @tool(input_schema=SCHEMA)
    def search(arguments: dict[str, Any]) -> dict[str, Any]:
        return arguments

    kit = Toolkit()
    kit.add(search)
    for wrong in ({}, {"query": "a"}, {"query": 3, "mail": "?", "x": 1}):
        answer = client().call("search", **wrong)
        assert answer.json == TestClient(kit).call("search", **wrong).json
        assert answer.is_error
    assert client().call("search", query="a").text == (
        'Invalid arguments for tool search: /query: expected a length of at least 2, got string "a"'
    )


def test_error_carries_the_tool_and_the_violations() -> None:
    with pytest.raises(InvalidArguments) as caught:
        SchemaValidator(TEXT).validate({"query": "a"}, tool="search")

    assert caught.value.tool == "search"
    assert caught.value.violations == ('/query: expected a length of at least 2, got string "a"',)


def test_violations_are_sentences_and_none_where_the_value_fits() -> None:
    validator = SchemaValidator({"type": "array", "items": {"type": "integer"}, "maxItems": 2})

    assert validator.violations([1, 2]) == []
    assert validator.violations([1, "2"]) == ['/1: expected integer, got string "2"']
    assert SchemaValidator({}).violations(None) == []
    assert len(SchemaValidator({"items": {"type": "null"}}).violations([1] * 100)) == 51


@pytest.mark.parametrize(
    ("value", "violation"),
    [
        ({"query": {1, 2}}, "/: expected JSON: Object of type set is not JSON serializable"),
        ({"query": date(2026, 1, 31)}, "/: expected JSON: Object of type date is not JSON serializable"),
        (None, "/: expected object, got null"),
        ([], "/: expected object, got array"),
    ],
)
def test_value_of_another_kind_is_told(value: Any, violation: str) -> None:
    assert SchemaValidator(SCHEMA).violations(value) == [violation]


def test_value_that_is_nested_without_end_is_told() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert SchemaValidator({"items": {"$ref": "#"}}).violations(deep) == ["/: nested more than 64 deep"]


def test_schema_that_refers_to_itself_alone_judges_nothing() -> None:
    (told,) = SchemaValidator({"$ref": "#"}).violations({})

    assert told.startswith("/: too complicated to be judged")


@pytest.mark.parametrize(
    ("formats", "violations"),
    [
        (True, ['/0: expected an email address, as name@example.com, got string "?"']),
        (False, []),
        ({"even": lambda text: len(text) % 2 == 0}, None),
    ],
)
def test_formats_are_those_of_tools(formats: Any, violations: list[str] | None) -> None:
    schema = {"prefixItems": [{"format": "email"}, {"format": "even"}]}

    found = SchemaValidator(schema, formats=formats).violations(["?", "abc"])

    assert len(found) == 2 if violations is None else found == violations


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"type": 3}, "schema: /type: 3 is not valid under any of the given schemas"),
        ("{", "schema: expected JSON: Expecting property name enclosed in double quotes"),
        ("[1]", "schema: expected an object of JSON Schema, got [1]"),
        (None, "schema: expected an object of JSON Schema, got None"),
        ({"$ref": "https://example.com/s.json"}, "schema: https://example.com/s.json is another document"),
        ({"$ref": "#/$defs/nothing"}, "schema: $ref: '#/$defs/nothing' names nothing in the schema"),
        ({"pattern": "("}, "schema: pattern (: unclosed group"),
        ("[" * 100_000, "schema: expected JSON: "),
    ],
)
def test_schema_that_is_none_is_refused_where_it_is_written(schema: Any, sentence: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        SchemaValidator(schema)

    assert caught.value.sentence.startswith(sentence)
    assert caught.value.label == "SchemaValidator"
    assert caught.value.file == __file__


def test_formats_of_another_kind_are_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="formats: expected True or False or a mapping, got 'x'"):
        SchemaValidator({}, formats="x")  # type: ignore[arg-type]


def test_references_within_the_schema_are_found() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "other"}, "c": {"$ref": "#anchored"}},
        "$defs": {
            "a": {"type": "integer"},
            "b": {"$id": "other", "type": "object", "properties": {"d": {"$ref": "#/$defs/d"}}, "$defs": {"d": {}}},
            "c": {"$anchor": "anchored", "type": "null"},
        },
        "const": {"$ref": "#/data"},
    }
    assert SchemaValidator(schema).schema == schema
    assert describe(tool(name="t", input_schema=schema)(lambda arguments: None))["inputSchema"] == schema
