"""The arguments that ``@tool`` and ``@mcpTool`` share: what the list shows of them, and what cannot be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from handler.bundle.tools import CatalogTool, Limits, Tool, ToolOptions
from tests.support.endpoints import PUBLIC, compiled, graphql_tool, prescribed_tool, reported
from tests.support.local_entries import local_entries

SDL = " type Query { thing(id: ID!): String } type Mutation { drop(id: ID!, confirm: Boolean): String }"
QUERIES = '{expose: true, types: "Query", fields: ".*"}'
KINDS = ("mcpTool", "prescribed", "graphql")


def files_of(kind: str, options: str, *, operation: str = "query O($id: ID!) { thing(id: $id) }") -> dict[str, str]:
    """An endpoint whose only tool is called t, is of this kind and has these options."""
    if kind == "mcpTool":
        return {
            "index.graphql": SDL,
            "operations/o.graphql": operation.replace(" {", f' @mcpTool(name: "t" {options}) {{', 1),
            "config.yaml": PUBLIC,
        }
    what = 'prescribed: "O"' if kind == "prescribed" else f"graphql: {QUERIES}"
    return {
        "index.graphql": f'extend schema @tool(name: "t" {what} {options}){SDL}',
        "operations/o.graphql": operation,
        "config.yaml": PUBLIC,
    }


def tool_of(folder: Path, kind: str, options: str) -> Tool:
    (tool,) = compiled(folder, files_of(kind, options)).bundle.tools
    return tool


def entry_of(folder: Path, kind: str, options: str) -> dict[str, object]:
    made = compiled(folder, files_of(kind, options))
    (entry,) = local_entries(made)
    return entry


@pytest.mark.parametrize("kind", KINDS)
def test_what_clients_show_stands_in_the_entry(tmp_path: Path, kind: str) -> None:
    entry = entry_of(
        tmp_path,
        kind,
        'title: "A thing" category: "Shop" meta: {a: 1, b: {c: [true, null]}} version: "1.2.0" lastUpdate: "2026-01-31"'
        ' icons: [{src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"], theme: dark}]',
    )

    assert entry["title"] == "A thing"
    assert list(entry)[:2] == ["name", "title"]
    assert entry["icons"] == [
        {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    ]
    assert entry["_meta"] == {
        "a": 1,
        "b": {"c": [True, None]},
        "category": "Shop",
        "tool_version": "1.2.0",
        "tool_last_update": "2026-01-31",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_said_does_not_stand_in_the_entry(tmp_path: Path, kind: str) -> None:
    assert not {"title", "icons", "_meta"} & set(entry_of(tmp_path, kind, ""))


def test_category_wins_over_the_one_in_meta(tmp_path: Path) -> None:
    assert entry_of(tmp_path, "graphql", 'meta: {category: "a", k: "v"} category: "b"')["_meta"] == {
        "category": "b",
        "k": "v",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_versions_are_in_the_meta_of_results_too(tmp_path: Path, kind: str) -> None:
    assert tool_of(tmp_path, kind, 'version: "2" meta: {a: 1}').options.meta == {"tool_version": "2"}


@pytest.mark.parametrize("kind", KINDS)
def test_annotations_are_laid_over_the_defaults(tmp_path: Path, kind: str) -> None:
    entry = entry_of(tmp_path, kind, 'annotations: {idempotentHint: true, openWorldHint: false, title: "T"}')

    assert entry["annotations"] == {
        "readOnlyHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
        "title": "T",
    }


def test_author_may_say_that_a_mutation_destroys_nothing(tmp_path: Path) -> None:
    files = files_of(
        "mcpTool", "annotations: {destructiveHint: false}", operation="mutation M($id: ID!) { drop(id: $id) }"
    )

    assert prescribed_tool(compiled(tmp_path, files), "t").entry["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": False,
    }


def test_mutation_that_is_said_to_be_read_only_is_reported(tmp_path: Path) -> None:
    files = files_of("mcpTool", "annotations: {readOnlyHint: true}", operation="mutation M($id: ID!) { drop(id: $id) }")

    assert reported(tmp_path, files) == ['operations/o.graphql:1:22 not-read-only: "t"']


def test_graphql_tool_with_mutations_that_is_said_to_be_read_only_is_reported(tmp_path: Path) -> None:
    files = files_of("graphql", "annotations: {readOnlyHint: true}")
    files["index.graphql"] = files["index.graphql"].replace('types: "Query"', 'types: "Mutation"')

    assert reported(tmp_path, files) == ['index.graphql:1:15 not-read-only: "t"']


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_server_needs_stands_in_the_bundle(tmp_path: Path, kind: str) -> None:
    tool = tool_of(
        tmp_path,
        kind,
        'hidden: true aliases: ["old", "older.name"] scopes: ["things:read", "a"] output: structured confirm: advisory',
    )

    assert tool.options == ToolOptions(
        hidden=True,
        aliases=("old", "older.name"),
        scopes=("things:read", "a"),
        output="structured",
        confirm="advisory",
        meta={},
    )


@pytest.mark.parametrize(("kind", "output"), [("mcpTool", "both"), ("prescribed", "both"), ("graphql", "text")])
def test_kind_decides_on_the_output_where_nothing_is_said(tmp_path: Path, kind: str, output: str) -> None:
    assert tool_of(tmp_path, kind, "").options == ToolOptions(
        hidden=False, aliases=(), scopes=(), output=output, confirm="", meta={}
    )


@pytest.mark.parametrize(("output", "advertised"), [("both", True), ("structured", True), ("text", False)])
def test_output_schema_is_advertised_where_there_is_structured_output(
    tmp_path: Path, output: str, advertised: bool
) -> None:
    assert ("outputSchema" in entry_of(tmp_path, "prescribed", f"output: {output}")) is advertised


def test_hidden_tool_is_not_listed(tmp_path: Path) -> None:
    made = compiled(tmp_path, files_of("prescribed", "hidden: true"))

    assert local_entries(made) == []


@pytest.mark.parametrize("kind", KINDS)
def test_confirm_stands_among_the_arguments(tmp_path: Path, kind: str) -> None:
    made = compiled(tmp_path, files_of(kind, "confirm: advisory"))
    (tool,) = made.bundle.tools
    (entry,) = local_entries(made)

    for schema in (entry["inputSchema"], tool.arguments):
        assert schema["properties"]["confirm"]["type"] == "boolean"
        assert "confirm" not in schema.get("required", [])


def test_own_limits_are_laid_over_the_endpoints(tmp_path: Path) -> None:
    files = files_of("graphql", "limits: {max_depth: 3, max_tokens: 9000, max_cost: 7, max_values: 8}")
    files["config.yaml"] += "limits: {max_depth: 5, max_fields: 50}\n"

    assert graphql_tool(compiled(tmp_path, files), "t").limits == Limits(
        max_tokens=9000, max_depth=3, max_fields=50, max_aliases=20, max_cost=7, max_values=8
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("endpoint", "options", "own", "chars"),
    [
        ("", "", None, None),
        ("", "limits: {max_result_bytes: 20000}", 20_000, None),
        ("", "limits: {max_result_bytes: 90000}", 90_000, 90_000),
        ("", "limits: {max_result_bytes: 0}", 0, 500_000),
        ("limits: {max_result_bytes: 2000000}", "", None, 500_000),
        ("limits: {max_result_bytes: 2000000}", "limits: {max_result_bytes: 1000}", 1_000, None),
    ],
)
def test_limit_of_results_is_kept_and_told_to_hosts_that_would_keep_less(
    tmp_path: Path, *, kind: str, endpoint: str, options: str, own: int | None, chars: int | None
) -> None:
    files = files_of(kind, options)
    files["config.yaml"] += f"{endpoint}\n"
    made = compiled(tmp_path, files)
    (tool,) = [tool for tool in made.bundle.tools if tool.name == "t"]
    (entry,) = [entry for entry in local_entries(made) if entry["name"] == "t"]

    assert tool.options.max_result_bytes == own
    assert entry.get("_meta", {}).get("anthropic/maxResultSizeChars") == chars


@pytest.mark.parametrize(("own", "chars"), [("", None), ("limits: {max_result_bytes: 90000}", 90_000)])
def test_tools_of_a_catalog_tell_the_longest_result_that_they_pass_on(
    tmp_path: Path, own: str, chars: int | None
) -> None:
    files = files_of("prescribed", own)
    files["config.yaml"] += "catalog: true\n"
    tools = [tool for tool in compiled(tmp_path, files).bundle.tools if isinstance(tool, CatalogTool)]

    told = {tool.name: tool.entry.get("_meta", {}).get("anthropic/maxResultSizeChars") for tool in tools}
    assert told == {"catalog": None, "catalog-call": chars, "catalog-call-mutation": chars}


@pytest.mark.parametrize("kind", KINDS)
def test_negative_limit_of_results_is_reported(tmp_path: Path, kind: str) -> None:
    (line,) = reported(tmp_path, files_of(kind, "limits: {max_result_bytes: -1}"))

    assert "invalid-option" in line
    assert "limits.max_result_bytes is -1" in line


WRONG = {
    'title: " "': "title",
    'category: ""': "category",
    'version: ""': "version",
    'lastUpdate: "\\t"': "lastUpdate",
    'icons: [{src: "http://example.com/i.png"}]': '"http://example.com/i.png"',
    'icons: [{src: "https://[/"}]': '"https://[/"',
    'icons: {src: "i.png"}': '"i.png"',
    'scopes: ["a b"]': '"a b" & scope',
    'scopes: [""]': '"" & scope',
    "meta: 5": "meta & JSON",
    'meta: "{"': "meta & JSON",
    'meta: "[1]"': "meta & JSON",
    "meta: {_a: 1}": '"_a" & _meta',
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", WRONG)
def test_option_that_cannot_be_kept_is_reported_at_its_directive(tmp_path: Path, kind: str, options: str) -> None:
    place, name = ("operations/o.graphql:1:19", "mcpTool") if kind == "mcpTool" else ("index.graphql:1:15", "tool")

    assert reported(tmp_path, files_of(kind, options)) == [f"{place} invalid-option: @{name} & {WRONG[options]}"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("hidden: null", "'hidden'"),
        ('hidden: "yes"', "'hidden'"),
        ("output: json", "'output'"),
        ("confirm: yes", "'confirm'"),
        ("annotations: {readonlyHint: true}", "readonlyHint"),
        ("icons: [{}]", "src"),
        ("limits: {max_depth: 1.5}", "max_depth"),
        ('titel: "T"', "did you mean title?"),
    ],
)
def test_option_of_the_wrong_form_is_reported_in_its_file(tmp_path: Path, options: str, reason: str) -> None:
    (line,) = reported(tmp_path, files_of("graphql", options))

    assert line.startswith("index.graphql:1:")
    assert reason in line


@pytest.mark.parametrize("value", ["0", "-1"])
def test_limit_below_1_is_reported(tmp_path: Path, value: str) -> None:
    assert reported(tmp_path, files_of("graphql", f"limits: {{max_fields: {value}}}")) == [
        f"index.graphql:1:15 invalid-option: limits.max_fields is {value}"
    ]


@pytest.mark.parametrize("kind", ["mcpTool", "prescribed"])
def test_limits_of_a_tool_that_runs_one_operation_are_reported(tmp_path: Path, kind: str) -> None:
    place = "operations/o.graphql:1:19" if kind == "mcpTool" else "index.graphql:1:15"

    assert reported(tmp_path, files_of(kind, "limits: {max_depth: 3}")) == [f'{place} limits-of-an-operation: "t"']


@pytest.mark.parametrize("kind", KINDS)
def test_confirm_that_is_required_is_no_argument(tmp_path: Path, kind: str) -> None:
    made = compiled(tmp_path, files_of(kind, "confirm: required"))
    (tool,) = [tool for tool in made.bundle.tools if tool.name == "t"]

    assert tool.options.confirm == "required"
    for schema in (tool.entry["inputSchema"], tool.arguments):
        assert "confirm" not in schema["properties"]


def test_variable_of_the_name_that_confirm_needs_is_reported_for_flat_arguments(tmp_path: Path) -> None:
    operation = "mutation O($id: ID!, $confirm: Boolean) { drop(id: $id, confirm: $confirm) }"

    assert reported(tmp_path / "1", files_of("mcpTool", "confirm: advisory", operation=operation)) == [
        'operations/o.graphql:1:41 reserved-variable: "t" & "confirm"'
    ]
    nested = prescribed_tool(
        compiled(tmp_path / "2", files_of("prescribed", "confirm: advisory", operation=operation)), "t"
    )
    assert set(nested.arguments["properties"]) == {"variables", "confirm"}


def test_meta_may_be_json_text_because_its_keys_may_have_a_prefix(tmp_path: Path) -> None:
    assert entry_of(tmp_path, "graphql", r'meta: "{\"example.com/view\": {\"a\": 1}}"')["_meta"] == {
        "example.com/view": {"a": 1}
    }


@pytest.mark.parametrize("key", ["io.modelcontextprotocol/x", "com.mcp.tools/x", "a.mcp/x"])
def test_key_of_meta_that_is_reserved_for_mcp_is_reported(tmp_path: Path, key: str) -> None:
    assert reported(tmp_path, files_of("graphql", rf'meta: "{{\"{key}\": 1}}"')) == [
        f'index.graphql:1:15 invalid-option: "{key}"'
    ]


@pytest.mark.parametrize("aliases", ['["t"]', '["a", "a"]'])
def test_alias_that_is_a_name_already_is_reported(tmp_path: Path, aliases: str) -> None:
    name = "t" if "t" in aliases else "a"

    assert reported(tmp_path, files_of("graphql", f"aliases: {aliases}")) == [
        f'index.graphql:1:27 duplicate-tool: "{name}" & index.graphql:1:27'
    ]


def test_alias_that_is_no_name_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, files_of("graphql", 'aliases: ["a b"]')) == [
        'index.graphql:1:27 invalid-tool-name: "a b" & 1 to 128'
    ]


@pytest.mark.parametrize(
    "option",
    [
        "condition: $id",
        "scopes: $id",
        "scopes: [$id]",
        "confirm: $id",
        "meta: {a: {b: [$id]}}",
        "annotations: {readOnlyHint: $id}",
    ],
)
def test_variable_in_an_option_is_refused_and_does_not_count_as_absent(tmp_path: Path, option: str) -> None:
    (problem,) = reported(tmp_path, files_of("mcpTool", option))

    assert problem == "wrong-value: @mcpTool has $id here"
