"""Truth by its definition: a naive evaluator tries all values of the unknown variables.

No variable stands in two leaves here. So each of the four facts can be exact, and not only on the safe side.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from handler.policy.evaluation import NEVER, Evaluation
from handler.policy.predicates import (
    DEPENDS,
    FAILS,
    HOLDS,
    MAY_FAIL,
    MAY_HOLD,
    NEITHER,
    SURELY_FAILS,
    SURELY_HOLDS,
    UNKNOWN,
    Predicate,
    conjunction,
    disjunction,
    negation,
)
from tests.support.examples import examples
from tests.support.predicates import Claims, truth_of

MOST_VARIABLES = 5

NO_CLAIM: Predicate = {"compare": "==", "left": {"jwt": ["none"], "type": "Boolean"}, "right": {"value": True}}

ROLES = {"jwt": ["roles"], "type": "String"}
LEVEL = {"jwt": ["level"], "type": "Int"}
LEAVES_ON_CLAIMS: list[Predicate] = [
    {"literal": True},
    {"literal": False},
    {"exists": {"jwt": []}},
    {"exists": {"jwt": ["roles"]}},
    {"compare": ">=", "left": LEVEL, "right": {"value": 1}},
    {"has": ROLES, "value": {"value": "x"}},
    NO_CLAIM,
]

LEAVES_ON_VARIABLES: list[tuple[Predicate, Sequence[Any]]] = [
    ({"exists": {"variables": ["?"]}}, (1, None)),
    ({"compare": "==", "left": {"variables": ["?"], "type": "String"}, "right": {"value": "x"}}, ("x", "y", 0.5)),
    ({"compare": "<", "left": LEVEL, "right": {"variables": ["?"], "type": "Int"}}, (9, -9, "9")),
    ({"has": {"variables": ["?"], "type": "String"}, "value": {"value": "x"}}, (["y", "x"], [], "x")),
]
"""Predicates on one variable, each with values of the variable for every truth that the predicate can have."""

CLAIMS: st.SearchStrategy[Claims] = st.none() | st.fixed_dictionaries(
    {}, optional={"level": st.sampled_from([0, 1, "1"]), "roles": st.sampled_from([["x"], ["y"], "x", "x y", None])}
)

Values = Mapping[str, Sequence[Any]]


class Example(NamedTuple):
    """Predicates and, by variable, the values that decide on them."""

    predicates: list[Predicate]
    values: Values

    def assignments(self, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield every choice of values, those of the given variables left as they are."""
        free = [name for name in self.values if name not in given]
        for chosen in itertools.product(*(self.values[name] for name in free)):
            yield {**given, **dict(zip(free, chosen, strict=True))}


def joined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(lambda each: {"not": each}),
        parts.map(lambda each: {"and": each}),
        parts.map(lambda each: {"or": each}),
    )


OUTLINES = st.recursive(st.sampled_from(LEAVES_ON_CLAIMS) | st.integers(0, 3), joined, max_leaves=5)
"""Trees in which a number stands for a leaf on a variable."""


@st.composite
def some_predicates(draw: st.DrawFn, *, most: int) -> Example:
    values: dict[str, Sequence[Any]] = {}

    def finished(outline: Any) -> Any:
        match outline:
            case int() if len(values) == MOST_VARIABLES:
                return NO_CLAIM
            case int():
                leaf, chosen = LEAVES_ON_VARIABLES[outline]
                name = f"v{len(values)}"
                values[name] = chosen
                return renamed(leaf, name)
            case {"not": inner}:
                return {"not": finished(inner)}
            case {"and": parts}:
                return {"and": [finished(each) for each in parts]}
            case {"or": parts}:
                return {"or": [finished(each) for each in parts]}
        return outline

    predicates = [finished(outline) for outline in draw(st.lists(OUTLINES, min_size=1, max_size=most))]
    return Example(predicates, values)


def renamed(leaf: Any, name: str) -> Any:
    if isinstance(leaf, dict):
        return {key: [name] if key == "variables" else renamed(each, name) for key, each in leaf.items()}
    return leaf


def naive(tree: Predicate, claims: Claims, variables: Mapping[str, Any]) -> bool | None:
    """Evaluate a predicate with known variables: true, false, or neither (``None``)."""
    match tree:
        case {"literal": value}:
            return bool(value)
        case {"not": inner}:
            found = naive(inner, claims, variables)
            return None if found is None else not found
        case {"and": parts}:
            each = [naive(part, claims, variables) for part in parts]
            return False if False in each else None if None in each else True
        case {"or": parts}:
            each = [naive(part, claims, variables) for part in parts]
            return True if True in each else None if None in each else False
    return naive_leaf(tree, claims, variables)


def naive_leaf(tree: Predicate, claims: Claims, variables: Mapping[str, Any]) -> bool | None:
    match tree:
        case {"exists": {"jwt": []}}:
            return claims is not None
        case {"exists": operand}:
            return raw(operand, claims, variables) is not None
        case {"has": operand, "value": {"value": wanted}}:
            items = raw(operand, claims, variables)
            if isinstance(items, list):
                return wanted in items
            return True if "jwt" in operand and items == wanted else None
        case {"compare": sign, "left": left, "right": right}:
            one, other = typed(left, claims, variables), typed(right, claims, variables)
            if one is None or other is None:
                return None
            return bool(
                {"==": one == other, ">=": sign == ">=" and one >= other, "<": sign == "<" and one < other}[sign]
            )
    raise AssertionError(tree)


def raw(operand: Mapping[str, Any], claims: Claims, variables: Mapping[str, Any]) -> Any:
    if "variables" in operand:
        return variables.get(operand["variables"][0])
    return (claims or {}).get(operand["jwt"][0])


