"""Real clients of several makers: each lists every tool of the demo endpoint, and calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import RequestStates
from tests.clients.cases import Case, fits, highest_months, read_cases
from tests.clients.clients import CLIENTS, LEGACY, MODERN, NPM_LOCK, RealClient, locked_version
from tests.clients.inspector import Era, Inspector
from tests.clients.serving import serving
from tests.conftest import ROOT
from tests.support.endpoints import PUBLIC, compiled
from tests.support.icons import SVG
from tests.support.require import requires
from tests.support.upstream import Upstream

CASES = read_cases("demo")
TOOLS = [case.tool for case in CASES]
REFUSED = ("list_orders", {"email": "elif.nunez@example.com", "first": "two"})
PLACED = next(case.arguments for case in CASES if case.tool == "place_order")

TEXTS = ("customer-lookup", "employee-lookup")
"""Those whose requests the model writes: their results are text."""

STATES = RequestStates(["of the tests of real clients, 32 characters"])


def _names(client: RealClient) -> str:
    return f"{client.name}, {client.mode}"


@pytest.fixture(params=CLIENTS, ids=_names)
def client(request: pytest.FixtureRequest) -> RealClient:
    """Each client that is installed."""
    found: RealClient = request.param
    requires(found.needs, found.installed, f"`make clients` installs {found.name}")
    return found


def test_client_has_the_identity_of_the_endpoint(client: RealClient, tmp_path: Path) -> None:
    server = (
        "server:\n  title: Acme orders\n  description: All orders\n  version: 1.4.0\n"
        "  website: https://shop.example.com\n  icons: [{file: a.svg, theme: dark}]\n"
    )
    made = compiled(tmp_path, {"index.graphql": "type Query { a: Int }", "config.yaml": server, "a.svg": SVG})

    with serving(made, development=True) as base:
        session = client.use(f"{base}/mcp", [])

    asks_nothing_first = (client.name, client.mode) == ("Python SDK 2", MODERN)
    assert session.server == (None if asks_nothing_first else {"name": "api.things", **made.bundle.server})


def test_client_lists_and_calls_every_tool(client: RealClient, url: str, shop: Upstream) -> None:
    session = client.use(url, [*((case.tool, case.arguments) for case in CASES), REFUSED])

    assert session.revision == client.revision
    assert session.tools == TOOLS
    *answers, refused = session.answers
    for case, answer in zip(CASES, answers, strict=True):
        _expect(case, answer, shop)
    assert refused["isError"] is True
    assert refused["content"][0]["text"] == (
        'Invalid arguments for tool list_orders: /first: expected integer, got string "two"'
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_inspector_lists_and_calls_every_tool(inspector: Inspector, url: str, shop: Upstream, era: Era) -> None:
    listed = inspector.list_tools(url, era=era)

    assert [tool["name"] for tool in listed.result["tools"]] == TOOLS
    for case in CASES:
        called = inspector.call(url, case.tool, dict(case.arguments), era=era)
        assert called.code == 0, called.complaints
        _expect(case, called.result, shop)


def test_clients_of_the_newest_revision_ask_their_user_and_others_are_refused(
    client: RealClient, upstream: Upstream, tmp_path: Path
) -> None:
    with serving(_asking(tmp_path, upstream), states=STATES) as base:
        session = client.use(f"{base}/mcp", [("place", PLACED)])

    (answer,) = session.answers
    if client.revision == MODERN:
        (question,) = session.questions
        assert question.startswith("place would send this to api/things:\n\nmutation Place(")
        assert answer["structuredContent"]["data"]["placeOrder"]["total"] == "25.00"
    else:
        assert session.questions == []
        assert answer["isError"] is True
        assert "a client that speaks MCP 2026-07-28" in answer["content"][0]["text"]


def test_page_of_proofs_tells_all_of_them() -> None:
    section = (ROOT / "docs" / "proofs.md").read_text("utf-8").partition("| client | version |")[2].partition("\n\n")[0]
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


def _expect(case: Case, answer: Mapping[str, Any], shop: Upstream) -> None:
    """Hold an answer against what was written down."""
    assert not answer.get("isError"), answer
    first, *more = answer["content"]
    structured = answer.get("structuredContent")
    if case.image:
        (image,) = more
        assert (first["text"], structured) == (case.answer, None)
        assert (image["type"], image["mimeType"], highest_months(image["data"])) == ("image", "image/png", [1, 8])
        return
    assert more == []
    response = json.loads(first["text"])
    assert fits(case.answer, response), response
    if isinstance(response, list):  # structured content is an object: what is a list stands in one
        assert structured == {"result": response}
    else:
        assert structured == (None if case.tool in TEXTS else response)
    if case.tool == "place_order":
        _expect_stored(response["data"]["placeOrder"], shop)


def _expect_stored(order: Mapping[str, Any], shop: Upstream) -> None:
    (row,) = shop.query_rows("select number, customer_id, status, total_cents from orders where id = ?", order["id"])
    assert tuple(row) == (order["number"], "cust_0002", "PENDING", 2500)
