"""Values that were made to keep jsonschema busy: they are judged in bounded work, with the sentences of the whole."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema._utils import equal

from handler.json_schema.checker import TOO_MUCH, Checker
from handler.json_schema.json_bounds import MAX_VALUES
from tests.json_schema.test_fast_path import judged_whole
from tests.support.examples import examples

MAX_S = 3.0
"""Of processor time, three times what a request may take: whoever runs the tests may have a slow machine."""

FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {f"field{n}": {"type": ["string", "null"]} for n in range(213)},
    "additionalProperties": False,
}
SIZES: dict[str, Any] = {"enum": [f"SIZE_{n}" for n in range(600)]}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "and": {"if": {"type": "array"}, "then": {"items": {"$ref": "#/$defs/Tree"}}, "else": {"type": "null"}},
        **FILTER["properties"],
    },
    "additionalProperties": False,
}


def optional(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def listed(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


def expression(kind: str) -> dict[str, Any]:
    """A type of two members that both lead to it: the ways to read a value double with each level."""
    definitions = {
        name: {
            "type": "object",
            "properties": {"of": listed({"$ref": "#/$defs/Any"}), "op": {"const": name}},
            "required": ["op", "of"],
        }
        for name in ("and", "or")
    }
    either = {kind: [{"$ref": "#/$defs/and"}, {"$ref": "#/$defs/or"}]}
    return {"$ref": "#/$defs/Any", "$defs": {**definitions, "Any": either}}


def nested(levels: int, innermost: str) -> dict[str, Any]:
    value: dict[str, Any] = {"of": [], "op": innermost}
    for level in range(levels):
        value = {"of": [value], "op": "and" if level % 2 else "or"}
    return value


def deep(leaf: dict[str, Any]) -> dict[str, Any]:
    for _ in range(20):
        leaf = {"and": [leaf]}
    return leaf


TREES = {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "$defs": {"Tree": TREE}}
MOST = MAX_VALUES - 1
ATTACKS: dict[str, tuple[dict[str, Any], Any]] = {
    "objects of a wide filter, the last one wrong": (listed(FILTER), [*({} for _ in range(MOST)), {"x": 1}]),
    "objects of a wide filter, all wrong": (listed(FILTER), [{"x": 1}] * (MAX_VALUES // 2)),
    "values of a long enum, the last one wrong": (listed(SIZES), [*["SIZE_599"] * MOST, "x"]),
    "no values of a long enum": (listed(optional(SIZES)), ["x"] * (MAX_VALUES // 20)),
    "whole numbers with a fraction, the last one wrong": (listed({"type": "integer"}), [*[1.0] * MOST, 1.5]),
    "trees, the last one wrong far below": (TREES, [*(deep({"field1": "x"}) for _ in range(240)), deep({"field1": 1})]),
    "trees, all wrong far below": (TREES, [deep({"field1": 1}) for _ in range(240)]),
    "an optional list, all wrong": (optional(listed({"type": "integer"})), ["x"] * MAX_VALUES),
    "an optional list of wide filters, all wrong": (optional(listed(FILTER)), [{"x": 1}] * (MAX_VALUES // 2)),
    "an optional list of an optional enum, all wrong": (optional(listed(optional(SIZES))), ["x"] * (MAX_VALUES // 20)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_judged_in_bounded_time_with_the_sentences_of_the_whole(name: str) -> None:
    schema, value = ATTACKS[name]

    started = time.process_time()
    violations = Checker(schema).violations(value)
    took_s = time.process_time() - started

    assert took_s < MAX_S
    assert violations == judged_whole(value, schema)


def test_misfits_of_a_long_list_are_not_gathered() -> None:
    checker, value = Checker(optional(listed({"type": "integer"}))), ["x"] * 50_000
    checker.violations(value[:100])

    tracemalloc.start()
    checker.violations(value)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 10_000_000


@pytest.mark.parametrize("kind", ["anyOf", "oneOf"])
def test_value_of_a_type_that_leads_to_itself_twice_fits_at_any_depth(kind: str) -> None:
    assert Checker(expression(kind)).violations(nested(30, "or")) == []


@pytest.mark.parametrize("kind", ["anyOf", "oneOf"])
def test_misfit_of_a_type_that_leads_to_itself_twice_is_told_if_it_is_near(kind: str) -> None:
    assert Checker(expression(kind)).violations(nested(5, "x")) == judged_whole(nested(5, "x"), expression(kind))


@pytest.mark.parametrize("kind", ["anyOf", "oneOf"])
def test_misfit_of_a_type_that_its_constant_tells_is_found_at_any_depth(kind: str) -> None:
    (said,) = Checker(expression(kind)).violations(nested(30, "x"))

    assert said == f'{"/of/0" * 30}/op: expected "and" or "or", got string "x"'


@pytest.mark.parametrize("kind", ["anyOf", "oneOf"])
def test_many_values_of_types_that_their_constants_tell_are_judged(kind: str) -> None:
    """A pattern is nothing that surely fits, so each value takes the way through jsonschema."""
    branches = [
        {"type": "object", "properties": {"kind": {"const": name}, "code": {"pattern": "^[A-Z]+$"}}}
        for name in "abcdefghij"
    ]
    checker = Checker({"items": {kind: branches}})

    assert checker.violations([{"kind": "j", "code": "X"}] * 3_000) == []


@pytest.mark.parametrize("kind", ["anyOf", "oneOf"])
def test_misfit_that_could_be_read_in_too_many_ways_is_refused_without_trying_them(kind: str) -> None:
    value: dict[str, Any] = {"of": []}
    for _ in range(30):
        value = {"of": [value]}
    started = time.process_time()
    violations = Checker(expression(kind)).violations(value)

    assert violations == [TOO_MUCH]
    assert time.process_time() - started < MAX_S


@pytest.mark.parametrize(
    "items",
    [
        [n if n % 2 else str(n) for n in range(5_000)],
        [{"n": n} for n in range(5_000)],
        [n * (2**61 - 1) for n in range(5_000)],
    ],
)
def test_unique_items_are_told_in_bounded_time(items: list[Any]) -> None:
    checker = Checker({"uniqueItems": True})

    started = time.process_time()
    assert checker.violations(items) == []
    assert checker.violations([*items, items[0]]) == ["/: expected no item twice, got array"]
    assert time.process_time() - started < MAX_S


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, -0.0, 1.0, 1.5, 1e300, "", "1", "a"])
ITEMS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)


@settings(max_examples=examples(1_000), deadline=None)
@given(st.lists(ITEMS, max_size=6))
def test_items_are_unique_if_no_two_of_them_are_equal_to_jsonschema(items: list[Any]) -> None:
    repeated = any(equal(*pair) for pair in combinations(items, 2))

    assert bool(Checker({"uniqueItems": True}).violations(items)) is repeated


@settings(max_examples=examples(1_000), deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=6), ITEMS)
def test_value_is_one_of_an_enum_if_jsonschema_has_it_equal_to_one(values: list[Any], value: Any) -> None:
    is_listed = any(equal(each, value) for each in values)

    assert (Checker({"enum": values}).violations(value) == []) is is_listed


def test_name_too_long_to_be_matched_matches_no_pattern_of_names() -> None:
    schema = {"patternProperties": {"^(a+)+$": {"type": "integer"}}, "additionalProperties": False}

    (told,) = Checker(schema).violations({"a" * 1_001: 1})

    assert "unknown name" in told
    assert Checker(schema).violations({"a" * 1_000: 1}) == []


DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


@pytest.mark.parametrize(
    "schema",
    [
        {**DIALECT, "items": {"$ref": "#"}, "pattern": "^a+$"},
        {"items": {**DIALECT, "pattern": "^a+$", "format": "date-time"}},
        {"items": {"not": {**DIALECT, "not": {"pattern": "^a+$"}}, "pattern": "^a+$"}},
    ],
)
def test_a_schema_that_names_its_own_dialect_is_judged_by_the_same_rules(schema: dict[str, Any]) -> None:
    told = Checker(schema).violations(["a" * 1_001])

    assert f"/0: expected a length of at most 1000, got string {CUT}" in told


CUT = f'"{"a" * 78}…'


def test_references_in_a_part_with_an_id_of_its_own_are_that_parts() -> None:
    inner = {"$id": "https://example.com/a", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "string"}}}
    schema = {"properties": {"a": inner}, "$defs": {"x": {"type": "integer"}}}

    assert Checker(schema).violations({"a": [1]}) == ["/a/0: expected string, got integer 1"]
    assert Checker(schema).violations({"a": ["1"]}) == []


def test_formats_of_an_authors_own_are_asked_though_the_text_has_the_standard_one() -> None:
    schema = {"items": {"type": "string", "format": "date"}}

    assert Checker(schema, formats={"date": lambda text: text > "2020"}).violations(["2019-01-01", "2026-01-01"]) == [
        '/0: expected a date, as 2026-01-31, got string "2019-01-01"'
    ]


@pytest.mark.parametrize("kind", ["names", "values"])
def test_nearest_names_are_looked_for_in_bounded_time(kind: str) -> None:
    known = [f"orderCustomerAddressLineNumberOfTheBuilding{n}" for n in range(600)]
    near = [f"orderCustomerAddressLineNumberOfThisBuilding{n}" for n in range(5_000)]
    schema: dict[str, Any] = {"properties": {name: {} for name in known}, "additionalProperties": False}
    checker = Checker(schema if kind == "names" else listed({"enum": known}))

    started = time.process_time()
    checker.violations(dict.fromkeys(near, 1) if kind == "names" else near)

    assert time.process_time() - started < 0.6
