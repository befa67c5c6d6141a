"""Drift that only the published schema shows: refused values of variables, and coordinates without their owner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.server.asgi.request_log import INFO, WARNING, level_of
from tests.support.api import Reply, running_api
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import Answer, running_function

FILES = {
    "index.graphql": """
extend schema @tool(name: "t", graphql: {expose: true, types: ".*", fields: ".*"})
scalar Day
type Query {
  paint(color: Color, size: Size, sizes: [Size!], mode: String, day: Day): Node2
  need: Int
  node: Node
}
type Mutation { a: Int }
type Node { sub: Int need: Int }
type Node2 { sub: Int deep: Node }
input Size { width: Int depth: String color: Color day: Day inner: Inner }
input Inner { need: Int }
enum Color { RED GREEN }
""",
    "operations/paint.graphql": """
query Paint($color: Color, $size: Size, $sizes: [Size!], $mode: String, $day: Day) @mcpTool {
  paint(color: $color, size: $size, sizes: $sizes, mode: $mode, day: $day) { sub deep { sub } }
}""",
    "operations/need.graphql": "query Need @mcpTool { need }",
    "operations/both.graphql": "query Both @mcpTool {\n  need\n  node {\n    need\n  }\n}",
}
AT = [{"line": 1, "column": 2}]


def call(
    folder: Path, error: dict[str, Any], arguments: dict[str, Any], tool: str = "Paint", status: int = 200
) -> tuple[Answer, dict[str, Any]]:
    with running_api(lambda _: Reply({"data": None, "errors": [error]}, status=status)) as api:
        config = f"upstream: {{url: '{api.url}'}}\n{PUBLIC}"
        with running_function(compiled(folder, {**FILES, "config.yaml": config})) as function:
            answered = function.call(tool, arguments)
            (line,) = function.lines
            return answered, line


def value(message: str, **more: Any) -> dict[str, Any]:
    return {"message": message, "locations": AT, **more}


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "graphql-js 16, enum": (
        value('Variable "$color" got invalid value "GREEN"; Value "GREEN" does not exist in "Color" enum.'),
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "Apollo Server, enum in an input": (
        value(
            'Variable "$size" got invalid value "GREEN" at "size.color"; Value "GREEN" does not exist in "Color" enum. '
            'Did you mean the enum value "GREY"?',
            extensions={"code": "BAD_USER_INPUT"},
        ),
        {"size": {"color": "GREEN"}},
        "Color.GREEN",
    ),
    "graphql-core, enum": (
        value("Variable '$color' got invalid value 'GREEN'; Value 'GREEN' does not exist in 'Color' enum."),
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "graphql-js 17, enum": (
        value('Variable "$color" has invalid value: Value "GREEN" does not exist in "Color" enum.'),
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "graphql-java, enum": (
        value("Variable 'color' has an invalid value: Invalid input for enum 'Color'. No value found for name 'GREEN'"),
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "gqlgen, enum": (
        {
            "message": "GREEN is not a valid Color",
            "path": ["variable", "color"],
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        },
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "graphql-ruby, enum": (
        value(
            "Variable $color of type Color was provided invalid value",
            extensions={
                "value": "GREEN",
                "problems": [{"path": [], "explanation": 'Expected "GREEN" to be one of: RED'}],
            },
        ),
        {"color": "GREEN"},
        "Color.GREEN",
    ),
    "graphql-ruby, enum in an input": (
        value(
            'Variable $size of type Size was provided invalid value for color (Expected "GREEN" to be one of: RED)',
            extensions={"value": {"color": "GREEN"}, "problems": [{"path": ["color"], "explanation": "…"}]},
        ),
        {"size": {"color": "GREEN"}},
        "Color.GREEN",
    ),
    "graphql-ruby, input field in a list": (
        value(
            "Variable $sizes of type [Size!] was provided invalid value for 1.inner.need "
            "(Field is not defined on Inner), 1.width (Field is not defined on Size)"
        ),
        {"sizes": [{}, {"inner": {"need": 1}, "width": 1}]},
        "Inner.need",
    ),
    "graphql-ruby, required input field": (
        value("Variable $size of type Size was provided invalid value for unit (Expected value to not be null)"),
        {"size": {"width": 1}},
        "Size.unit",
    ),
    "graphql-js, input field": (
        value('Variable "$size" got invalid value { width: 1 }; Field "width" is not defined by type "Size".'),
        {"size": {"width": 1}},
        "Size.width",
    ),
    "graphql-js, input field in a list": (
        value(
            'Variable "$sizes" got invalid value { need: 1 } at "sizes[1].inner"; '
            'Field "need" is not defined by type "Inner".'
        ),
        {"sizes": [{}, {"inner": {"need": 1}}]},
        "Inner.need",
    ),
    "graphql-js, required input field": (
        value(
            'Variable "$size" got invalid value { width: 1 }; Field "unit" of required type "Int!" was not provided.'
        ),
        {"size": {"width": 1}},
        "Size.unit",
    ),
    "graphql-js, input field of another type": (
        value('Variable "$size" got invalid value "a" at "size.depth"; Int cannot represent non-integer value: "a"'),
        {"size": {"depth": "a"}},
        "Size.depth",
    ),
    "graphql-js, variable of another type": (
        value('Variable "$mode" of type "String" used in position expecting type "Int".'),
        {"mode": "a"},
        "Query.paint(mode:)",
    ),
}


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("case", REFUSED)
def test_value_that_the_published_schema_allows_is_drift_if_the_api_refuses_it(
    tmp_path: Path, case: str, status: int
) -> None:
    error, arguments, coordinate = REFUSED[case]
    answered, line = call(tmp_path, error, arguments, status=status)

    (told,) = answered.result["structuredContent"]["errors"]
    assert told["message"].startswith("The API refused a request that its published schema allows")
    assert "maintainer has to publish the tool again" in told["message"]
    assert (line["reason"], level_of(line)) == (f"Drift: {coordinate}", WARNING)


REFUSED_FOR_ANOTHER_REASON: dict[str, tuple[str, dict[str, Any]]] = {
    "a value that was not sent": (
        'Variable "$color" got invalid value "PINK"; Value "PINK" does not exist in "Color" enum.',
        {"color": "GREEN"},
    ),
    "a scalar of the API": (
        'Variable "$day" got invalid value "GREEN"; Expected type "Day". Not a day.',
        {"day": "GREEN", "color": "GREEN"},
    ),
    "a scalar of the API in an input": (
        'Variable "$size" got invalid value "a" at "size.day"; Int cannot represent non-integer value: "a"',
        {"size": {"day": "a"}},
    ),
    "a value that imitates drift": (
        'Variable "$day" got invalid value "; Value \\"GREEN\\" does not exist in \\"Color\\" enum."; Not a day.',
        {"day": '; Value "GREEN" does not exist in "Color" enum.', "color": "GREEN"},
    ),
    "a rule of the API": (
        'Variable "$size" got invalid value 5 at "size.width"; Must be at most 4.',
        {"size": {"width": 5}},
    ),
    "a scalar of the API, in the words of graphql-ruby": (
        'Variable $day of type Day was provided invalid value (Expected "GREEN" to be a day)',
        {"day": "GREEN", "color": "GREEN"},
    ),
    "a value that was not sent, in the words of graphql-ruby": (
        'Variable $color of type Color was provided invalid value (Expected "PINK" to be one of: RED)',
        {"color": "GREEN"},
    ),
    "a name that is suggested": (
        'Variable "$color" got invalid value "X"; Value "X" does not exist in "Color" enum. Did you mean "GREEN"?',
        {"color": "GREEN"},
    ),
}


@pytest.mark.parametrize("case", REFUSED_FOR_ANOTHER_REASON)
def test_value_that_the_api_refuses_for_another_reason_is_the_callers_matter(tmp_path: Path, case: str) -> None:
    message, arguments = REFUSED_FOR_ANOTHER_REASON[case]
    answered, line = call(tmp_path, value(message), arguments)

    assert answered.result["structuredContent"]["errors"][0]["message"] == message.partition(" Did you")[0]
    assert (line["reason"], level_of(line)) == ("GraphQLErrors", INFO)


def at(line: int, column: int) -> list[dict[str, int]]:
    return [{"line": line, "column": column}]


@pytest.mark.parametrize(
    ("tool", "error", "coordinate"),
    [
        (
            "Need",
            value('Field "need" argument "y" of type "Int!" is required, but it was not provided.'),
            "Query.need(y:)",
        ),
        ("Need", value('Unknown argument "need" on field "need" of type "Query".'), "Query.need(need:)"),
        (
            "Both",
            {
                "message": 'Field "need" argument "y" of type "Int!" is required, but it was not provided.',
                "locations": at(4, 5),
            },
            "Node.need(y:)",
        ),
        (
            "Both",
            {
                "message": 'Field "need" must not have a selection since type "Int" has no subfields.',
                "locations": at(2, 3),
            },
            "Query.need",
        ),
        (
            "Both",
            {"message": 'Field "node" of type "Node" must have a selection of subfields.', "locations": 5},
            "Query.node",
        ),
        (
            "Paint",
            {
                "message": 'Field "sub" of type "Color" must have a selection of subfields.',
                "locations": at(3, 5),
            },
            "Node2.sub",
        ),
    ],
)
def test_coordinate_of_drift_is_whole(tmp_path: Path, tool: str, error: dict[str, Any], coordinate: str) -> None:
    _, line = call(tmp_path, error, {}, tool=tool)

    assert line["reason"] == f"Drift: {coordinate}"


def test_document_of_a_model_has_drift_in_its_variables(tmp_path: Path) -> None:
    error, variables, _ = REFUSED["graphql-js, input field"]
    query = "query($size: Size) { paint(size: $size) { sub } }"
    answered, line = call(tmp_path, error, {"query": query, "variables": variables}, tool="t")

    assert "its schema has changed since" in json.loads(answered.text)["errors"][0]["message"]
    assert line["reason"] == "Drift: Size.width"
