"""Input schemas as clients and vendors of models take them, and warnings of those that they would refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from handler.compiler.checks.client_rules import MAX_LISTED
from handler.compiler.compile import Compiled, compile_endpoint
from handler.compiler.json_schemas.scalars import BUILT_IN, KNOWN, UNKNOWN
from handler.list_entries import LIST_BUDGET
from handler.strict_json import JSONObject
from tests.compiler.json_schemas.random_operations import CONFIG, Operation, operations
from tests.conftest import DEMO
from tests.support.demo_code import MODULES
from tests.support.diagnostics import Reported
from tests.support.endpoints import READABLE, compiled, prescribed_tool
from tests.support.examples import examples
from tests.support.local_entries import local_entries
from tests.support.projects import FOLDERS
from tests.support.vendors import refusals, untyped


@pytest.mark.parametrize("folder", [DEMO, *FOLDERS], ids=lambda folder: str(folder.name))
def test_no_vendor_refuses_a_tool_of_the_demo_or_of_a_project(folder: Path) -> None:
    for entry in local_entries(compile_endpoint(folder)):
        assert refusals(entry["inputSchema"]) == [], entry["name"]


def test_no_tool_in_python_of_the_demo_takes_a_value_without_a_type() -> None:
    made = compile_endpoint(DEMO, stage="code", environ={"STILE_CODE_MODULES": ",".join(MODULES)})

    assert [entry["name"] for entry in local_entries(made) if untyped(entry["inputSchema"])] == []


def test_no_vendor_refuses_a_scalar_alone_or_in_lists_and_objects(tmp_path: Path) -> None:
    config = READABLE + "scalars: {Listed: {type: array}, Free: {}}\n"
    for name in ("JSON", "JSONObject", "DateTime", "BigInt", "Opaque", "Listed", "Free"):
        sdl = f"""
            scalar {name} input In {{ one: {name} all: [[{name}!]!] in: In }}
            type Query {{ a(x: {name}, xs: [{name}], in: In): Int }}
        """
        text = f"query O($x: {name}, $xs: [{name}], $in: In) @mcpTool {{ a(x: $x, xs: $xs, in: $in) }}"
        scalars = "".join(f"scalar {each} " for each in ("Listed", "Free") if each != name)
        files = {"index.graphql": scalars + sdl, "operations/o.graphql": text, "config.yaml": config}

        assert refusals(prescribed_tool(compiled(tmp_path, files), "O").entry["inputSchema"]) == [], name


def test_no_vendor_refuses_what_is_known_of_scalars() -> None:
    for scalar in (*BUILT_IN.values(), *KNOWN.values(), UNKNOWN):
        assert refusals({"type": "object", "properties": {"x": scalar.advertised}}) == []


def test_no_vendor_refuses_a_tool_of_any_operation(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("random")

    # Not made smaller where it fails: every smaller schema would be compiled again.
    @settings(max_examples=examples(40), derandomize=True, deadline=None, database=None, phases=[Phase.generate])
    @given(operations())
    def check(operation: Operation) -> None:
        config = CONFIG if "scalar Money" in operation.sdl else ""
        files = {"index.graphql": operation.sdl, "operations/o.graphql": operation.text, "config.yaml": config}
        assert refusals(prescribed_tool(compiled(folder, files), "O").entry["inputSchema"]) == []

    check()


def test_any_value_is_written_once_if_the_schema_is_too_long_otherwise(tmp_path: Path) -> None:
    once, often = (
        compiled(
            tmp_path,
            {
                "index.graphql": "scalar JSON type Query { a(x: JSON, y: JSON, z: JSON): Int }",
                "operations/o.graphql": f"query O({declared}) @mcpTool {{ a({used}) }}",
                "config.yaml": f"{READABLE}limits: {{max_schema_bytes: 600}}\n",
            },
        ).bundle.tools[0].entry["inputSchema"]
        for declared, used in (("$x: JSON", "x: $x"), ("$x: JSON, $y: JSON, $z: JSON", "x: $x, y: $y, z: $z"))
    )  # fmt: skip

    assert "$defs" not in once
    assert [each["anyOf"][0]["$ref"] for each in often["properties"].values()] == ["#/$defs/JSON"] * 3
    assert refusals(often) == []


def test_free_variables_say_that_they_take_any_name(tmp_path: Path) -> None:
    index = """
        schema @sdl(files: ["s.graphql"], executables: [{document: "o.graphql", persist: true}])
          @tool(name: "free", graphql: {expose: true, types: "Query", fields: ".*"})
          @tool(name: "closed", prescribed: "O") { query: Query }
    """
    files = {
        "index.graphql": index,
        "s.graphql": "type Query { a(x: Int): Int }",
        "o.graphql": "query O($x: Int) { a(x: $x) }",
        "config.yaml": READABLE,
    }

    variables = {
        entry["name"]: entry["inputSchema"]["properties"]["variables"]
        for entry in local_entries(compiled(tmp_path, files))
    }

    assert variables["free"]["additionalProperties"] is True
    assert "additionalProperties" not in variables["closed"]
    assert refusals({"type": "object", "properties": variables}) == []


KIT = """
from typing import Any
from stile import Toolkit

