"""How much a caller's JSON may be, and what is said of more."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handler.json_schema.json_bounds import MAX_NESTING, count_values, excess_of, excess_of_json


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ({}, 0),
        ({"a": 1}, 1),
        ([1, 2, 3], 3),
        ({"a": [1, {"b": None}], "c": {}}, 5),
        ("text", 0),
    ],
)
def test_items_of_lists_and_members_of_objects_are_counted_wherever_they_stand(value: Any, count: int) -> None:
    assert count_values(value) == count


def test_as_many_values_as_allowed_are_no_excess() -> None:
    assert excess_of({"a": [1, 2]}, max_values=3) == ""


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"a": [1, 2, 3], "b": 1}, "/a: 3 values"),
        ({"x": 1, "y": {"b": [1], "c": 2}}, "/y: 3 values"),
        ({"a": 1, "b": 2, "c": 3}, "/: 3 values"),
        ({"a": [1], "b": 2}, "/: 3 values"),
        ([1, 2, 3], "/: 3 values"),
    ],
)
def test_excess_names_the_member_that_is_too_large_how_large_it_is_and_the_limit(value: Any, sentence: str) -> None:
    assert excess_of(value, max_values=2) == (
        f"{sentence}, counting items of lists and members of objects; a call may have 2 (limits.max_values)"
    )


def test_long_name_of_a_member_is_cut() -> None:
    assert len(excess_of({"x" * 100_000: [1, 2, 3]}, max_values=2)) < 300


def test_depth_is_judged_before_the_number() -> None:
    deep: Any = []
    for _ in range(MAX_NESTING - 1):
        deep = [deep]

    assert excess_of(deep, max_values=MAX_NESTING) == ""
    assert excess_of([deep], max_values=1) == f"/: nested more than {MAX_NESTING} deep"


MANY = "more than 500,000 lists, objects and members"
SMALL = "more than 250,000 numbers below 1e-299"
LONG = "a number of more than 1,000 digits"
COSTLY = {
    "lists": (b"[" + b"[]," * 600_000 + b"1]", MANY),
    "lists in lists": (b"[" * 300_000 + b"]" * 300_000 + b"[]" * 300_000, MANY),
    "objects": (b"[" + b"{}," * 300_000 + b"1]", MANY),
    "members of one object": (json.dumps(dict.fromkeys(map(str, range(300_000)))).encode(), MANY),
    "lists beside texts with escapes": (b'["\\\\","\\"",' + b'[],"\\"[",' * 500_100 + b"1]", MANY),
    "a long integer": (b'{"data":{"a":"' + b"x" * 600_000 + b'","b":' + b"1" * 1_001 + b"}}", LONG),
    "numbers that are nearly 0": (b"[" + b"7e-317," * 300_000 + b"1]", SMALL),
    "numbers that are nearly 0, in another form": (b"[" + b"7E-0317," * 300_000 + b"1]", SMALL),
    "a long negative integer": (b'["' + b"x" * 600_000 + b'", -' + b"1" * 4_000 + b"]", LONG),
}


@pytest.mark.parametrize(("raw", "excess"), COSTLY.values(), ids=COSTLY)
def test_json_that_costs_much_to_read_is_known_by_its_bytes(raw: bytes, excess: str) -> None:
    assert excess_of_json(raw, max_bytes=5_000_000) == excess


ROWS = {"id": 1, "a": [1.5, 2], "name": "x"}
USUAL = {
    "rows": [ROWS] * 110_000,
    "pairs of numbers": [[13.405, 52.52]] * 330_000,
    "objects of one short member": [{"id": "1234567"}] * 240_000,
    "wide rows": [{f"column{number}": number for number in range(200)}] * 1_400,
    "numbers": [1] * 1_600_000,
    "brackets in texts": ["[{:" * 10] * 100_000,
    "brackets in texts with escapes": ['"[\\'] * 400_000,
    "small numbers": [1e-05, 2.5e-30] * 240_000,
    "digits in a text": ["0" * 2_000_000, "1, 2"],
    "a text of brackets": "[" * 4_000_000,
}


@pytest.mark.parametrize("value", USUAL.values(), ids=USUAL)
def test_json_of_usual_shapes_is_read_up_to_five_megabytes(value: Any) -> None:
    raw = json.dumps({"data": value}, separators=(",", ":")).encode()

    assert 1_500_000 < len(raw) < 5_100_000
    assert excess_of_json(raw, max_bytes=5_000_000) == ""


def test_parts_of_an_answer_grow_with_the_bytes_that_it_may_have() -> None:
    raw = b"[" + b"[]," * 600_000 + b"1]"

    assert excess_of_json(raw, max_bytes=1_000) == MANY
    assert excess_of_json(raw, max_bytes=10_000_000) == ""
