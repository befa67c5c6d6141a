"""Real clients of several makers: each lists every tool of the demo endpoint, and calls it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.server.request_state import RequestStates
from tests.clients.clients import CLIENTS, LEGACY, MODERN, NPM_LOCK, RealClient, locked_version
from tests.clients.inspector import Era, Inspector
from tests.clients.serving import serving
from tests.conftest import ROOT
from tests.support.demo_code import MODULES, demo_with_code
from tests.support.endpoints import PUBLIC, compiled
from tests.support.require import requires
from tests.support.upstream import Upstream

EMAIL = "elif.nunez@example.com"
LINES = [{"product": "Milk Frother", "quantity": 2, "unitPrice": "12.50"}]

CALLS: Mapping[str, Mapping[str, Any]] = {
    "customer-lookup": {
        "query": "query ($email: String!) { customer(email: $email) { id name } }",
        "variables": {"email": EMAIL},
    },
    "employee-lookup": {"query": '{ employee(id: "empl_01") { name title } }'},
    "customer-by-email": {"variables": {"email": EMAIL}},
    "customers-in-state": {"variables": {"state": "CA", "first": 2}},
    "list_orders": {"email": EMAIL, "first": 2},
    "place_order": {"input": {"customerId": "cust_0002", "lines": LINES}},
    "customer_summary": {"email": EMAIL},
    "find_customers": {"nameContains": "Elif Núñez"},
    "orders_chart": {"email": EMAIL, "year": 2020},
}
"""A call of every tool of the demo, in the order of its list: operations, and tools in Python."""

TEXTS = ("customer-lookup", "employee-lookup")
"""Those whose requests the model writes: their results are text."""

STATES = RequestStates(["of the tests of real clients, 32 characters"])


def _names(client: RealClient) -> str:
    return f"{client.name}, {client.mode}"


@pytest.fixture(scope="module")
def url(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo endpoint, served."""
    demo = demo_with_code(tmp_path_factory.mktemp("demo"), upstream)
    with serving(demo, development=True, code_modules=MODULES) as base:
        yield f"{base}/mcp"


@pytest.fixture(params=CLIENTS, ids=_names)
def client(request: pytest.FixtureRequest) -> RealClient:
    """Each client that is installed."""
    found: RealClient = request.param
    requires(found.needs, found.installed, f"`make clients` installs {found.name}")
    return found


