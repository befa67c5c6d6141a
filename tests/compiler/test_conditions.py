"""Conditions that are made of others: what somebody meets who can use any member of a type."""

from __future__ import annotations

import pytest

from handler.compiler.conditions import ConditionTable, least
from handler.policy.evaluation import HIDDEN, NEVER, OPEN, Evaluation, Mask

A, B, C = frozenset({1}), frozenset({2}), frozenset({3})


@pytest.fixture
def conditions() -> ConditionTable:
    """One for each of three claims."""
    made = ConditionTable()
    assert [made.mask({"exists": {"jwt": [name]}}) for name in "abc"] == [A, B, C]
    return made


def met(conditions: ConditionTable, number: int) -> set[str]:
    """The claims that meet a condition: each by itself, two of them, all."""
    every = ("", "a", "b", "c", "ab", "ac", "bc", "abc")
    return {
        names for names in every if Evaluation(conditions, claims=dict.fromkeys(names, 1)).meets(frozenset({number}))
    }


def test_the_same_predicate_is_one_condition_and_what_always_holds_is_none(conditions: ConditionTable) -> None:
    assert conditions.mask({"exists": {"jwt": ["a"]}}) == A
    assert conditions.mask({"literal": True}) == OPEN
    assert conditions[0] == NEVER


def test_any_of_several_masks_is_a_condition_of_its_own(conditions: ConditionTable) -> None:
    numbers = conditions.add({-1: ("Money", frozenset({A | B, C}))})

    assert numbers == {-1: 4}
    assert conditions[4] == {"any": [[1, 2], [3]]}
    assert met(conditions, 4) == {"ab", "c", "ac", "bc", "abc"}


def test_what_says_the_same_is_the_same_condition(conditions: ConditionTable) -> None:
    first = conditions.add({-1: ("Money", frozenset({A, B})), -2: ("Pay", frozenset({A, frozenset({-1})}))})
    again = conditions.add({-7: ("Pay", frozenset({frozenset({-3}), A})), -3: ("Money", frozenset({B, A}))})

    assert (again[-3], again[-7]) == (first[-1], first[-2])
    assert len(conditions) == 6


def test_types_that_lead_to_each_other_allow_each_other_the_most_that_they_can(conditions: ConditionTable) -> None:
    """``A {a, toB}`` and ``B {b, toA}``: whoever may use ``a`` may use A, and B too, to get there."""
    numbers = conditions.add(
        {-1: ("A", frozenset({A, C | {-2}})), -2: ("B", frozenset({B, C | {-1}}))},
    )

    assert met(conditions, numbers[-1]) == {"a", "ab", "ac", "abc", "bc", "c"}
    assert met(conditions, numbers[-2]) == {"b", "ab", "bc", "abc", "ac", "c"}


def test_who_skips_policies_meets_what_is_not_for_nobody(conditions: ConditionTable) -> None:
    numbers = conditions.add({-1: ("Money", frozenset({A, B})), -2: ("Gone", frozenset())})

    held = Evaluation(conditions, claims=None, unrestricted=True).outcome()

    assert numbers[-1] in held
    assert numbers[-2] not in held
    assert held == {1, 2, 3, numbers[-1]}


def test_who_is_said_to_lack_a_condition_lacks_what_it_alone_would_open(conditions: ConditionTable) -> None:
    numbers = conditions.add({-1: ("Money", frozenset({A, B})), -2: ("Pay", frozenset({A}))})

    held = Evaluation(conditions, claims=None, unrestricted=True, lacking=A).outcome()

    assert held == {2, 3, numbers[-1]}


def test_what_depends_on_variables_depends_through_another_condition(conditions: ConditionTable) -> None:
    same = conditions.mask(
        {
            "compare": "==",
            "left": {"jwt": ["sub"], "type": "String"},
            "right": {"variables": ["id"], "type": "String"},
        }
    )
    (number,) = conditions.add({-1: ("Money", frozenset({same, C}))}).values()
    caller, mask = Evaluation(conditions, claims={"sub": "me"}), frozenset({number})

    assert not caller.meets(mask)
    assert caller.may_meet(mask, ["id"])
    assert not caller.may_meet(mask, [])
    assert caller.meets_with(mask, {"id": "me"})
    assert not caller.meets_with(mask, {"id": "you"})


@pytest.mark.parametrize(
    "predicate", [{"any": []}, {"any": [7]}, {"any": "x"}, {"any": [[9]]}, {"any": [[1]], "or": []}]
)
def test_what_is_no_condition_of_others_is_met_by_nobody(predicate: dict[str, object]) -> None:
    caller = Evaluation([NEVER, predicate], claims={"a": 1})

    assert not caller.meets(frozenset({1}))
    assert not caller.may_meet(frozenset({1}), ["a"])


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ([], []),
        ([HIDDEN], []),
        ([HIDDEN | {2}, A], [A]),
        ([A, A | B], [A]),
        ([A | B, B | C], [A | B, B | C]),
    ],
)
def test_what_nobody_can_meet_and_what_asks_for_more_is_no_alternative(masks: list[Mask], expected: list[Mask]) -> None:
    assert least(masks) == frozenset(expected)
