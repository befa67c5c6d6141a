"""The oracle's own rules: what is denied to whom, and which inputs would tell it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.leaks.oracle import Denied, Oracle
from tests.leaks.policies import (
    ATOMS,
    ATOMS_OF_VARIABLES,
    NEVER,
    Access,
    Caller,
    Claims,
    Facts,
    Pattern,
    random_condition,
)
from tests.leaks.schemas import Field, Input, Type
from tests.leaks.small import ANYBODY, SERVICE, SMALL, access

TELLING_SALARY = {
    "PersonFilter.salaryGt",
    "PersonFilter.bossSalaryGt",
    "PersonOrder.SALARY_ASC",
    "PersonOrder.SALARY_DESC",
}


def denied(said: Access, caller: Caller = ANYBODY, *, tool: bool = False) -> Denied:
    patterns = said.tools["tool0"] if tool else None
    return Oracle(SMALL, said).denied(caller, patterns, Facts(caller.claims))


def test_field_whose_condition_fails_is_denied_with_the_inputs_that_read_it() -> None:
    found = denied(access({"Person.salary": NEVER}))

    assert found.fields == {"Person.salary"}
    assert found.inputs == TELLING_SALARY


def test_holder_of_a_key_without_claims_skips_policies_and_not_what_is_hidden() -> None:
    said = access({"Person.salary": NEVER}, hide=["Person.nickname"])

    assert denied(said, SERVICE).fields == {"Person.nickname"}


def test_link_is_told_by_every_input_that_goes_through_it() -> None:
    found = denied(access({"Person.boss": NEVER}))

    assert found.inputs == {"PersonFilter.bossSalaryGt", "PersonFilter.boss"}


def test_field_of_an_interface_takes_along_those_of_its_objects() -> None:
    assert denied(access({"Named.nickname": NEVER})).fields == {"Person.nickname"}
    assert denied(access({"Named.nickname": NEVER})).inputs == {"PersonFilter.nickname"}


def test_field_whose_type_has_nothing_left_is_denied() -> None:
    found = denied(access({"Money.amount": NEVER, "Money.currency": NEVER}))

    assert found.fields == {"Money.amount", "Money.currency", "Person.pay"}
    assert found.inputs == {"Query.people(payGt:)"}


def test_type_of_which_nothing_is_left_for_several_reasons_is_lost_as_well() -> None:
    found = denied(access({"Money.amount": NEVER}, hide=["Money.currency"]))

    assert "Person.pay" in found.fields
    assert found.types == {"Money"}


def test_last_pattern_that_matches_decides_and_roots_are_closed_without_one() -> None:
    said = access(tool=[Pattern("Person", "sal.*|nickname", False), Pattern("P.*", "nickname", True)])

    assert denied(said, tool=True).fields >= {"Query.people", "Person.salary"}
    assert "Person.nickname" not in denied(said, tool=True).fields
    assert denied(said).fields == set()


def test_input_that_is_shown_excepts_the_field_that_it_reads() -> None:
    found = denied(access(hide=["Person.salary"], show=["PersonFilter.salaryGt"]))

    assert found.inputs == TELLING_SALARY - {"PersonFilter.salaryGt"}
    assert found.excepted == {"Person.salary"}


def test_arguments_of_directives_and_what_is_below_them_read_the_fields_of_all_objects() -> None:
    letter = Type(kind="object", fields={"bonus": Field("Int"), "id": Field("ID!")})
    only = Type(kind="input", inputs={"bonusGt": Input("Int", "gt", "bonus")})
    query = Type(kind="object", fields={**SMALL.types["Query"].fields, "letter": Field("Letter")})
    types = {**SMALL.types, "Letter": letter, "OnlyFilter": only, "Query": query}
    directives = {"chosen": {"minSalary": Input("Int", "gt", "salary"), "where": Input("OnlyFilter", "where")}}
    oracle = Oracle(replace(SMALL, types=types, directives=directives), access(hide=["Letter.bonus", "Person.salary"]))

    found = oracle.denied(ANYBODY, None, Facts(None)).inputs

    assert found == TELLING_SALARY | {"@chosen(minSalary:)", "OnlyFilter.bonusGt"}


@pytest.mark.parametrize(
    ("claims", "holding"),
    [
        (None, set()),
        ({}, {"?$jwt"}),
        ({"role": "hr", "groups": "x"}, {"?$jwt", '$jwt.role:String == "hr"', '$jwt.groups:String has "x"'}),
        ({"level": 4, "groups": ["y"]}, {"?$jwt", "?$jwt.level", "$jwt.level:Int > 3"}),
        ({"level": "4"}, {"?$jwt", "?$jwt.level"}),
    ],
)
def test_conditions_over_claims_hold_for_claims_of_their_type(claims: Claims | None, holding: set[str]) -> None:
    assert {atom.text for atom in ATOMS if atom.holds(Facts(claims))} == holding


def test_conditions_over_variables_hold_for_their_values_or_wherever_these_are_still_to_come() -> None:
    facts = Facts(None, {"v0": 700_000})

    assert [atom.holds(facts) for atom in ATOMS_OF_VARIABLES] == [True, True, False, True]
    assert not any(atom.holds(Facts(None)) for atom in ATOMS_OF_VARIABLES)
    assert all(atom.holds(Facts(None, anything=True)) for atom in ATOMS_OF_VARIABLES)


def test_what_is_missing_holds_neither_as_it_is_nor_negated() -> None:
    drawn = {one.text: one for one in (random_condition(Random(seed)) for seed in range(500))}
    negated = drawn['!($jwt.role:String == "hr")']

    assert [negated.holds(Facts(claims)) for claims in ({"role": "it"}, {"role": "hr"}, {}, None)] == [
        True,
        False,
        False,
        False,
    ]
