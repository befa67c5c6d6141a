"""Costs by what a schema's author says of lists, types and fields, from the author's file to the count.

Source: "The GraphQL Cost Directives Specification" (IBM).
"""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from handler.errors.calls import DocumentRefused
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.index import read_index
from handler.graph.view import build_view
from tests.graph.documents.test_cost import cost_of
from tests.graph.shop import WIDE, check
from tests.support.endpoints import compiled

SDL = """
type Query {
  assumed: [User] @listSize(assumedSize: 50)
  none: [User] @listSize(assumedSize: 0)
  both(first: Int): [User] @listSize(assumedSize: 50)
  take(count: Int, first: Int, size: Int = 7): [User]
    @listSize(slicingArguments: ["count", "size"], requireOneSlicingArgument: false)
  counted(count: Int, first: Int): [User]
    @listSize(assumedSize: 30, slicingArguments: "count", requireOneSlicingArgument: false)
  inside(page: PageInput): [User] @listSize(slicingArguments: ["page.first"], requireOneSlicingArgument: false)
  deep(page: Paging): [User] @listSize(slicingArguments: ["page.rows.n"], requireOneSlicingArgument: false)
  deepDefault(page: Paging = {}): [User] @listSize(slicingArguments: ["page.rows.n"])
  oneOfPaging(page: Paging): [User] @listSize(slicingArguments: ["page.first", "page.last"])
  oneHiddenInside(page: Secretive): [User] @listSize(slicingArguments: ["page.n"])
  defaulted(page: PageInput = {first: 4}): [User]
    @listSize(slicingArguments: ["page.first"], requireOneSlicingArgument: false)
  keyed(keys: [ID!]): [User] @listSize(slicingArguments: ["keys"], requireOneSlicingArgument: false)
  one(first: Int, last: Int): [User] @listSize(slicingArguments: ["first", "last"])
  oneDefault(first: Int = 6, last: Int): [User] @listSize(slicingArguments: ["first", "last"])
  oneHidden(first: Int, last: Int): [User] @listSize(assumedSize: 3, slicingArguments: ["first", "last"])
  chocolate(first: Int): [User]
    @listSize(assumedSize: 50, slicingArguments: ["first"], slicingArgumentDefaultValue: 12,
      requireOneSlicingArgument: false)
  people(first: Int): People @listSize(assumedSize: 40, sizedFields: ["nodes"])
  page(first: Int): People @federation__listSize(assumedSize: 40)
  hiddenFirst(first: Int! = 25, after: ID): [User]
  nodes(ids: [ID!]!): [User]!
  found(ids: [ID!], first: Int): [User]
  byText(ids: String): [User]
  heavy: Heavy
  heavies: [Heavy] @listSize(assumedSize: 3)
  slow: User @cost(weight: "4")
  slowNumber: Int @cost(weight: "2.5")
  slowList: [User] @cost(weight: "100") @listSize(assumedSize: 2)
  blob: Blob
  free: [Free]
  odd: User @cost(weight: "much")
  complexity: User @cost(complexity: 5)
  search(first: Int): Found
  sized(first: Int): Found @listSize(slicingArguments: ["first"], sizedFields: ["other"])
  searchAssumed: Found @listSize(assumedSize: 80)
  configured: [User]
  configuredPage: People
}
type Found { page: People assumed: People @listSize(assumedSize: 20) other: [User] }
type People {
  nodes: [User] edges: [User] best: [User] @listSize(assumedSize: 5)
}
type User { name: String friends: [User] @listSize(assumedSize: 2) slow: Int @cost(weight: "3") }
type Heavy @cost(weight: "20") { a: Int }
type Free @cost(weight: "0") { a: Int user: User more(first: Float): [Free] }
scalar Blob @cost(weight: "8")
input PageInput { first: Int }
input Paging { first: Int = 15 last: Int rows: Rows = {} }
input Rows { n: Int = 400 m: Int }
input Secretive { n: Int! = 90 m: Int }
"""
CONFIG = """
default_tool: false
limits: {list_sizes: {Query.configured: 60, Query.configuredPage: 70, Query.both: 20}}
"""
HIDDEN = ("Query.oneHidden(first:)", "Query.oneHidden(last:)", "Query.hiddenFirst(first:)", "Secretive.n")


@functools.cache
def api() -> ViewSchemas:
    """The schema as it was compiled and stored."""
    with tempfile.TemporaryDirectory() as folder:
        made = compiled(Path(folder), {"index.graphql": SDL, "config.yaml": CONFIG})
    return ViewSchemas(build_view(read_index(made.index, sha256=made.bundle.index), HIDDEN))


