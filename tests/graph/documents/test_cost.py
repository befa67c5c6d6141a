"""What a request may make the API do, told from its arguments before anything is sent."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import MOST_CHOSEN
from handler.graph.documents.partial_schema import ViewSchemas
from tests.graph.shop import LIMITS, check
from tests.support.schemas import schemas_of

API = schemas_of("""
type Query {
  viewer: User
  users(first: Int, last: Int, filter: Filter): [User!]!
  page(limit: Int! = 20): [User]
  big(limit: Big): [User]
  names(first: Int): [String!]
  matrix: [[Int]]
  people(first: Int, last: Int): People
  count(limit: Int): Int
  found(first: Int): [Found]
}
type Mutation { rename(first: Int): [User] }
type People { total: Int nodes: [User] edges(first: Int): [Edge] page: Page }
type Edge { node: User tags: [String] }
type Page { next: String }
type User { name: String boss: User friends(first: Int): [User] tags: [String!]! }
union Found = User | Page
input Filter { first: Int }
scalar Big
""")


def cost(text: str, variables: dict[str, Any] | None = None) -> int:
    return cost_of(text, variables, schemas=API)


def cost_of(text: str, variables: dict[str, Any] | None, *, schemas: ViewSchemas) -> int:
    """The least ``max_cost`` with which a document is taken."""

    def is_taken(max_cost: int) -> bool:
        try:
            check(text, variables, schemas=schemas, limits=replace(LIMITS, max_cost=max_cost))
        except DocumentRefused:
            return False
        return True

    low, high = -1, 0
    while high < 10**6 and not is_taken(high):
        low, high = high, min(4 * high + 1, 10**6)
    return bisect_left(range(high), True, low + 1, key=is_taken)


COSTS = {
    "an object": ("{ viewer { name } }", 1),
    "values of an object": ("{ viewer { name n: name m: name __typename } }", 1),
    "a number": ("{ count(limit: 1000) }", 0),
    "nothing but the type's name": ("{ __typename }", 0),
    "questions for the schema": ("{ __schema { types { fields { name } } } }", 0),
    "objects in each other": ("{ viewer { boss { boss { name } } } }", 3),
    "a list": ("{ users(first: 7) { name } }", 7),
    "a list by its end": ("{ users(last: 8) { name } }", 8),
    "the larger of both": ("{ users(first: 3, last: 8) { name } }", 8),
    "a list of which nothing is said": ("{ users { name } }", 10),
    "a list by a null": ("{ users(first: null) { name } }", 10),
    "a list by what is no size": ("{ users(first: 0) { name } }", 10),
    "a list by less than nothing": ("{ users(first: -1) { name } }", 10),
    "an argument's default": ("{ page { name } }", 20),
    "an argument instead of its default": ("{ page(limit: 3) { name } }", 3),
    "a number of a custom scalar": ("{ big(limit: 30) { name } }", 30),
    "a text of a custom scalar": ('{ big(limit: "31") { name } }', 31),
    "a text that is no number": ('{ big(limit: "all") { name } }', 10),
    "an object of a custom scalar": ("{ big(limit: {a: 99}) { name } }", 10),
    "an input object's field": ("{ users(filter: {first: 99}) { name } }", 10),
    "values in a list": ("{ names(first: 12) }", 12),
    "lists in lists": ("{ matrix }", 100),
    "lists below lists": ("{ users(first: 5) { friends(first: 4) { name } tags } }", 5 + 5 * 4 + 5 * 10),
    "a connection": ("{ people(first: 6) { nodes { name } page { next } total } }", 1 + 6 + 1),
    "a connection's edges": ("{ people(last: 6) { edges { node { name } } } }", 1 + 6 + 6),
    "a connection's edges with a size of their own": (
        "{ people(first: 6) { edges(first: 2) { node { name } } } }",
        1 + 2 + 2,
    ),
    "a connection's size counts once": ("{ people(first: 6) { edges { tags } } }", 1 + 6 + 60),
    "a connection of which nothing is said": ("{ people { nodes { name } } }", 1 + 10),
    "a connection by fragments": (
        "{ people(first: 6) { ...F ... { page { next } } } } fragment F on People { nodes { name } }",
        1 + 6 + 1,
    ),
    "every spread of a fragment": (
        "{ viewer { ...F boss { ...F } } } fragment F on User { friends(first: 2) { name } }",
        2 + 4,
    ),
    "types of a union": ("{ found(first: 3) { ... on User { boss { name } } ... on Page { next } } }", 6),
    "what is left out": ("{ users(first: 7) @skip(if: true) { name } }", 7),
    "what another operation asks for": ("query A { viewer { name } }", 1),
    "a mutation": ("mutation { rename(first: 9) { name } }", 9),
    "numbers of thousands of digits": ("{ big(limit: " + "9" * 5_000 + ") { name } }", 10**6),
}


@pytest.mark.parametrize("what", COSTS)
def test_cost_counts_objects_and_items_of_lists(what: str) -> None:
    text, expected = COSTS[what]

    assert cost(text) == expected


def test_variables_count_as_they_are_coerced() -> None:
    parts = "users(first: $n) { name } page(limit: 1) { name } people(first: $m) { nodes { name } }"
    text = f"query($n: Int = 4, $m: Int) {{ {parts} }}"

    assert cost(text) == 4 + 1 + 1 + 10
    assert cost(text, {"n": 30, "m": 50}) == 30 + 1 + 1 + 50
    assert cost(text, {"n": None, "m": None}) == 10 + 1 + 1 + 10
    assert cost("query($n: Int!) { page(limit: $n) { name } }", {"n": 2}) == 2
    assert cost("query($n: Int! = 6) { page(limit: $n) { name } }") == 6
    assert cost("query($n: Big) { big(limit: $n) { name } }", {"n": "77"}) == 77
    assert cost("query($n: Big) { big(limit: $n) { name } }", {"n": 10**30}) == 10**6
    assert cost("query($n: Big) { big(limit: $n) { name } }", {"n": True}) == 10


def test_cost_of_a_known_document_depends_on_its_values_alone() -> None:
    text = "query($n: Big, $m: Boolean = true) { big(limit: $n) { name } viewer @include(if: $m) { name } }"
    limits = replace(LIMITS, max_cost=6)

    def is_taken(**variables: object) -> bool:
        try:
            return bool(check(text, variables, schemas=API, limits=limits))
        except DocumentRefused:
            return False

    for _ in range(2):
        assert [is_taken(n=value) for value in (1, 1, True, 1.0, 5, "6", "5", None)] == [
            *(True, True, False, True, True, False, True, False)
        ]
    assert [is_taken(n=1), is_taken(), is_taken(n=1, m=False), is_taken(m=False)] == [True, False, True, False]
    valid = API.find_valid(text, limits)
    assert valid
    assert (valid.chosen[None].counted, valid.chosen[None].cheap_values) == (["n"], sha256(b"[('n', 1)]").digest())


def test_long_values_and_many_operations_of_a_known_document_are_not_kept() -> None:
    names = [f"O{number}" for number in range(9)]
    text = "".join(f"query {name}($n: Big) {{ big(limit: $n) {{ name }} }}\n" for name in names)
    for name in names:
        check(text, {"n": "x" * 100_000}, schemas=API, limits=LIMITS, operation_name=name)

    valid = API.find_valid(text, LIMITS)
    assert valid
    assert names[-1] in valid.chosen
    assert len(valid.chosen) <= MOST_CHOSEN
    assert all(len(chosen.cheap_values) == sha256().digest_size for chosen in valid.chosen.values())


DEEP = schemas_of("""
type Query { search(first: Int, ids: [ID]): Found }
type Found { page: Page pages(first: Int): Page items: [Item] }
type Page { items: [Item] page: Page connection(first: Int): Items pair: [Page] }
type Items { nodes: [Item] }
type Item { id: ID tags: [String] page: Page }
""")

COSTS_OF_DEEP_LISTS = {
    "{ search(first: 1000) { page { items { id } } } }": 1 + 1 + 1_000,
    "{ search(first: 1000) { page { page { items { id } } } } }": 1 + 2 + 1_000,
    '{ search(ids: ["a", "b"]) { page { items { id } } } }': 1 + 1 + 10,
    "{ search(first: 3) { page { items { id } } } }": 1 + 1 + 10,
    "{ search(first: 3) { items { id } } }": 1 + 3,
    "{ search { page { items { id } } } }": 1 + 1 + 10,
    "{ search(first: 1000) { pages(first: 20) { items { id } } } }": 1 + 1 + 20,
    "{ search(first: 1000) { pages(first: 20) { page { items { id } } } } }": 1 + 2 + 20,
    "{ search(first: 1000) { page { connection(first: 5) { nodes { id } } } } }": 1 + 2 + 5,
    "{ search(first: 1000) { page { connection { nodes { id } } } } }": 1 + 2 + 1_000,
    "{ search(first: 1000) { items { tags } } }": 1 + 1_000 + 10_000,
    "{ search(first: 1000) { items { page { items { id } } } } }": 1 + 1_000 + 1_000 + 10_000,
    "{ search(first: 1000) { page { pair { items { id } } } } }": 1 + 1 + 1_000 + 10_000,
    "{ search(first: 1000) { ... { page { ...P } } } } fragment P on Page { items { id } }": 1 + 1 + 1_000,
}


@pytest.mark.parametrize("text", COSTS_OF_DEEP_LISTS)
def test_size_is_passed_on_through_objects_until_a_list_takes_it(text: str) -> None:
    assert cost_of(text, None, schemas=DEEP) == COSTS_OF_DEEP_LISTS[text]


def test_other_operations_do_not_count() -> None:
    text = "query A { viewer { name } } query B { users(first: 6000) { name } }"

    assert check(text, schemas=API, operation_name="A").name == "A"
    with pytest.raises(DocumentRefused, match="max_cost"):
        check(text, schemas=API, operation_name="B")


def test_refusal_says_which_part_costs_too_much() -> None:
    text = "{\n  viewer { name }\n  users(first: 100) {\n    all: friends(first: 100) { name }\n  }\n}"

    with pytest.raises(DocumentRefused) as caught:
        check(text, schemas=API)

    message = str(*caught.value.faults)
    assert message == (
        '4:5: with "all: friends" the answer could hold more than 5000 objects and items of lists (max_cost): '
        "ask for smaller pages (first, last, limit) or for less"
    )
    assert check(text.replace("first: 100", "first: 69"), schemas=API).kind == "query"


def test_variables_that_do_not_fit_are_told_first() -> None:
    with pytest.raises(DocumentRefused, match="Int cannot represent non-integer value"):
        check("query($n: Int) { users(first: $n) { name } }", {"n": "6000"}, schemas=API)


def test_connections_in_connections_count_as_readme_says() -> None:
    schemas = schemas_of("""
        type Query { repositories(first: Int): Repositories }
        type Repositories { nodes: [Repository] }
        type Repository { issues(first: Int): Issues }
        type Issues { nodes: [Issue] }
        type Issue { title: String }
    """)
    text = "{ repositories(first: 50) { nodes { issues(first: 20) { nodes { title } } } } }"

    assert check(text, schemas=schemas, limits=replace(LIMITS, max_cost=1_101)).kind == "query"
    with pytest.raises(DocumentRefused, match="more than 1100"):
        check(text, schemas=schemas, limits=replace(LIMITS, max_cost=1_100))
