"""Lists whose schemas are shortened: as callers get them, and as ``stile check`` tells of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.bundle.listed_entry import MAX_WHOLE_BYTES
from handler.commands.folders.tool_costs import sentences_on_tools, tool_list, tool_rows
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.policy.evaluation import Evaluation
from handler.server.endpoints.endpoint import MAX_ENTRIES
from handler.strict_json import to_json_bytes
from tests.commands.running import ran
from tests.support.endpoints import compiled, write_endpoint
from tests.support.examples import examples
from tests.support.function import Function, running_function

LAMBDA_BYTES = 6_291_456
TOOLS = examples(900, share=5)
TYPES = 25

CONFIG = """\
upstream: {url: "http://127.0.0.1:9/graphql"}
access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}
"""


def files(tools: int, config: str = "") -> dict[str, str]:
    """An endpoint with tools that all take a filter whose types lead to each other."""
    types = "\n".join(
        f'"the filter {number}" input F{number} {{ {fields(number)} text: String, number: Int, id: ID }}'
        for number in range(TYPES)
    )
    outputs = " ".join(f"field_number_{number}: String" for number in range(30))
    selected = outputs.replace(": String", "")
    return {
        "index.graphql": f"type Query {{ rows(where: F0): Row }} type Row {{ {outputs} }}\n{types}",
        "operations/o.graphql": "\n".join(
            f"query Op{number}($where: F0) @mcpTool {{ rows(where: $where) {{ {selected} }} }}"
            for number in range(tools)
        ),
        "config.yaml": CONFIG + config,
    }


def fields(number: int) -> str:
    return " ".join(
        f'"what it compares, and how" f{place}: F{(number * 7 + place * 11 + 1) % TYPES}' for place in range(8)
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("large"), files(TOOLS))


@pytest.fixture
def function(large: Compiled) -> Iterator[Function]:
    with running_function(large) as running:
        yield running


def test_list_of_hundreds_of_tools_goes_out_in_pages_below_the_limit_of_lambda(function: Function) -> None:
    names: list[str] = []
    params: dict[str, Any] = {}
    while not names or params:
        answer = function.request("tools/list", params)
        assert len(to_json_bytes(answer.body.decode())) < LAMBDA_BYTES / 2
        names += [tool["name"] for tool in answer.result["tools"]]
        assert all(len(to_json_bytes(tool["inputSchema"])) <= 6_000 for tool in answer.result["tools"])
        cursor = answer.result.get("nextCursor")
        params = {"cursor": cursor} if cursor else {}

    assert names == [f"Op{number}" for number in range(TOOLS)]


def test_check_tells_of_pages_and_of_shortened_schemas(large: Compiled) -> None:
    found = tool_list(large)

    told = list(sentences_on_tools(tool_rows(large), found))

    assert found["pages"] > 1
    assert f"limits.max_schema_bytes shortens the inputSchema of {TOOLS} tools: Op0 (" in told[0]
    size = f"{found['bytes']} bytes: {found['pages']} pages"
    assert told[-1] == f"The list of tools has {size}."
    assert told[-2].startswith("limits.list_budget shortens the list from about ")
    left_out = f", without output schemas of {TOOLS} tools, descriptions inside arguments of {TOOLS} tools."
    assert told[-2].endswith(left_out)


def test_check_tells_that_a_catalog_keeps_the_list_short(tmp_path: Path) -> None:
    write_endpoint(tmp_path, files(10, "catalog: true\nlimits: {list_budget: 2000}\n"))

    done = ran("check", str(tmp_path))
    told = json.loads(ran("check", str(tmp_path), "--json").out)["endpoints"][0]

    assert "limits.max_schema_bytes shortens the inputSchema of 10 tools: Op0 (" in done.out
    assert "The catalog keeps the list of tools to " in done.out
    assert " pages" not in done.out
    assert (told["toolList"]["pages"], told["toolList"]["byCatalog"]) == (1, True)
    assert told["tools"][0]["shortened"]["inputSchema"] > 12_000


def test_catalog_shows_more_of_a_schema_to_callers_who_name_the_tool(tmp_path: Path) -> None:
    made = compiled(tmp_path, files(10, "catalog: true\n"))

    with running_function(made) as function:
        found = function.call("catalog", {"names": ["Op1"]}).result["structuredContent"]["tools"][0]

    listed = next(tool for tool in made.bundle.tools if tool.name == "Op1").entry["inputSchema"]
    assert len(to_json_bytes(listed)) <= 6_000
    assert 12_000 < len(to_json_bytes(found["inputSchema"])) <= MAX_WHOLE_BYTES
    assert "see catalog, by the name of this tool" in json.dumps(listed)
    assert "see catalog" not in json.dumps(found)


def test_schemas_of_callers_are_made_once_however_many_tools_there_are(tmp_path: Path) -> None:
    rule = "{type: Row, policyDefault: {condition: true}, rules: [{condition: '?$jwt', fields: [price]}]}"
    made = compiled(
        tmp_path,
        {
            "index.graphql": "type Query { rows(where: F): Row } type Row { name: Int price: Int } "
            "input F { name: Int price: Int }",
            "operations/o.graphql": "\n".join(
                f"query Op{number}($where: F) @mcpTool {{ rows(where: $where) {{ name }} }}"
                for number in range(MAX_ENTRIES + 1)
            ),
            "config.yaml": CONFIG.replace("]}", f", {rule}]}}"),
        },
    )
    endpoint = local_endpoint(made)

    outcomes = (endpoint.everybody, Evaluation(made.bundle.conditions, claims={}))

    first, again = (
        [endpoint.entry(tool, outcome) for outcome in outcomes for tool in made.bundle.tools] for _ in range(2)
    )

    assert ["price" in json.dumps(each) for each in first] == [False] * (MAX_ENTRIES + 1) + [True] * (MAX_ENTRIES + 1)
    assert all(one is other for one, other in zip(first, again, strict=True))
