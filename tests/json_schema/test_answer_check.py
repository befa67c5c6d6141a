"""The judge of answers against jsonschema: the same verdict on whatever is answered, and on what is wrong."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from graphql import build_schema, parse
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from handler.compiler.json_schemas.output_schema import output_schema
from handler.json_schema.answer_check import AnswerChecker, Misfit
from handler.strict_json import JSONObject
from tests.compiler.json_schemas.random_answers import random_answer, random_request
from tests.compiler.json_schemas.test_output_schema_property import changed, grown
from tests.support.examples import examples

SDL = """
type Query { node: Node grid: [[Int]!]! found: [Found!]! }
interface Node { id: ID! next: Node name: String! }
type A implements Node { id: ID! next: Node name: String! a: Int! }
type B implements Node { id: ID! next: Node name: String! b: Int! }
union Found = A | B
"""


def checker_of(operation: str) -> AnswerChecker:
    return AnswerChecker(output_schema(parse(operation), build_schema(SDL)))


def misfit_of(operation: str, data: Any, **more: Any) -> Misfit | None:
    return checker_of(operation).misfit({"data": data}, **more)


@settings(max_examples=examples(150), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_verdict_is_that_of_jsonschema(random: Random) -> None:
    asked = random_request(random)
    schema = output_schema(asked.document, asked.schema)
    oracle, checker = Draft202012Validator(schema), AnswerChecker(schema)
    answer = random_answer(grown(asked), random, failures=0.05)

    for judged in [answer, *(changed(answer, random) for _ in range(8))]:
        assert (checker.misfit(judged) is None) == oracle.is_valid(judged), judged


@settings(max_examples=examples(100), derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_misfit_names_no_value_and_a_place_that_is_there(random: Random) -> None:
    asked = random_request(random)
    checker = AnswerChecker(output_schema(asked.document, asked.schema))
    wrong = changed(random_answer(asked, random, failures=0), random)
    misfit = checker.misfit(wrong)
    if misfit is None:
        return

    assert "wrong" not in str(misfit)
    place: Any = wrong
    for key in misfit.path[:-1]:
        place = place[key]
    last = misfit.path[-1]
    there = isinstance(place, list) or last in place
    assert there == ("sent nothing" not in misfit.rule)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([{"x": "A", "a": 1}, {"x": "A", "a": None}], "data.found[1].a: expected integer, the API sent null"),
        ([{"x": "B", "b": "1"}], "data.found[0].b: expected integer, the API sent a string"),
        ([{"x": "B"}, {"x": "B", "b": 1, "c": 2}], "data.found[1]: expected"),
        ([[]], "data.found[0]: expected object, the API sent an array"),
        (["s"], "data.found[0]: expected object, the API sent a string"),
    ],
)
def test_misfit_is_that_of_the_type_that_the_object_is_of(found: Any, said: str) -> None:
    misfit = misfit_of("{ found { x: __typename ... on A { a } ... on B { b } } }", {"found": found})

    assert str(misfit).startswith(said)


def test_coordinate_leaves_places_out() -> None:
    misfit = misfit_of("{ grid }", {"grid": [[1], [2, "x"]]})

    assert misfit is not None
    assert misfit.coordinate == "data.grid[][]"
    assert str(misfit) == "data.grid[1][1]: expected integer or null, the API sent a string"


def test_answer_that_is_no_object_is_told_apart() -> None:
    assert str(checker_of("{ grid }").misfit([])) == "the answer: expected object, the API sent an array"


def nested(depth: int, last: JSONObject, **more: int) -> JSONObject:
    """An object in an object of an interface, each of which could be of two types up to its end."""
    return last if not depth else {"id": "1", "next": nested(depth - 1, last, **more), "name": "n", **more}


NESTED = "{ node " + "{ id next " * 20 + "{ id }" + " name ... on A { a } ... on B { b } }" * 20 + " }"


@pytest.mark.parametrize("members", [{"a": 1}, {"b": 1}, {}])
def test_choices_within_choices_take_no_more_steps_than_there_are_values(members: dict[str, int]) -> None:
    answer = {"node": nested(20, {"id": "1"}, **members)}

    assert misfit_of(NESTED, answer, max_steps=200) is None


def test_misfit_in_choices_within_choices_is_found_where_it_is() -> None:
    operation = "{ node " + "{ id next " * 20 + "{ id }" + " name ... on A { a } ... on B { b } }" * 20 + " }"
    checker = checker_of(operation)

    misfit = checker.misfit({"data": {"node": nested(20, {"id": None})}})

    assert str(misfit) == f"data.node{'.next' * 20}.id: expected string or integer, the API sent null"


def test_types_that_differ_in_their_last_field_cost_no_more_the_deeper_they_nest() -> None:
    fragments = ["fragment F0 on Node { name }"]
    node: JSONObject = {"name": "n"}
    for level in range(12):
        below = f"next {{ ...F{level} }}"
        fragments.append(f"fragment F{level + 1} on Node {{ ... on A {{ {below} a }} ... on B {{ {below} b }} }}")
        node = {"next": node, "b": 1}
    operation = "{ node { ...F12 } } " + " ".join(fragments)

    assert misfit_of(operation, {"node": node}, max_steps=500) is None


def test_answer_with_more_values_than_the_bound_does_not_fit() -> None:
    answer = {"grid": [[1, 2]] * 50 + [[None, 3]] * 51}

    assert misfit_of("{ grid }", answer, max_steps=106) is None
    misfit = misfit_of("{ grid }", answer, max_steps=105)
    assert str(misfit) == "the answer: more than 105 values to hold against the schema"


def test_long_lists_of_numbers_count_as_one() -> None:
    assert misfit_of("{ grid }", {"grid": [[1] * 100_000]}, max_steps=10) is None
