"""The API's own directives for requests: who sees them, who may use them, and how an author hides them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from handler.compiler.schema.coordinates import FORMS
from tests.support.api import Api, Reply, running_api
from tests.support.endpoints import PUBLIC, compiled, doubted, reported
from tests.support.function import Function, running_function

SDL = """
schema @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}%s]) { query: Query }
\"\"\"
Answers as in one country.
\"\"\"
directive @inContext(country: Country = US, salaryGt: Int) on QUERY | MUTATION | OBJECT
directive @upper on FIELD | FRAGMENT_SPREAD
directive @only(region: Region!) repeatable on INLINE_FRAGMENT | VARIABLE_DEFINITION
directive @defer(label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
directive @live on QUERY
directive @marked on FIELD_DEFINITION
enum Country { US DE }
enum Region { NORTH SOUTH }
type Query { product(id: ID): Product staff: [Employee] }
type Product { title: String }
type Employee { name: String salary: Int }
"""
ACCESS = (
    PUBLIC.replace("    - {type: Mutation, policyDefault: {condition: true}}\n", "") + "  hide: [Employee.salary%s]\n"
)

SHOWN = '''\
"""Answers as in one country."""
directive @inContext(country: Country = US) on QUERY | MUTATION

directive @upper on FIELD | FRAGMENT_SPREAD

directive @only(region: Region!) repeatable on FIELD | VARIABLE_DEFINITION
'''.replace("on FIELD | VARIABLE", "on INLINE_FRAGMENT | VARIABLE")


def files(*, patterns: str = "", hide: str = "", more: str = "") -> dict[str, str]:
    config = (ACCESS % hide) + more
    return {"index.graphql": SDL % patterns, "config.yaml": config}


@contextmanager
def served(folder: Path, api: Api, *, patterns: str = "", hide: str = "", **operations: str) -> Iterator[Function]:
    written = files(patterns=patterns, hide=hide, more=f'upstream: {{url: "{api.url}"}}\n')
    written |= {f"operations/{name}.graphql": text for name, text in operations.items()}
    with running_function(compiled(folder, written)) as function:
        yield function


def test_model_is_shown_the_directives_that_a_request_may_carry(tmp_path: Path) -> None:
    with running_api() as api, served(tmp_path, api) as function:
        (entry,) = function.request("tools/list").result["tools"]

    assert SHOWN in entry["inputSchema"]["properties"]["query"]["description"]


@pytest.mark.parametrize(
    "document",
    [
        "query ($id: ID @only(region: NORTH)) @inContext(country: DE) { product(id: $id) { title @upper } }",
        "query ($c: Country) @inContext(country: $c) { product { ...@only(region: NORTH)@only(region: SOUTH){title}}}",
        "query { product { ...F @upper } } fragment F on Product { title }",
    ],
)
def test_request_with_directives_of_the_api_is_sent_with_them(tmp_path: Path, document: str) -> None:
    with running_api() as api, served(tmp_path, api) as function:
        answer = function.query("ask", document)
        (asked,) = api.asked

    assert "isError" not in answer.result, answer.text
    assert asked.json["query"].count("@") == document.count("@")


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (
            "query @inContext(salaryGt: 90000) { product { title } }",
            "Unknown argument 'salaryGt' on directive '@inContext'.",
        ),
        ("query @inContext(country: XX) { product { title } }", "Value 'XX' does not exist in 'Country' enum."),
        ("{ product { title @inContext } }", "Directive '@inContext' may not be used on field."),
        ("{ product { title @upper @upper } }", "The directive '@upper' can only be used once at this location."),
        ("{ product { ... @only { title } } }", "Argument '@only(region:)' of type 'Region!' is required"),
        ("{ product { ... @defer { title } } }", "Unknown directive '@defer'."),
        ("query @live { product { title } }", "Unknown directive '@live'."),
        ("{ product { title @marked } }", "Unknown directive '@marked'."),
        ("{ product { title @cached } }", "Unknown directive '@cached'."),
    ],
)
def test_what_a_request_may_not_carry_is_refused(tmp_path: Path, document: str, refused: str) -> None:
    with running_api() as api, served(tmp_path, api) as function:
        answer = function.query("ask", document)

        assert answer.result["isError"] is True
        assert refused in answer.text
        assert api.asked == []


@pytest.mark.parametrize(
    ("patterns", "hide", "left"),
    [
        ("", ", '@inContext'", ["@upper", "@only"]),
        ("", ", '@upper', '@only'", ["@inContext"]),
        ("", ", '@only(region:)'", ["@inContext", "@upper"]),
        ("", ", Region", ["@inContext", "@upper"]),
        (', {expose: false, types: "@", fields: "upper"}', "", ["@inContext", "@only"]),
        (', {expose: false, types: "@", fields: ".*"}', "", []),
        (', {expose: false, types: "@", fields: ".*"}, {expose: true, types: "@", fields: "only"}', "", ["@only"]),
    ],
)
def test_author_hides_directives_by_coordinate_and_by_pattern(
    tmp_path: Path, patterns: str, hide: str, left: list[str]
) -> None:
    uses = {
        "@inContext": "query @inContext { product { title } }",
        "@upper": "{ product { title @upper } }",
        "@only": "{ product { ... @only(region: NORTH) { title } } }",
    }
    with running_api() as api, served(tmp_path, api, patterns=patterns, hide=hide) as function:
        texts = {name: function.query("ask", text).text for name, text in uses.items()}

    assert [name for name, text in texts.items() if "refused" not in text] == left
    assert {texts[name] for name in uses if name not in left} == {
        f"The GraphQL request was refused: {place}: Unknown directive '{name}'."
        for name, place in {"@inContext": "1:7", "@upper": "1:19", "@only": "1:17"}.items()
        if name not in left
    }


def test_directive_without_its_guarded_argument_is_left(tmp_path: Path) -> None:
    with running_api() as api, served(tmp_path, api, hide=", '@inContext(country:)'") as function:
        (entry,) = function.request("tools/list").result["tools"]

    assert "directive @inContext on QUERY | MUTATION" in entry["inputSchema"]["properties"]["query"]["description"]


def test_argument_that_names_a_hidden_field_is_hidden_where_mutations_alone_return_its_type(tmp_path: Path) -> None:
    sdl = SDL.replace("query: Query }", "query: Query mutation: Mutation }").replace(" staff: [Employee]", "")
    written = files() | {"index.graphql": sdl % "" + "type Mutation { hire: Employee }"}

    assert "@inContext(salaryGt:)" in compiled(tmp_path, written).bundle.guards


def test_argument_that_names_a_hidden_field_comes_back_by_its_coordinate(tmp_path: Path) -> None:
    written = files(more='  show: ["@inContext(salaryGt:)"]\n')

    assert "@inContext(salaryGt:)" in compiled(tmp_path / "plain", files()).bundle.guards
    assert "@inContext(salaryGt:)" not in compiled(tmp_path / "shown", written).bundle.guards


def test_operation_that_uses_a_hidden_directive_cannot_be_called(tmp_path: Path) -> None:
    written = files(hide=", '@upper'") | {"operations/o.graphql": "query O @mcpTool { product { title @upper } }"}

    assert 'uncallable-tool: "O"' in doubted(tmp_path, written)


@pytest.mark.parametrize(
    ("hide", "problem"),
    [
        (
            "'@inContxt'",
            'unknown-coordinate: "@inContxt" & did you mean inContext?',
        ),
        ("'@marked'", 'unknown-coordinate: "@marked"'),
        ("'@only(reg:)'", 'unknown-coordinate: "@only(reg:)" & "@only" & "reg" & did you mean region?'),
        ("'@only.region'", f'unknown-coordinate: "@only.region" & {FORMS}'),
    ],
)
def test_coordinate_of_no_directive_is_reported(tmp_path: Path, hide: str, problem: str) -> None:
    (line,) = reported(tmp_path, files(hide=f", {hide}"))

    assert line == problem


def test_introspection_lists_the_visible_directives(tmp_path: Path) -> None:
    with running_api() as api, served(tmp_path, api, hide=", '@upper'") as function:
        answer = function.query("ask", "{ __schema { directives { name args { name } } } }")

    assert '{"name":"inContext","args":[{"name":"country"}]}' in answer.text
    assert "upper" not in answer.text


ANYBODY = "access:\n  anonymous: allow\n  policies: [{type: Query, policyDefault: {condition: true}}]\n"
STEPZEN = {
    "stepzen.config.json": '{"endpoint": "api/things"}',
    "index.graphql": 'schema @sdl(files: ["p.graphql"]) { query: Query }',
    "p.graphql": "type Query { products: [Product] } type Product { title: String }",
}


def test_requests_in_a_stepzen_project_may_carry_its_directive(tmp_path: Path) -> None:
    document = "{ products @sort { title } }"
    with running_api(lambda _: Reply({"data": {"products": []}})) as api:
        for place, files in (("stepzen", STEPZEN), ("other", {**STEPZEN, "stepzen.config.json": ""})):
            written = {name: text for name, text in files.items() if text}
            written["config.yaml"] = f'{ANYBODY}graphql: on\nupstream: {{url: "{api.url}"}}\n'
            with running_function(compiled(tmp_path / place / "api" / "things", written)) as function:
                answers = [function.query("api-things", document), function.graphql({"query": document})]
            is_stepzen = place == "stepzen"
            assert [b"Unknown directive '@sort'" not in each.body for each in answers] == [is_stepzen] * 2
        assert [json.loads(each.body)["query"] for each in api.asked] == [
            "{\n  products @sort {\n    title\n  }\n}"
        ] * 2


def test_stepzen_project_may_hide_or_define_the_directive_itself(tmp_path: Path) -> None:
    with running_api() as api:
        for place, more, config in (
            ("hidden", "", '  hide: ["@sort"]\n'),
            ("defined", " directive @sort(by: String!) on FIELD", ""),
        ):
            files = {
                **STEPZEN,
                "p.graphql": STEPZEN["p.graphql"] + more,
                "config.yaml": f'{ANYBODY}{config}upstream: {{url: "{api.url}"}}\n',
            }
            with running_function(compiled(tmp_path / place, files)) as function:
                assert "isError" in function.query("api-things", "{ products @sort { title } }").result
        assert api.asked == []