def typed(operand: Mapping[str, Any], claims: Claims, variables: Mapping[str, Any]) -> Any:
    if "value" in operand:
        return operand["value"]
    found = raw(operand, claims, variables)
    return found if type(found) is {"Int": int, "String": str, "Boolean": bool}[operand["type"]] else None


@settings(max_examples=examples(500), derandomize=True, deadline=None, database=None)
@given(some_predicates(most=1), CLAIMS)
def test_truth_says_what_any_and_all_values_of_unknown_variables_give(example: Example, claims: Claims) -> None:
    (tree,) = example.predicates
    found = [naive(tree, claims, values) for values in example.assignments({})]
    facts = {
        MAY_HOLD: True in found,
        SURELY_HOLDS: set(found) == {True},
        MAY_FAIL: False in found,
        SURELY_FAILS: set(found) == {False},
    }

    for variables in (None, dict.fromkeys(example.values, UNKNOWN)):
        assert truth_of(tree, claims, variables) == sum(fact for fact, true in facts.items() if true)


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(some_predicates(most=1), CLAIMS, st.data())
def test_some_variables_may_be_known(example: Example, claims: Claims, data: st.DataObject) -> None:
    (tree,) = example.predicates
    known = {
        name: data.draw(st.sampled_from(values)) for name, values in example.values.items() if data.draw(st.booleans())
    }
    found = [naive(tree, claims, values) for values in example.assignments(known)]

    truth = truth_of(tree, claims, {**dict.fromkeys(example.values, UNKNOWN), **known})

    assert (bool(truth & MAY_HOLD), bool(truth & SURELY_HOLDS)) == (True in found, set(found) == {True})
    assert (bool(truth & MAY_FAIL), bool(truth & SURELY_FAILS)) == (False in found, set(found) == {False})


Alternatives = list[list[int]]


@st.composite
def some_conditions(draw: st.DrawFn) -> tuple[Example, list[Alternatives]]:
    """Predicates and conditions made of them and of each other, in circles too; some numbers name no condition."""
    example = draw(some_predicates(most=4))
    made = draw(st.integers(1, 4))
    numbers = st.integers(1, len(example.predicates) + made) | st.sampled_from([-1, 0, 99])
    alternatives = st.lists(st.lists(numbers, max_size=3), max_size=3)
    return example, draw(st.lists(alternatives, min_size=made, max_size=made))


def all_held(leaves: set[int], made: Mapping[int, Alternatives]) -> set[int]:
    """The greatest fixed point by its definition: the union of all sets that bear themselves out."""
    found = set(leaves)
    for size in range(1, len(made) + 1):
        for chosen in itertools.combinations(made, size):
            together = leaves | set(chosen)
            if all(any(together.issuperset(ways) for ways in made[each]) for each in chosen):
                found |= together
    return found


@settings(max_examples=examples(400), derandomize=True, deadline=None, database=None)
@given(some_conditions(), CLAIMS, st.sampled_from([False, False, False, True]), st.data())
def test_masks_are_met_as_all_assignments_say(
    conditions: tuple[Example, list[Alternatives]], claims: Claims, unrestricted: bool, data: st.DataObject
) -> None:
    example, alternatives = conditions
    predicates = [NEVER, *example.predicates]
    made = dict(enumerate(alternatives, len(predicates)))
    lacking = data.draw(st.frozensets(st.integers(1, len(example.predicates)), max_size=1))
    declared = {name for name in example.values if data.draw(st.booleans())}
    absent = {name: None for name in example.values if name not in declared}
    values = data.draw(st.sampled_from(list(example.assignments(absent))))
    known = {name: value for name, value in values.items() if name in absent or data.draw(st.booleans())}

    def held(values: Mapping[str, Any]) -> set[int]:
        leaves = {
            number
            for number, tree in enumerate(predicates)
            if number not in lacking | {0} and (unrestricted or naive(tree, claims, values) is True)
        }
        return all_held(leaves, made)

    ever, within, with_known = ([held(each) for each in example.assignments(given)] for given in ({}, absent, known))
    unknown = dict.fromkeys(example.values, UNKNOWN)
    caller = Evaluation(
        [*predicates, *({"any": each} for each in alternatives)],
        claims=claims,
        unrestricted=unrestricted,
        lacking=lacking,
    )

    assert caller.outcome() == set.intersection(*ever)
    numbers = range(-1, len(predicates) + len(made) + 1)
    for mask in map(frozenset, itertools.combinations_with_replacement(numbers, 2)):
        assert caller.meets(mask) == all(mask <= each for each in ever)
        assert caller.may_ever_meet(mask) == any(mask <= each for each in ever)
        assert caller.may_meet(mask, declared) == any(mask <= each for each in within)
        assert caller.meets_with(mask, unknown | known) == all(mask <= each for each in with_known)


def test_connectives_stay_within_six_truths() -> None:
    truths = {HOLDS, FAILS, NEITHER, DEPENDS, MAY_HOLD, MAY_FAIL}
    pairs = list(itertools.product(truths, repeat=2))

    assert {negation(each) for each in truths} == truths
    assert {conjunction(pair) for pair in pairs} == {disjunction(pair) for pair in pairs} == truths
    for one, other in pairs:
        assert negation(conjunction([one, other])) == disjunction([negation(one), negation(other)])
        assert conjunction([one, other]) == conjunction([other, one])
    for each in truths:
        assert negation(negation(each)) == conjunction([each]) == disjunction([each]) == each
        assert (conjunction([each, HOLDS]), disjunction([each, FAILS])) == (each, each)
        assert (conjunction([each, FAILS]), disjunction([each, HOLDS])) == (FAILS, HOLDS)
