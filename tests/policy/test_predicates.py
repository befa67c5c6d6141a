"""Predicates on the claims of a token and the variables of an operation, and their truth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.compiler.access.predicate_parser import MAX_NESTING
from handler.policy.predicates import (
    DEPENDS,
    FAILS,
    HOLDS,
    MAX_DEPTH,
    MAY_FAIL,
    MAY_HOLD,
    NEITHER,
    SURELY_FAILS,
    SURELY_HOLDS,
    UNKNOWN,
    Predicate,
    Truth,
    negation,
)
from tests.support.examples import examples
from tests.support.outcomes import outcome_of
from tests.support.predicates import Claims, predicate_of, truth_of


def truth_of_text(text: str, claims: Claims = None, variables: dict[str, Any] | None = None) -> Truth:
    return truth_of(predicate_of(text), claims, {} if variables is None else variables)


@pytest.mark.parametrize(("text", "truth"), [("true", HOLDS), ("false", FAILS)])
def test_literal_is_what_it_says(text: str, truth: Truth) -> None:
    assert truth_of_text(text) == truth_of_text(text, {"a": 1}, {"a": 1}) == truth


@pytest.mark.parametrize(
    ("text", "claims", "truth"),
    [
        ("?$jwt", None, FAILS),
        ("?$jwt", {}, HOLDS),
        ("?$jwt.role", None, FAILS),
        ("?$jwt.role", {}, FAILS),
        ("?$jwt.role", {"role": None}, FAILS),
        ("?$jwt.role", {"role": False}, HOLDS),
        ("?$jwt.role", {"role": ""}, HOLDS),
        ("?$jwt.role", {"role": []}, HOLDS),
        ("!?$jwt.banned", {}, HOLDS),
        ("!?$jwt.banned", {"banned": 0}, FAILS),
        ("!?$jwt", None, HOLDS),
    ],
)
def test_existence_of_claims_is_always_known(text: str, claims: Claims, truth: Truth) -> None:
    assert truth_of_text(text, claims) == truth


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('$jwt.role:String == "admin"', {"role": "admin"}),
        ('$jwt.role:String != "admin"', {"role": "user"}),
        ('$jwt.name:String < "b"', {"name": "a"}),
        ('$jwt.name:String <= "a"', {"name": "a"}),
        ('$jwt.name:String > "B"', {"name": "a"}),
        ('$jwt.name:String >= ""', {"name": ""}),
        ("$jwt.level:Int == 5", {"level": 5}),
        ("$jwt.level:Int == 5", {"level": 5.0}),
        ("$jwt.level:Int < 5.5", {"level": 5}),
        ("$jwt.level:Int <= 5", {"level": 5}),
        ("$jwt.level:Int > 40", {"level": 41}),
        ("$jwt.level:Int >= -1", {"level": -1}),
        ("$jwt.level:Int > 1.5", {"level": 10**400}),
        ("40 < $jwt.level:Int", {"level": 41}),
        ("$jwt.ratio:Float == 0.5", {"ratio": 0.5}),
        ("$jwt.ratio:Float == 1", {"ratio": 1}),
        ("$jwt.ratio:Float < 1e300", {"ratio": -(10**400)}),
        ("$jwt.level:Int != $jwt.ratio:Float", {"level": 2**53 + 1, "ratio": float(2**53)}),
        ("$jwt.admin:Boolean", {"admin": True}),
        ("$jwt.admin:Boolean == false", {"admin": False}),
        ("$jwt.a:Boolean != $jwt.b:Boolean", {"a": True, "b": False}),
        ('$jwt.roles:String has "admin"', {"roles": ["user", "admin"]}),
        ("$jwt.levels:Int has 5", {"levels": [1, "5", 5.0]}),
        ("$jwt.levels:Float has 1", {"levels": [1.0]}),
        ("$jwt.flags:Boolean has false", {"flags": [0, False]}),
        ("$jwt.roles:String has $jwt.role:String", {"roles": ["a"], "role": "a"}),
        ('$jwt.org."a.b".role:String == "x"', {"org": {"a.b": {"role": "x"}}}),
    ],
)
def test_comparison_of_claims_holds_and_its_negation_fails(text: str, claims: Claims) -> None:
    assert truth_of_text(text, claims) == HOLDS
    assert truth_of_text(f"!({text})", claims) == FAILS


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ('$jwt.role:String == "admin"', {"role": "Admin"}),
        ('$jwt.role:String == "admin"', {"role": ""}),
        ('$jwt.role:String != "admin"', {"role": "admin"}),
        ('$jwt.name:String < "b"', {"name": "b"}),
        ("$jwt.level:Int > 40", {"level": 40}),
        ("$jwt.level:Int == 5.5", {"level": 5}),
        ("$jwt.level:Int == $jwt.ratio:Float", {"level": 2**53 + 1, "ratio": float(2**53)}),
        ("$jwt.admin:Boolean", {"admin": False}),
        ('$jwt.roles:String has "admin"', {"roles": []}),
        ('$jwt.roles:String has "admin"', {"roles": ["ADMIN", "administrator", None, ["admin"], {"admin": True}]}),
        ('$jwt.roles:String has "1"', {"roles": [1, True]}),
        ("$jwt.levels:Int has 1", {"levels": [True, "1", 1.5, float("nan")]}),
        ("$jwt.flags:Boolean has true", {"flags": [1, "true"]}),
    ],
)
def test_comparison_of_claims_fails_and_its_negation_holds(text: str, claims: Claims) -> None:
    assert truth_of_text(text, claims) == FAILS
    assert truth_of_text(f"!({text})", claims) == HOLDS


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('$jwt.a:String == "1"', [1, 1.0, True, None, ["1"], {"a": "1"}]),
        ('$jwt.a:String != "1"', [1, None, ["2"]]),
        ("$jwt.a:Int == 1", ["1", True, 1.5, NAN, INFINITE, None, [1], {}]),
        ("$jwt.a:Int < 1", [False, "0", -0.5, -INFINITE]),
        ("$jwt.a:Int != 5", ["6", True, NAN]),
        ("$jwt.a:Float > 0", ["1", True, NAN, INFINITE, [1.5]]),
        ("$jwt.a:Boolean", [1, "true", "True", None, [True], {"a": True}]),
        ("$jwt.a:Boolean != true", [0, "false", None]),
        ('$jwt.a:String has "x"', [None, 1, True, {"x": "x"}, "y", "x y", "x,y", ""]),
        ("$jwt.a:Int has 1", [1, 1.0, "1", True, None]),
    ],
)
def test_comparison_of_a_missing_or_mistyped_claim_neither_holds_nor_fails(text: str, values: list[Any]) -> None:
    for claims in (None, {}, {"b": 1}, *({"a": value} for value in values)):
        assert truth_of_text(text, claims) == NEITHER, claims
        assert truth_of_text(f"!({text})", claims) == NEITHER, claims


def test_text_where_a_list_is_expected_has_the_item_that_it_is() -> None:
    assert truth_of_text('$jwt.roles:String has "admin"', {"roles": "admin"}) == HOLDS
    assert truth_of_text('!($jwt.roles:String has "admin")', {"roles": "admin"}) == FAILS


def test_text_where_a_list_is_expected_does_not_tell_what_it_has_not() -> None:
    assert truth_of_text('!($jwt.roles:String has "banned")', {"roles": "user banned"}) == NEITHER
    assert truth_of_text('!($jwt.roles:String has "banned")', {"roles": ["user"]}) == HOLDS


@pytest.mark.parametrize(
    ("path", "claims"),
    [
        ("a.b.c", {"a.b.c": "x", "a.b": {"c": "y"}, "a": {"b": {"c": "y"}}}),
        ("a.b.c", {"a.b": {"c": "x"}, "a": {"b.c": "y", "b": {"c": "y"}}}),
        ("a.b.c", {"a": {"b.c": "x", "b": {"c": "y"}}}),
        ("a.b.c", {"a": {"b": {"c": "x"}}}),
        ("a.b.c", {"a.b": {}, "a": {"b": {"c": "x"}}}),
        ("a.b.c", {"a.b.c": None, "a.b": "y", "a": {"b": {"c": "x"}}}),
        ("CUSTOM/groups", {"CUSTOM/groups": "x", "CUSTOM": {"groups": "y"}}),
        ("CUSTOM/groups", {"CUSTOM": {"groups": "x"}}),
        ("a/b.c/d", {"a": {"b.c": {"d": "x"}}}),
        ("a/b.c/d", {"a/b": {"c/d": "x"}}),
        ("cognito:groups", {"cognito:groups": "x", "cognito": {"groups": "y"}}),
        ('"https://a.b/c"', {"https://a.b/c": "x"}),
        ('realm."my app".role', {"realm": {"my app": {"role": "x"}}}),
        ("a-b_c", {"a-b_c": "x"}),
    ],
)
def test_longest_name_that_leads_to_a_claim_is_taken(path: str, claims: Claims) -> None:
    assert truth_of_text(f'$jwt.{path}:String == "x"', claims) == HOLDS
    assert truth_of_text(f"?$jwt.{path}", claims) == HOLDS


@pytest.mark.parametrize(
    ("path", "claims"),
    [
        ("a.b", {"a": "b"}),
        ("a.b", {"a": ["b"]}),
        ("a.b", {"a": {"b": None}}),
        ("a.b", {"b": "x", "a": {"c": "x"}}),
        ("a.0", {"a": ["x"]}),
        ("a/b", {"a.b": "x"}),
        ("a:b", {"a": {"b": "x"}}),
        ('a."b.c"', {"a.b.c": "x"}),
    ],
)
def test_path_that_leads_to_nothing_does_not_exist(path: str, claims: Claims) -> None:
    assert truth_of_text(f"?$jwt.{path}", claims) == FAILS
    assert truth_of_text(f'$jwt.{path}:String == "x"', claims) == NEITHER


@pytest.mark.parametrize(
    ("text", "variables", "truth"),
    [
        ("?$variables.id", {"id": 0}, HOLDS),
        ("?$variables.id", {}, FAILS),
        ("?$variables.id", {"id": None}, FAILS),
        ("?$variables.id", {"id": UNKNOWN}, DEPENDS),
        ("?$variables.where.id", {"where": {"id": "a"}}, HOLDS),
        ("?$variables.where.id", {"where.id": "a", "where": {}}, DEPENDS),
        ("?$variables.where.id", {"where": [{"id": "a"}]}, FAILS),
        ("?$variables.where.id", {"where": UNKNOWN}, DEPENDS),
        ("?$variables.where.id", {"where": {"id": UNKNOWN}}, DEPENDS),
        ("$variables.first:Int <= 10", {"first": 10}, HOLDS),
        ("$variables.first:Int <= 10", {"first": 11}, FAILS),
        ("$variables.first:Int <= 10", {"first": "10"}, NEITHER),
        ("$variables.first:Int <= 10", {}, NEITHER),
        ("$variables.first:Int <= 10", {"first": UNKNOWN}, DEPENDS),
        ("!($variables.first:Int <= 10)", {"first": UNKNOWN}, DEPENDS),
        ('$variables.id:String == "7"', {"id": "7"}, HOLDS),
        ('$variables.id:String == "7"', {"id": 7}, HOLDS),
        ('$variables.id:String == "7"', {"id": 7.0}, NEITHER),
        ('$variables.id:String == "True"', {"id": True}, NEITHER),
        ('$variables.id:String != "7"', {"id": 10**5000}, NEITHER),
        ('$variables.ids:String has "7"', {"ids": ["6", 7]}, HOLDS),
        ('$variables.ids:String has "7"', {"ids": ["6"]}, FAILS),
        ('$variables.ids:String has "7"', {"ids": "7"}, NEITHER),
        ('$variables.ids:String has "7"', {"ids": ["6", UNKNOWN]}, DEPENDS),
        ('$variables.ids:String has "7"', {"ids": ["7", UNKNOWN]}, HOLDS),
        ('$variables.ids:String has "7"', {"ids": UNKNOWN}, DEPENDS),
    ],
)
def test_variables_are_compared_by_their_values(text: str, variables: dict[str, Any], truth: Truth) -> None:
    assert truth_of_text(text, None, variables) == truth


def test_numbers_are_texts_in_variables_only() -> None:
    assert truth_of_text('$jwt.id:String == "7"', {"id": 7}) == NEITHER
    assert truth_of_text("$jwt.sub:String == $variables.id:String", {"sub": "7"}, {"id": 7}) == HOLDS
    assert truth_of_text("$jwt.sub:String == $variables.id:String", {"sub": 7}, {"id": 7}) == NEITHER


@pytest.mark.parametrize("text", ["?$variables.id", '$variables.id:String == "7"', '$variables.a.b:String has "x"'])
def test_without_variables_all_of_them_are_unknown(text: str) -> None:
    assert truth_of(predicate_of(text), {}, None) == DEPENDS


@pytest.mark.parametrize(
    "text", ["$jwt.sub:String == $variables.id:String", "$jwt.sub:String has $variables.id:String"]
)
def test_unknown_variable_beside_a_missing_claim_decides_nothing(text: str) -> None:
    for claims in (None, {}, {"sub": 1}, {"sub": None}):
        assert truth_of(predicate_of(text), claims, None) == NEITHER
    assert truth_of(predicate_of(text), {"sub": "x"}, None) == DEPENDS


TERMS = {HOLDS: "?$jwt", FAILS: "!?$jwt", NEITHER: "$jwt.none:Boolean", DEPENDS: "$variables.x:Boolean"}


@pytest.mark.parametrize(
    ("left", "right", "both", "any_"),
    [
        (HOLDS, HOLDS, HOLDS, HOLDS),
        (HOLDS, FAILS, FAILS, HOLDS),
        (HOLDS, NEITHER, NEITHER, HOLDS),
        (HOLDS, DEPENDS, DEPENDS, HOLDS),
        (FAILS, FAILS, FAILS, FAILS),
        (FAILS, NEITHER, FAILS, NEITHER),
        (FAILS, DEPENDS, FAILS, DEPENDS),
        (NEITHER, NEITHER, NEITHER, NEITHER),
        (NEITHER, DEPENDS, MAY_FAIL, MAY_HOLD),
        (DEPENDS, DEPENDS, DEPENDS, DEPENDS),
    ],
)
def test_and_and_or_of_two(left: Truth, right: Truth, both: Truth, any_: Truth) -> None:
    for one, other in ((left, right), (right, left)):
        assert truth_of(predicate_of(f"{TERMS[one]} && {TERMS[other]}"), {}, None) == both
        assert truth_of(predicate_of(f"{TERMS[one]} || {TERMS[other]}"), {}, None) == any_


def test_what_an_unknown_variable_and_a_missing_claim_leave_open_is_not_certain() -> None:
    predicate = predicate_of('$variables.key:String == "open" || $jwt.role:String == "admin"')

    assert truth_of(predicate, {}, None) == MAY_HOLD
    assert truth_of(predicate, {}, {"key": "shut"}) == NEITHER
    assert truth_of(predicate, {}, {"key": "open"}) == HOLDS


# What the documentation of IBM API Connect for GraphQL shows and says, with callers that it is made for.
STEPZEN: list[tuple[str, Claims, Truth]] = [
    ("true", None, HOLDS),
    ("false", {"role": "admin"}, FAILS),
    ('?$jwt && $jwt.roles:String has "history-viewer"', {"roles": ["history-viewer"]}, HOLDS),
    ('?$jwt && $jwt.roles:String has "history-viewer"', {"roles": ["customer"]}, FAILS),
    ('?$jwt && $jwt.roles:String has "history-viewer"', {}, NEITHER),
    ('?$jwt && $jwt.roles:String has "history-viewer"', None, FAILS),
    ("?$jwt", {"sub": "u1"}, HOLDS),
    ("?$jwt", None, FAILS),
    ("?$jwt.CUSTOM/bar", {"CUSTOM/bar": 1}, HOLDS),
    ("?$jwt.CUSTOM/bar", {"CUSTOM": {"bar": 1}}, HOLDS),
    ("?$jwt.CUSTOM/bar", {"CUSTOM": {}}, FAILS),
    ("$jwt.sub:String == $variables.userId:String", {"sub": "u1"}, HOLDS),
    ("$jwt.sub:String == $variables.userId:String", {"sub": "u2"}, FAILS),
    ("$jwt.sub:String == $variables.userId:String", None, NEITHER),
    ('$jwt.role:String == "admin"', {"role": "admin"}, HOLDS),
    ('$jwt.role: String == "admin"', {"role": "user"}, FAILS),
    ("$jwt.CUSTOM_CLAIM.level:Int > 40", {"CUSTOM_CLAIM": {"level": 41}}, HOLDS),
    ("$jwt.CUSTOM_CLAIM.level:Int > 40", {"CUSTOM_CLAIM": {"level": 40}}, FAILS),
    ("$jwt.CUSTOM_CLAIM.level:Int > 40", {"CUSTOM_CLAIM": {"level": "41"}}, NEITHER),
    ("$jwt.CUSTOM/groups: String has 'admin'", {"CUSTOM/groups": ["admin"]}, HOLDS),
    ("$jwt.CUSTOM/groups: String has 'admin'", {"CUSTOM": {"groups": ["admin"]}}, HOLDS),
    ("$jwt.CUSTOM/groups: String has 'admin'", {"CUSTOM": {"groups": ["user"]}}, FAILS),
]


@pytest.mark.parametrize(("text", "claims", "truth"), STEPZEN)
def test_documented_condition_has_the_documented_truth(text: str, claims: Claims, truth: Truth) -> None:
    assert truth_of_text(text, claims, {"userId": "u1"}) == truth


def test_only_conditions_that_need_no_caller_hold_for_everybody() -> None:
    texts = ("true", "?$jwt", "!?$jwt", "?$variables.a", "!?$variables.a", "$jwt.a:Boolean", "!$jwt.a:Boolean")
    conditions = [predicate_of(text) for text in texts]

    assert [truth_of(each, None, None) == HOLDS for each in conditions] == [
        True,
        False,
        True,
        False,
        False,
        False,
        False,
    ]
    assert outcome_of(conditions, unrestricted=False) == {0, 2}


CLAIM = {"jwt": ["a"], "type": "Int"}
ONE = {"value": 1}


@pytest.mark.parametrize(
    "predicate",
    [
        {"exists": {}},
        {"exists": None},
        {"exists": {"jwt": "a"}},
        {"exists": {"jwt": [1]}},
        {"exists": {"jwt": [["a"]]}},
        {"exists": {"jwt": ["a"], "type": "Int"}},
        {"exists": {"jwt": ["a"], "variables": ["a"]}},
        {"exists": {"variables": []}},
        {"exists": {"headers": ["a"]}},
        {"exists": {"value": 1}},
        {"exists": {"jwt": ["a"]}, "not": {"literal": False}},
        {"compare": "==", "left": CLAIM},
        {"compare": "=", "left": CLAIM, "right": ONE},
        {"compare": ["=="], "left": CLAIM, "right": ONE},
        {"compare": "==", "left": 1, "right": 1},
        {"compare": "==", "left": CLAIM | {"type": "Integer"}, "right": ONE},
        {"compare": "==", "left": CLAIM | {"type": ["Int"]}, "right": ONE},
        {"compare": "==", "left": CLAIM | {"jwt": []}, "right": ONE},
        {"compare": "==", "left": {"jwt": ["a"]}, "right": ONE},
        {"compare": "==", "left": {"variables": [], "type": "Int"}, "right": ONE},
        {"compare": "==", "left": CLAIM, "right": {"value": True}},
        {"compare": "!=", "left": CLAIM, "right": {"value": "1"}},
        {"compare": "<", "left": CLAIM, "right": {"value": "1"}},
        {"compare": "<=", "left": {"value": True}, "right": {"value": True}},
        {"compare": "==", "left": {"value": None}, "right": {"value": None}},
        {"compare": "==", "left": {"value": []}, "right": {"value": []}},
        {"compare": "==", "left": {"value": float("inf")}, "right": {"value": float("inf")}},
        {"has": {"value": [1]}, "value": ONE},
        {"has": {"jwt": ["list"]}, "value": ONE},
        {"has": {"jwt": ["list"], "type": None}, "value": ONE},
        {"has": {"jwt": ["list"], "type": "Int"}, "value": 1},
        {"has": {"jwt": ["list"], "type": "Int"}, "value": {"value": None}},
        {"has": {"jwt": ["list"], "type": "Int"}, "value": ONE, "or": []},
        {"and": []},
        {"or": []},
        {"and": {"literal": True}},
        {"or": "true"},
        {"or": [None, "true", ["literal"], {"literal": 1}]},
        {"and": [{"literal": True}, {"regexp": "a"}]},
        {"not": None},
        {"not": [{"literal": False}]},
        {"never": True},
    ],
)
def test_predicate_of_a_shape_that_is_not_known_neither_holds_nor_fails(predicate: Predicate) -> None:
    claims, variables = {"a": 1, "list": [1]}, {"a": 1}

    assert truth_of(predicate, claims, variables) == NEITHER
    assert truth_of({"not": predicate}, claims, variables) == NEITHER


def test_list_whose_items_are_of_another_type_than_the_value_has_it_not() -> None:
    predicate = {"has": {"jwt": ["list"], "type": "Int"}, "value": {"value": True}}

    assert truth_of(predicate, {"list": [1]}, {}) != HOLDS


def test_tree_that_is_deeper_than_any_condition_is_not_evaluated() -> None:
    deep: Predicate = {"literal": True}
    for _ in range(2 * (MAX_DEPTH // 2 - 1)):
        deep = {"not": deep}

    assert truth_of(deep, {}, {}) == HOLDS
    for _ in range(5_000):
        deep = {"not": {"and": [deep]}}
    assert truth_of(deep, {}, {}) == NEITHER


def test_deepest_condition_that_can_be_written_is_evaluated() -> None:
    text = "(?$jwt.none || $jwt.a:Boolean && " * MAX_NESTING + "?$jwt" + ")" * MAX_NESTING

    assert truth_of_text(text, {"a": True}) == HOLDS
    assert truth_of_text(text, {"a": False}) == FAILS


def test_claims_that_are_nested_very_deeply_are_looked_up() -> None:
    claims: dict[str, Any] = {}
    for _ in range(5_000):
        claims = {"a": claims}

    assert truth_of_text("?$jwt" + ".a" * 32, claims) == HOLDS
    assert truth_of_text("?$jwt" + ".a" * 31 + ".b", claims) == FAILS


NAMES = ("a", "b", "a.b", "https://x.y/z", 'q"', "back\\slash")
LITERALS = {
    "Int": st.integers(),
    "Float": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    "String": st.sampled_from(["", "x", "1", "'\"\\", "日本"]),
    "Boolean": st.booleans(),
}
TYPES = st.sampled_from(list(LITERALS))


def operands(type_: str) -> st.SearchStrategy[dict[str, Any]]:
    claims = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(lambda path: {"jwt": path, "type": type_})
    variables = st.lists(st.sampled_from("ab"), min_size=1, max_size=2).map(lambda path: {"variables": path})
    return claims | variables.map(lambda operand: operand | {"type": type_})


def literals(type_: str) -> st.SearchStrategy[dict[str, Any]]:
    return LITERALS[type_].map(lambda value: {"value": value})


@st.composite
def comparisons(draw: st.DrawFn) -> Predicate:
    type_ = draw(TYPES)
    left, right = draw(operands(type_)), draw(operands(type_) | literals(type_))
    sign = draw(st.sampled_from(["==", "!="] if type_ == "Boolean" else ["<", "<=", "==", "!=", ">", ">="]))
    if draw(st.booleans()):
        return {"has": left, "value": right}
    if draw(st.booleans()):
        left, right = right, left
    return {"compare": sign, "left": left, "right": right}


@st.composite
def existences(draw: st.DrawFn) -> Predicate:
    operand = draw(operands("Int") | st.just({"jwt": [], "type": "Int"}))
    return {"exists": {key: path for key, path in operand.items() if key != "type"}}


def joined(inner: st.SearchStrategy[Predicate]) -> st.SearchStrategy[Predicate]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(lambda each: {"not": each}),
        some.map(lambda parts: {"and": parts}),
        some.map(lambda parts: {"or": parts}),
    )


LEAVES = st.booleans().map(lambda value: {"literal": value}) | existences() | comparisons()
TREES: st.SearchStrategy[Predicate] = st.recursive(LEAVES, joined, max_leaves=8)

SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 1.0, 0.5, float("nan"), float("inf"), 10**400, "", "x", "1", "日本"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5)
CLAIMS = st.none() | OBJECTS
VARIABLES = st.none() | st.dictionaries(st.sampled_from("ab"), JSON | st.just(UNKNOWN), max_size=2)


def negated(*parts: Predicate) -> list[Predicate]:
    return [{"not": each} for each in parts]


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(TREES, TREES, CLAIMS, VARIABLES)
def test_de_morgan_and_double_negation(
    one: Predicate, other: Predicate, claims: Claims, variables: dict[str, Any] | None
) -> None:
    def same(left: Predicate, right: Predicate) -> bool:
        return truth_of(left, claims, variables) == truth_of(right, claims, variables)

    assert same({"not": {"and": [one, other]}}, {"or": negated(one, other)})
    assert same({"not": {"or": [one, other]}}, {"and": negated(one, other)})
    assert same({"not": {"not": one}}, one)


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(TREES, CLAIMS, st.dictionaries(st.sampled_from("ab"), SCALARS | st.lists(SCALARS), max_size=2))
def test_negation_swaps_what_is_known(tree: Predicate, claims: Claims, variables: dict[str, Any]) -> None:
    truth = truth_of(tree, claims, variables)

    assert truth in (HOLDS, FAILS, NEITHER)
    assert truth_of({"not": tree}, claims, variables) == negation(truth)


@settings(max_examples=examples(500), derandomize=True, deadline=None, database=None)
@given(TREES, CLAIMS, st.dictionaries(st.sampled_from("ab"), JSON, max_size=2), st.sets(st.sampled_from("ab")))
def test_what_is_said_before_variables_are_known_comes_true(
    tree: Predicate, claims: Claims, variables: dict[str, Any], unknown: set[str]
) -> None:
    before = truth_of(tree, claims, variables | dict.fromkeys(unknown, UNKNOWN))
    without = truth_of(tree, claims, None)
    after = truth_of(tree, claims, variables)

    for early in (before, without):
        assert after == HOLDS or not early & SURELY_HOLDS
        assert after == FAILS or not early & SURELY_FAILS
        assert early & MAY_HOLD or after != HOLDS
        assert early & MAY_FAIL or after != FAILS


@settings(max_examples=examples(500), derandomize=True, deadline=None, database=None)
@given(TREES, st.dictionaries(st.sampled_from("ab"), JSON, max_size=2), VARIABLES)
def test_whatever_holds_for_some_claims_may_hold_for_unknown_ones(
    tree: Predicate, claims: dict[str, Any], variables: dict[str, Any] | None
) -> None:
    before, after = (truth_of(tree, each, variables) for each in (UNKNOWN, claims))

    assert before & MAY_HOLD or not after & MAY_HOLD
    assert before & MAY_FAIL or not after & MAY_FAIL
    assert truth_of(tree, UNKNOWN, {}) == truth_of(tree, {}, {}) or "jwt" in str(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?$jwt", HOLDS),
        ("!?$jwt", FAILS),
        ("?$jwt.a", DEPENDS),
        ("!?$jwt.a.b/c", DEPENDS),
        ("$jwt.a.b:Int > 3", DEPENDS),
        ("$jwt.a:String has 'x'", DEPENDS),
        ("?$jwt.a && false", FAILS),
        ("?$jwt.a || true", HOLDS),
        ("?$jwt && !?$jwt", FAILS),
        ("$variables.a:Int > 3", NEITHER),
    ],
)
def test_of_unknown_claims_their_existence_is_known(text: str, expected: Truth) -> None:
    assert truth_of(predicate_of(text), UNKNOWN, {}) == expected


@settings(max_examples=examples(500), derandomize=True, deadline=None, database=None)
@given(TREES, CLAIMS, VARIABLES)
def test_condition_that_is_printed_and_parsed_has_its_truth(
    tree: Predicate, claims: Claims, variables: dict[str, Any] | None
) -> None:
    parsed = predicate_of(printed(tree))

    assert truth_of(parsed, claims, variables) == truth_of(tree, claims, variables)
    assert predicate_of(printed(parsed)) == parsed


@settings(max_examples=examples(500), derandomize=True, deadline=None, database=None)
@given(TREES | OBJECTS, CLAIMS, VARIABLES, st.data())
def test_evaluation_never_raises_whatever_became_of_a_tree(
    tree: Predicate, claims: Claims, variables: dict[str, Any] | None, data: st.DataObject
) -> None:
    broken = json.loads(json.dumps(tree))
    places = list(places_in(broken))
    if places:
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(JSON | TREES)

    assert truth_of(broken, claims, variables) in (HOLDS, FAILS, NEITHER, DEPENDS, MAY_HOLD, MAY_FAIL)


def places_in(value: Any) -> Any:
    """Every member and item in a JSON value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in members:
        yield value, key
        yield from places_in(each)


