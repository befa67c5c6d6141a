"""Six journeys of first users, from README and the pages that it leads to alone: their commands, and lines by hand.

Each command is one of a page, with the reader's own folder, API, keys and ports in place of the page's. Each ends with
the official client. Lines that a command prints and that are pasted into a file count as written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import Block, blocks, read
from tests.docs.test_serve_page import proxy
from tests.journeys.apis import KEY, SCHEMA, Orders, running
from tests.journeys.journey import Journey, ask
from tests.support.api import Api
from tests.support.upstream import free_port

DEMO = "http://127.0.0.1:8001/graphql"
README, START, SERVE, CLIENTS = "README.md", "docs/start.md", "docs/serve.md", "docs/clients.md"
CODE, FASTMCP, APOLLO, COSMO = "docs/code-tools.md", "docs/from-fastmcp.md", "docs/from-apollo.md", "docs/from-cosmo.md"
MAX_COMMANDS, MAX_LINES = 12, 12
"""The limits of the longest journey: from the API's URL to two callers of a served endpoint."""

PUBLIC = "https://mcp.example.com"
SERVED = 'STILE_SECRET_TOKEN="$TOKEN" stile serve bundles'
SECRET = {"_TOKEN": "_SHOP_KEY", "$TOKEN": "$SHOP_KEY", "api.internal": "127.0.0.1"}
NAMED = f"stile connect claude-code {PUBLIC}/shop/orders/mcp --as key:"
CANCEL = ("cancel_order", {"number": "A-1"})


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    return Journey(tmp_path, {"SHOP_KEY": KEY})


def dev_and_connect(journey: Journey, *, folder: str = "endpoints") -> Iterator[dict[str, object]]:
    """Serve a folder by `stile dev`, and give a client the printed lines."""
    with journey.serving(README, "stile dev endpoints", {"endpoints": folder, "8010": "0"}) as port:
        own = {"claude-code": "json", "endpoints": folder, "8010": str(port)}
        yield journey.connected(journey.run(README, "stile connect claude-code", own))


def init_with_key(journey: Journey, api: Api) -> None:
    """Make the folder of an API that wants a key, and store the key for this machine."""
    own = {
        "shop/private": "endpoints/shop/orders",
        DEMO: api.url,
        "Authorization: Bearer $TOKEN": "x-api-key: $SHOP_KEY",
    }
    journey.run(START, "stile init shop/private", own)
    journey.replace("endpoints/shop/orders/.env", {"STILE_SECRET_SHOP_KEY=\n": f"STILE_SECRET_SHOP_KEY={KEY}\n"})


def open_to_two(journey: Journey) -> dict[str, str]:
    """Add a mutation that asks, two keys and the policies that tell them apart. Return the keys."""
    folder = "endpoints/shop/orders"
    journey.write(
        f"{folder}/operations/cancel_order.graphql", journey.block(SERVE, f"{folder}/operations/cancel_order.graphql")
    )
    config = journey.block(SERVE, f"{folder}/config.yaml")
    journey.write(f"{folder}/config.yaml", config[config.index("  policies:\n") :])
    keys, entries = {}, []
    for name in ("ann", "bob"):
        printed = journey.run(SERVE, f"stile key {name}")
        (keys[name],) = re.findall(r"^  (stile_\S+)", printed, re.MULTILINE)
        entries += re.findall(r"^    - .*\n", printed, re.MULTILINE)
    journey.write(f"{folder}/config.yaml", "identity:\n  api_keys:\n" + "".join(entries))
    return keys


def test_own_api_with_a_key(journey: Journey) -> None:
    """From the URL to two callers of a served endpoint, with a mutation that asks."""
    orders = Orders(key=KEY)
    journey.command("docs/install.md", "make setup", {})  # the environment of the tests stands for it
    with running(orders) as api:
        init_with_key(journey, api)
        for server in dev_and_connect(journey):
            names, texts, _ = ask(server, [("list_orders", {})])
        keys = open_to_two(journey)
        assert "No problems" in journey.run(README, "stile check endpoints")
        journey.run(SERVE, "stile publish endpoints", {"api.internal": "127.0.0.1"})
        port = free_port()
        own = {**SECRET, PUBLIC: f"http://127.0.0.1:{port}"}
        with journey.serving(SERVE, SERVED, own, more=f" --port {port}"):
            url = {PUBLIC: f"http://127.0.0.1:{port}", "claude-code": "json", "key:partner": "key:ann"}
            printed = journey.run(CLIENTS, NAMED, url)
            clerk = ask(journey.connected(printed, keys["ann"]), [CANCEL])
            guest = ask(journey.connected(printed, keys["bob"]), [])

    assert "list_orders" in names
    assert "'A-1'" in texts[0]
    assert set(clerk[0]) == {*names, "cancel_order"}
    assert guest[0] == names
    assert (len(clerk[2]), orders.status["A-1"]) == (1, "cancelled")
    assert (len(journey.commands), len(journey.lines)) == (10, 12)
    assert len(journey.commands) <= MAX_COMMANDS
    assert len(journey.lines) <= MAX_LINES


