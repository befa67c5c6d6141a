"""How much a caller's JSON may be, and what is said of more."""

from __future__ import annotations

from typing import Any

import pytest

from handler.json_schema.json_bounds import MAX_NESTING, count_values, excess_of


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