kit = Toolkit()


@kit.tool
def loose(a: Any, b: list, c: dict[str, Any], d: list[Any] = [], e: int | None = None) -> None: ...


@kit.tool
def typed(a: int, b: list[str], c: dict[str, int], d: str | None = None) -> None: ...


@kit.tool(
    input_schema={
        "type": "object",
        "properties": {"a": {"enum": [1]}, "b": {"$ref": "#/$defs/B"}},
        "$defs": {"B": {}},
    }
)
def written(arguments: dict[str, Any]) -> None: ...
"""


def test_values_without_a_type_in_tools_in_python_are_doubted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loose_tools.py").write_text(KIT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    config = "access: {anonymous: allow}\ncode: [{use: 'loose_tools:kit'}]\n"

    made = compiled(tmp_path / "e", {"config.yaml": config}, STILE_CODE_MODULES="loose_tools")

    kit = tmp_path / "loose_tools.py"
    assert doubts_of(made, "untyped-parameter") == [
        f'{kit}:8:1 untyped-parameter: "loose" & (/a, /b[], /d[])',
        f'{kit}:16:1 untyped-parameter: "written" & (/a, /$defs/B)',
    ]
    entries: dict[str, JSONObject] = {entry["name"]: entry["inputSchema"] for entry in local_entries(made)}
    assert {name for name, schema in entries.items() if untyped(schema)} == {"loose", "written"}


def doubts_of(made: Compiled, code: str) -> list[Reported]:
    return [Reported(warning) for warning in made.client_warnings if warning.code == code]


def many(folder: Path, count: int, *, description: str = "d", hidden: int = 0) -> Compiled:
    operations_ = "\n".join(
        f'"{description}" query Q{n} @mcpTool{"(hidden: true)" if n < hidden else ""} {{ a }}' for n in range(count)
    )
    return compiled(folder, {"index.graphql": "type Query { a: Int }", "operations/o.graphql": operations_})


def test_list_of_more_tools_than_clients_take_is_doubted(tmp_path: Path) -> None:
    (doubt,) = doubts_of(many(tmp_path, MAX_LISTED + 1), "too-many-tools")

    assert doubt == "index.graphql too-many-tools: 41 tools & 40 & catalog: true"
    assert doubts_of(many(tmp_path, MAX_LISTED), "too-many-tools") == []
    assert doubts_of(many(tmp_path, MAX_LISTED + 1, hidden=1), "too-many-tools") == []


def test_list_of_more_tokens_than_a_conversation_bears_is_doubted(tmp_path: Path) -> None:
    sized: Any = {"description": "d" * (LIST_BUDGET * 2)}

    (doubt,) = doubts_of(many(tmp_path, 3, **sized), "long-tool-list")

    assert doubt == f"index.graphql long-tool-list: more than {LIST_BUDGET}"
    assert doubts_of(many(tmp_path, 1, **sized), "long-tool-list") == []
