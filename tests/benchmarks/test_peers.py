"""The criteria by which tools are compared, on tools that are right and on ones that are wrong in one place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from graphql import GraphQLField

from benchmarks.peers.__main__ import RESULTS
from benchmarks.peers.cases import ROOT, read_apis
from benchmarks.peers.criteria import CRITERIA, Judged
from benchmarks.peers.makers import stile_tools

Tool = dict[str, Any]
APIS = {api.name: api for api in read_apis()}

EXPECTED = {
    "enums": {"nullability", "defaults", "enums"},
    "defaults": {"nullability", "defaults", "enums"},
    "recursion": {"nullability"},
    "oneOf": {"nullability", "oneOf"},
    "lists": {"nullability"},
    "nulls": {"nullability"},
}
"""What applies to a case and Stile gets right, beside what is described. It tells no default with a null in it."""


def tool_and_field(api: str) -> tuple[Tool, GraphQLField]:
    (tool,) = stile_tools(APIS[api])
    ((_, _, field),) = APIS[api].fields()
    return copy.deepcopy(tool), field


def right(tool: Tool, field: GraphQLField) -> set[str]:
    judged = Judged(tool, field)
    return {name for name, judge in CRITERIA.items() if judge(judged)}


@pytest.mark.parametrize("api", EXPECTED)
def test_right_tool_is_found_right(api: str) -> None:
    tool, field = tool_and_field(api)

    assert right(tool, field) == EXPECTED[api] | {"tool described", "arguments described"}


def properties(tool: Tool, *path: str) -> Tool:
    """The properties of the input schema, or of an input below it."""
    found: Tool = tool["inputSchema"]
    for name in path:
        found = found["properties"][name]
        found = tool["inputSchema"]["$defs"][found["$ref"].rpartition("/")[2]] if "$ref" in found else found
    return found["properties"]  # type: ignore[no-any-return] # JSON


@pytest.mark.parametrize(
    ("api", "path", "name", "wrong", "criterion"),
    [
        ("nulls", (), "viewer", {"type": ["string", "null"]}, "nullability"),
        ("defaults", (), "first", {"type": "integer", "default": 4}, "defaults"),
        ("defaults", ("trip",), "to", {"type": "string", "default": "a"}, "defaults"),
        ("enums", (), "finish", {"type": "string"}, "enums"),
        ("enums", (), "without", {"type": "array", "items": {"enum": ["RED", "GREEN"]}}, "enums"),
        ("defaults", ("trip",), "people", {"type": "integer"}, "defaults"),
        ("defaults", ("trip", "stay"), "nights", {"type": "integer", "default": 2}, "defaults"),
        ("oneOf", (), "by", {"type": "object"}, "oneOf"),
        ("lists", (), "rows", {"type": "array", "items": {"type": "array"}}, "nullability"),
    ],
)
def test_tool_that_is_wrong_in_one_place_is_found_wrong(
    api: str, path: tuple[str, ...], name: str, wrong: Tool, criterion: str
) -> None:
    tool, field = tool_and_field(api)
    place = properties(tool, *path)
    described = {key: value for key, value in place[name].items() if key == "description"}
    assert criterion in right(tool, field)

    place[name] = {**described, **wrong}

    assert criterion not in right(tool, field)


def test_argument_that_must_not_be_required_is_found() -> None:
    tool, field = tool_and_field("nulls")
    tool["inputSchema"]["required"] = ["viewer", "first"]

    assert "nullability" not in right(tool, field)


def test_descriptions_that_are_missing_are_found() -> None:
    tool, field = tool_and_field("defaults")
    del properties(tool, "trip", "stay")["quiet"]["description"]
    assert right(tool, field) >= {"tool described"}
    assert "arguments described" not in right(tool, field)

    tool["description"] = "A tool."
    assert "tool described" not in right(tool, field)


def test_null_is_found_where_it_is_taken() -> None:
    tool, field = tool_and_field("nulls")
    for name in ("after", "only"):
        properties(tool)[name]["type"] = ["string", "null"]

    assert "nulls" in right(tool, field)


def test_nullability_is_right_of_custom_scalars_too() -> None:
    tools = {tool["name"]: copy.deepcopy(tool) for tool in stile_tools(APIS["demo"])}
    fields = {name: field for _, name, field in APIS["demo"].fields()}
    assert all("nullability" in right(tools[name], fields[name]) for name in fields)

    price = properties(tools["placeOrder"], "input")["lines"]["items"]["properties"]["unitPrice"]
    price["anyOf"].append({"type": "null"})

    assert "nullability" not in right(tools["placeOrder"], fields["placeOrder"])


def test_page_shows_the_table_that_was_measured() -> None:
    rows = [line for line in RESULTS.read_text("utf-8").splitlines() if line.startswith("|")]
    table = "\n".join(rows[: rows.index(next(row for row in rows if row.startswith("| operation")))])

    assert table in (ROOT / "docs" / "compared.md").read_text("utf-8")
