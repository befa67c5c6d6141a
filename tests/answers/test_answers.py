"""Random answers, cut and judged; ``make answers`` tries 10,000, over the operations of public APIs, too."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import pytest

from handler.answers.fit import CallForm, ResultLimit, fit
from tests.answers.cases import own
from tests.answers.judge import faults_of
from tests.answers.run import LEAST_SHARE, kept_share, run_cases
from tests.answers.small import PLAN
from tests.support.examples import examples


def test_random_answers_are_cut_within_their_limit_and_stay_valid() -> None:
    tally = run_cases([own()], examples(1_000, share=8), seed=7)

    assert tally.faults == []
    assert tally.counts["cut"] > 20


def test_cuts_of_small_answers_keep_nearly_all_rows_that_could_be_kept() -> None:
    assert kept_share(examples(300), seed=3) >= LEAST_SHARE


WHOLE: dict[str, Any] = {"data": {"a": [{"id": "id:" + "x" * 900, "rows": ["s:" + "y" * 300] * 3}] * 9, "b": []}}


def drops_a_note(cut: dict[str, Any]) -> None:
    cut["extensions"]["stile"]["truncated"].pop()


def changes_an_id(cut: dict[str, Any]) -> None:
    cut["data"]["a"] = [{**cut["data"]["a"][0], "id": "id:y"}, *cut["data"]["a"][1:]]


def drops_a_row_more(cut: dict[str, Any]) -> None:
    cut["data"]["a"] = cut["data"]["a"][:-1]


def loses_the_errors(cut: dict[str, Any]) -> None:
    del cut["errors"]


@pytest.mark.parametrize("damage", [drops_a_note, changes_an_id, drops_a_row_more, loses_the_errors])
def test_judge_sees_what_is_wrong(damage: Any) -> None:
    whole = {**WHOLE, "errors": [{"message": "no"}]}
    cut = deepcopy(fit(whole, PLAN, ResultLimit(max_bytes=5_000, form=CallForm(variables={}))).answer)
    assert faults_of(whole, cut) == []

    damage(cut)

    assert faults_of(whole, cut) != []


def test_cases_of_one_seed_are_the_same() -> None:
    first, second = (next(own().cases(Random(4))) for _ in range(2))

    assert first == second
