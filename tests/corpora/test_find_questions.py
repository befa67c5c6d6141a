"""The gold lists of questions: their sizes, their answers, and on GitHub's schema the words that both share."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from graphql import GraphQLSchema, build_schema

from tests.corpora.fetch import folder_of, is_fetched
from tests.corpora.sources import SOURCE_OF
from tests.find.questions import GROUPS, STEPS_OF, Question, read_questions, read_questions_by_corpus, read_steps
from tests.support.require import requires

QUESTIONS = read_questions()
ON_OTHERS = read_questions_by_corpus()

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


def test_the_other_lists_have_as_many_questions_as_their_results_are_shares_of() -> None:
    assert {corpus: len(questions) for corpus, questions in ON_OTHERS.items()} == {
        "vendure-admin": 36,
        "shopify-storefront": 24,
        "shopify-customer-account": 16,
        "dagster": 20,
    }
    assert len(read_steps()) == 40


@pytest.mark.parametrize("corpus", ON_OTHERS)
def test_each_answer_is_a_field_of_its_schema(corpus: str) -> None:
    requires(SOURCE_OF[corpus].needs, is_fetched(corpus), f"`make corpora` fetches {corpus}")
    schema = build_schema((folder_of(corpus) / "index.graphql").read_text(encoding="utf-8"), assume_valid=True)

    for answer in (answer for question in ON_OTHERS[corpus] for answer in question.answers):
        _field(schema, answer)


def test_each_answer_of_a_step_is_an_operation() -> None:
    requires(SOURCE_OF[STEPS_OF].needs, is_fetched(STEPS_OF), f"`make corpora` fetches {STEPS_OF}")
    operations = {path.stem for path in (folder_of(STEPS_OF) / "operations").iterdir()}

    assert {answer for step in read_steps() for answer in step.answers} <= operations


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