def test_own_api_on_django(journey: Journey) -> None:
    """Django answers at the path with a final slash alone."""
    with running(Orders(path="/graphql/")) as api:
        own = {"shop/customers": "endpoints/shop/orders", DEMO: api.url}
        journey.run(START, "stile init shop/customers", own)
        called = {
            "examples/endpoints": "endpoints",
            "customer-by-email": "get_order",
            "email=elif.nunez@example.com": "number=A-2",
        }
        assert '"status": "open"' in journey.run(README, "stile call examples/endpoints customer-by-email", called)
        for server in dev_and_connect(journey):
            names, texts, _ = ask(server, [("list_orders", {})])

    assert "list_orders" in names
    assert "'A-1'" in texts[0]
    assert (len(journey.commands), journey.lines) == (4, [])


def test_without_aws_behind_a_proxy(journey: Journey) -> None:
    """An API of the same network without TLS, published to a folder that a server behind a proxy reads."""
    orders = Orders(key=KEY)
    with running(orders) as api:
        init_with_key(journey, api)
        keys = open_to_two(journey)
        journey.run(SERVE, "stile publish endpoints", {"api.internal": "127.0.0.1"})
        more = " --port 0 --trusted-proxy 127.0.0.1"  # of the page's first command
        with journey.serving(SERVE, SERVED, SECRET, more=more) as port, proxy(port) as front:
            printed = journey.run(CLIENTS, NAMED, {"claude-code": "json", "key:partner": "key:ann"})
            via = f"http://127.0.0.1:{front}"
            clerk = ask(journey.connected(printed, keys["ann"]), [("list_orders", {}), CANCEL], via=via)
            guest = ask(journey.connected(printed, keys["bob"]), [("list_orders", {})], via=via)

    assert "cancel_order" in clerk[0]
    assert guest[0] == [name for name in clerk[0] if name != "cancel_order"]
    assert (len(clerk[2]), orders.status["A-1"]) == (1, "cancelled")
    assert (len(journey.commands), len(journey.lines)) == (6, 12)


def adopted(journey: Journey, page: str, beginning: str, own: dict[str, str], *, tool: str) -> dict[str, object]:
    """Adopt a folder, check it, and let a client call a tool."""
    before = {file: file.read_bytes() for file in journey.folder.joinpath("theirs").rglob("*") if file.is_file()}
    journey.run(page, beginning, own)
    assert "No problems" in journey.run(page, "stile check endpoints")
    for server in dev_and_connect(journey):
        names, texts, _ = ask(server, [(tool, {"first": 1})])
    assert {file: file.read_bytes() for file in before} == before
    return {"names": names, "text": texts[0]}


CANCEL_ORDER = "mutation CancelOrder($number: String!) { cancelOrder(number: $number) { number } }\n"
OPERATIONS = {
    "list.graphql": "# The newest orders.\nquery ListOrders($first: Int) { orders(first: $first) { number } }\n",
    "cancel.graphql": f"# Cancel an order.\n{CANCEL_ORDER}",
}


def test_folder_of_apollo(journey: Journey) -> None:
    with running(Orders(key=KEY)) as api:
        theirs = journey.folder / "theirs"
        theirs.joinpath("ops").mkdir(parents=True)
        for name, text in OPERATIONS.items():
            (theirs / "ops" / name).write_text(text)
        (theirs / "api.graphql").write_text(SCHEMA)
        settings = {
            "endpoint": api.url,
            "schema": {"source": "local", "path": "./api.graphql"},
            "operations": {"source": "local", "paths": ["./ops"]},
            "overrides": {"mutation_mode": "explicit"},
            "headers": {"x-api-key": "${env.SHOP_KEY}"},
        }
        (theirs / "config.yaml").write_text(json.dumps(settings))
        journey.environ["STILE_SECRET_SHOP_KEY"] = KEY
        own = {"weather endpoints/weather/alerts": "theirs endpoints/shop/orders"}
        found = adopted(journey, APOLLO, "stile adopt weather", own, tool="ListOrders")

    assert found["names"] == ["CancelOrder", "ListOrders"]
    assert "'A-1'" in str(found["text"])
    assert (len(journey.commands), journey.lines) == (4, [])