def printed(tree: Any) -> str:
    """A condition as an author could write it, every name of a claim in quotes."""
    match tree:
        case {"literal": value}:
            return str(value).lower()
        case {"exists": operand}:
            return f"?{printed_operand(operand)}"
        case {"has": left, "value": right}:
            return f"{printed_operand(left)} has {printed_operand(right)}"
        case {"compare": sign, "left": left, "right": right}:
            return f"{printed_operand(left)} {sign} {printed_operand(right)}"
        case {"not": inner}:
            return f"!({printed(inner)})"
    ((kind, parts),) = tree.items()
    return {"and": " && ", "or": " || "}[kind].join(f"({printed(each)})" for each in parts)


def printed_operand(operand: dict[str, Any]) -> str:
    match operand:
        case {"value": str(text)}:
            return quoted(text)
        case {"value": value}:
            return str(value).lower()
        case {"jwt": path}:
            name = "$jwt" + "".join(f".{quoted(each)}" for each in path)
        case _:
            name = f"$variables.{'.'.join(operand['variables'])}"
    return f"{name}:{operand['type']}" if "type" in operand else name


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def test_input_field_that_is_left_out_may_have_any_value_as_its_type_may_have_a_default() -> None:
    absent = predicate_of("!?$variables.filter.userId")
    own = predicate_of("$jwt.sub:String == $variables.filter.userId:String")

    assert truth_of(absent, {}, {"filter": {}}) == DEPENDS
    assert truth_of(own, {"sub": "me"}, {"filter": {}}) == DEPENDS
    assert truth_of(absent, {}, {"filter": {"userId": None}}) == HOLDS
    assert truth_of(absent, {}, {"filter": None}) == HOLDS
    assert truth_of(absent, {}, {}) == HOLDS
    assert truth_of(own, {"sub": "me"}, {"filter": {"userId": "me"}}) == HOLDS
