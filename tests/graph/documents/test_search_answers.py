"""``__search``: pages, cursors, scores and bounds, and results that graphql-core takes for those of the draft."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from graphql import execute_sync, parse, validate

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.introspection import MAX_RESULTS, UNKNOWN_CURSOR
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.sdl import print_view
from tests.graph.documents.test_definitions import draft_schema, resolved
from tests.graph.documents.test_introspection import RICH
from tests.graph.shop import VIEW, check
from tests.support.schemas import schema_of_sdl, schemas_of

MANY = schemas_of("type Query { " + " ".join(f"order_{number}: Int" for number in range(300)) + " }")

SEARCH = """
  query($q: String!, $first: Int! = 10, $after: String, $least: Float) {
    __search(query: $q, first: $first, after: $after, minScore: $least) { coordinate score cursor pathsToRoot }
  }
"""


def respond(schemas: ViewSchemas = VIEW, **variables: Any) -> Any:
    return answer_introspection(check(SEARCH, variables, schemas=schemas), schemas)


def found(schemas: ViewSchemas = VIEW, **variables: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = respond(schemas, **variables)["data"]["__search"]
    return results


def refused(schemas: ViewSchemas = VIEW, **variables: Any) -> str:
    response = respond(schemas, **variables)
    assert response["data"] is None
    assert response["errors"][0]["path"] == ["__search"]
    return str(response["errors"][0]["message"])


def test_results_come_best_first_with_scores_and_ways_from_a_root_field() -> None:
    results = found(q="employees by name")
    scores = [each["score"] for each in results]

    assert scores == sorted(scores, reverse=True)
    assert all(isinstance(score, float) and 0 < score <= 1 for score in scores)
    for each in results:
        assert each["pathsToRoot"]
        assert all(path[0].startswith(("Query.", "Mutation.")) or path == ["Query"] for path in each["pathsToRoot"])


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_pages_have_neither_gaps_nor_repeats(size: int) -> None:
    whole = [each["coordinate"] for each in found(MANY, q="order 7", first=MAX_RESULTS + 50)]
    pages, after = [], None
    while page := found(MANY, q="order 7", first=size, after=after):
        pages += [each["coordinate"] for each in page]
        after = page[-1]["cursor"]

    assert pages == whole
    assert len(set(whole)) == len(whole) == MAX_RESULTS


def test_least_score_leaves_out_what_is_below() -> None:
    results = found(q="employee name")
    least = results[len(results) // 2]["score"]

    assert found(q="employee name", least=least) == [each for each in results if each["score"] >= least]
    assert found(q="employee name", least=1.1) == []


def test_no_words_and_no_results_are_empty_answers() -> None:
    assert found(q="") == found(q="  ?") == found(q="zebra") == found(q="employee", first=0) == []


def test_default_is_ten_results() -> None:
    assert len(found(MANY, q="order")) == 10


FORGED = {
    "nothing": "",
    "no base64": "*",
    "too short": "AAA",
    "not ASCII": "é",
    "a surrogate": "\ud800",
    "zeros": base64.urlsafe_b64encode(bytes(14)).decode().rstrip("="),
    "far away": base64.urlsafe_b64encode(b"\xff" * 14).decode().rstrip("="),
    "very long": "A" * 10_000,
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_cursor_is_refused(name: str) -> None:
    assert refused(MANY, q="order", after=FORGED[name]) == UNKNOWN_CURSOR


def test_cursor_of_another_question_or_position_or_view_is_refused() -> None:
    first, second = (each["cursor"] for each in found(MANY, q="order", first=2))
    raw = bytearray(base64.urlsafe_b64decode(f"{first}=="))
    raw[1] = 5
    moved = base64.urlsafe_b64encode(raw).decode().rstrip("=")

    assert refused(MANY, q="order 7", after=first) == UNKNOWN_CURSOR
    assert refused(MANY, q="order", after=moved) == UNKNOWN_CURSOR
    assert refused(MANY, q="order", after=f"{second}==") == UNKNOWN_CURSOR
    assert refused(VIEW, q="order", after=first) == UNKNOWN_CURSOR
    assert found(MANY, q="order", after=second)


def test_arguments_out_of_bounds_are_refused() -> None:
    assert refused(q="a" * 1_001) == "query: expected at most 1,000 characters"
    assert refused(q="a", first=-1) == "first: expected 0 or a greater number"
    assert found(q="a" * 1_000) == []


def test_results_complete_as_those_of_the_draft() -> None:
    """graphql-core completes the answer as its own: each value has the type that the draft gives it."""
    schemas = schemas_of(RICH)
    text = """{ __search(query: "root name old id", first: 40) {
      __typename coordinate score cursor pathsToRoot definition {
      __typename ... on __Type { kind } ... on __Field { name args { name } } ... on __InputValue { name defaultValue }
    } } }"""
    whole = draft_schema(print_view(schemas.view))
    results = schemas.search().search("root name old id", 40)
    answer = answer_introspection(check(text, schemas=schemas), schemas)["data"]["__search"]
    assert len(answer) == len(results) > 5

    of_result: Any = whole.type_map["__SearchResult"]
    of_result.fields["definition"].resolve = lambda each, info: resolved(info.schema, each["coordinate"])
    whole.fields["__search"].resolve = lambda *_, **__: answer
    completed = execute_sync(whole, parse(text))

    assert validate(whole, parse(text)) == []
    assert completed.errors is None
    assert completed.data == {"__search": answer}


def test_schema_with_names_that_graphql_reserves_is_searched_as_any_other() -> None:
    sdl = """
      type Query { __search(query: String): [__SearchResult] order: Order mine: __SearchResult }
      type Order { id: ID } type __SearchResult { mine: Int }
    """
    schemas = schemas_of(schema_of_sdl(sdl))
    document = '{ __search(query: "order") { coordinate } __definitions(coordinates: ["Order"]) { __typename } }'

    data = answer_introspection(check(document, schemas=schemas), schemas)["data"]

    assert data["__search"][0] == {"coordinate": "Query.order"}
    assert data["__definitions"] == [{"__typename": "__Type"}]
    assert check("{ mine { mine } order { id } }", schemas=schemas).introspection is None


def test_model_gets_a_sentence() -> None:
    document = check(SEARCH, {"q": "a", "after": "forged"})

    with pytest.raises(DocumentRefused, match=r"3:5: after: expected the cursor of an earlier result"):
        answer_introspection(document, VIEW, for_model=True)
