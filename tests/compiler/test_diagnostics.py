"""The comparison that feature tests rest on: place, code, and parts of the sentence."""

from __future__ import annotations

import pytest

from handler.errors.authoring import Problem
from tests.support.diagnostics import Reported

PROBLEM = Problem(file="a.graphql", line=3, column=5, sentence="type \"A\" has no field 'totl'", code="unknown-field")


@pytest.mark.parametrize(
    "text",
    [
        "a.graphql:3:5 unknown-field",
        "a.graphql:3:5 unknown-field: 'totl'",
        "a.graphql:3:5 unknown-field: 'totl' & \"A\"",
        "unknown-field",
        "unknown-field: 'totl'",
    ],
)
def test_diagnostic_equals_its_place_and_code_with_parts_of_its_sentence(text: str) -> None:
    assert Reported(PROBLEM) == text
    assert [Reported(PROBLEM)] == [text]
    assert text in [Reported(PROBLEM)]


@pytest.mark.parametrize(
    "text",
    [
        "a.graphql:3:6 unknown-field",
        "b.graphql:3:5 unknown-field",
        "a.graphql:3:5 unknown-type",
        "a.graphql:3:5 unknown-field: 'total'",
        "a.graphql:3:5 unknown-field: 'totl' & \"B\"",
        "a.graphql:3:5",
        "field",
        "",
    ],
)
def test_diagnostic_differs_from_another_place_code_or_part(text: str) -> None:
    assert Reported(PROBLEM) != text
    assert text not in [Reported(PROBLEM)]


def test_diagnostic_of_a_whole_file_has_no_line() -> None:
    assert Reported(Problem(file="a.graphql", sentence="it is empty", code="empty-file")) == "a.graphql empty-file"
