"""Answers of an API that are held against the output schema of their tool, as the official client receives them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult

from handler.compiler.compile import Compiled
from tests.support.endpoints import PUBLIC, compiled, prescribed_tool
from tests.support.examples import FULL
from tests.support.function import Function, running_function
from tests.support.raw_http import RawServer, answer, answering, running_server
from tests.support.sdk import Mode, sdk_client

SDL = """
type Query { order: Order }
type Mutation { pay: Order }
scalar Money
enum Status { PAID OPEN }
union Payer = Customer | Company
type Customer { name: String! }
type Company { vat: String! }
type Order { id: ID! total: Float! count: Int status: Status! note: String tags: [String!]! price: Money payer: Payer }
"""
FIELDS = (
    "{ id total count status note tags price payer { __typename ... on Customer { name } ... on Company { vat } } }"
)
OPERATIONS = {
    "query": ("query", "order", f"query T OPTIONS {{ order {FIELDS} }}"),
    "mutation": ("mutation", "pay", f"mutation T OPTIONS {{ pay {FIELDS} }}"),
}
ORDER: Mapping[str, Any] = {
    "id": "1",
    "total": 12.5,
    "count": 2,
    "status": "PAID",
    "note": None,
    "tags": ["new"],
    "price": {"amount": 1},
    "payer": {"__typename": "Customer", "name": "Zoë"},
}
ERRORS = [{"message": "It failed.", "path": ["order", "note"]}]
SECRET = "4111-1111-1111-1111"

FITTING: Mapping[str, Mapping[str, Any]] = {
    "as published": {},
    "new enum value": {"status": "REFUNDED"},
    "number for an ID": {"id": 7},
    "any custom scalar": {"price": [1, None, "x"]},
    "null for a nullable field": {"count": None, "payer": None},
    "integer that is written with a fraction": {"count": 2.0},
    "integer for a Float": {"total": 12},
    "extra field": {"more": SECRET},
    "unknown __typename with fields that nobody asked for": {"payer": {"__typename": "Shop", SECRET: 1}},
    "union with an unknown __typename": {"payer": {"__typename": "Shop"}},
}
MISFITS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "null for non-null": ({"total": None}, ".total: expected number, the API sent null"),
    "string for an Int": ({"count": SECRET}, ".count: expected integer or null, the API sent a string"),
    "fraction for an Int": ({"count": 1.5}, ".count: expected integer or null, the API sent a number"),
    "boolean for an Int": ({"count": True}, ".count: expected integer or null, the API sent a boolean"),
    "missing field": ({"total": ...}, ".total: expected number, the API sent nothing"),
    "missing custom scalar": ({"price": ...}, ".price: expected a value, the API sent nothing"),
    "object for an enum": ({"status": {"x": SECRET}}, ".status: expected string, the API sent an object"),
    "null in a list": ({"tags": ["a", None]}, ".tags[1]: expected string, the API sent null"),
    "value for a list": ({"tags": SECRET}, ".tags: expected array, the API sent a string"),
    "list for an object": ({"payer": [SECRET]}, ".payer: expected object or null, the API sent an array"),
    "null in an object of a union": (
        {"payer": {"__typename": "Company", "vat": None}},
        ".payer.vat: expected string, the API sent null",
    ),
    "unknown __typename with fields that were asked of others": (
        {"payer": {"__typename": "Shop", "name": "x"}},
        ".payer: expected an object of a type that is selected, the API sent another one",
    ),
}
OUTPUTS = ("both", "text", "structured")
FORMS = list(product(OUTPUTS, OPERATIONS, [False, True]))[:: 1 if FULL else 5]  # with errors beside data, or without


def endpoint_of(folder: Path, kind: str, output: str, *, url: str, nested: bool = False, more: str = "") -> Compiled:
    """An endpoint with one tool ``t``: flat from ``@mcpTool``, or nested from ``@tool(prescribed:)``."""
    options = f'name: "t" output: {output} {more}'
    text = OPERATIONS[kind][2]
    files = {"config.yaml": f"upstream: {{url: '{url}'}}\n{PUBLIC}"}
    if nested:
        executables = 'executables: [{document: "operations/o.graphql", persist: true}]'
        files["index.graphql"] = f'extend schema @tool(prescribed: "T" {options}) @sdl({executables}) {SDL}'
        files["operations/o.graphql"] = text.replace("OPTIONS", "")
    else:
        files["index.graphql"] = SDL
        files["operations/o.graphql"] = text.replace("OPTIONS", f"@mcpTool({options})")
    return compiled(folder, files)


@contextmanager
def serving(
    folder: Path, response: Any, *, kind: str = "query", output: str = "both", **more: Any
) -> Iterator[tuple[Function, RawServer]]:
    """A function over an API that gives this response to everything."""
    body = response if isinstance(response, bytes) else json.dumps(response).encode()
    with (
        running_server(answering(answer(body, content_type="application/json"))) as api,
        running_function(endpoint_of(folder, kind, output, url=api.url, **more)) as function,
    ):
        yield function, api


def response_of(kind: str, changes: Mapping[str, Any], *, errors: bool = False) -> dict[str, Any]:
    """A response whose object differs from ``ORDER``; ``...`` leaves a field out."""
    order = {name: value for name, value in {**ORDER, **changes}.items() if value is not ...}
    data = {"data": {OPERATIONS[kind][1]: order}}
    return {**data, "errors": ERRORS} if errors else data


def received(function: Function, mode: Mode = "auto") -> CallToolResult:
    """What the official client makes of a call, its own check of the structured content included."""

    async def call() -> CallToolResult:
        async with sdk_client(function, mode=mode) as client:
            await client.list_tools()
            result: CallToolResult = await client.call_tool("t", {})
            return result

    return asyncio.run(call())


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def with_warning(response: dict[str, Any], kind: str) -> dict[str, Any]:
    """A response as the tool has it: errors of a mutation that has run begin with one that says so."""
    if kind != "mutation" or "errors" not in response:
        return response
    warning = "The API has run pay, and its answer has errors: find out what was carried out before anything is "
    return {**response, "errors": [{"message": f"{warning}sent once more."}, *response["errors"]]}


@pytest.mark.parametrize(("output", "kind", "errors"), FORMS)
@pytest.mark.parametrize("name", FITTING)
def test_answer_that_fits_arrives_in_the_forms_of_its_tool(
    tmp_path: Path, *, name: str, output: str, kind: str, errors: bool
) -> None:
    response = response_of(kind, FITTING[name], errors=errors)
    with serving(tmp_path, response, kind=kind, output=output) as (function, _):
        result = received(function)

        assert function.lines[-1]["outcome"] == "ok"
    assert not result.is_error
    order = response["data"][OPERATIONS[kind][1]]
    order.pop("more", None)
    (order["payer"] or {}).pop(SECRET, None)
    response = with_warning(response, kind)
    assert result.structured_content == (None if output == "text" else response)
    assert text_of(result) == (
        "" if output == "structured" else json.dumps(response, ensure_ascii=False, separators=(",", ":"))
    )


@pytest.mark.parametrize("name", FITTING)
def test_client_with_a_shortened_list_takes_each_answer_that_fits(tmp_path: Path, name: str) -> None:
    response = response_of("query", FITTING[name], errors=True)
    seen = set()
    with running_server(answering(answer(json.dumps(response).encode(), content_type="application/json"))) as api:
        made = endpoint_of(tmp_path, "query", "both", url=api.url)
        for tokens in (30, 90, 120, 160, 200, 240, 1_000):
            with running_function(replace(made, bundle=replace(made.bundle, list_budget=tokens))) as function:
                (tool,) = function.request("tools/list", modern=True).result["tools"]
                assert not received(function).is_error
            seen.add(json.dumps(tool.get("outputSchema")))

    assert len(seen) >= 4  # none, some, and all of it


@pytest.mark.parametrize(("output", "kind", "errors"), FORMS)
@pytest.mark.parametrize("name", MISFITS)
def test_answer_that_does_not_fit_arrives_as_text_that_says_where(
    tmp_path: Path, *, name: str, output: str, kind: str, errors: bool
) -> None:
    changes, rule = MISFITS[name]
    response = response_of(kind, changes, errors=errors)
    with serving(tmp_path, response, kind=kind, output=output) as (function, api):
        result = received(function)

        assert len(api.requests) == 1
    response = with_warning(response, kind)
    if output == "text":  # promises no shape
        assert (result.is_error, json.loads(text_of(result))) == (False, response)
        return
    first, _, rest = text_of(result).partition("\n")
    assert result.is_error
    assert result.structured_content is None
    assert json.loads(rest) == response
    assert f"(data.{OPERATIONS[kind][1]}{rule})" in first
    assert SECRET not in first
    assert first.startswith({"query": "The API's answer", "mutation": "The mutation was "}[kind])
    assert ("do not repeat" in first) == (kind == "mutation" and not errors)
    assert ("find out what was carried out before it is sent again" in first) == (kind == "mutation" and errors)


def test_answer_without_data_fits(tmp_path: Path) -> None:
    response = {"data": None, "errors": ERRORS}
    with serving(tmp_path, response) as (function, _):
        result = received(function)

    assert (result.is_error, result.structured_content) == (True, response)


@pytest.mark.parametrize("nested", [False, True])
def test_both_forms_of_prescribed_tools_are_held_to_their_schema(tmp_path: Path, nested: bool) -> None:
    with serving(tmp_path, response_of("query", {"total": "x"}), nested=nested) as (function, _):
        result = received(function)

    assert (result.is_error, result.structured_content) == (True, None)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_of_both_eras_receive_an_answer_that_does_not_fit(tmp_path: Path, mode: Mode) -> None:
    with serving(tmp_path, response_of("query", {"total": "x"})) as (function, _):
        assert received(function, mode).is_error


def test_log_names_the_coordinate_of_an_answer_that_does_not_fit_and_no_value(tmp_path: Path) -> None:
    with serving(tmp_path, response_of("query", {"tags": ["a", {SECRET: SECRET}]})) as (function, _):
        function.call("t", {})
        line = function.lines[-1]

    assert {name: line[name] for name in ("decision", "outcome", "reason", "coordinate")} == {
        "decision": "allowed",
        "outcome": "tool_error",
        "reason": "answer_schema",
        "coordinate": "data.order.tags[]",
    }
    assert SECRET not in str(line)


def test_meta_of_the_tool_is_kept(tmp_path: Path) -> None:
    with serving(tmp_path, response_of("query", {"id": None}), more='version: "1.2.0"') as (function, _):
        assert function.call("t", {}).result["_meta"] == {"tool_version": "1.2.0", "stile/code": "answer-misfit"}


def test_answer_that_does_not_fit_and_is_too_large_is_left_out(tmp_path: Path) -> None:
    response = response_of("mutation", {"total": None, "note": '"' * 1_400_000})
    with serving(tmp_path, response, kind="mutation", output="structured") as (function, _):
        text = function.call("t", {}).text

    assert text.splitlines()[0].startswith("The mutation was carried out: do not repeat it.")
    assert text.splitlines()[1:] == ["The result is larger than an answer may be. Ask for fewer rows or fields."]


def test_graphql_tool_lists_no_output_schema_that_its_answers_could_break(tmp_path: Path) -> None:
    files = {"index.graphql": SDL, "config.yaml": PUBLIC}
    (tool,) = compiled(tmp_path, files).bundle.tools

    assert "outputSchema" not in str(tool)


def test_tool_that_gives_text_alone_lists_no_output_schema(tmp_path: Path) -> None:
    endpoint = endpoint_of(tmp_path, "query", "text", url="http://127.0.0.1:9/")

    assert "outputSchema" not in prescribed_tool(endpoint, "t").entry


@pytest.mark.parametrize("output", OUTPUTS)
def test_half_a_surrogate_pair_is_replaced_in_every_string(tmp_path: Path, output: str) -> None:
    changes = {"note": "Party \ud83c", "tags": ["\udf89", "\ud83c\udf89"], "price": {"\ud83c": "\ud83c"}}
    response = {**response_of("query", changes), "errors": [{"message": "\ud83c", "path": ["\ud83c"]}]}
    with serving(tmp_path, response, output=output) as (function, _):
        body = function.call("t", {}).body
        result = received(function)

    assert b"\\ud" not in body
    forms = [result.structured_content, json.loads(text_of(result) or "null")]
    assert [form is not None for form in forms] == [output != "text", output != "structured"]
    for form in filter(None, forms):
        order = form["data"]["order"]
        assert (order["note"], order["tags"], order["price"]) == (
            "Party \ufffd",
            ["\ufffd", "\U0001f389"],
            {"\ufffd": "\ufffd"},
        )
        assert form["errors"] == [{"message": "\ufffd", "path": ["\ufffd"]}]


def test_answer_that_does_not_fit_has_no_half_of_a_surrogate_pair(tmp_path: Path) -> None:
    with serving(tmp_path, response_of("query", {"note": "\ud83c", "total": "\ud83c"})) as (function, _):
        result = received(function)

    assert json.loads(text_of(result).partition("\n")[2])["data"]["order"]["note"] == "\ufffd"
