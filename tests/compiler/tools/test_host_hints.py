"""Hints for hosts in the list of tools, and examples of arguments: where they are, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.tools import PrescribedTool
from handler.code_tools.definition import define
from handler.compiler.compile import Compiled
from handler.errors.authoring import ToolDefinitionError
from handler.json_schema.shortening import schema_bytes
from handler.list_entries import HINTS
from tests.docs.reference import codes, page, table
from tests.support.endpoints import PUBLIC, compiled, problems_of

SDL = """\
type Query { byId(id: ID!): Int a(x: Int, filter: Filter, kind: Kind, list: [Int!], when: Day): [Person] b: Int }
type Person { name: String pay: Int }
type Mutation { change(x: Int): Int }
input Filter { name: String pay: Int below: Filter }
enum Kind { NAME OTHER PAY }
scalar Day
"""
GUARDED = (
    PUBLIC
    + """\
    - type: Person
      rules: [{fields: [pay], condition: '$jwt.role:String == "hr"'}]
      policyDefault: {condition: true}
scalars: {Day: {type: string, pattern: "[0-9]{4}-[0-9]{2}-[0-9]{2}"}}
"""
)
SIGNATURE = "$x: Int, $filter: Filter, $kind: Kind, $list: [Int!], $when: Day"
CALL = "{ a(x: $x, filter: $filter, kind: $kind, list: $list, when: $when) { name } }"


def entry(made: Compiled, name: str) -> Any:
    return next(each.entry for each in made.bundle.tools if each.name == name)


def operation(examples: str, *, signature: str = SIGNATURE) -> dict[str, str]:
    text = f'query A({signature}) @mcpTool(name: "a", title: "A", examples: {examples}) {CALL}\n'
    return {"index.graphql": SDL, "config.yaml": GUARDED, "operations/o.graphql": text}


def tool(kind: str, arguments: str, *, config: str = PUBLIC, folder: Path) -> Any:
    operations = {"query": "query T @mcpTool(ARGS) { b }", "mutation": "mutation T @mcpTool(ARGS) { change }"}
    text = operations[kind].replace("ARGS", f'name: "t" title: "T" {arguments}')
    files = {"index.graphql": SDL, "config.yaml": config, "operations/o.graphql": text}
    return entry(compiled(folder, files), "t")


@pytest.mark.parametrize(
    ("kind", "arguments", "meta"),
    [
        ("query", "", None),
        ("mutation", "", None),
        ("query", "pinned: true", {"anthropic/alwaysLoad": True}),
        ("query", 'searchHint: "orders by invoice"', {"anthropic/searchHint": "orders by invoice"}),
        ("mutation", "confirm: required", {"anthropic/requiresUserInteraction": True}),
        ("mutation", "confirm: advisory", None),
        ("query", "confirm: required", None),
        ("query", "limits: {max_result_bytes: 90000}", {"anthropic/maxResultSizeChars": 90_000}),
        (
            "query",
            'pinned: true meta: "{\\"anthropic/alwaysLoad\\": false}" version: "1"',
            {"anthropic/alwaysLoad": False, "tool_version": "1"},
        ),
    ],
)
def test_hint_is_there_for_its_option_and_for_no_other(
    tmp_path: Path, kind: str, arguments: str, meta: dict[str, Any] | None
) -> None:
    assert tool(kind, arguments, folder=tmp_path).get("_meta") == meta


def test_graphql_tool_that_asks_before_mutations_does_not_tell_hosts_to_ask_before_queries(tmp_path: Path) -> None:
    patterns = '[{expose: true, types: "Query|Mutation", fields: ".*"}]'
    sdl = f'extend schema @tool(name: "g", title: "G", confirm: required, pinned: true, graphql: {patterns})\n{SDL}'
    made = compiled(tmp_path, {"index.graphql": sdl, "config.yaml": PUBLIC})

    (listing,) = {str(each.entry and each.entry["_meta"]) for each in made.bundle.tools[0].listings}  # type: ignore[union-attr]
    assert listing == "{'anthropic/alwaysLoad': True}"


def test_tool_in_python_has_the_hints_of_its_options() -> None:
    def order(number: str) -> str:
        return number

    hints = define(order, {"pinned": True, "search_hint": "invoice", "meta": {"own": 1}}).entry["_meta"]
    assert hints == {"anthropic/alwaysLoad": True, "anthropic/searchHint": "invoice", "own": 1}
    assert "_meta" not in define(order, {}).entry
    for text in ("x" * 201, "two\nlines", " "):
        with pytest.raises(ToolDefinitionError):
            define(order, {"search_hint": text})


@pytest.mark.parametrize("hint", ['""', '" "', '"two\\nlines"', f'"{"x" * 201}"', '"\\u202e"'])
def test_words_that_are_not_one_short_line_are_refused(tmp_path: Path, hint: str) -> None:
    text = f'query T @mcpTool(name: "t" searchHint: {hint}) {{ b }}'
    files = {"index.graphql": SDL, "config.yaml": PUBLIC, "operations/o.graphql": text}

    assert [each.code for each in problems_of(tmp_path, files)] == ["invalid-option"]


def test_page_has_each_hint_with_the_bytes_that_it_adds(tmp_path: Path) -> None:
    told = {codes(row[0])[0]: row for row in table(page("hints").text, "key", "said by", "host", "effect", "bytes")}
    options = {
        "anthropic/maxResultSizeChars": ("query", "limits: {max_result_bytes: 100000}"),
        "anthropic/requiresUserInteraction": ("mutation", "confirm: required"),
        "anthropic/alwaysLoad": ("query", "pinned: true"),
        "anthropic/searchHint": ("query", 'searchHint: "w"'),
    }
    plain = {kind: schema_bytes(tool(kind, "", folder=tmp_path / kind)) for kind in ("query", "mutation")}

    assert {*HINTS} == told.keys()
    for key, (kind, option) in options.items():
        added = schema_bytes(tool(kind, option, folder=tmp_path / key)) - plain[kind]
        assert added == int(told[key][4].split()[0]) + (key == "anthropic/searchHint")


def test_examples_become_examples_of_each_argument(tmp_path: Path) -> None:
    files = operation(
        '[{x: 5, kind: NAME, when: "2026-01-05"}, '
        '{x: 5, kind: OTHER, filter: {name: "a", below: {name: "b"}}, list: [1, 2]}]'
    )
    schema = entry(compiled(tmp_path, files), "a")["inputSchema"]

    assert {name: each.get("examples") for name, each in schema["properties"].items()} == {
        "x": [5],
        "kind": ["NAME", "OTHER"],
        "when": ["2026-01-05"],
        "filter": [{"name": "a", "below": {"name": "b"}}],
        "list": [[1, 2]],
    }


def test_examples_of_a_nested_tool_are_in_its_variables_and_arguments_are_enforced_as_before(tmp_path: Path) -> None:
    sdl = 'extend schema @tool(name: "p", title: "P", prescribed: "A" examples: {x: 5})\n' + SDL
    sdl = 'extend schema @sdl(executables: [{document: "o.graphql", persist: true}])\n' + sdl
    files = {"index.graphql": sdl, "config.yaml": GUARDED, "o.graphql": f"query A({SIGNATURE}) {CALL}"}
    made = compiled(tmp_path / "a", files)
    plain = compiled(tmp_path / "b", {**files, "index.graphql": sdl.replace(" examples: {x: 5}", "")})

    (tool,), (without,) = made.bundle.tools, plain.bundle.tools
    assert isinstance(tool, PrescribedTool)
    assert isinstance(without, PrescribedTool)
    assert tool.entry["inputSchema"]["properties"]["variables"]["properties"]["x"]["examples"] == [5]
    assert tool.arguments == without.arguments


@pytest.mark.parametrize(
    ("examples", "sentence"),
    [
        ('[{x: "zehnte"}]', "the value of $x does not fit its type Int"),
        ("[{x: null}]", "the value of $x does not fit"),
        ("[{x: 99999999999}]", "the value of $x does not fit"),
        ('[{list: ["five"]}]', "the value of $list does not fit its type [Int!]"),
        ('[{filter: {nane: "a"}}]', "the value of $filter does not fit its type Filter"),
        ("[{kind: LATER}]", "the value of $kind does not fit its type Kind"),
        ('[{when: "today"}]', "the value of $when does not fit its type Day"),
        ("[{filter: {below: {pay: 5}}}]", "$filter uses Filter.pay, which some callers of the tool may not know"),
        ("[{kind: PAY}]", "$kind uses Kind.PAY, which some callers"),
        ('[{kind: "PAY"}]', "$kind uses Kind.PAY, which some callers"),
        ("[{y: 5}]", "there is no variable $y"),
        ("[5]", "expected an object of variables and their values"),
        ("[[{x: 5}]]", "expected an object"),
        ('["{}"]', "expected an object"),
        ("[{x: 1e999}]", "a value cannot be written as JSON"),
        (f'[{{filter: {{name: "{"x" * 1_000}"}}}}]', "expected at most 1,000"),
        ("[{x: 1} {x: 2} {x: 3} {x: 4} {x: 5} {x: 6}]", "6 are given: expected at most 5"),
        ("[null]", "examples"),
    ],
)
def test_example_that_no_call_could_be_is_refused_without_its_value(
    tmp_path: Path, examples: str, sentence: str
) -> None:
    found = problems_of(tmp_path, operation(examples))

    assert all((each.file, each.line) == ("operations/o.graphql", 1) and each.column > 50 for each in found), found
    assert any(sentence in each.sentence for each in found), found
    assert not any("zehnte" in each.sentence or "today" in each.sentence for each in found)


def test_literal_of_an_example_is_read_by_its_type(tmp_path: Path) -> None:
    files = operation("[{list: 5}]")
    files["operations/i.graphql"] = 'query I($id: ID!) @mcpTool(name: "i", examples: {id: 5}) { byId(id: $id) }'
    made = compiled(tmp_path, files)

    assert entry(made, "a")["inputSchema"]["properties"]["list"]["examples"] == [[5]]
    assert entry(made, "i")["inputSchema"]["properties"]["id"]["examples"] == ["5"]


def test_examples_that_python_takes_for_equal_are_kept(tmp_path: Path) -> None:
    sdl = SDL.replace("byId(id: ID!)", "any(any: Any): Int byId(id: ID!)") + "scalar Any\n"
    text = (
        'query N($any: Any) @mcpTool(name: "n", examples: [{any: true} {any: 1} {any: [0]} {any: [false]} {any: 1}]) '
    )
    files = {"index.graphql": sdl, "config.yaml": PUBLIC, "operations/o.graphql": text + "{ any(any: $any) }"}
    examples = entry(compiled(tmp_path, files), "n")["inputSchema"]["properties"]["any"]["examples"]

    assert json.dumps(examples) == "[true, 1, [0], [false]]"


def test_example_lacks_no_required_argument_and_has_no_bound_one(tmp_path: Path) -> None:
    lacking = operation("[{kind: NAME}]", signature=SIGNATURE.replace("$x: Int", "$x: Int!"))
    bound = operation("[{x: 5}]", signature=SIGNATURE.replace("$x: Int", "$x: Int @mcpBind(value: 7)"))

    (fault,) = problems_of(tmp_path / "a", lacking)
    assert fault.sentence == "examples: $x is required"
    (fault,) = problems_of(tmp_path / "b", bound)
    assert fault.sentence == "examples: $x is bound: its value never comes from a call"


def test_graphql_tool_takes_no_examples(tmp_path: Path) -> None:
    patterns = '{expose: true, types: "Query", fields: ".*"}'
    sdl = f'extend schema @tool(name: "g" examples: [{{query: "{{ b }}"}}] graphql: {patterns})\n{SDL}'
    (fault,) = problems_of(tmp_path, {"index.graphql": sdl, "config.yaml": PUBLIC})

    assert (fault.code, fault.file, fault.line) == ("invalid-example", "index.graphql", 1)


def test_examples_stay_with_their_argument_when_a_schema_is_shortened(tmp_path: Path) -> None:
    files = operation('[{filter: {name: "a"}, kind: NAME}]', signature=SIGNATURE + ", $other: Filter")
    files["operations/o.graphql"] = files["operations/o.graphql"].replace("{ a(", "{ o: a(filter: $other) { name } a(")
    files["config.yaml"] = GUARDED + "limits: {max_schema_bytes: 500}\n"
    made = compiled(tmp_path, files)
    from handler.policy.evaluation import Evaluation
    from handler.server.endpoints.endpoint import Endpoint
    from handler.storage.local import MemoryStorage

    endpoint = Endpoint(made.bundle, MemoryStorage())
    listed = endpoint.entry(made.bundle.tools[0], Evaluation(made.bundle.conditions, claims=None))

    assert listed is not None
    properties = listed["inputSchema"]["properties"]
    assert properties["filter"]["examples"] == [{"name": "a"}]
    assert "examples" not in properties["other"]
    assert "examples" not in str(listed["inputSchema"].get("$defs", ""))
