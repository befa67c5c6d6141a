"""Operations that become tools by ``tools`` in ``config.yaml``, and those that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.tools import PrescribedTool
from tests.support.diagnostics import Reported
from tests.support.endpoints import compiled, reported

SDL = "type Query { a(n: Int): Int } type Mutation { b: Int } type Subscription { c: Int }"
ALL = "tools: {operations: queries_and_mutations}\n"
FILES = {
    "index.graphql": SDL,
    "config.yaml": "tools: operations\n",
    "operations/a.graphql": "# Reads a.\nquery ReadA(\n  # Which one\n  $n: Int\n) { a(n: $n) }",
    "operations/b.gql": 'mutation WriteB { b } query ReadTwice @mcpTool(name: "twice", confirm: required) { a }',
}


def tools_of(folder: Path, **files: str) -> list[str]:
    made = compiled(folder, FILES | {name.replace("__", "/") + ".graphql": text for name, text in files.items()})
    return [each.tool.name for each in made.made]


def warned(folder: Path, files: dict[str, str], *codes: str) -> list[Reported]:
    made = compiled(folder, FILES | files)
    return [Reported(warning) for warning in made.warnings if warning.code in codes]


def test_named_queries_are_tools_by_their_own_names(tmp_path: Path) -> None:
    assert tools_of(tmp_path) == ["ReadA", "twice"]


def test_comments_describe_the_tool_and_its_arguments(tmp_path: Path) -> None:
    tool = compiled(tmp_path, FILES).made[0].tool

    assert isinstance(tool, PrescribedTool)
    assert tool.entry["description"] == "Reads a."
    assert tool.entry["inputSchema"]["properties"]["n"]["description"] == "Which one"


def test_description_of_the_operation_comes_before_its_comment(tmp_path: Path) -> None:
    text = '# The comment.\n"The description."\nquery ReadA { a }'

    tool = compiled(tmp_path, FILES | {"operations/a.graphql": text}).made[0].tool

    assert isinstance(tool, PrescribedTool)
    assert tool.entry["description"] == "The description."


def test_directive_keeps_its_options(tmp_path: Path) -> None:
    tool = compiled(tmp_path, FILES).made[1].tool

    assert (tool.name, tool.options.confirm) == ("twice", "required")


def test_mutation_is_left_out_by_name_and_place(tmp_path: Path) -> None:
    assert warned(tmp_path, {}, "left-out-operation") == [
        'operations/b.gql:1:1 left-out-operation: "WriteB" is a mutation & queries_and_mutations'
    ]


def test_mutations_are_tools_if_config_says_so_and_are_shown_as_destructive(tmp_path: Path) -> None:
    made = compiled(tmp_path, FILES | {"config.yaml": ALL}).made

    assert [each.tool.name for each in made] == ["ReadA", "WriteB", "twice"]
    assert isinstance(made[1].tool, PrescribedTool)
    assert made[1].tool.entry["annotations"]["destructiveHint"] is True
    assert warned(tmp_path, {"config.yaml": ALL}, "left-out-operation") == []


def test_operations_that_cannot_be_tools_are_left_out_with_a_warning_each(tmp_path: Path) -> None:
    files = {
        "config.yaml": ALL,
        "operations/c.graphql": "subscription WatchC { c }\nquery { a }\nquery Types { __schema { description } }",
    }

    assert warned(tmp_path, files, "left-out-operation") == [
        'operations/c.graphql:1:1 left-out-operation: "WatchC" is a subscription',
        "operations/c.graphql:2:1 left-out-operation: without a name",
        'operations/c.graphql:3:1 left-out-operation: "Types" asks the API for __schema',
    ]


@pytest.mark.parametrize("text", ["query { a }", "subscription WatchC { c }"])
def test_without_tools_such_an_operation_is_an_error(tmp_path: Path, text: str) -> None:
    files = FILES | {"config.yaml": "", "operations/c.graphql": text}

    assert reported(tmp_path, files) in (
        ["operations/c.graphql:1:1 anonymous-operation"],
        ["operations/c.graphql:1:1 subscription"],
    )


@pytest.mark.parametrize("text", ["query @mcpTool { a }", "subscription WatchC @mcpTool { c }"])
def test_directive_on_an_operation_that_cannot_be_a_tool_remains_an_error(tmp_path: Path, text: str) -> None:
    assert len(reported(tmp_path, FILES | {"operations/c.graphql": text})) == 1


def test_operation_in_a_hidden_folder_is_not_read(tmp_path: Path) -> None:
    assert tools_of(tmp_path, **{"operations__.hidden__x": "query Hidden { a }"}) == ["ReadA", "twice"]


def test_operation_of_a_prescribed_tool_gets_no_second_tool(tmp_path: Path) -> None:
    index = f'extend schema @tool(name: "read", prescribed: "ReadA") {SDL}'

    assert tools_of(tmp_path, index=index) == ["read", "twice"]


@pytest.mark.parametrize("text", ["mutation WriteB { b }", "fragment F on Query { a } mutation WriteB { b }"])
def test_endpoint_without_queries_gets_no_default_tool(tmp_path: Path, text: str) -> None:
    files = {"index.graphql": SDL, "config.yaml": "\ntools: operations\n", "operations/b.graphql": "mutation B { b }"}

    made = compiled(tmp_path, files)

    assert (made.made, made.bundle.graphql.mode) == ((), "persisted")
    assert [Reported(each) for each in made.warnings if each.code in ("no-tool", "default-tool")] == [
        "config.yaml:2:8 no-tool: expected a named query"
    ]


def test_policies_apply_to_such_a_tool(tmp_path: Path) -> None:
    files = FILES | {"config.yaml": "tools: operations\naccess: {hide: [Query.a]}\n"}

    found = [Reported(each) for each in compiled(tmp_path, files).warnings if each.code == "uncallable-tool"]

    assert found[0] == "operations/a.graphql:2:1 uncallable-tool: ReadA"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("operation", "config.yaml:1:8 invalid-value: expected operations, or {operations: queries_and_mutations}"),
        ("''", "config.yaml:1:8 invalid-value: expected operations"),
        ("[operations]", "config.yaml:1:8 invalid-value: expected a text"),
        ("{operations: all}", "config.yaml:1:21 invalid-value: expected queries or queries_and_mutations"),
        ("{operation: queries}", "config.yaml:1:9 unknown-key: did you mean operations"),
        ("{operations: [queries]}", "config.yaml:1:21 invalid-value: expected a text"),
    ],
)
def test_misspelt_value_is_refused_with_the_expected_ones(tmp_path: Path, value: str, expected: str) -> None:
    assert reported(tmp_path, FILES | {"config.yaml": f"tools: {value}\n"}) == [expected]


def test_empty_mapping_makes_no_tool_of_an_operation(tmp_path: Path) -> None:
    made = compiled(tmp_path, FILES | {"config.yaml": "tools: {}\n"})

    assert [each.tool.name for each in made.made] == ["twice"]
