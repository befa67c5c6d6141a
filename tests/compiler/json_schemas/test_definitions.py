from __future__ import annotations

import json

from handler.compiler.json_schemas.output_schema import WORTHWHILE_BYTES, SharedParts
from handler.strict_json import JSONObject

LONG: JSONObject = {"type": "string", "enum": [f"VALUE_{number}" for number in range(20)]}


def test_long_part_that_is_used_twice_stands_in_defs() -> None:
    shared = SharedParts()
    whole = {"properties": {"a": shared.add("Status", LONG), "b": shared.add("Status", dict(LONG))}}

    assert shared.write(whole) == {
        "properties": {"a": {"$ref": "#/$defs/Status"}, "b": {"$ref": "#/$defs/Status"}},
        "$defs": {"Status": LONG},
    }


def test_part_that_is_used_once_stands_where_it_is_used() -> None:
    shared = SharedParts()

    assert shared.write({"items": shared.add("Status", LONG)}) == {"items": LONG}


def test_part_is_shared_from_where_that_is_worthwhile() -> None:
    def uses_in_full(uses: int, schema: JSONObject) -> int:
        shared = SharedParts()
        written = shared.write({"anyOf": [shared.add("S", schema) for _ in range(uses)]})
        return json.dumps(written).count(json.dumps(schema))

    short = {"type": "object", "required": ["id"]}
    size, reference = len('{"type":"object","required":["id"]}'), len('{"$ref":"#/$defs/S"}')
    definition = size + len('{"S":}')
    worthwhile = next(n for n in range(100) if n * (size - reference) - definition > WORTHWHILE_BYTES)

    assert uses_in_full(worthwhile - 1, short) == worthwhile - 1
    assert uses_in_full(worthwhile, short) == 1


def test_part_that_is_used_only_in_a_shared_one_stands_in_it() -> None:
    shared = SharedParts()

    def outer() -> JSONObject:
        return shared.add("Outer", {"items": shared.add("Inner", LONG)})

    written = shared.write({"prefixItems": [outer(), outer(), outer()]})

    assert written["$defs"] == {"Outer": {"items": LONG}}


def test_different_parts_of_one_name_are_told_apart() -> None:
    shared = SharedParts()
    other = {**LONG, "enum": [*LONG["enum"], "ONE_MORE"]}
    parts = [shared.add("Status", schema) for schema in (LONG, other, LONG, other)]

    written = shared.write({"prefixItems": parts})

    assert written["$defs"] == {"Status": LONG, "Status2": other}
    assert [part["$ref"] for part in written["prefixItems"]] == ["#/$defs/Status", "#/$defs/Status2"] * 2


def test_choice_within_a_choice_is_one_choice() -> None:
    shared = SharedParts()
    inner = shared.add("Pet", {"anyOf": [{"type": "string"}, {"type": "integer"}]})

    assert shared.write({"items": {"anyOf": [inner, {"type": "null"}]}}) == {
        "items": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}
    }


def test_keys_named_like_keywords_are_just_keys() -> None:
    shared = SharedParts()
    whole = {"properties": {"anyOf": {"type": "string"}, "enum": {"type": "null"}}, "required": ["anyOf"]}

    assert shared.write(whole) == whole


def test_parts_that_use_each_other_again_and_again_do_not_multiply() -> None:
    shared = SharedParts()
    part: JSONObject = LONG
    for level in range(200):
        part = shared.add(f"L{level}", {"prefixItems": [part, part]})

    assert len(json.dumps(shared.write(part))) < 20_000
