"""What authors say of sizes and costs: read into the schema index, judged, and kept out of what models read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handler.graph.index import ListSize, SchemaIndex, read_index
from handler.graph.sdl import print_view
from handler.graph.view import build_view
from tests.support.endpoints import READABLE, compiled, doubted, reported
from tests.support.function import running_function
from tests.support.raw_http import Peer, answer, running_server

TOOL = 'extend schema @tool(name: "t", graphql: {expose: true, types: "Query", fields: ".*"})\n'


def index_of(folder: Path, sdl: str, config: str = READABLE) -> SchemaIndex:
    made = compiled(folder, {"index.graphql": TOOL + sdl, "config.yaml": config})
    assert made.warnings == ()
    return read_index(made.index, sha256=made.bundle.index)


def size_of(folder: Path, arguments: str) -> ListSize | None:
    sdl = f"type Query {{ a(first: Int, last: Int): [Int] @listSize({arguments}) }}"
    return index_of(folder, sdl)["Query"].fields["a"].size


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ("assumedSize: 50", ListSize(assumed=50)),
        ("assumedSize: 0", ListSize(assumed=0)),
        ("assumedSize: 99999999999999", ListSize(assumed=1_000_000_000)),
        ('slicingArguments: ["first", "last"]', ListSize(slicing=("first", "last"), one_required=True)),
        ('slicingArguments: "first", requireOneSlicingArgument: false', ListSize(slicing=("first",))),
        ('sizedFields: ["nodes", "edges"], requireOneSlicingArgument: true', ListSize(fields=("nodes", "edges"))),
        ("assumedSize: -1, slicingArguments: [], sizedFields: null", ListSize()),
        ("assumedSize: true, slicingArguments: [1]", ListSize()),
    ],
)
def test_list_size_is_read(tmp_path: Path, arguments: str, size: ListSize) -> None:
    assert size_of(tmp_path, arguments) == size


def test_costs_of_types_and_fields_are_read_wherever_they_stand(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        """
        directive @cost(weight: String!) on FIELD_DEFINITION | OBJECT
        type Query { a: A @cost(weight: "2.5") b: B c: [A] }
        type A @federation__cost(weight: "0") { a: Int }
        extend type Query @cost(weight: "7") { d: [Int] @cost(weight: "1") @listSize(assumedSize: 3) }
        scalar B @cost(weight: "3")
        """,
    )

    assert [index.weight(name) for name in ("A", "B", "Query", "Int")] == [0, 3, 7, None]
    fields = index["Query"].fields
    assert {name: field.weight for name, field in fields.items()} == {"a": 2.5, "b": 0, "c": 0, "d": 1}
    assert fields["d"].size == ListSize(assumed=3)


def test_models_read_nothing_of_them(tmp_path: Path) -> None:
    sdl = "type Query {\n  a(first: Int): [Int]\n}\n"
    said = sdl.replace("[Int]\n", '[Int] @listSize(assumedSize: 50) @cost(weight: "9")\n')

    assert print_view(build_view(index_of(tmp_path, said), ())) == sdl


@pytest.mark.parametrize(
    ("directive", "warning"),
    [
        ('@cost(weight: "x")', 'invalid-cost: @cost & "x"'),
        ('@cost(weight: "-1")', 'invalid-cost: @cost & "-1"'),
        ('@cost(weight: "nan")', 'invalid-cost: @cost & "nan"'),
        ("@cost(weight: null)", 'invalid-cost: @cost & "None"'),
        (
            '@listSize(slicingArguments: ["frist"])',
            'unknown-slicing-argument: @listSize & "a" & "frist" & did you mean first?',
        ),
        ('@listSize(slicingArguments: ["page.first"])', 'unknown-slicing-argument: @listSize & "a" & "page"'),
    ],
)
def test_what_cannot_be_read_is_doubted(tmp_path: Path, directive: str, warning: str) -> None:
    sdl = f"{TOOL}type Query {{ a(first: Int): [Int] {directive} }}"

    assert doubted(tmp_path, {"index.graphql": sdl, "config.yaml": READABLE}) == [f"index.graphql:2:35 {warning}"]


def config_of(sizes: str) -> str:
    return f"{READABLE}limits:\n  list_sizes: {sizes}\n"


SDL = """
schema { query: Root }
type Root { orders(first: Int): [Order] page: Page order: Order count: Int }
type Page { nodes: [Order]! }
type Order { id: ID }
interface Node { all: [Order] }
input In { list: [Int] }
"""


def test_list_sizes_of_the_configuration_are_laid_over_those_of_the_schema(tmp_path: Path) -> None:
    sdl = SDL.replace("[Order] page", '[Order] @listSize(assumedSize: 9, slicingArguments: "first") page')
    index = index_of(tmp_path, sdl, config_of("{Query.orders: 50, Root.page: 7, Node.all: 0}"))

    fields = index["Root"].fields
    assert fields["orders"].size == ListSize(assumed=50, slicing=("first",), one_required=True)
    assert fields["page"].size == ListSize(assumed=7)
    assert index["Node"].fields["all"].size == ListSize(assumed=0)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        (
            "{Query.ordres: 50}",
            '3:16 unknown-coordinate: "Query.ordres" & "Root" & "ordres" & did you mean orders?',
        ),
        ("{Pgae.nodes: 50}", '3:16 unknown-coordinate: "Pgae.nodes" & "Pgae" & did you mean Page?'),
        ("{Query.order: 50}", '3:16 not-a-list: "Query.order"'),
        ("{Query.count: 50}", '3:16 not-a-list: "Query.count"'),
        ("{Query: 50}", '3:16 not-a-list: "Query"'),
        ("{'Query.orders(first:)': 50}", '3:16 not-a-list: "Query.orders(first:)"'),
        ("{In.list: 50}", '3:16 not-a-list: "In.list"'),
        (
            "{Query.orders: many}",
            "3:30 invalid-value: \"limits.list_sizes.Query.orders\" & 0 to 1e+09 & 'many'",
        ),
        ("{Query.orders: -1}", "3:30 invalid-value: \"limits.list_sizes.Query.orders\" & 0 to 1e+09 & '-1'"),
        ("50", "3:15 invalid-value: \"limits.list_sizes\" & '50'"),
    ],
)
def test_list_sizes_that_name_no_list_are_problems(tmp_path: Path, sizes: str, problem: str) -> None:
    assert reported(tmp_path, {"index.graphql": SDL, "config.yaml": config_of(sizes)}) == [f"config.yaml:{problem}"]


def test_tool_refuses_by_the_declared_size_before_anything_is_sent(tmp_path: Path) -> None:
    bodies: list[bytes] = []

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            bodies.append(request)
            peer.send(answer(b'{"data": {"orders": []}}', content_type="application/json"))

    sdl = "type Query { orders(first: Int): [Order] } type Order { lines: [Int] @listSize(assumedSize: 200) }"
    with running_server(script) as server:
        config = f"upstream: {{url: '{server.url}'}}\n{config_of('{Query.orders: 50}')}"
        with running_function(compiled(tmp_path, {"index.graphql": TOOL + sdl, "config.yaml": config})) as function:
            refused = function.query("t", "{ orders { lines } }")
            assert bodies == []
            sent = function.query("t", "{ orders(first: 20) { lines } }")

    assert refused.result["isError"] is True
    assert '1:12: with "lines" the answer could hold more than 5000 objects' in refused.text
    assert "isError" not in sent.result


def test_sizes_of_the_page_are_taken(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "limits.md").read_text(encoding="utf-8")
    block = page[page.index("limits:\n  list_sizes:") :].split("```")[0]
    sdl = "type Query { orders: [Order] } type Customer { orders: [Order] } type Order { id: ID }"

    index = index_of(tmp_path, sdl, READABLE + block)

    sizes: list[Any] = [index[name].fields["orders"].size for name in ("Query", "Customer")]
    assert sizes == [ListSize(assumed=50), ListSize(assumed=20)]
