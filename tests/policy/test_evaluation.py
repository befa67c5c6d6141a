from __future__ import annotations

import pytest

from handler.policy.evaluation import (
    HIDDEN,
    NEVER,
    OPEN,
    Conditions,
    Evaluation,
    hidden_from,
    hidden_from_everybody,
    union_of,
)
from handler.policy.predicates import HOLDS, Predicate
from tests.support.outcomes import outcome_of
from tests.support.predicates import truth_of

TRUE: Predicate = {"literal": True}
FALSE: Predicate = {"literal": False}
UNKNOWN: Predicate = {"claim": "role", "equals": "admin"}
CONDITIONS = (NEVER, TRUE, FALSE, UNKNOWN)


def holds(predicate: Predicate) -> bool:
    """Tells if a predicate holds for every caller."""
    return truth_of(predicate, None, None) == HOLDS


def test_literal_holds_as_it_says() -> None:
    assert holds(TRUE) is True
    assert holds(FALSE) is False


@pytest.mark.parametrize(
    "predicate",
    [NEVER, UNKNOWN, {}, {"literal": 1}, {"literal": "true"}, {"literal": None}, {"literal": True, "not": True}],
)
def test_predicate_of_an_unknown_kind_never_holds(predicate: Predicate) -> None:
    assert holds(predicate) is False


def test_outcome_has_the_numbers_of_the_conditions_that_hold() -> None:
    assert outcome_of(CONDITIONS, unrestricted=False) == {1}
    assert outcome_of((), unrestricted=False) == OPEN


def test_unrestricted_callers_skip_policies_but_not_what_never_holds() -> None:
    assert outcome_of(CONDITIONS, unrestricted=True) == {1, 2, 3}
    assert outcome_of((NEVER,), unrestricted=True) == OPEN
    assert outcome_of((), unrestricted=True) == OPEN


def test_condition_0_hides_from_everybody() -> None:
    hidden = [hidden_from(outcome_of(CONDITIONS, unrestricted=who), {"Employee.ssn": HIDDEN}) for who in (True, False)]

    assert hidden == [{"Employee.ssn"}, {"Employee.ssn"}]


def test_what_has_condition_0_among_others_is_hidden_from_everybody() -> None:
    hidden = hidden_from_everybody({"Employee.ssn": HIDDEN | {2}, "Employee.pay": frozenset({2})})

    assert [hidden(f"Employee.{name}") for name in ("ssn", "pay", "name")] == [True, False, False]


def test_coordinate_is_visible_when_its_whole_mask_holds() -> None:
    guards = {"Query.a": frozenset({1}), "Query.b": frozenset({1, 2}), "Query.c": OPEN}

    anonymous = hidden_from(outcome_of(CONDITIONS, unrestricted=False), guards)
    unrestricted = hidden_from(outcome_of(CONDITIONS, unrestricted=True), guards)

    assert (anonymous, unrestricted) == ({"Query.b"}, set())


def test_coordinate_is_hidden_when_any_table_hides_it() -> None:
    hidden = hidden_from(frozenset({1}), {"Query.a": frozenset({1})}, {"Query.a": HIDDEN, "Query.b": frozenset({1})})

    assert hidden == {"Query.a"}
    assert hidden_from(OPEN) == set()


def test_mask_of_something_is_the_union_over_all_it_uses() -> None:
    masks = {"Query.a": frozenset({1}), "A.b": frozenset({2, 3}), "A.c": HIDDEN}

    assert union_of(masks, ["Query.a", "A.b", "A.open"]) == {1, 2, 3}
    assert union_of(masks, ["Query.a", "A.c"]) == {0, 1}
    assert union_of(masks, []) == OPEN


def test_callers_share_what_is_compiled_of_conditions_and_nothing_of_each_other() -> None:
    admin: Predicate = {"compare": "==", "left": {"jwt": ["role"], "type": "String"}, "right": {"value": "admin"}}
    conditions = Conditions([NEVER, admin])
    ada, bob = (Evaluation(conditions, claims={"role": role}) for role in ("admin", "guest"))

    assert (ada.outcome(), bob.outcome()) == (frozenset({1}), OPEN)
    assert conditions.compiled(1) is conditions.compiled(1)
    assert [conditions.compiled(number) for number in (0, -1, 2)] == [None] * 3
    assert conditions == (NEVER, admin)
