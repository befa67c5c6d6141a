from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from handler.bundle.tools import PrescribedTool
from handler.compiler.json_schemas.defaults import fits
from handler.compiler.json_schemas.scalars import FLOAT_MAX
from handler.json_schema.checker import Checker
from handler.json_schema.input_types import leaves_first, reached, references_in
from handler.strict_json import to_json_bytes
from tests.support.endpoints import READABLE, compiled, prescribed_tool

SDL = """
scalar Opaque
enum Size { SMALL "medium" MEDIUM LARGE @deprecated }
input Range { least: Int = 1 most: Int! }
"Which things."
input Filter { name: String, "how big" size: Size range: Range, ranges: [Range!] and: [Filter!] not: Filter }
input Place { street: Street! note: String! = "none" }
input Street { name: String! }
input Key @oneOf { id: ID name: String }
type Query {
  things(
    i: Int, f: Float, s: String, b: Boolean, id: ID, size: Size, opaque: Opaque,
    ids: [ID!], grid: [[Int!]!], filter: Filter, place: Place, place2: Place, key: Key, range: Range
  ): Int
}
"""

SIZES = "- MEDIUM: medium\n- LARGE: (deprecated: No longer supported)"


def tool_of(folder: Path, variables: str, uses: str, files: Mapping[str, str] = MappingProxyType({})) -> PrescribedTool:
    """A flat tool with these variables, each used as the argument of things() that ``uses`` names."""
    operation = f"query O({variables}) @mcpTool {{ things({uses}) }}"
    made = prescribed_tool(compiled(folder, {"index.graphql": SDL, "operations/o.graphql": operation, **files}), "O")
    for schema in (made.entry["inputSchema"], made.arguments):
        Draft202012Validator.check_schema(schema)
    return made


def takes(tool: PrescribedTool, arguments: dict[str, Any]) -> bool:
    return Draft202012Validator(tool.arguments).is_valid(arguments)


@pytest.mark.parametrize(
    ("argument", "type_", "advertised", "enforced"),
    [
        ("i", "Int", {"type": "integer"}, {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}),
        ("f", "Float", {"type": "number"}, {"type": "number", "minimum": -FLOAT_MAX, "maximum": FLOAT_MAX}),
        ("s", "String", {"type": "string"}, {"type": "string"}),
        ("b", "Boolean", {"type": "boolean"}, {"type": "boolean"}),
        ("id", "ID", {"type": "string"}, {"type": ["string", "integer"]}),
        (
            "size",
            "Size",
            {"type": "string", "enum": ["SMALL", "MEDIUM", "LARGE"], "description": SIZES},
            {"enum": ["SMALL", "MEDIUM", "LARGE"]},
        ),
        (
            "ids",
            "[ID!]",
            {"type": "array", "items": {"type": "string"}},
            {
                "if": {"type": "array"},
                "then": {"items": {"type": ["string", "integer"]}},
                "else": {"type": ["string", "integer"]},
            },
        ),
    ],
)
def test_non_null_variable_is_required_and_of_its_type(
    tmp_path: Path, argument: str, type_: str, advertised: dict[str, Any], enforced: dict[str, Any]
) -> None:
    tool = tool_of(tmp_path, f"$x: {type_}!", f"{argument}: $x")

    assert tool.entry["inputSchema"] == {"type": "object", "properties": {"x": advertised}, "required": ["x"]}
    assert tool.arguments == {
        "type": "object",
        "properties": {"x": enforced},
        "required": ["x"],
        "additionalProperties": False,
    }


