"""Real operations for real schemas: each becomes a tool, or is refused for what it is and where it is wrong.

The judge is graphql-core alone, in ``verdicts.py``.
"""

from __future__ import annotations

import pytest
from graphql import parse, validate
from jsonschema import Draft202012Validator

from handler.bundle.short_list import bare_entries, short_list
from handler.list_entries import BYTES_PER_TOKEN, LIST_BUDGET
from handler.strict_json import Entries, Entry, to_json_bytes
from tests.corpora.attempts import Tried
from tests.corpora.sources import SOURCE_OF
from tests.corpora.verdicts import INVALID, NO_NAME, SAME_NAME, SUBSCRIPTION, UPLOAD, VALID
from tests.support.local_entries import listed_entries, local_entries
from tests.support.vendors import refusals

AS_FOUND = tuple(name for name in SOURCE_OF if f"{name}-named" in SOURCE_OF)
WITH_TOOLS = tuple(name for name in SOURCE_OF if name not in AS_FOUND)


@pytest.mark.parametrize("corpus", SOURCE_OF)
def test_every_valid_operation_becomes_a_tool_and_no_other_one_does(tried: Tried, corpus: str) -> None:
    made = tried(corpus)

    valid = {file for file, verdict in made.verdicts.items() if verdict.kind == VALID}
    uploads = {file for file, verdict in made.verdicts.items() if verdict.kind == UPLOAD}
    tools = made.verdicts.keys() - made.refused.keys()
    assert valid <= tools <= valid | uploads
    assert sorted(made.verdicts[file].name for file in tools) == sorted(tool.name for tool in made.tools)


@pytest.mark.parametrize("corpus", SOURCE_OF)
def test_invalid_operation_is_refused_where_it_is_wrong(tried: Tried, corpus: str) -> None:
    made = tried(corpus)

    for file, verdict in made.verdicts.items():
        if verdict.kind == INVALID:
            reported = {
                (problem.line, problem.column)
                for problem in made.refused[file]
                if "without a name" not in problem.sentence
            }
            assert reported == verdict.places, file


@pytest.mark.parametrize("corpus", SOURCE_OF)
def test_other_refusals_say_what_cannot_be_a_tool(tried: Tried, corpus: str) -> None:
    made = tried(corpus)
    sentences = {
        NO_NAME: "an operation without a name cannot be called: name it",
        SAME_NAME: 'an operation named "{name}" is also defined at operations/{name}.graphql:1:1',
        SUBSCRIPTION: '"{name}" is a subscription: a tool is one request and one answer',
    }

    for file, problems in made.refused.items():
        verdict = made.verdicts[file]
        if verdict.kind in sentences:
            expected = sentences[verdict.kind].format(name=verdict.name)
            assert [(problem.line, problem.column, problem.sentence) for problem in problems] == [(1, 1, expected)]
        elif verdict.kind == UPLOAD:
            assert all("Upload" in problem.sentence for problem in problems)


@pytest.mark.parametrize("corpus", WITH_TOOLS)
def test_every_schema_of_a_tool_is_json_schema(tried: Tried, corpus: str) -> None:
    tools = tried(corpus).tools

    assert tools
    for tool in tools:
        for schema in (tool.entry["inputSchema"], tool.arguments, tool.entry["outputSchema"]):
            Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("corpus", WITH_TOOLS)
def test_what_a_tool_sends_is_valid_and_has_none_of_our_directives(tried: Tried, corpus: str) -> None:
    made = tried(corpus)

    for tool in made.tools:
        assert "@mcpTool" not in tool.operation.text
        assert validate(made.schema, parse(tool.operation.text)) == []


def test_directives_of_a_schema_reach_it(tried: Tried) -> None:
    sent = [tool.operation.text for tool in tried("shopify-storefront").tools]

    assert len(sent) == 16
    assert all("@inContext(" in text for text in sent)


def test_operations_that_only_a_page_can_answer_are_refused_for_their_directive(tried: Tried) -> None:
    refused = tried("vendure-admin").refused

    sentences = {file: [problem.sentence for problem in problems] for file, problems in refused.items()}
    unknown = "Unknown directive '@client': "
    assert sum(any(each.startswith(unknown) for each in those) for those in sentences.values()) == 16


@pytest.mark.parametrize("corpus", AS_FOUND)
def test_named_variant_turns_what_was_refused_for_its_name_into_tools(tried: Tried, corpus: str) -> None:
    found, named = tried(corpus), tried(f"{corpus}-named")

    for_its_name = found.refused_as(NO_NAME) + found.refused_as(SAME_NAME)
    assert for_its_name > 0
    assert len(named.tools) == len(found.tools) + for_its_name


def test_more_than_three_hundred_tools_are_made(tried: Tried) -> None:
    names = [tool.name for corpus in WITH_TOOLS for tool in tried(corpus).tools]

    assert len(names) > 300


def test_list_of_a_large_client_is_at_most_half_of_what_it_was(tried: Tried) -> None:
    listed = listed_entries(tried("vendure-admin").compiled)

    assert len(listed) == len(tried("vendure-admin").tools)
    assert len(to_json_bytes(listed)) <= 839_400 / 2


def test_one_tool_more_shortens_the_list_of_a_large_client_by_a_twentieth_at_most(tried: Tried) -> None:
    entries = [Entry(each) for each in local_entries(tried("vendure-admin").compiled)]
    for tokens in (LIST_BUDGET, LIST_BUDGET // 2, 4_000):
        before = 0
        for count in range(1, len(entries) + 1):
            size = len(Entries(short_list(entries[:count], tokens * BYTES_PER_TOKEN)).json)
            assert size >= 0.95 * before, (tokens, count)
            before = size


@pytest.mark.parametrize("corpus", SOURCE_OF)
def test_no_vendor_refuses_a_tool(tried: Tried, corpus: str) -> None:
    for tool in tried(corpus).tools:
        assert refusals(tool.entry["inputSchema"]) == [], tool.name
    for entry in bare_entries([Entry(tool.entry) for tool in tried(corpus).tools]):
        assert refusals(entry["inputSchema"]) == [], entry["name"]
