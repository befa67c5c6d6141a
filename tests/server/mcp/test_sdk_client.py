"""The main job, end to end: the official client, API Gateway events, the function, a real API, and its rows.

Every test runs with the bundle in a folder and in S3, where the function has no more than the template's role.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
from mcp import Client

from handler.compiler.compile import Compiled
from handler.storage.local import FolderStorage
from handler.storage.publishing import WritableStorage
from tests.support.function import Function, running_function
from tests.support.sdk import Mode, sdk_client
from tests.support.upstream import Upstream

TOOLS = ["customer-lookup", "employee-lookup", "customer-by-email", "customers-in-state", "list_orders", "place_order"]
T = TypeVar("T")
EMAIL = "elif.nunez@example.com"


@pytest.fixture(params=["folder", "s3"])
def served(request: pytest.FixtureRequest, served_demo: Compiled) -> Iterator[Function]:
    storage: WritableStorage = request.getfixturevalue(f"{request.param}_storage")
    with running_function(served_demo, storage=storage, development=True) as running:
        yield running


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> Mode:
    return request.param  # type: ignore[no-any-return] # one of the two


def test_client_lists_every_tool(served: Function, mode: Mode) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert _with_client(served, mode, names) == TOOLS


def test_client_speaks_the_newest_revision_of_its_era(served: Function, mode: Mode) -> None:
    async def version(client: Client) -> str:
        return client.protocol_version

    assert _with_client(served, mode, version) == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]


def test_nested_prescribed_tool_answers_the_row(served: Function, mode: Mode, upstream: Upstream) -> None:
    response = _call(served, mode, "customer-by-email", {"variables": {"email": EMAIL}})

    (row,) = upstream.query_rows("select * from customers where email = ?", EMAIL)
    address = {key: row[key] for key in ("street", "city", "state")}
    assert response == {
        "data": {"customer": {"id": row["id"], "name": row["name"], "email": EMAIL, "address": address}}
    }


def test_prescribed_tool_with_a_fragment_pages_through_all_rows(
    served: Function, mode: Mode, upstream: Upstream
) -> None:
    rows = upstream.query_rows("select id, name, email, phone from customers where state = 'CA' order by id")
    found: list[dict[str, Any]] = []
    variables: dict[str, Any] = {"state": "CA", "first": 50}
    while True:
        page = _call(served, mode, "customers-in-state", {"variables": variables})["data"]["customers"]
        found += [edge["node"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        variables["after"] = page["pageInfo"]["endCursor"]

    assert page["totalCount"] == len(rows)
    assert found == [dict(row) for row in rows]


def test_flat_prescribed_tool_answers_the_rows(served: Function, mode: Mode, upstream: Upstream) -> None:
    response = _call(served, mode, "list_orders", {"email": EMAIL, "first": 3})

    rows = upstream.query_rows(
        "select o.* from orders o join customers c on c.id = o.customer_id where c.email = ?"
        " order by o.placed_at desc, o.id desc",
        EMAIL,
    )
    orders = response["data"]["customer"]["orders"]
    assert orders["totalCount"] == len(rows)
    assert [edge["node"]["number"] for edge in orders["edges"]] == [row["number"] for row in rows[:3]]
    assert [edge["node"]["total"] for edge in orders["edges"]] == [
        f"{row['total_cents'] / 100:.2f}" for row in rows[:3]
    ]


def test_graphql_tools_answer_the_rows(served: Function, mode: Mode, upstream: Upstream) -> None:
    customer = _call(
        served,
        mode,
        "customer-lookup",
        {"query": "query($e: String!) { customer(email: $e) { id phone } }", "variables": {"e": EMAIL}},
    )
    employees = _call(served, mode, "employee-lookup", {"query": "{ employees(first: 100) { id title } }"})

    (row,) = upstream.query_rows("select id, phone from customers where email = ?", EMAIL)
    assert customer == {"data": {"customer": dict(row)}}
    rows = upstream.query_rows("select id, title from employees")
    assert sorted(employees["data"]["employees"], key=_id) == sorted((dict(row) for row in rows), key=_id)


def test_mutation_tool_writes_a_row(served: Function, mode: Mode, upstream: Upstream) -> None:
    lines = [{"product": "Milk Frother", "quantity": 2, "unitPrice": "12.50"}]

    response = _call(served, mode, "place_order", {"input": {"customerId": "cust_0001", "lines": lines}})

    order = response["data"]["placeOrder"]
    (row,) = upstream.query_rows("select * from orders where id = ?", order["id"])
    assert (row["number"], row["customer_id"], row["total_cents"]) == (order["number"], "cust_0001", 2500)
    assert order["total"] == "25.00"


def test_anonymous_client_lists_and_calls_what_is_open(
    served_demo: Compiled, folder_storage: FolderStorage, mode: Mode
) -> None:
    async def use(client: Client) -> list[str]:
        await client.call_tool("list_orders", {"email": EMAIL})
        return [tool.name for tool in (await client.list_tools()).tools]

    with running_function(served_demo, storage=folder_storage) as function:
        assert _with_client(function, mode, use) == TOOLS[:-1]


def test_pruned_field_is_an_error_the_client_sees(served: Function, mode: Mode, upstream: Upstream) -> None:
    upstream.clear()

    async def call(client: Client) -> tuple[bool, str]:
        result = await client.call_tool("employee-lookup", {"query": '{ employee(id: "empl_01") { ssn } }'})
        return bool(result.is_error), result.content[0].text  # type: ignore[union-attr] # a text block

    is_error, text = _with_client(served, mode, call)
    assert is_error
    assert "Cannot query field 'ssn' on type 'Employee'." in text
    assert upstream.requests() == []


def _call(function: Function, mode: Mode, tool: str, arguments: dict[str, Any]) -> Any:
    async def call(client: Client) -> Any:
        result = await client.call_tool(tool, arguments)
        text = result.content[0].text  # type: ignore[union-attr] # a text block
        assert not result.is_error, text
        response = json.loads(text)
        assert result.structured_content in (None, response)
        return response

    return _with_client(function, mode, call)


def _with_client(function: Function, mode: Mode, use: Callable[[Client], Awaitable[T]]) -> T:
    async def run() -> T:
        async with sdk_client(function, mode=mode) as client:
            return await use(client)

    return asyncio.run(run())


def _id(row: dict[str, Any]) -> str:
    return str(row["id"])
