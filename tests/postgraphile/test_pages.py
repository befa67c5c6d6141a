"""Answers of PostGraphile that are cut: whoever follows the notes reads each row once."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3
from graphql import build_client_schema, get_introspection_query, print_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from examples.postgraphile.__main__ import find_programs, postgresql
from examples.run import running, wait_until_open
from handler.server.auth.sealed_state import RequestStates
from tests.postgraphile.test_example import MODULES, has_postgresql
from tests.support.endpoints import READABLE, compiled
from tests.support.examples import examples
from tests.support.function import Function, running_function
from tests.support.require import requires
from tests.support.secrecy import SESSION
from tests.support.upstream import free_port

KEY = SESSION.keep("the key of cursors over PostGraphile", "Hq4-seals-cursors-of-PostGraphile-x8")
CUSTOMERS, ORDERS = 40, 17
ROWS = f"""
INSERT INTO shop.customer SELECT n, 'Customer ' || n, n || '@example.com' FROM generate_series(3, {CUSTOMERS}) AS n;
INSERT INTO shop.purchase SELECT 'C-' || c || '-' || n, c, '2026-01-01', repeat('PAID ', n % 9), n
  FROM generate_series(1, {CUSTOMERS}) AS c, generate_series(1, {ORDERS}) AS n;
"""

OPERATIONS = """
query Pages($first: Int, $after: Cursor) @mcpTool(name: "pages") {
  found: allPurchases(first: $first, after: $after, orderBy: PRIMARY_KEY_ASC) {
    totalCount rows: edges { at: cursor node { number status } } pageInfo { hasNextPage end: endCursor }
  }
}

query Latest($last: Int = 700, $before: Cursor) @mcpTool(name: "latest") {
  allPurchases(last: $last, before: $before, orderBy: PRIMARY_KEY_ASC) {
    edges { cursor node { number status } } nodes { number total } pageInfo { hasPreviousPage startCursor }
  }
}

query Offset($offset: Int = 0) @mcpTool(name: "offset") {
  allPurchasesList(offset: $offset, orderBy: PRIMARY_KEY_ASC) { number status total }
}

query All @mcpTool(name: "all") { allPurchases(orderBy: PRIMARY_KEY_ASC) { nodes { number status } } }

query Nested($customers: Int, $orders: Int) @mcpTool(name: "nested") {
  people: allCustomersList(first: $customers, orderBy: PRIMARY_KEY_ASC) {
    id
    paged: purchasesByCustomerId(first: $orders, orderBy: PRIMARY_KEY_ASC) {
      edges { cursor node { number } } nodes { status number } pageInfo { endCursor hasNextPage }
    }
    listed: purchasesByCustomerIdList(first: $orders, orderBy: PRIMARY_KEY_ASC) { number }
  }
}

query Last($orders: Int) @mcpTool(name: "last") {
  allCustomers(last: 3, orderBy: PRIMARY_KEY_ASC) {
    nodes { id purchasesByCustomerId(last: $orders, orderBy: PRIMARY_KEY_ASC) { edges { node { number status } } } }
  }
}
"""


@pytest.fixture(scope="module")
def api() -> Iterator[str]:
    """The URL of PostGraphile with connections, over a database of some hundred orders."""
    requires("node", shutil.which("node") and (MODULES / "postgraphile").is_dir(), "`make postgraphile` installs it")
    requires("postgres", has_postgresql(), "install PostgreSQL")
    with ExitStack() as stack:
        folder, _ = stack.enter_context(postgresql())
        psql = [str(find_programs() / "psql"), "-h", str(folder), "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1"]
        subprocess.run([*psql, "-c", ROWS], check=True)
        port = free_port()
        environ = {**os.environ, "NODE_PATH": str(MODULES), "NODE_ENV": "production"}
        server = ["node", str(Path(__file__).with_name("pages.cjs")), str(folder), str(port)]
        wait_until_open(port, stack.enter_context(running(server, env=environ)))
        yield f"http://127.0.0.1:{port}/graphql"


@pytest.fixture(scope="module")
def sdl(api: str) -> str:
    with urllib3.PoolManager() as pool:
        answer = pool.request("POST", api, json={"query": get_introspection_query(descriptions=False)}, timeout=60)
    return print_schema(build_client_schema(answer.json()["data"]))


@contextmanager
def served(folder: Path, api: str, sdl: str, max_bytes: int) -> Iterator[Function]:
    limits = f"limits: {{continue: true, max_result_bytes: {max_bytes}}}\n"
    files = {
        "index.graphql": sdl,
        "operations/o.graphql": OPERATIONS,
        "config.yaml": f"upstream: {{url: '{api}', timeout_s: 25}}\n{limits}{READABLE}",
    }
    with running_function(compiled(folder, files), states=RequestStates([KEY])) as function:
        yield Function(function.handler, path="/api/things/mcp")


def numbers(value: Any, key: str = "") -> Iterator[str]:
    """Each object with a number or an id, by the key of its list: an edge and a node are two rows."""
    if isinstance(value, list):
        for each in value:
            yield from numbers(each, key)
    elif isinstance(value, dict):
        for name in ("number", "id"):
            if name in value:
                yield f"{key} {value[name]}"
        for name, each in value.items():
            yield from numbers(each, f"{key}.{name}")


def followed(function: Function, tool: str, arguments: dict[str, Any]) -> tuple[Counter[str], int]:
    found, waiting, calls = Counter[str](), [arguments], 0
    while waiting:
        calls += 1
        assert calls < 400, "the notes never end"
        sent = waiting.pop(0)
        result = function.call(tool, sent).result
        assert not result.get("isError"), result
        answer = result["structuredContent"]
        told = answer.get("extensions", {}).get("stile", {})
        path = told.get("continued", {}).get("path", [])
        data, key = answer["data"], ""
        for part in path if not path or path[-1] not in ("edges", "nodes") else path[:-1]:
            data, key = data[part], f"{key}.{part}" if isinstance(part, str) else key
        if path and path[-1] in ("edges", "nodes"):
            data = {name: each for name, each in data.items() if isinstance(each, list)}
        found.update(numbers(data, key))
        others = {name: value for name, value in sent.items() if name != "stileCursor"}
        waiting += [{**others, **note["next"]} for note in told.get("truncated", [])]
    return found, calls


TOOLS = st.sampled_from(
    [
        ("pages", {}),
        ("latest", {}),
        ("offset", {}),
        ("all", {}),
        ("nested", {"customers": 25, "orders": 17}),
        ("nested", {"customers": 3, "orders": 17}),
        ("last", {"orders": 17}),
        ("last", {"orders": 9}),
    ]
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=TOOLS, max_bytes=st.integers(3_000, 20_000))
def test_whoever_follows_the_notes_reads_each_row_once(
    tmp_path: Path, api: str, sdl: str, tool: tuple[str, dict[str, Any]], max_bytes: int
) -> None:
    name, arguments = tool
    with served(tmp_path, api, sdl, 0) as function:
        expected, calls = followed(function, name, arguments)
        assert calls == 1
    with served(tmp_path, api, sdl, max_bytes) as function:
        found, calls = followed(function, name, arguments)
        size = len(function.call(name, arguments).result["content"][0]["text"])

    assert size <= max_bytes
    assert calls > 1 or size < max_bytes
    assert name != "all" or calls > (2 if max_bytes < 15_000 else 1)
    assert found == expected
    assert set(found.values()) == {1}