def test_folder_of_cosmo(journey: Journey) -> None:
    with running(Orders()) as api:
        theirs = journey.folder / "theirs"
        theirs.joinpath("operations").mkdir(parents=True)
        for name, text in OPERATIONS.items():
            comment, operation = text.split("\n", 1)
            (theirs / "operations" / name).write_text(f'"""\n{comment[2:]}\n"""\n{operation}')
        (theirs / "schema.graphql").write_text(SCHEMA)
        settings = {
            "version": "1",
            "mcp": {"enabled": True, "router_url": api.url, "storage": {"provider_id": "mcp"}},
            "storage_providers": {"file_system": [{"id": "mcp", "path": "operations"}]},
        }
        (theirs / "config.yaml").write_text(json.dumps(settings))
        own = {"router endpoints/staff/people": "theirs endpoints/shop/orders"}
        found = adopted(journey, COSMO, "stile adopt router", own, tool="execute_operation_list_orders")

    assert found["names"] == ["execute_operation_cancel_order", "execute_operation_list_orders"]
    assert "'A-1'" in str(found["text"])
    assert (len(journey.commands), journey.lines) == (4, [])


SERVER = '''\
from typing import Annotated

from fastmcp import Context, FastMCP
from pydantic import Field

mcp = FastMCP("shop")


@mcp.tool
async def find_orders(text: Annotated[str, Field(min_length=2)], limit: int = 2, ctx: Context = None) -> list[str]:
    """Find orders by a text."""
    await ctx.info(f"searching for {text}")
    return [f"{text}-{number}" for number in range(limit)]


@mcp.tool
def total(prices: list[float]) -> dict[str, float]:
    """Sum up prices."""
    return {"total": sum(prices)}


@mcp.tool
async def cancel(ctx: Context) -> str:
    """Cancel the newest order."""
    answer = await ctx.elicit("Cancel it?", response_type=None)
    return "cancelled" if answer.action == "accept" else "kept"


if __name__ == "__main__":
    mcp.run()
'''


CHECK = "STILE_CODE_MODULES=orders stile check"
ASKED = SERVER[SERVER.index("    answer = await") : SERVER.index("\n\nif __name__")]


def test_server_of_fastmcp(journey: Journey) -> None:
    moving, asking = (ported(block) for block in python_of(FASTMCP) if "# was:" in block.text)
    imports, toolkit = (line for line in moving if line.startswith(("from stile", "mcp = ")))
    (journey.folder / "shop_tools.py").write_text(SERVER)
    moved = {
        "from fastmcp import Context, FastMCP\nfrom pydantic import Field\n": imports,
        'mcp = FastMCP("shop")\n': toolkit,
    }
    journey.replace("shop_tools.py", {old: f"{new}\n" for old, new in moved.items()})
    config = journey.block(CODE, "endpoints/shop/orders/config.yaml", {"orders:kit": "shop_tools:mcp"})
    journey.write("endpoints/shop/orders/config.yaml", config[config.index("code:\n") :])
    warned = journey.run(CODE, CHECK, {"=orders": "=shop_tools"})
    signature = asking.index("async def cancel(ctx: Context) -> str | InputRequired:")
    journey.replace(
        "shop_tools.py",
        {
            f"{imports}\n": f"{imports}\n{asking[0]}\n",
            "async def cancel(ctx: Context) -> str:\n": f"{asking[signature]}\n",
            ASKED: "".join(f"{line}\n" for line in asking[signature + 1 :]),
        },
    )
    checked = journey.run(CODE, CHECK, {"=orders": "=shop_tools"})
    journey.environ["STILE_CODE_MODULES"] = "shop_tools"
    calls: list[tuple[str, dict[str, object]]] = [
        ("find_orders", {"text": "ab"}),
        ("total", {"prices": [1, 2.5]}),
        ("cancel", {}),
    ]
    for server in dev_and_connect(journey):
        names, texts, questions = ask(server, calls)

    assert re.search(r"shop_tools\.py:\d+:\d+: warning: .*elicit", warned)
    assert "elicit" not in checked
    assert "No problems" in checked
    assert names == ["cancel", "find_orders", "total"]
    assert texts[:2] == ["{'result': ['ab-0', 'ab-1']}", "{'total': 3.5}"]
    assert "cancelled" in texts[2]
    assert questions == ["Cancel it?"]
    assert len(journey.commands) == 4
    assert len(journey.lines) <= MAX_LINES


def ported(block: Block) -> list[str]:
    """The lines of an example without what they were before."""
    lines = [line.partition("  # was:")[0].rstrip() for line in block.text.splitlines()]
    return [line for line in lines if line]


def python_of(page: str) -> list[Block]:
    """The examples in Python of a page."""
    return [block for block in blocks(read(page)) if block.language == "python"]


def test_a_command_that_no_page_has_is_refused(journey: Journey) -> None:
    with pytest.raises(AssertionError, match="has no command that begins with stile teleport"):
        journey.run(README, "stile teleport")
    with pytest.raises(AssertionError, match=r"README does not lead to tests/README\.md"):
        journey.run("tests/README.md", "stile check")
    with pytest.raises(AssertionError, match="has no /nowhere"):
        journey.run(README, "stile check endpoints", {"/nowhere": "x"})
