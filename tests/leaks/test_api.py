"""The API behind the cases: it filters and sorts as inputs mean, by the first values of fields or the second ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.leaks.api import Api
from tests.leaks.schemas import Input
from tests.leaks.small import SMALL


@pytest.fixture
def api() -> Api:
    return Api(SMALL, seed=1)


def salaries(api: Api, arguments: str = "") -> list[int]:
    answer = api.answer({"query": f"{{ people{arguments} {{ salary }} }}"})
    return [person["salary"] for person in answer["data"]["people"]]


def test_filter_chooses_rows_by_their_values(api: Api) -> None:
    first, *others = sorted(salaries(api))

    assert sorted(salaries(api, f"(where: {{salaryGt: {first}}})")) == others
    assert salaries(api, f"(where: {{not: {{salaryGt: {first}}}}})") == [first]


def test_filter_through_a_link_chooses_rows_by_the_values_behind_it(api: Api) -> None:
    people = api.rows["Person"]
    least = min(api.read(api.linked(person, "boss")[0], "salary") for person in people)
    expected = [
        api.read(person, "salary") for person in people if api.read(api.linked(person, "boss")[0], "salary") > least
    ]

    assert salaries(api, f"(where: {{bossSalaryGt: {least}}})") == expected
    assert salaries(api, f"(where: {{boss: {{salaryGt: {least}}}}})") == expected


def test_order_sorts_rows_by_their_values(api: Api) -> None:
    assert salaries(api, "(orderBy: SALARY_ASC)") == sorted(salaries(api))
    assert salaries(api, "(orderBy: SALARY_DESC)") == sorted(salaries(api), reverse=True)


def test_directive_chooses_the_rows_of_one_field_or_of_every_field_of_an_operation() -> None:
    api = Api(replace(SMALL, directives={"chosen": {"salaryGt": Input("Int", "gt", "salary")}}), seed=1)
    first, *others = sorted(salaries(api))
    chosen = f"@chosen(salaryGt: {first})"

    def both(text: str) -> list[list[int]]:
        data = api.answer({"query": text})["data"]
        return [sorted(row["salary"] for row in rows) for rows in data.values()]

    assert both(f"{{ a: people {chosen} {{ salary }} b: people {{ salary }} }}") == [others, [first, *others]]
    assert both(f"query {chosen} {{ a: people {{ salary }} b: people {{ salary }} }}") == [others, others]


def test_varied_fields_have_other_values_and_other_fields_the_same(api: Api) -> None:
    def people() -> Any:
        return api.answer({"query": "{ people { nickname salary } }"})["data"]["people"]

    before = people()
    api.varied = frozenset({"Person.salary"})

    assert [person["nickname"] for person in people()] == [person["nickname"] for person in before]
    assert not {person["salary"] for person in people()} & {person["salary"] for person in before}


def test_varied_link_is_ranked_by_another_number(api: Api) -> None:
    ranks = sorted(api.read(person, "pay") for person in api.rows["Person"])
    before = salaries(api, f"(payGt: {ranks[1]})")
    api.varied = frozenset({"Person.pay"})

    assert len(before) == 2
    assert salaries(api, f"(payGt: {ranks[1]})") != before


def test_field_that_the_api_has_not_any_more_is_refused_with_suggestions() -> None:
    answer = Api(SMALL, seed=1, without=["Person.nickname"]).answer({"query": "{ people { nickname salry } }"})

    assert [error["message"] for error in answer["errors"]] == [
        "Cannot query field 'nickname' on type 'Person'.",
        "Cannot query field 'salry' on type 'Person'. Did you mean 'salary' or 'pay'?",
    ]
