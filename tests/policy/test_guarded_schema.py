"""JSON Schemas of which each caller sees what they may use."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from handler.policy.evaluation import OPEN
from handler.policy.guarded_schema import (
    GUARDS,
    MAX_SEEN_DEFINITIONS,
    SEEN_DEFINITION_BYTES,
    GuardedSchemas,
    guarded,
)

FILTER: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "pay": {"$ref": "#/$defs/PayFilter"}, "team": {"$ref": "#/$defs/Team"}},
    GUARDS: {"pay": [1, 2]},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "where": {"if": {"not": {"type": "null"}}, "then": {"$ref": "#/$defs/Filter"}},
        "order": {"enum": ["NAME", "PAY", None], GUARDS: {"PAY": [2]}},
        "pays": {"type": "array", "items": {"$ref": "#/$defs/Team"}},
    },
    "$defs": {
        "Filter": FILTER,
        "PayFilter": {"type": "object", "properties": {"in": {"$ref": "#/$defs/Range"}}},
        "Range": {"type": "object", "properties": {"gt": {"type": "number"}}},
        "Team": {"enum": ["A", "B"]},
    },
}


def test_names_stand_with_their_masks_and_open_ones_without() -> None:
    enum = {"enum": ["NAME", "PAY"]}

    assert guarded(enum, {"PAY": frozenset({2, 1}), "NAME": OPEN}) == {**enum, GUARDS: {"PAY": [1, 2]}}
    assert guarded(enum, {}) == enum


def test_who_meets_every_mask_sees_the_schema_without_its_guards() -> None:
    seen = GuardedSchemas().seen_by(SCHEMA, frozenset({1, 2}))

    assert GUARDS not in str(seen)
    assert seen["$defs"].keys() == SCHEMA["$defs"].keys()
    assert seen["properties"]["order"] == {"enum": ["NAME", "PAY", None]}
    assert list(seen["$defs"]["Filter"]["properties"]) == ["name", "pay", "team"]


@pytest.mark.parametrize("outcome", [OPEN, frozenset({1}), frozenset({0, 3})])
def test_who_lacks_a_condition_sees_neither_the_name_nor_what_it_alone_refers_to(outcome: frozenset[int]) -> None:
    seen = GuardedSchemas().seen_by(SCHEMA, outcome)

    assert seen["properties"]["order"] == {"enum": ["NAME", None]}
    assert list(seen["$defs"]["Filter"]["properties"]) == ["name", "team"]
    assert list(seen["$defs"]) == ["Filter", "Team"]
    assert "pay" not in str(seen).replace("pays", "").lower()


def test_hidden_name_is_not_required_either() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"], GUARDS: {"b": [1]}}

    assert GuardedSchemas().seen_by(schema, OPEN) == {"type": "object", "properties": {"a": {}}, "required": ["a"]}


def test_properties_that_are_called_like_keywords_are_properties() -> None:
    schema = {
        "type": "object",
        "properties": {"enum": {"enum": ["A", "B"], GUARDS: {"B": [1]}}, "required": {}, "properties": {}},
        GUARDS: {"properties": [1]},
    }

    assert GuardedSchemas().seen_by(schema, OPEN) == {
        "type": "object",
        "properties": {"enum": {"enum": ["A"]}, "required": {}},
    }


def test_all_conditions_of_a_schema_are_found() -> None:
    assert GuardedSchemas().conditions_in(SCHEMA) == {1, 2}
    assert GuardedSchemas().conditions_in({"type": "object", "properties": {"a": {"enum": ["A"]}}}) == OPEN


def test_schema_itself_stays_as_it_is() -> None:
    before = copy.deepcopy(SCHEMA)

    GuardedSchemas().seen_by(SCHEMA, OPEN)

    assert before == SCHEMA


OUTCOMES = [frozenset({number for number in range(4) if bits & 1 << number}) for bits in range(16)]


def test_schemas_with_the_same_definitions_share_them_as_each_caller_sees_them() -> None:
    schemas = GuardedSchemas()
    other = {"type": "object", "properties": {"only": {"$ref": "#/$defs/Filter"}}, "$defs": SCHEMA["$defs"]}

    for outcome in OUTCOMES:
        first, second = schemas.seen_by(SCHEMA, outcome), schemas.seen_by(other, outcome)
        assert (first, second) == (GuardedSchemas().seen_by(SCHEMA, outcome), GuardedSchemas().seen_by(other, outcome))
        assert first["$defs"]["Filter"] is second["$defs"]["Filter"]
    assert schemas.conditions_in(SCHEMA) == {1, 2}
    assert schemas.conditions_in(other) == {1, 2}
    of_filter, of_others = 4, 3  # by the conditions 1 and 2 of its own
    assert schemas.cost_bytes == SEEN_DEFINITION_BYTES * (of_filter + of_others)


def test_definition_of_a_name_is_that_of_its_own_schema() -> None:
    schemas = GuardedSchemas()
    made = [
        {"$ref": "#/$defs/A", "$defs": {"A": {"enum": [name, "B"], GUARDS: {name: [1]}}, "Unused": {}}} for name in "XY"
    ]

    assert [schemas.seen_by(each, OPEN)["$defs"] for each in made] == [{"A": {"enum": ["B"]}}] * 2
    assert [schemas.seen_by(each, frozenset({1}))["$defs"] for each in made] == [
        {"A": {"enum": [name, "B"]}} for name in "XY"
    ]


def test_definitions_are_dropped_when_they_are_too_many() -> None:
    schemas = GuardedSchemas()
    many = {f"D{number}": {"enum": [number]} for number in range(MAX_SEEN_DEFINITIONS + 10)}
    schema = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in many], "$defs": many}

    assert schemas.seen_by(schema, OPEN) == schema
    assert schemas.cost_bytes == MAX_SEEN_DEFINITIONS * SEEN_DEFINITION_BYTES
