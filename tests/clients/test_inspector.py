"""The official MCP Inspector, which is the TypeScript SDK: another reader of our tools than Python's."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled
from tests.clients.folders import FETCHED, FOLDERS, compile_what_can_be
from tests.clients.inspector import Era, Inspector
from tests.clients.scalars import json_scalar_names
from tests.clients.serving import running_server
from tests.conftest import DEMO
from tests.support.endpoints import compiled, prescribed_tool
from tests.support.require import requires
from tests.support.upstream import Upstream

EMAIL = "elif.nunez@example.com"


ERAS: tuple[Era, ...] = ("legacy", "modern")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.name))
def test_schemas_are_portable_but_for_json_scalars(inspector: Inspector, folder: Path, tmp_path: Path) -> None:
    endpoint = compile_what_can_be(folder, tmp_path)
    with running_server(endpoint) as url:
        legacy, modern = (inspector.list_tools(url, era=era) for era in ERAS)

    assert (legacy.code, modern.code) == (0, 0), legacy.complaints + modern.complaints
    assert [tool["name"] for tool in legacy.result["tools"]] == [tool.name for tool in endpoint.bundle.tools]
    assert modern.result["tools"] == legacy.result["tools"]
    assert {finding.rule for finding in legacy.findings} <= {"untyped-schema"}
    places = {re.findall(r"properties\.(\w+)", finding.path)[-1] for finding in legacy.findings}
    assert places <= json_scalar_names(folder)


def test_demo_answers_with_four_json_scalars_and_takes_none_without_a_type(
    inspector: Inspector, demo: Compiled
) -> None:
    with running_server(demo) as url:
        findings = inspector.list_tools(url, era="legacy").findings

    assert [(finding.tool, finding.schema, finding.path.rpartition(".")[2]) for finding in findings] == [
        ("list_orders", "outputSchema", "total"),
        ("list_orders", "outputSchema", "placedAt"),
        ("list_orders", "outputSchema", "unitPrice"),
        ("place_order", "outputSchema", "total"),
    ]


def test_tool_whose_schema_is_not_portable_is_found(inspector: Inspector, demo: Compiled) -> None:
    with running_server(_with_output(demo, {"type": "object", "properties": {"data": True}})) as url:
        listed = inspector.list_tools(url, era="legacy")

    assert listed.code == 6
    assert ("boolean-schema", "error") in {(finding.rule, finding.severity) for finding in listed.findings}


@pytest.mark.parametrize("era", ERAS)
def test_answer_fits_the_output_schema_that_was_listed(inspector: Inspector, served_demo: Compiled, era: Era) -> None:
    with running_server(served_demo) as url:
        called = inspector.call(url, "list_orders", {"email": EMAIL, "first": 2}, era=era)

    assert called.code == 0, called.complaints
    assert len(called.result["structuredContent"]["data"]["customer"]["orders"]["edges"]) == 2


def test_client_follows_references_within_the_output_schema(
    inspector: Inspector, upstream: Upstream, tmp_path: Path
) -> None:
    operation = f"""
    query Twice @mcpTool {{ a: customer(email: "{EMAIL}") {{ ...C }} b: customer(email: "") {{ ...C }} }}
    fragment C on Customer {{ id name email phone address {{ street city state zip }} }}
    """
    files = {
        "index.graphql": (DEMO / "schema.graphql").read_text("utf-8"),
        "operations/twice.graphql": operation,
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}",
    }
    endpoint = compiled(tmp_path, files)
    assert "$defs" in prescribed_tool(endpoint, "Twice").entry["outputSchema"]

    with running_server(endpoint) as url:
        called = inspector.call(url, "Twice", {}, era="legacy")

    assert called.code == 0, called.complaints
    assert called.result["structuredContent"]["data"]["a"]["email"] == EMAIL


def test_answer_that_does_not_fit_is_a_tool_error_that_the_client_reads(
    inspector: Inspector, served_demo: Compiled
) -> None:
    with running_server(_with_output(served_demo, {"type": "object", "properties": {"data": {"type": "null"}}})) as url:
        called = inspector.call(url, "list_orders", {"email": EMAIL, "first": 2}, era="legacy")

    assert called.code == 5
    assert "structuredContent" not in called.result
    first, data = called.result["content"][0]["text"].splitlines()
    assert first == "The API's answer violates its published schema (data: expected null, the API sent an object):"
    assert len(json.loads(data)["data"]["customer"]["orders"]) == 2


def test_failed_call_is_a_tool_error(inspector: Inspector, demo: Compiled) -> None:
    with running_server(demo) as url:
        called = inspector.call(url, "list_orders", {"first": "two"}, era="modern")

    assert called.code == 5
    assert called.result["content"][0]["text"].startswith("Invalid arguments for tool list_orders: ")


REAL = {
    "dagster-named",
    "ghstack-named",
    "github-named",
    "shopify-customer-account",
    "shopify-storefront",
    "vendure-admin",
}


def test_demo_and_real_schemas_are_among_the_folders() -> None:
    assert DEMO in FOLDERS
    missing = REAL - {folder.name for folder in FETCHED}
    requires("corpora", not missing, f"`make corpora` fetches {', '.join(sorted(missing))}")


def _with_output(endpoint: Compiled, schema: dict[str, object]) -> Compiled:
    """The endpoint with another output schema for its flat tools."""
    tools = tuple(
        dataclasses.replace(tool, entry={**tool.entry, "outputSchema": schema})
        if isinstance(tool, PrescribedTool) and tool.flat
        else tool
        for tool in endpoint.bundle.tools
    )
    return dataclasses.replace(endpoint, bundle=dataclasses.replace(endpoint.bundle, tools=tools))