def cost(text: str, variables: dict[str, Any] | None = None) -> int:
    return cost_of(text, variables, schemas=api())


COSTS = {
    "an assumed size": ("{ assumed { name } }", 50),
    "an assumed size of nothing": ("{ none { name } }", 0),
    "a size that is asked for instead": ("{ both(first: 3) { name } }", 3),
    "config.yaml over the directive": ("{ both { name } }", 20),
    "config.yaml": ("{ configured { name } }", 60),
    "config.yaml for a connection": ("{ configuredPage { nodes { name } edges { name } } }", 1 + 70 + 70),
    "slicing arguments of any name": ("{ take(count: 9) { name } }", 9),
    "the default of a slicing argument": ("{ take { name } }", 7),
    "the largest of several": ("{ take(count: 2, size: 5) { name } }", 5),
    "no other argument": ("{ take(first: 100, size: 1) { name } }", 1),
    "an assumed size where none is given": ("{ counted(first: 9) { name } }", 30),
    "one name for a list of names": ("{ counted(count: 9) { name } }", 9),
    "a path into an argument": ("{ inside(page: {first: 9}) { name } }", 9),
    "a path that is not given": ("{ inside(page: {}) { name } }", 10),
    "a path into a default": ("{ defaulted { name } }", 4),
    "a path that ends in a null": ("{ defaulted(page: null) { name } }", 10),
    "a list as a slicing argument": ('{ keyed(keys: ["a", "b", "c"]) { name } }', 3),
    "one slicing argument": ("{ one(last: 4) { name } }", 4),
    "one slicing argument by its default": ("{ oneDefault { name } }", 6),
    "slicing arguments that nobody can give": ("{ oneHidden { name } }", 3),
    "Hot Chocolate's default": ("{ chocolate { name } }", 12),
    "sized fields": ("{ people { nodes { name } } }", 1 + 40),
    "sized fields that are asked for": ("{ people(first: 6) { nodes { name } } }", 1 + 6),
    "fields that are not sized": ("{ people(first: 6) { edges { name } } }", 1 + 10),
    "fields with a size of their own": ("{ people(first: 6) { best { name } } }", 1 + 5),
    "a connection without sized fields": ("{ page { nodes { name } } }", 1 + 40),
    "what is asked for over what a field assumes": ("{ page(first: 6) { best { name } } }", 1 + 6),
    "what a field assumes over what its connection does": ("{ page { best { name } } }", 1 + 5),
    "a list below further objects": ("{ search(first: 60) { page { nodes { name } } } }", 1 + 1 + 60),
    "an assumed one below further objects": ("{ searchAssumed { page { nodes { name } } } }", 1 + 1 + 80),
    "what a list assumes over what is asked for further up": (
        "{ search(first: 60) { page { best { name } } } }",
        2 + 5,
    ),
    "what a connection assumes over it": ("{ search(first: 60) { assumed { nodes { name } } } }", 1 + 1 + 20),
    "sized fields and no others": ("{ sized(first: 60) { page { nodes { name } } other { name } } }", 2 + 10 + 60),
    "lists below lists": ("{ assumed { friends { name } } }", 50 + 50 * 2),
    "a hidden argument's default": ("{ hiddenFirst { name } }", 25),
    "a list of ids": ('{ nodes(ids: ["a", "b", "c"]) { name } }', 3),
    "one id for a list": ("{ nodes(ids: 70) { name } }", 1),
    "no ids": ("{ nodes(ids: []) { name } }", 1),
    "ids that are null": ("{ found(ids: null) { name } }", 10),
    "ids beside a page size": ('{ found(ids: ["a"], first: 4) { name } }', 4),
    "ids that are no list": ('{ byText(ids: "70") { name } }', 10),
    "a heavy type": ("{ heavy { a } }", 20),
    "a list of a heavy type": ("{ heavies { a } }", 60),
    "a heavy field": ("{ slow { name } }", 5),
    "a heavy field of a number": ("{ slowNumber }", 3),
    "a heavy field for each object": ("{ assumed { slow } }", 50 + 50 * 3),
    "a heavy field of a list once": ("{ slowList { name } }", 100 + 2),
    "a heavy scalar": ("{ blob }", 8),
    "a type that weighs nothing": ("{ free { a } }", 0),
    "what stands below it": ("{ free { user { name } } }", 10),
    "a weight that is none": ("{ odd { name } }", 1),
    "another system's cost": ("{ complexity { name } }", 1),
}