def test_client_lists_and_calls_every_tool(client: RealClient, url: str, upstream: Upstream) -> None:
    session = client.use(url, [*CALLS.items(), ("list_orders", {"email": EMAIL, "first": "two"})])

    assert session.revision == client.revision
    assert session.tools == list(CALLS)
    *answers, refused = session.answers
    for name, answer in zip(CALLS, answers, strict=True):
        _expect(name, answer, upstream)
    assert refused["isError"] is True
    assert refused["content"][0]["text"] == (
        'Invalid arguments for tool list_orders: /first: expected integer, got string "two"'
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_lists_and_calls_every_tool(inspector: Inspector, url: str, upstream: Upstream, era: Era) -> None:
    listed = inspector.list_tools(url, era=era)

    assert [tool["name"] for tool in listed.result["tools"]] == list(CALLS)
    for name, arguments in CALLS.items():
        called = inspector.call(url, name, dict(arguments), era=era)
        assert called.code == 0, called.complaints
        _expect(name, called.result, upstream)


def test_clients_of_the_newest_revision_ask_their_user_and_others_are_refused(
    client: RealClient, upstream: Upstream, tmp_path: Path
) -> None:
    with serving(_asking(tmp_path, upstream), states=STATES) as base:
        session = client.use(f"{base}/mcp", [("place", {"input": CALLS["place_order"]["input"]})])

    (answer,) = session.answers
    if client.revision == MODERN:
        (question,) = session.questions
        assert question.startswith("place would send this to api/things:\n\nmutation Place(")
        assert answer["structuredContent"]["data"]["placeOrder"]["total"] == "25.00"
    else:
        assert session.questions == []
        assert answer["isError"] is True
        assert "that takes a client that speaks MCP 2026-07-28" in answer["content"][0]["text"]


def test_readme_tells_all_of_them() -> None:
    section = (ROOT / "README.md").read_text("utf-8").partition("### Proved with real clients")[2].partition("###")[0]
    told = re.findall(r"^\| (.+) \| ([\d.]+) \| (.+) \| (.+) \|$", section, re.MULTILINE)
    inspector = locked_version(NPM_LOCK, "@modelcontextprotocol/inspector")

    assert told == [
        *((each.name, each.version, f"`{each.mode}`", each.revision) for each in CLIENTS),
        ("MCP Inspector", inspector, "`legacy`, `modern`", f"{LEGACY}, {MODERN}"),
    ]


def _asking(folder: Path, upstream: Upstream) -> Compiled:
    """An endpoint with one tool, which asks its user first."""
    files = {
        "index.graphql": """
        type Query { orders: [Order!] }
        type Mutation { placeOrder(input: PlaceOrderInput!): Order }
        type Order { id: ID! total: String! }
        input PlaceOrderInput { customerId: ID! lines: [OrderLineInput!]! }
        input OrderLineInput { product: String! quantity: Int! unitPrice: String! }
        """,
        "operations/place.graphql": """
        mutation Place($input: PlaceOrderInput!) @mcpTool(name: "place", confirm: required) {
          placeOrder(input: $input) { id total }
        }
        """,
        "config.yaml": f"upstream: {{url: '{upstream.url}'}}\n{PUBLIC}",
    }
    return compiled(folder, files)


def _expect(name: str, answer: Mapping[str, Any], upstream: Upstream) -> None:
    """Hold an answer against the rows of the API's database."""
    assert not answer.get("isError"), answer
    first, *more = answer["content"]
    if name == "orders_chart":
        (image,) = more
        assert first["text"].startswith("Orders in 2020: Jan 0, ")
        assert (image["type"], image["mimeType"]) == ("image", "image/png")
        assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
        return
    assert more == []
    response = json.loads(first["text"])
    if name == "find_customers":  # structured content is an object: what is a list stands in one
        assert answer["structuredContent"] == {"result": response}
    else:
        assert answer.get("structuredContent") == (None if name in TEXTS else response)
    assert response == _expected(name, response, upstream)


def _expected(name: str, response: Any, upstream: Upstream) -> Any:
    """What the answer has to be, by the rows: what these do not have, or later tests change, is taken as it came."""
    (customer,) = upstream.query_rows("select * from customers where email = ?", EMAIL)
    orders = upstream.query_rows(
        "select number from orders where customer_id = ? order by placed_at desc, id desc", customer["id"]
    )
    match name:
        case "customer-lookup":
            return {"data": {"customer": {key: customer[key] for key in ("id", "name")}}}
        case "employee-lookup":
            (row,) = upstream.query_rows("select name, title from employees where id = 'empl_01'")
            return {"data": {"employee": dict(row)}}
        case "customer-by-email":
            known = {key: customer[key] for key in ("id", "name", "email")}
            address = {key: customer[key] for key in ("street", "city", "state")}
            return {"data": {"customer": {**known, "address": address}}}
        case "customers-in-state":
            rows = upstream.query_rows("select id, name, email, phone from customers where state = 'CA' order by id")
            page = {"totalCount": len(rows), "edges": [{"node": dict(row)} for row in rows[:2]]}
            return {"data": {"customers": {**response["data"]["customers"], **page}}}
        case "list_orders":
            found = response["data"]["customer"]
            numbers = [edge["node"]["number"] for edge in found["orders"]["edges"]]
            assert (numbers, found["orders"]["totalCount"]) == ([row["number"] for row in orders[:2]], len(orders))
            return response
        case "place_order":
            order = response["data"]["placeOrder"]
            (row,) = upstream.query_rows("select number, total_cents from orders where id = ?", order["id"])
            stored = {"number": row["number"], "total": f"{row['total_cents'] / 100:.2f}"}
            return {"data": {"placeOrder": {**order, **stored}}}
        case "customer_summary":
            known = {"name": customer["name"], "city": customer["city"]}
            return {**response, **known, "orders": len(orders), "last_order": orders[0]["number"]}
        case _:
            return [f"{customer['name']} <{EMAIL}>"]
