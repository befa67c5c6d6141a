"""Conditions that are made of others: what somebody meets who meets one of several masks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.compiler.conditions import MAX_ALTERNATIVES, Conditions
from handler.policy import HIDDEN, NEVER, OPEN, Judgement, Mask

NAMES = "abcd"


def with_claims(names: Sequence[str] = NAMES) -> tuple[Conditions, list[Mask]]:
    """A condition for each claim, and the mask of each."""
    conditions = Conditions()
    return conditions, [conditions.mask({"exists": {"jwt": [name]}}) for name in names]


def test_the_same_predicate_is_one_condition_and_what_always_holds_is_none() -> None:
    conditions, (a, *_) = with_claims()

    assert conditions.mask({"exists": {"jwt": ["a"]}}) == a
    assert conditions.mask({"literal": True}) == OPEN
    assert conditions[0] == NEVER


def test_one_of_two_masks_is_a_condition_of_its_own_beside_what_they_share() -> None:
    conditions, (a, b, c, _) = with_claims()

    mask = conditions.either([a | c, b | c])

    (made,) = mask - c
    assert c < mask
    assert conditions[made] == {"or": [{"exists": {"jwt": ["a"]}}, {"exists": {"jwt": ["b"]}}]}
    assert conditions.either([b | c, a | c]) == mask


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ([], HIDDEN),
        ([HIDDEN], HIDDEN),
        ([HIDDEN, frozenset({1})], frozenset({1})),
        ([HIDDEN | {2}, frozenset({1})], frozenset({1})),
        ([frozenset({1}), frozenset({1, 2})], frozenset({1})),
        ([OPEN, frozenset({1})], OPEN),
    ],
)
def test_what_is_for_nobody_and_what_asks_for_more_adds_nothing(masks: list[Mask], expected: Mask) -> None:
    conditions, _ = with_claims()
    count = len(conditions)

    assert conditions.either(masks) == expected
    assert len(conditions) == count


def test_what_follows_from_a_mask_is_known() -> None:
    conditions, (a, b, c, _) = with_claims()
    (either,) = conditions.either([a, b])

    assert conditions.implies(a, either)
    assert conditions.implies(a | c, either)
    assert conditions.implies(frozenset({either}), either)
    assert not conditions.implies(c, either)
    assert not conditions.implies(frozenset({either}), next(iter(a)))


def test_of_too_many_alternatives_some_count_and_nobody_gets_in_for_it() -> None:
    conditions, masks = with_claims([f"c{number}" for number in range(MAX_ALTERNATIVES + 10)])

    mask = conditions.either(masks)

    met = [bool(Judgement(conditions, claims={f"c{number}": 1}).meets(mask)) for number in range(len(masks))]
    assert sum(met) == MAX_ALTERNATIVES
    assert not Judgement(conditions, claims={"other": 1}).meets(mask)


masks = st.frozensets(st.integers(0, len(NAMES)), max_size=4)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(st.lists(st.lists(masks, max_size=4), max_size=3))
def test_whoever_meets_any_of_the_masks_meets_what_is_made_of_them_and_nobody_else(groups: list[list[Mask]]) -> None:
    conditions, _ = with_claims()
    made = [conditions.either(group) for group in groups]
    whole = conditions.either([*made, *(group[0] for group in groups if group)])

    for held in product([False, True], repeat=len(NAMES)):
        caller = Judgement(conditions, claims={name: 1 for name, has in zip(NAMES, held, strict=True) if has})
        for group, mask in zip(groups, made, strict=True):
            assert caller.meets(mask) is any(caller.meets(each) for each in group)
        further = [group[0] for group in groups if group]
        assert caller.meets(whole) is any(caller.meets(each) for each in [*made, *further])
