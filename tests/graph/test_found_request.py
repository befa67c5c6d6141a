"""Requests at the end of a search's answer: valid in the caller's view, and empty rather than wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import pytest
from graphql import build_schema, parse, validate
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.graph.found_request import MAX_REQUEST_BYTES, found_request
from handler.graph.found_sdl import found_text
from handler.graph.sdl import print_view
from handler.graph.view import View
from handler.search.paths import Paths
from handler.search.question import Question
from tests.graph.random_schemas import coordinates_of
from tests.search.schemas import random_worded_sdl
from tests.support.examples import examples
from tests.support.schemas import schema_of_sdl, view_of

NOTHING_ASKED = Question({}, {}, frozenset(), asks=False, tells=False, plural=frozenset(), has_id=False)

SDL = """
type Query {
  repository(owner: String!, name: String!): Repository
  blog(handle: String, id: ID, first: Int): Blog
  issues(first: Int = 5, after: String, labels: [String!], by: Filter): IssueConnection!
  node(id: ID!): Node
  found(text: String!): [Found!]!
  shelves(id: ID!, first: Int, after: String): ShelfConnection
  plain: Plain
  self: Query
  count: Int
  version: String
}
type Mutation { closeIssue(input: CloseIssueInput!): CloseIssuePayload clear: Int stop: Boolean }
type Repository {
  id: ID! name: String! stars(by: Int!): Int
  issues(first: Int, after: String, id: ID!): IssueConnection!
}
type Blog { secret: String title: String! }
type IssueConnection { nodes: [Issue!]! pageInfo: PageInfo! totalCount: Int! }
type ShelfConnection { edges: [ShelfEdge!]! pageInfo: PageInfo! }
type ShelfEdge { cursor: String! node: Shelf! }
type Shelf { issues(first: Int, after: String): IssueConnection! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
interface Node { id: ID }
type Issue implements Node { id: ID! number: Int! body: String closed: Boolean! status: Status repository: Repository! }
type User implements Node { id: ID! login: String! }
type Plain { words: String }
union Found = User | Issue
enum Status { OPEN CLOSED }
input CloseIssueInput { id: ID! reason: Reason }
input Filter { status: Status }
enum Reason { DONE }
type CloseIssuePayload { actor: User clientMutationId: String issue: Issue }
"""
PAGE = "pageInfo { hasNextPage endCursor }"


@pytest.mark.parametrize(
    ("way", "matches", "request_text"),
    [
        (
            ["Query.repository", "Repository.issues", "IssueConnection.nodes", "Issue.body"],
            ["Issue.body", "Repository.name"],
            (
                "query ($owner: String!, $name: String!, $after: String, $id: ID!) "
                "{ repository(owner: $owner, name: $name) { name issues(first: 10, after: $after, id: $id) "
                f"{{ {PAGE} nodes {{ body id number }} }} }} }}"
            ),
        ),
        (
            ["Query.issues", "IssueConnection.totalCount"],
            ["IssueConnection.totalCount", "Issue.closed"],
            (
                "query ($after: String) { issues(first: 10, after: $after) "
                f"{{ {PAGE} totalCount nodes {{ closed id number }} }} }}"
            ),
        ),
        (
            ["Query.shelves", "ShelfConnection.edges", "ShelfEdge.node", "Shelf.issues"],
            [],
            (
                "query ($id: ID!, $after: String, $issues_after: String) "
                f"{{ shelves(first: 10, id: $id, after: $after) {{ {PAGE} edges {{ node {{ "
                f"issues(first: 10, after: $issues_after) {{ {PAGE} nodes {{ id number status }} }} }} }} }} }}"
            ),
        ),
        (
            ["Query.node", "Issue.body"],
            [],
            "query ($id: ID!) { node(id: $id) { ... on Issue { body id number } } }",
        ),
        (
            ["Query.found"],
            ["Issue"],
            "query ($text: String!) { found(text: $text) { __typename ... on Issue { id number status } } }",
        ),
        (["Query.count"], ["Query.count", "Query.version"], "query { count }"),
        (["Mutation.clear"], ["Mutation.clear", "Mutation.stop"], "mutation { clear }"),
        (["Query.blog"], [], "query ($handle: String, $id: ID) { blog(handle: $handle, id: $id) { title } }"),
        (
            ["Query.repository", "Repository"],
            ["Repository.stars"],
            "query ($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { id name } }",
        ),
        (
            ["Mutation.closeIssue", "Mutation.closeIssue(input:)", "CloseIssueInput.reason"],
            [],
            "mutation ($input: CloseIssueInput!) { closeIssue(input: $input) { issue { id number status } } }",
        ),
        (
            ["Query.issues", "Query.issues(by:)", "Filter.status"],
            [],
            (
                "query ($after: String, $by: Filter) { issues(first: 10, after: $after, by: $by) "
                f"{{ {PAGE} nodes {{ id number status }} }} }}"
            ),
        ),
        (["Query.plain"], [], "query { plain { __typename } }"),
        (["Query.self", "Query.plain", "Plain.words"], [], "query { self { plain { words } } }"),
    ],
)
def test_a_way_is_a_request(way: Sequence[str], matches: Sequence[str], request_text: str) -> None:
    view = view_of(SDL)

    assert found_request(view, way, matches) == request_text
    assert not validate(schema_of_sdl(print_view(view)), parse(request_text))


@pytest.mark.parametrize(
    "way",
    [
        ["Query"],
        ["Issue.body"],  # no way from a root field is known
        ["Query.blog", "Issue.body"],  # no blog is an issue
        ["Query.blog", "Blog.secret"],
        ["Status.OPEN"],
        ["Query." + "x" * 400],
    ],
)
def test_there_is_no_request_rather_than_a_wrong_one(way: Sequence[str]) -> None:
    sdl = SDL.replace("plain: Plain", f"plain: Plain {'x' * 400}: Int")

    assert found_request(view_of(sdl, ["Blog.secret"]), way, []) == ""


def test_a_field_with_the_name_of_a_type_is_not_a_part_of_a_union() -> None:
    view = view_of("type Query { a: A b: B } type A { B: Int } type B { x: Int }")

    assert found_request(view, ["Query.a", "B.x"], []) == ""


def test_hidden_parts_are_in_no_request() -> None:
    way, hidden = ["Query.issues"], ["PageInfo.endCursor", "Issue.number", "Query.issues(after:)"]

    assert found_request(view_of(SDL, hidden), way, ["Issue.number"]) == (
        "query { issues(first: 10) { nodes { id status } } }"
    )


def test_a_small_answer_has_no_request() -> None:
    matches = [("Issue.body", [("Query.repository", "Repository.issues", "IssueConnection.nodes", "Issue.body")])]

    assert "A request for the first: query" in found_text(view_of(SDL), matches, max_bytes=1_200)
    assert "A request" not in found_text(view_of(SDL), matches, max_bytes=400)


@settings(deadline=None, max_examples=examples(200))
@given(st.integers(0, 2**32))
def test_requests_are_valid_in_the_view_of_a_random_schema_with_hidden_parts(seed: int) -> None:
    random = Random(seed)
    sdl = random_worded_sdl(random)
    coordinates = sorted(coordinates_of(build_schema(sdl)))

    list(valid_requests(view_of(sdl, random.sample(coordinates, random.randint(0, 6))), coordinates, random))


def valid_requests(view: View, coordinates: Sequence[str], random: Random) -> Iterator[str]:
    """Yield the requests of the ways to coordinates, each after its check by graphql-core against the view."""
    roots = view.root_fields()
    schema = schema_of_sdl(print_view(view)) if roots.get("query") else None
    paths = Paths(view)
    for coordinate in coordinates:
        if schema is None or coordinate.partition(".")[0] not in view.members:
            continue
        if coordinate in view.gone or coordinate.partition("(")[0] in view.gone:
            continue
        for way in paths.to(coordinate, NOTHING_ASKED):
            text = found_request(view, way, [coordinate, *random.sample(coordinates, min(9, len(coordinates)))])
            if text:
                assert not validate(schema, parse(text)), (way, text)
            assert len(text.encode()) <= MAX_REQUEST_BYTES
            yield text