def test_nullable_variable_is_advertised_plainly_and_takes_null(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$i: Int, $size: Size, $ids: [ID!]", "i: $i, size: $size, ids: $ids")

    assert tool.entry["inputSchema"]["properties"] == {
        "i": {"type": "integer"},
        "size": {"type": "string", "enum": ["SMALL", "MEDIUM", "LARGE"], "description": SIZES},
        "ids": {"type": "array", "items": {"type": "string"}},
    }
    assert "required" not in tool.entry["inputSchema"]
    assert takes(tool, {})
    assert takes(tool, {"i": None, "size": None, "ids": None})
    assert takes(tool, {"i": 1, "size": "LARGE", "ids": ["a", 2]})
    assert not takes(tool, {"ids": [None]})
    assert not takes(tool, {"i": True})
    assert not takes(tool, {"i": 2**31})
    assert not takes(tool, {"size": "HUGE"})
    assert not takes(tool, {"other": 1})


def test_nested_lists_keep_their_nullability(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$grid: [[Int!]!]!", "grid: $grid")

    assert tool.entry["inputSchema"]["properties"]["grid"] == {
        "type": "array",
        "items": {"type": "array", "items": {"type": "integer"}},
    }
    assert takes(tool, {"grid": [[1], []]})
    assert not takes(tool, {"grid": [None]})
    assert not takes(tool, {"grid": [[None]]})
    assert not takes(tool, {"grid": None})


def test_single_value_stands_for_a_list_of_it(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$ids: [ID!], $grid: [[Int!]!]!, $f: Filter", "ids: $ids, grid: $grid, filter: $f")

    assert takes(tool, {"grid": 1, "ids": "a", "f": {"and": {"name": "a"}, "ranges": {"most": 1}}})
    assert takes(tool, {"grid": [[1]], "ids": None, "f": {"and": [{"name": "a"}], "ranges": None}})
    assert not takes(tool, {"grid": None})
    assert not takes(tool, {"grid": "a"})
    assert not takes(tool, {"grid": 1, "ids": {}})
    assert not takes(tool, {"grid": 1, "f": {"and": {"nam": "a"}}})
    assert not takes(tool, {"grid": 1, "f": {"ranges": [None]}})


def test_list_in_a_list_is_whole_because_servers_differ(tmp_path: Path) -> None:
    files = {
        "index.graphql": "type Query { a(grid: [[Int!]]): Int }",
        "operations/o.graphql": "query O($grid: [[Int!]]) @mcpTool { a(grid: $grid) }",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert takes(tool, {"grid": [None, [1]]})
    assert not takes(tool, {"grid": [1]})
    assert not takes(tool, {"grid": [[None]]})


def test_input_object_that_is_met_once_is_inlined(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$p: Place!", "place: $p")

    assert tool.entry["inputSchema"] == {
        "type": "object",
        "properties": {
            "p": {
                "type": "object",
                "properties": {
                    "street": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                    "note": {"type": "string", "default": "none"},
                },
                "required": ["street"],
            }
        },
        "required": ["p"],
    }
    assert takes(tool, {"p": {"street": {"name": "a"}}})
    assert not takes(tool, {"p": {"street": {"name": "a"}, "note": None}})
    assert not takes(tool, {"p": {"street": {"name": "a"}, "more": 1}})
    assert not takes(tool, {"p": {"street": None}})


def test_input_object_that_is_shared_is_defined_once(tmp_path: Path) -> None:
    config = {"config.yaml": "limits: {recursion: ref}\n"}
    tool = tool_of(tmp_path, "$p: Place!, $q: Place", "place: $p, place2: $q", config)
    schema = tool.entry["inputSchema"]

    assert schema["properties"] == {"p": {"$ref": "#/$defs/Place"}, "q": {"$ref": "#/$defs/Place"}}
    assert set(schema["$defs"]) == {"Place"}
    assert takes(tool, {"p": {"street": {"name": "a"}}, "q": None})
    assert not takes(tool, {"p": None})


def test_recursive_input_object_refers_to_itself_if_its_author_asks_for_that(tmp_path: Path) -> None:
    config = {"config.yaml": "limits: {recursion: ref}\n"}
    tool = tool_of(tmp_path, '$f: Filter @mcpToolArg(description: "which")', "filter: $f", config)
    schema = tool.entry["inputSchema"]

    assert schema["properties"] == {"f": {"$ref": "#/$defs/Filter", "description": "which"}}
    assert schema["$defs"]["Filter"]["properties"]["and"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Filter"},
    }
    assert schema["$defs"]["Filter"]["properties"]["size"]["description"] == f"how big\n{SIZES}"
    assert schema["$defs"]["Filter"]["description"] == "Which things."
    assert takes(tool, {"f": {"and": [{"not": {"name": "a", "size": None}}], "range": {"most": 2}}})
    assert takes(tool, {"f": None})
    assert not takes(tool, {"f": {"and": [{"not": {"nam": "a"}}]}})
    assert not takes(tool, {"f": {"range": {"least": 2}}})


def test_input_objects_in_a_long_chain_are_not_inlined_for_ever(tmp_path: Path) -> None:
    count = 1_000
    chain = "\n".join(f"input I{n} {{ next: I{n + 1} }}" for n in range(count))
    files = {
        "index.graphql": f"type Query {{ a(b: I0): Int }}\n{chain}\ninput I{count} {{ end: Int }}",
        "operations/o.graphql": "query O($b: I0) @mcpTool { a(b: $b) }",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    for schema in (tool.entry["inputSchema"], tool.arguments):
        Draft202012Validator.check_schema(schema)
    assert "I7" not in tool.arguments["$defs"]
    assert "I8" in tool.arguments["$defs"]
    assert takes(tool, {"b": {"next": {"next": {"next": None}}}})
    assert not takes(tool, {"b": {"next": {"next": {"next": 1}}}})


def test_long_enum_that_is_shared_is_defined_once_with_its_values_described(tmp_path: Path) -> None:
    values = " ".join(f'"number {n}" VALUE_{n}' for n in range(20))
    files = {
        "index.graphql": f'"Where." enum Place {{ {values} }} type Query {{ a(from: Place!, to: [Place!]): Int }}',
        "operations/o.graphql": "query O($from: Place!, $to: [Place!]) @mcpTool { a(from: $from, to: $to) }",
        "config.yaml": f"{READABLE}limits: {{recursion: ref}}\n",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")
    schema = tool.entry["inputSchema"]

    assert schema["properties"] == {
        "from": {"$ref": "#/$defs/Place", "description": "Where."},
        "to": {"type": "array", "items": {"$ref": "#/$defs/Place"}, "description": "Where."},
    }
    assert schema["$defs"]["Place"]["enum"] == [f"VALUE_{n}" for n in range(20)]
    assert schema["$defs"]["Place"]["description"].startswith("Where.\n- VALUE_0: number 0\n- VALUE_1: number 1\n")
    assert takes(tool, {"from": "VALUE_19", "to": ["VALUE_0"]})
    assert takes(tool, {"from": "VALUE_19", "to": None})
    assert not takes(tool, {"from": None})
    assert not takes(tool, {"from": "VALUE_20"})


def test_meaning_of_very_many_values_is_left_out(tmp_path: Path) -> None:
    values = " ".join(f'"number {n}" VALUE_{n}' for n in range(100))
    files = {
        "index.graphql": f'"Where." enum Place {{ {values} }} type Query {{ a(from: Place!): Int }}',
        "operations/o.graphql": "query O($from: Place!) @mcpTool { a(from: $from) }",
    }

    place = prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]["properties"]["from"]

    assert place["description"] == "Where."
    assert len(place["enum"]) == 100


def test_short_enum_stays_where_it_is_used(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$a: Size, $b: Size", "size: $a")

    assert "$defs" not in tool.entry["inputSchema"]


def test_operation_without_variables_takes_an_empty_object(tmp_path: Path) -> None:
    files = {
        "index.graphql": f'extend schema @tool(name: "nested", prescribed: "O") {SDL}',
        "operations/o.graphql": "query O @mcpTool { things }",
    }
    made = compiled(tmp_path, files)
    flat, nested = prescribed_tool(made, "O"), prescribed_tool(made, "nested")

    assert flat.entry["inputSchema"] == {"type": "object", "properties": {}}
    assert nested.entry["inputSchema"] == {
        "type": "object",
        "properties": {"variables": {"type": "object", "properties": {}}},
    }
    assert takes(flat, {})
    assert takes(nested, {})
    assert takes(nested, {"variables": {}})
    assert not takes(flat, {"x": 1})
    assert not takes(nested, {"variables": {"x": 1}})


def test_advertised_schema_says_nothing_that_is_empty(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$f: Filter, $p: Place!, $k: Key", "filter: $f, place: $p, key: $k")

    def check(schema: Any) -> None:
        if isinstance(schema, dict):
            assert "$schema" not in schema
            assert all(value not in ({}, [], "") for value in schema.values()), schema
        for below in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            check(below)

    check(tool.entry["inputSchema"])
    assert len(to_json_bytes(tool.entry["inputSchema"])) < 2_000


def test_one_of_input_takes_exactly_one_field_that_is_not_null(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$k: Key!", "key: $k")

    assert tool.entry["inputSchema"]["properties"]["k"] == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
        "minProperties": 1,
        "maxProperties": 1,
    }
    assert takes(tool, {"k": {"id": 5}})
    assert not takes(tool, {"k": {}})
    assert not takes(tool, {"k": {"id": "a", "name": "b"}})
    assert not takes(tool, {"k": {"id": None}})


@pytest.mark.parametrize(
    ("variable", "argument", "default"),
    [
        ("Int = 5", "i", 5),
        ("Int! = 5", "i", 5),
        ("Float = 1e3", "f", 1000.0),
        ('String = "a\\"b"', "s", 'a"b'),
        ("Boolean! = false", "b", False),
        ("ID = 5", "id", "5"),
        ('ID = "a"', "id", "a"),
        ("Size = MEDIUM", "size", "MEDIUM"),
        ("[ID!] = [1, 2]", "ids", ["1", "2"]),
        ("[ID!] = 1", "ids", ["1"]),
        ("[[Int!]!] = [[1], []]", "grid", [[1], []]),
        ("Filter = {size: LARGE, ranges: {most: 2}}", "filter", {"size": "LARGE", "ranges": [{"most": 2}]}),
        ('Opaque = {any: [1, "a", B, null]}', "opaque", {"any": [1, "a", "B", None]}),
    ],
)
def test_default_makes_a_variable_optional_and_is_told_as_json(
    tmp_path: Path, variable: str, argument: str, default: Any
) -> None:
    tool = tool_of(tmp_path, f"$x: {variable}", f"{argument}: $x")
    schema = tool.entry["inputSchema"]

    assert schema["properties"]["x"]["default"] == default
    assert "required" not in schema
    assert takes(tool, {})
    assert takes(tool, {"x": default})


def test_non_null_variable_with_a_default_does_not_take_null(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$x: Int! = 5", "i: $x")

    assert not takes(tool, {"x": None})


def test_default_of_an_input_field_makes_it_optional(tmp_path: Path) -> None:
    tool = tool_of(tmp_path, "$r: Range!", "range: $r")

    assert tool.entry["inputSchema"]["properties"]["r"] == {
        "type": "object",
        "properties": {"least": {"type": "integer", "default": 1}, "most": {"type": "integer"}},
        "required": ["most"],
    }


def test_default_that_could_not_be_sent_is_left_out(tmp_path: Path) -> None:
    files = {
        "index.graphql": "scalar Date type Query { a(d: Date): Int }",
        "operations/o.graphql": """
            query O($d: Date = "2026-01-31", $e: Date = {day: 31}) @mcpTool { a(d: $d) b: a(d: $e) }
        """,
    }
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert tool.entry["inputSchema"]["properties"] == {
        "d": {"type": "string", "format": "date", "default": "2026-01-31"},
        "e": {"type": "string", "format": "date"},
    }


REFUSED_DEFAULTS = """
scalar Long scalar BigInt scalar Decimal scalar Date scalar DateTime scalar Time scalar UUID scalar Money
enum Size { S }
input In { long: Long, big: BigInt, size: Size, in: In, ins: [In!] }
type Query {
  a(long: Long, longs: [Long!], big: BigInt, bigs: [BigInt!], decimal: Decimal, date: Date, at: DateTime, time: Time
    uuid: UUID, int: Int
    size: Size, money: Money, in: In): Int
}
"""
MONEY = r"scalars: {Money: {type: string, pattern: '^\d+\.\d{2}$'}}"


@pytest.mark.parametrize(
    ("argument", "variable"),
    [
        ("long", 'Long = "5"'),
        ("big", 'BigInt = "five"'),
        ("longs", '[Long!] = ["5"]'),
        ("decimal", 'Decimal = "1.5"'),
        ("date", 'Date = "nonsense"'),
        ("date", 'Date = "2026-02-30"'),
        ("date", 'Date = "2026-01-31Z"'),
        ("at", 'DateTime = "2026-01-31"'),
        ("at", 'DateTime = "2026-01-31 09:30:00"'),
        ("uuid", 'UUID = "123e4567e89b12d3a456426614174000"'),
        ("int", "Int = null"),
        ("size", "Size = null"),
        ("money", 'Money = "1.5"'),
        ("money", 'Money = "1.50\\n"'),
        ("money", 'Money = "１.50"'),
        ("in", 'In = {long: "5"}'),
        ("in", 'In = {in: {ins: [{long: "5"}]}}'),
        ("in", "In = {size: null}"),
    ],
)
def test_default_that_the_advertised_schema_refuses_is_left_out_and_holds_upstream(
    tmp_path: Path, argument: str, variable: str
) -> None:
    operation = f"query O($x: {variable}) @mcpTool {{ a({argument}: $x) }}"
    files = {"index.graphql": REFUSED_DEFAULTS, "operations/o.graphql": operation, "config.yaml": MONEY}
    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert "default" not in tool.entry["inputSchema"]["properties"]["x"]
    assert "required" not in tool.entry["inputSchema"]
    assert f"($x: {variable})".replace(" ", "") in tool.operation.text.replace(" ", "")


@pytest.mark.parametrize(
    ("argument", "variable", "default"),
    [
        ("big", 'BigInt = "5"', "5"),
        ("bigs", '[BigInt!] = ["5"]', ["5"]),
        ("decimal", "Decimal = 1.5", 1.5),
        ("date", 'Date = "2026-01-31"', "2026-01-31"),
        ("at", 'DateTime = "2026-01-31T09:30:00.5+01:00"', "2026-01-31T09:30:00.5+01:00"),
        ("time", 'Time = "09:30:00"', "09:30:00"),
        ("uuid", 'UUID = "123e4567-e89b-12d3-a456-426614174000"', "123e4567-e89b-12d3-a456-426614174000"),
        ("money", 'Money = "1.50"', "1.50"),
        ("in", 'In = {in: {ins: [{big: "5", size: S}]}}', {"in": {"ins": [{"big": "5", "size": "S"}]}}),
    ],
)
def test_default_that_the_advertised_schema_takes_is_told(
    tmp_path: Path, argument: str, variable: str, default: Any
) -> None:
    operation = f"query O($x: {variable}) @mcpTool {{ a({argument}: $x) }}"
    files = {"index.graphql": REFUSED_DEFAULTS, "operations/o.graphql": operation, "config.yaml": MONEY}

    tool = prescribed_tool(compiled(tmp_path, files), "O")

    assert tool.entry["inputSchema"]["properties"]["x"]["default"] == default


def test_default_of_an_input_field_that_its_schema_refuses_is_left_out(tmp_path: Path) -> None:
    fields = (
        'big: [Long!] = ["5"], in: Part = {nam: 1}, other: Part = {name: 5}, int: Int = null, part: Part = {name: S}'
    )
    files = {
        "index.graphql": f"""
            scalar Long enum Size {{ S }} input Part {{ name: Size }} input In {{ {fields} }}
            type Query {{ a(in: In): Int }}
        """,
        "operations/o.graphql": "query O($x: In) @mcpTool { a(in: $x) }",
    }

    properties = prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]["properties"]["x"]["properties"]

    assert {name: schema["default"] for name, schema in properties.items() if "default" in schema} == {
        "part": {"name": "S"}
    }


def test_value_that_is_nested_too_deeply_to_be_judged_does_not_fit() -> None:
    schema = {"$ref": "#/$defs/In", "$defs": {"In": {"properties": {"in": {"$ref": "#/$defs/In"}}}}}
    values: list[dict[str, Any]] = [{}]
    for _ in range(2_000):
        values.append({"in": values[-1]})

    assert fits(values[50], schema)
    assert not fits(values[-1], schema)


@pytest.mark.parametrize("literal", ["1e999", "-1e999", "9" * 5_000, "[1e999]", "{a: 1e999}"])
def test_default_that_json_cannot_say_is_left_out(tmp_path: Path, literal: str) -> None:
    tool = tool_of(tmp_path, f"$x: Opaque = {literal}", "opaque: $x")

    assert "default" not in tool.entry["inputSchema"]["properties"]["x"]
    assert literal.strip("[]{}a: ") in tool.operation.text


def test_variables_of_a_prescribed_tool_stand_below_variables(tmp_path: Path) -> None:
    files = {
        "index.graphql": 'extend schema @tool(name: "t", prescribed: "O")' + SDL,
        "operations/o.graphql": "query O($f: Filter!, $i: Int) { things(filter: $f, i: $i) }",
    }
    tool = prescribed_tool(compiled(tmp_path, files), "t")
    Draft202012Validator.check_schema(tool.arguments)

    assert tool.entry["inputSchema"]["required"] == ["variables"]
    assert set(tool.entry["inputSchema"]["properties"]["variables"]["properties"]) == {"f", "i"}
    assert takes(tool, {"variables": {"f": {"range": {"most": 1}}}})
    assert not takes(tool, {})
    assert not takes(tool, {"variables": None})
    assert not takes(tool, {"variables": {"f": {}}, "more": 1})
    assert not takes(tool, {"f": {}})


def is_leaves_first(schema: Any) -> bool:
    """Return whether each definition stands after those that it refers to, or leads back from them."""
    names = list(schema.get("$defs", ()))
    below = {name: {ref.removeprefix("#/$defs/") for ref in references_in(schema["$defs"][name])} for name in names}
    return all(
        names.index(ref) < names.index(name) or name in reached(ref, below) for name in names for ref in below[name]
    )


@pytest.mark.parametrize("limits", ["limits: {recursion: ref}", "limits: {max_schema_bytes: 900}"])
def test_definitions_stand_after_those_that_they_refer_to(tmp_path: Path, limits: str) -> None:
    leaves = " ".join(f"input {name}Op {{ eq: {name} in: [{name}!] ne: {name} }}" for name in ("Int", "String", "ID"))
    sdl = f"""
        {leaves} input A {{ b: Z c: Z s: StringOp t: StringOp i: IDOp and: [A!] or: [A!] not: A }}
        input Z {{ x: IntOp y: IntOp s: StringOp i: IDOp }}
        type Query {{ a(x: A, y: A, z: Z): Int }}
    """
    files = {
        "index.graphql": sdl,
        "operations/o.graphql": "query O($x: A, $y: A, $z: Z) @mcpTool { a(x: $x, y: $y, z: $z) }",
        "config.yaml": f"{READABLE}{limits}",
    }
    schema = prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]

    assert len(schema["$defs"]) > 2
    assert is_leaves_first(schema), [*schema["$defs"]]


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"A": "B", "B": "C", "C": ""}, "CBA"),
        ({"C": "", "B": "", "A": ""}, "ABC"),
        ({"A": "BC", "B": "A", "C": "A", "D": "A"}, "BCAD"),
        ({"A": "A"}, "A"),
        ({"B": "X", "A": "B"}, "BA"),
    ],
)
def test_order_of_definitions_is_the_same_for_any_order_before(graph: dict[str, str], expected: str) -> None:
    definitions: dict[str, Any] = {
        name: {"items": {"anyOf": [{"$ref": f"#/$defs/{each}"} for each in below]}} for name, below in graph.items()
    }

    assert "".join(leaves_first(definitions)) == expected
    assert "".join(leaves_first(dict(reversed(definitions.items())))) == expected


def test_long_chain_of_definitions_is_ordered() -> None:
    chain = {f"T{number:05}": {"$ref": f"#/$defs/T{number + 1:05}"} for number in range(20_000)}

    assert next(iter(leaves_first(chain))) == "T19999"


def test_null_is_advertised_of_scalars_of_several_types_where_graphql_takes_it(tmp_path: Path) -> None:
    sdl = """
        scalar JSON scalar BigInt
        input In { json: JSON, sure: JSON!, one: One } input One @oneOf { a: JSON b: BigInt }
        type Query { a(json: JSON, sure: JSON!, big: BigInt, all: [JSON], each: [JSON!], in: In, late: JSON!): Int }
    """
    declared = "$json: JSON, $sure: JSON!, $big: BigInt, $all: [JSON], $each: [JSON!], $in: In, $late: JSON = 1"
    used = ", ".join(f"{name}: ${name}" for name in ("json", "sure", "big", "all", "each", "in", "late"))
    files = {"index.graphql": sdl, "operations/o.graphql": f"query O({declared}) @mcpTool {{ a({used}) }}"}
    schema = prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]
    properties = schema["properties"]

    def takes_null(rule: Any) -> bool:
        return not Checker(rule).violations(None)

    below = properties["in"]["properties"]
    told = {
        **{name: takes_null(properties[name]) for name in ("json", "sure", "big", "late")},
        **{name: takes_null(properties[name]["items"]) for name in ("all", "each")},
        **{f"in.{name}": takes_null(below[name]) for name in ("json", "sure")},
        **{f"one.{name}": takes_null(below["one"]["properties"][name]) for name in ("a", "b")},
    }

    taken = {"json", "big", "all", "in.json"}
    assert {name for name, takes in told.items() if takes} == taken


@pytest.mark.parametrize("type_", ["JSON", "Opaque", "BigInt", "Money"])
def test_client_that_makes_a_type_of_the_schema_keeps_whole_numbers(tmp_path: Path, type_: str) -> None:
    kinds = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None), "object": dict}
    files = {
        "index.graphql": f"scalar {type_} type Query {{ a(x: {type_}): Int }}",
        "operations/o.graphql": f"query O($x: {type_}) @mcpTool {{ a(x: $x) }}",
    }
    rule = prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]["properties"]["x"]

    def hint(schema: Any) -> Any:
        if "anyOf" in schema:
            return functools.reduce(operator.or_, map(hint, schema["anyOf"]))
        return list[hint(schema["items"])] if schema["type"] == "array" else kinds[schema["type"]]  # type: ignore[misc]

    made = TypeAdapter(hint(rule))
    for value in (9007199254740993, 1, None):
        assert repr(made.validate_python(value)) == repr(value)
    if type_ in ("JSON", "Opaque"):
        assert repr(made.validate_python([1, "x", None])) == "[1, 'x', None]"