@pytest.mark.parametrize("what", COSTS)
def test_cost_is_by_what_the_author_says(what: str) -> None:
    text, expected = COSTS[what]

    assert cost(text) == expected


def test_variables_size_lists_as_they_are_coerced() -> None:
    nodes = "query($ids: [ID!]!) { nodes(ids: $ids) { name } }"
    inside = "query($page: PageInput) { inside(page: $page) { name } defaulted(page: $page) { name } }"

    assert cost(nodes, {"ids": ["a"] * 33}) == 33
    assert cost(nodes, {"ids": "a"}) == 1
    assert cost("query($id: ID!) { nodes(ids: [$id, $id]) { name } }", {"id": "a"}) == 2
    assert cost(inside, {"page": {"first": 8}}) == 16
    assert cost(inside) == 10 + 4
    assert cost("query($n: Int) { inside(page: {first: $n}) { name } }", {"n": 8}) == 8
    assert cost("query($n: Int) { one(first: $n) { name } }", {"n": 8}) == 8


@pytest.mark.parametrize(
    ("field", "page", "size"),
    [
        ("deep", {}, 400),
        ("deep", {"rows": {}}, 400),
        ("deep", {"rows": {"m": 7}}, 400),
        ("deep", {"rows": {"n": 7}}, 7),
        ("deep", {"rows": None}, 10),
        ("deep", {"rows": {"n": None}}, 10),
        ("deepDefault", {}, 400),
        ("oneOfPaging", {}, 15),
        ("oneOfPaging", {"first": 4}, 4),
        ("oneOfPaging", {"last": 40}, 40),
        ("oneOfPaging", {"first": None, "last": 4}, 4),
        ("oneHiddenInside", {"m": 1}, 90),
    ],
)
def test_input_object_counts_its_defaults_as_a_literal_and_as_a_variable(
    field: str, page: dict[str, Any], size: int
) -> None:
    literal = json.dumps(page).replace('"', "")
    type_name = "Secretive" if field == "oneHiddenInside" else "Paging"

    assert cost(f"{{ {field}(page: {literal}) {{ name }} }}") == size
    assert cost(f"query($page: {type_name}) {{ {field}(page: $page) {{ name }} }}", {"page": page}) == size


def test_defaults_of_input_fields_count_where_their_argument_or_variable_is_absent() -> None:
    inside = "query($n: Int) { deep(page: {rows: {n: $n}}) { name } }"

    assert cost("{ deepDefault { name } }") == 400
    assert cost(inside) == 400
    assert cost(inside, {"n": 8}) == 8
    assert cost(inside, {"n": None}) == 10


@pytest.mark.parametrize("page", [{"first": 1, "last": 1}, {"first": None, "last": None}])
def test_other_than_one_slicing_argument_inside_an_input_object_is_refused_either_way(page: dict[str, Any]) -> None:
    literal = json.dumps(page).replace('"', "")

    with pytest.raises(DocumentRefused, match='"oneOfPaging" needs exactly one'):
        check(f"{{ oneOfPaging(page: {literal}) {{ name }} }}", schemas=api())
    with pytest.raises(DocumentRefused, match='"oneOfPaging" needs exactly one'):
        check("query($page: Paging) { oneOfPaging(page: $page) { name } }", {"page": page}, schemas=api())


def test_lists_of_what_weighs_nothing_are_counted_in_bounds_however_deep() -> None:
    text = "{ free " + "{ more(first: 1e300) " * 40 + "{ %s }" + "}" * 41

    assert check(text % "a", schemas=api(), limits=WIDE).kind == "query"
    with pytest.raises(DocumentRefused, match="max_cost"):
        check(text % "user { name }", schemas=api(), limits=WIDE)


@pytest.mark.parametrize(
    "text",
    [
        "{ one { name } }",
        "{ one(first: null) { name } }",
        "{ one(first: 1, last: 1) { name } }",
        "query($n: Int) { one(first: $n) { name } }",
        "{ oneDefault(first: 1, last: 1) { name } }",
    ],
)
def test_other_than_one_slicing_argument_is_refused_where_one_is_required(text: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        check(text, schemas=api())

    (fault,) = caught.value.faults
    assert fault.message.endswith(" needs exactly one of first, last")
    assert fault.column == text.index("one") + 1
