"""What fits a schema for certain, and that jsonschema would never say otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from jsonschema._utils import equal
from jsonschema.validators import extend

from handler.json_schema.checker import MAX_VIOLATIONS, Checker, sentences
from handler.json_schema.fast_path import QuickCheck
from handler.json_schema.formats import FORMATS
from tests.support.examples import examples

LINE: dict[str, Any] = {
    "type": "object",
    "properties": {"product": {"type": "string"}, "quantity": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["product"],
    "additionalProperties": False,
}
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "lines": {
            "if": {"type": "array"},
            "then": {"items": {"$ref": "#/$defs/Line"}},
            "else": {"$ref": "#/$defs/Line"},
        },
        "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "best": {"if": {"not": {"type": "null"}}, "then": {"$ref": "#/$defs/Line"}},
        "status": {"enum": ["OPEN", "PAID", None], "description": "How far it is."},
        "when": {"type": ["string", "null"], "format": "date"},
        "filter": {"anyOf": [{"type": "object", "maxProperties": 1}, {"type": "null"}]},
    },
    "additionalProperties": False,
    "$defs": {"Line": LINE},
}


def surely_fits(value: Any, schema: Any) -> bool:
    return QuickCheck(schema).surely_fits(value, schema)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"lines": [{"product": "a", "quantity": 1}, {"product": "b"}]},
        {"lines": {"product": "a"}, "status": "PAID", "when": "2026-01-31", "filter": {"a": 1}},
        {"status": None, "when": None, "filter": None, "best": None},
        {"best": {"product": "a"}, "share": 0.5},
    ],
)
def test_ordinary_arguments_surely_fit(value: Any) -> None:
    assert surely_fits(value, ORDER)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"other": 1},
        {"lines": [{"quantity": 1}]},
        {"lines": {"product": 1}},
        {"lines": [{"product": "a", "quantity": 0}]},
        {"lines": [{"product": "a", "quantity": True}]},
        {"lines": [{"product": "a", "quantity": 1.5}]},
        {"best": {"quantity": 1}},
        {"best": []},
        {"share": 0},
        {"share": 1.0},
        {"status": "LOST"},
        {"when": "2026-02-31"},
        {"filter": {"a": 1, "b": 2}},
    ],
)
def test_what_does_not_fit_is_a_doubt(value: Any) -> None:
    assert not surely_fits(value, ORDER)
    assert Checker(ORDER).violations(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, [1, 2]),
        ({"enum": [1]}, 1),
        ({"allOf": []}, 1),
        ({"items": {"$ref": "#"}}, [[]]),
        ({"if": {"type": "string"}, "then": {}}, "a"),
        ({"if": {"not": {"type": "string"}}, "then": {}}, 1),
        ({"properties": {"a": True}}, {"a": 1}),
    ],
)
def test_what_is_not_known_here_is_a_doubt_though_it_fits(schema: dict[str, Any], value: Any) -> None:
    assert not surely_fits(value, schema)
    assert not Checker(schema).violations(value)


@pytest.mark.parametrize("pattern", ["^a$", r"^\d+$", "[$]", "b", "(^.a)", r"\w\z"])
@pytest.mark.parametrize("text", ["a", "a\n", "1", "\u0661", "$", "abc", "x", "\u00e9", "a" * 1_001, ""])
def test_pattern_means_what_it_means_to_the_checker(pattern: str, text: str) -> None:
    assert surely_fits(text, {"pattern": pattern}) == (not Checker({"pattern": pattern}).violations(text))


def test_schema_that_leads_to_itself_is_a_doubt() -> None:
    assert not surely_fits({}, {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})


def test_value_that_is_nested_deeply_is_a_doubt() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]

    assert not surely_fits(deep, {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}})


def judged_whole(value: Any, schema: dict[str, Any]) -> list[str]:
    """The oracle: jsonschema's own rules, which gather all misfits and pass over nothing."""

    def check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(text, str) and name in FORMATS and not FORMATS[name].fits(text):
            yield ValidationError("format")

    def check_unique(_validator: Any, unique: Any, items: Any, _schema: Any) -> Iterator[ValidationError]:
        # Its own sorts what it can and compares neighbours, which misses some.
        if unique and isinstance(items, list) and any(equal(*pair) for pair in combinations(items, 2)):
            yield ValidationError("uniqueItems")

    own_rules: Any = Draft202012Validator.VALIDATORS

    def check_others(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        # Its own takes the names in the order of a set.
        if rule is False:
            yield from own_rules["additionalProperties"](validator, rule, value, schema)
        known = schema.get("properties", {})
        for name in value if isinstance(value, dict) and rule is not False else ():
            if name not in known:
                yield from validator.descend(value[name], rule, path=name)

    judge: Any = extend(
        Draft202012Validator,
        {"format": check_format, "uniqueItems": check_unique, "additionalProperties": check_others},
    )  # type: ignore[no-untyped-call]
    found = [sentence for error in judge(schema).iter_errors(value) for sentence in sentences(error)]
    return found if len(found) <= MAX_VIOLATIONS else [*found[:MAX_VIOLATIONS], "and more"]


NAMES = st.sampled_from("abc")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1.0, 0.5, -2.0]),
    st.sampled_from(["", "a", "abc", "2026-01-31"]),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
TYPES = st.sampled_from(["string", "boolean", "integer", "number", "object", "array", "null"])


def _schemas(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    bound = st.integers(-1, 3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=4, unique=True),
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "additionalProperties": st.just(False) | inner,
            "required": st.lists(NAMES, max_size=2, unique=True),
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "const": SCALARS,
            "uniqueItems": st.booleans(),
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "contains": inner,
            "propertyNames": inner,
            "unevaluatedProperties": st.just(False) | inner,
            "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
            "if": st.sampled_from([{"type": "array"}, {"not": {"type": "null"}}]) | inner,
            "then": inner,
            "else": inner,
            "not": inner,
            "pattern": st.sampled_from(["^a", "c$", "^[a-c]{2,}$"]),
            "format": st.sampled_from(["date", "whole-number", "unheard-of"]),
            "minimum": bound,
            "maximum": bound,
            "exclusiveMinimum": bound,
            "exclusiveMaximum": bound,
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 2),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 2),
        },
    )


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(st.just({}), _schemas, max_leaves=6)


def without_loops(schema: Any) -> Any:
    """The schema without references, which in a definition could lead to itself for ever."""
    if isinstance(schema, dict):
        return {name: without_loops(value) for name, value in schema.items() if name != "$ref"}
    return [without_loops(value) for value in schema] if isinstance(schema, list) else schema


@settings(max_examples=examples(1_000), deadline=None)
@given(SCHEMAS, SCHEMAS, SCHEMAS, VALUES)
def test_nothing_surely_fits_that_jsonschema_refuses(
    schema: dict[str, Any], one: dict[str, Any], two: dict[str, Any], value: Any
) -> None:
    whole = {**schema, "$defs": {"one": without_loops(one), "two": without_loops(two)}}

    if surely_fits(value, whole):
        assert not judged_whole(value, whole)


@settings(max_examples=examples(2_000), deadline=None)
@given(SCHEMAS, SCHEMAS, SCHEMAS, VALUES)
def test_sentences_are_those_of_the_whole_value_judged_by_the_whole_schema(
    schema: dict[str, Any], one: dict[str, Any], two: dict[str, Any], value: Any
) -> None:
    whole = {**schema, "$defs": {"one": without_loops(one), "two": without_loops(two)}}

    assert Checker(whole).violations(value) == judged_whole(value, whole)
