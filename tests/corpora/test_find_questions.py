"""The gold list of questions on GitHub's schema: its size, its answers, and the words that both share."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from graphql import GraphQLSchema, build_schema

from tests.corpora.fetch import folder_of, is_fetched
from tests.find.questions import GROUPS, Question, read_questions
from tests.support.require import requires

QUESTIONS = read_questions()

OF_NO_SUBJECT = frozenset(
    """
    a all an and any are as at be before by can could did do does each for from get gets give go has have how i if in
    is it its many may me must my not of on or over she so such that the they this to up was were what when where
    which while who with
    """.split()  # noqa: SIM905 - a table of words
)
"""Words that say nothing about the subject of a question."""


@pytest.fixture(scope="module")
def github() -> GraphQLSchema:
    requires("node", is_fetched("github"), "`make corpora` fetches GitHub's schema")
    return build_schema((folder_of("github") / "index.graphql").read_text(encoding="utf-8"), assume_valid=True)


def test_the_list_has_as_many_questions_as_its_results_are_shares_of() -> None:
    assert Counter(each.group for each in QUESTIONS) == {"named": 30, "described": 30, "unsaid": 10}
    assert tuple(dict.fromkeys(each.group for each in QUESTIONS)) == GROUPS
    assert len({each.ask for each in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.ask)
def test_each_answer_is_a_field_of_the_schema(github: GraphQLSchema, question: Question) -> None:
    assert question.answers
    for answer in question.answers:
        _field(github, answer)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.ask)
def test_a_question_shares_the_words_with_its_answers_that_its_group_says(
    github: GraphQLSchema, question: Question
) -> None:
    asked = _stems(question.ask)
    of_fields = [_stems(answer.partition(".")[2]) for answer in question.answers]
    told = [_stems(_field(github, answer)) for answer in question.answers]
    match question.group:
        case "named":
            assert any(asked & words for words in of_fields)
        case "described":
            assert not any(asked & words for words in of_fields)
        case _:
            assert not any(asked & words for words in (*of_fields, *told))


def _field(schema: GraphQLSchema, coordinate: str) -> str:
    """Return a field's description."""
    type_name, _, name = coordinate.partition(".")
    return schema.type_map[type_name].fields[name].description or ""  # type: ignore[attr-defined]


def _stems(text: str) -> set[str]:
    words = (word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text))
    return {re.sub(r"(?:ing|ed|es|s|e)$", "", word) for word in words if word not in OF_NO_SUBJECT}
