from __future__ import annotations

from tests.code_tools.cases import all_cases, covered_cases, excluded_cases


def test_every_case_has_a_test_or_a_reason() -> None:
    missing = set(all_cases()) - set(covered_cases()) - set(excluded_cases())

    assert sorted(missing) == []


def test_no_case_has_both_and_none_is_unknown() -> None:
    covered, excluded = set(covered_cases()), excluded_cases()

    assert covered.isdisjoint(excluded)
    assert covered | set(excluded) <= set(all_cases())
    assert all(len(reason) > 20 for reason in excluded.values())


def test_no_case_stands_twice() -> None:
    assert len(all_cases()) == len(set(all_cases())) == 122
