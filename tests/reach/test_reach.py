"""What ``stile explain`` says is what is enforced: visible or not, by which rule, by which way.

``make explain-oracle`` asks many more questions.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from handler.audience import reach
from handler.audience.caller_classes import OF_NO_TYPE, ClaimValues
from handler.audience.reach import Entrance, find_classes
from handler.audience.view_paths import find_document
from handler.compiler.compile import compile_explained
from handler.compiler.provenance import Cause, Provenance
from handler.server.auth.principal import ANONYMOUS, Principal
from tests.reach.cases import run_cases
from tests.support.endpoints import READABLE, write_endpoint
from tests.support.examples import examples, in_full
from tests.support.schemas import view_of


@settings(max_examples=examples(3), deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(min_value=0, max_value=10**9))
def test_answers_are_those_of_the_enforced_view(seed: int) -> None:
    tally = run_cases(20, endpoints=1, seed=str(seed))

    assert not tally.faults, "\n\n".join(map(str, tally.faults[:2]))


@in_full
def test_every_kind_of_answer_is_compared() -> None:
    tally = run_cases(80, endpoints=2, seed="kinds")

    assert not tally.faults, "\n\n".join(map(str, tally.faults[:2]))
    kinds = {"ways", "rules of views", "rules of operations", "operations", "code", "classes", "lists"}
    assert kinds <= tally.kinds.keys()


def names_one_more(wrong: Callable[..., list[Cause]]) -> Callable[..., list[Cause]]:
    """Rules behind a guard, with one that has nothing to do with it."""

    def causes(self: Provenance, coordinate: str, holds: object, *, tool: str = "") -> list[Cause]:
        found = wrong(self, coordinate, holds, tool=tool)
        others = [rule for rule in self.rules if rule not in [each.rule for each in found]]
        return [*found, Cause(others[0], own=False)] if found and others else found

    return causes


def names_one_less(wrong: Callable[..., list[Cause]]) -> Callable[..., list[Cause]]:
    """Rules behind a guard without the first."""

    def causes(self: Provenance, coordinate: str, holds: object, *, tool: str = "") -> list[Cause]:
        return wrong(self, coordinate, holds, tool=tool)[1:]

    return causes


@in_full
@pytest.mark.parametrize("bug", [names_one_more, names_one_less])
def test_wrong_rules_are_found(
    bug: Callable[[Callable[..., list[Cause]]], Callable[..., list[Cause]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Provenance, "causes", bug(Provenance.causes))

    tally = run_cases(400, endpoints=8, seed="bugs", stop_after=1)

    assert tally.faults
    assert "--- config.yaml" in str(tally.faults[0])


@in_full
@pytest.mark.parametrize(
    ("name", "bug", "said"),
    [
        ("view_has", lambda view, coordinate: True, "and the function says False"),
        ("find_document", lambda view, coordinate: "{ __typename }", "does not name"),
    ],
)
def test_wrong_verdicts_and_ways_are_found(
    name: str, bug: Callable[..., object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, name, bug)

    tally = run_cases(120, endpoints=4, seed="bugs", stop_after=1)

    assert said in tally.faults[0].what


@in_full
def test_hidden_parts_that_are_there_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake that listed every coordinate with a mask of its own in a tool."""

    def unjudged(of: object, entrance: Entrance, _: object) -> list[str]:
        return list(entrance.view_of.guards) if entrance.view_of else []

    monkeypatch.setattr("tests.reach.cases.pattern_hidden_parts", unjudged)

    tally = run_cases(10, endpoints=10, seed="bugs", stop_after=1)

    assert "said to be hidden by the patterns of" in tally.faults[0].what
    assert reach.pattern_hidden_parts is not unjudged


@in_full
def test_same_seed_asks_the_same_questions() -> None:
    first, second = (run_cases(3, endpoints=1, seed="same") for _ in range(2))

    assert str(first) == str(second)


def test_claims_are_tried_in_every_combination_within_bounds() -> None:
    values = ClaimValues()
    values.add(("a", "b"), 1)
    values.add_predicate({"has": {"jwt": ["roles"], "type": "String"}, "value": {"value": "hr"}})
    values.add_predicate({"has": {"jwt": ["roles"], "type": "String"}, "value": {"value": "it"}})

    claims, whole = values.claims(most=100)

    roles: list[Any] = [["hr"], [], "hr", {}, ["it"], "it", ["hr", "it"]]
    assert whole
    assert claims == [
        {},
        {"a": {"b": 1}},
        *({"roles": each} for each in roles),
        *({"a": {"b": 1}, "roles": each} for each in roles),
    ]


def test_claim_without_a_value_is_tried_beside_a_missing_claim() -> None:
    """The negation of a condition on a missing claim is not true, and so such a caller is of no other class."""
    values = ClaimValues()
    values.add_predicate({"not": {"has": {"jwt": ["groups"], "type": "String"}, "value": {"value": "x"}}})

    tried: list[Any] = [["x"], [], "x", {}]
    assert values.claims(most=100) == ([{}, *({"groups": each} for each in tried)], True)


def test_claim_and_a_claim_inside_of_it_are_tried_apart_and_together() -> None:
    values = ClaimValues()
    values.add_predicate({"compare": "==", "left": {"jwt": ["a"], "type": "String"}, "right": {"value": "y"}})
    values.add_predicate({"exists": {"jwt": ["a", "b"]}})

    claims, _ = values.claims(most=100)

    assert {} in claims
    assert {"a": {"b": "x"}} in claims
    assert OF_NO_TYPE == {}, "the value of one claim is not the place of another"


def test_too_many_claims_are_said_to_be_too_many() -> None:
    values = ClaimValues()
    for number in range(30):
        values.add((f"c{number}",), 1)

    claims, whole = values.claims(most=600)

    assert not whole
    assert len(claims) <= 600
    assert {"c0": 1, "c29": 1} in claims


def test_explain_and_diff_tell_the_same_callers_apart(tmp_path: Path) -> None:
    """Seven independent conditions have 128 combinations."""
    fields = [f"f{each}" for each in range(7)]
    rules = "".join(f"{{fields: [{each}], condition: '?$jwt.{each}'}}, " for each in fields)
    tool = 'schema @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}]) { query: Query }'
    files = {
        "index.graphql": f"{tool} type Query {{ {' '.join(f'{each}: Int' for each in ('a', *fields))} }}",
        "config.yaml": f"access: {{policies: [{{type: Query, rules: [{rules}], policyDefault: {{condition: true}}}}]}}",
    }
    made = reach.Reach(*compile_explained(write_endpoint(tmp_path, files), environ={}))

    classes, complete = find_classes(made, "Query.f6")

    assert complete
    tokens = [each for each in classes if each.witnesses[0].principal.kind == "token"]
    claims = [[each.principal.claims for each in token.witnesses] for token in tokens]
    assert claims == [[{}], [{"f6": "x"}]]
    assert [bool(each.ways) for each in tokens] == [False, True]


def test_persisted_operation_names_the_conditions_of_all_of_its_tools(tmp_path: Path) -> None:
    files = {
        "index.graphql": """
            schema @tool(name: "a", prescribed: "O", condition: "?$jwt.a")
              @tool(name: "b", prescribed: "O", condition: "?$jwt.b") { query: Query }
            type Query { one: Int }
        """,
        "operations/o.graphql": "query O { one }",
        "config.yaml": f"graphql: persisted\n{READABLE}",
    }
    made = reach.Reach(*compile_explained(write_endpoint(tmp_path, files), environ={}))
    persisted = next(each for each in made.entrances if each.persisted)
    visitor = made.visitor_of(Principal(kind="token", name="t", claims={"a": 1}), "t")

    assert list(reach.rules_of(made, persisted, visitor)) == ["tool b"]
    assert list(reach.rules_at(made, persisted, "Query.one", made.visitor_of(ANONYMOUS, ""))) == [
        "tool a",
        "tool b",
    ]


def test_interface_without_objects_is_reached_by_no_fragment() -> None:
    """GraphQL refuses a fragment whose type can never be that of its parent."""
    view = view_of("""
        type Query { named: Named  empty: Empty }
        interface Named { id: ID }
        interface Paid implements Named { id: ID salary: Int }
        interface Whole { id: ID }
        interface Empty implements Whole { id: ID }
        type Person implements Named { id: ID }
    """)

    assert find_document(view, "Paid.salary") is None
    assert find_document(view, "Whole.id") is None
    assert find_document(view, "Person.id") == "{ named { ... on Person { id } } }"


def test_arguments_of_any_name_are_given() -> None:
    view = view_of("type Query { find(values: Int, self: ID!): ID }")

    assert (
        find_document(view, "Query.find(values:)")
        == "query($values: Int, $self: ID!) { find(values: $values, self: $self) }"
    )
