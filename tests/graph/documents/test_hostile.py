"""Documents that somebody wrote to break in or to break something: each is refused, or goes on within bounds.

The bounds are counts, which a slow machine does not change: tokens and nodes of what is sent, bytes of what is said,
and calls of functions for the work.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import Lexer, Source, TokenKind, Visitor, parse, visit
from graphql.validation.rules import overlapping_fields_can_be_merged
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.locations import DocumentText
from tests.graph.documents.test_limits import calls
from tests.graph.shop import HIDDEN, LIMITS, SDL, VIEW, WIDE, check
from tests.support.examples import FULL
from tests.support.schemas import schemas_of

MAX_NODES = 20_000
MAX_REFUSAL_BYTES = 10_000
MAX_ANSWER_BYTES = 200_000
MAX_CALLS = 2_000_000

SHARED = (
    " ".join(f"query A{n or ''}($a: JSON) {{ ...F }}" for n in range(120))
    + " fragment F on Query { echo(json: ["
    + "$a " * 800
    + "]) }"
)

REFUSED = {
    "alias bomb": ("{" + " ".join(f"a{n}: self {{ __typename }}" for n in range(500)) + "}", "max_aliases"),
    "fragment cycle": ("{ ...A } fragment A on Query { self { ...B } } fragment B on Query { ...A }", "spreads itself"),
    "deep nesting": ("{ self " * 100 + "{ __typename }" + "}" * 100, "max_depth"),
    "deep nesting within the tokens": ("{ self " * 2_400, "nested too deeply"),
    "deep nesting beyond all bounds": ("{ self " * 100_000, "characters"),
    "the same fields five hundred times": ("{" + "a{a{c}}" * 500 + "}", "max_fields"),
    "10,000 directives": ("{ __typename" + "@skip(if: true)" * 10_000 + "}", "tokens"),
    "10,000 unknown directives": ("{ __typename" + "@a" * 10_000 + "}", "tokens"),
    "a million tokens": ("{" + "a " * 1_000_000 + "}", "characters"),
    "a million punctuators": ("[" * 1_000_000, "characters"),
    "tokens within the characters": ("{" + "a " * 50_000 + "}", "tokens"),
    "a huge int": ("{ echo(int: " + "9" * 100_000 + ") }", "a number has too many digits"),
    "two fragments of a name, the first one huge": (
        "{...F} fragment F on Query {" + "self { self { __typename } }" * 500 + "} fragment F on Query { __typename }",
        "There can be only one fragment named 'F'.",
    ),
    "many operations that share a wide fragment with a mistake": (
        SHARED.replace("echo(", "ssn: echo(").replace("]) }", "]) ssn }"),
        "Cannot query field 'ssn'",
    ),
    "many operations that share a wide fragment, one of them with a mistake": (
        SHARED + "query B { payroll { total } }",
        "Cannot query field 'payroll'",
    ),
    "many operations that share a wide fragment, of which the one that is run lacks its variable": (
        SHARED.replace("query A($a: JSON)", "query A"),
        "Variable '$a' is not defined by operation 'A'",
    ),
    "a wide list in deep ones": ("{ echo(json: " + "[" * 150 + "1 " * 4_000 + "]" * 150 + ") }", "written out"),
    "a huge name": ("{ " + "x" * 100_000 + " }", "Cannot query field"),
    "a huge string as an enum": ('{ employees(order: "' + "x" * 100_000 + '") { id } }', "cannot represent"),
    "half of a surrogate pair": ('{ echo(string: "\\uD83D") }', "Invalid Unicode escape"),
    "an escape of a name": ("{ employee(id: 1) { \\u0073sn } }", "Syntax Error"),
    "a name of look-alikes": ("{ employee(id: 1) { ѕѕn } }", "Syntax Error"),
    "__schema nested": (
        "{ __schema { types { " + "fields { type { " * 12 + "name" + "} }" * 12 + "} } }",
        "levels below fields of introspection",
    ),
    "__schema in its own introspection": (
        "{ __schema { queryType { __schema { types { name } } } } }",
        "Cannot query field",
    ),
    "_service": ("{ _service { sdl } }", "Cannot query field '_service'"),
    "_entities": (
        '{ _entities(representations: [{__typename: "Employee", id: 1}]) { ... on Employee { ssn } } }',
        "Cannot query field '_entities'",
    ),
    "a hidden field by an interface": ("{ node(id: 1) { ... on Person { address } } }", "Cannot query field 'address'"),
    "a hidden field by a union": ('{ search(text: "") { ... on Employee { ssn } } }', "Cannot query field 'ssn'"),
    "a hidden type by a union": ('{ search(text: "") { ... on Payroll { total } } }', "Unknown type 'Payroll'"),
    "a hidden field by a fragment": (
        "{ employee(id: 1) { ...F } } fragment F on Employee { salary }",
        "Cannot query field 'salary'",
    ),
    "a hidden field by a fragment on an interface": (
        "{ employee(id: 1) { ...F } } fragment F on Person { address }",
        "Cannot query field 'address'",
    ),
    "@skip around a hidden field": (
        "{ employee(id: 1) { id ... @skip(if: true) { ssn } } }",
        "Cannot query field 'ssn'",
    ),
    "@include around a hidden field": (
        "query($n: Boolean = false) { employee(id: 1) { id ...F @include(if: $n) } } fragment F on Employee { ssn }",
        "Cannot query field 'ssn'",
    ),
    "@skip around introspection beside data": (
        "query($n: Boolean = true) { self { __typename } __schema @skip(if: $n) { types { name } } }",
        "cannot stand beside",
    ),
    "a variable of a hidden input type": ("query($p: Payroll) { echo(json: $p) }", "Unknown type 'Payroll'"),
    "a hidden input field in a default": (
        "query($w: EmployeeFilter = {and: [{salaryGt: 1}]}) { employees(where: $w) { id } }",
        "unknown field 'salaryGt'",
    ),
    "duplicate operation names": (
        "query A { self { __typename } } query A { employee(id: 1) { ssn } }",
        'several operations named "A"',
    ),
    "several operations without a name": ("query A { __typename } query B { __typename }", "name one in operationName"),
    "a hidden field in another operation": (
        "query A { __typename } query B { employee(id: 1) { ssn } }",
        "Cannot query field 'ssn'",
    ),
    "an upstream directive": ('{ employees @sort(by: "salary") { id } }', "Unknown directive '@sort'"),
    "an upstream directive on a variable": (
        'query($a: Int @export(as: "salary")) { echo(int: $a) }',
        "Unknown directive '@export'",
    ),
    "rows without end": ("{ employees(first: 2147483647) { id } }", "max_cost"),
    "rows of rows": ("{ employees(first: 70) { reports { reports { id } } } }", "max_cost"),
    "an argument of many mistakes": (
        "{ employees(where: {and: [" + "{salaryGt: 1}" * 900 + "]}) { id } }",
        "unknown field 'salaryGt'",
    ),
    "subscriptions": ("subscription { hired { ssn } }", "subscriptions are not supported"),
    "a schema definition": ("query A { __typename } extend type Employee { ssn: String }", "not executable"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_hostile_document_is_refused_in_bounds(what: str) -> None:
    text, reason = REFUSED[what]
    name = "A" if "query A" in text and "without" not in what else None
    refusals: list[DocumentRefused] = []

    def work() -> None:
        try:
            check(text, operation_name=name)
        except DocumentRefused as refusal:
            refusals.append(refusal)

    assert calls(work) < MAX_CALLS
    (refusal,) = refusals
    assert reason in str(refusal)
    assert len(str(refusal).encode()) < MAX_REFUSAL_BYTES
    assert refusal.sdl == "" or not any(word in refusal.sdl for word in ("ssn", "salary", "Payroll", "fire"))


@pytest.mark.parametrize("others", ["", " query B { __typename }"])
def test_one_operation_that_takes_too_much_work_is_refused(others: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = 500
    if not FULL:  # graphql-core compares each field with each other one
        fields = 160
        monkeypatch.setattr(overlapping_fields_can_be_merged, "MAX_COMPLEXITY_BUDGET", 50_000)
    text = "query A {" + "self{self{__typename}}" * fields + "}" + others

    with pytest.raises(DocumentRefused, match="it takes too much work to be judged: ask for less"):
        check(text, operation_name="A", limits=WIDE)


SENT = {
    "many operations that share a wide fragment": SHARED,
    "a huge string": '{ echo(string: "' + "x" * 190_000 + '") }',
    "a huge block string": '{ echo(string: """' + "words " * 5 * 5_000 + '""") }',
    "a huge float": "{ echo(float: 1" + "0" * 100_000 + ".0e9) }",
    "unicode escapes": '{ echo(string: "\\u0073\\u{1F600}\\uD83D\\uDE00\\u0000") }',
    "control characters in a string": '{ echo(string: "\\u0007\\u202e") }',
    "several operations with a name": "query A { employee(id: 1) { id } } query B { self { __typename } }",
    "a name and several fragments": "query A { ...F } query B { ...F } fragment F on Query { self { __typename } }",
    "the widest of every limit": "{" + " ".join(f"a{n}: employee(id: 1) {{ id name }}" for n in range(20)) + "}",
    "a long list": "{ echo(json: [" + "1 " * 4_900 + "]) }",
    "comments and commas": "{ __typename" + ",,,\n" * 40_000 + "\n}",
}


@pytest.mark.parametrize("what", SENT)
def test_what_is_sent_has_no_more_than_came_and_stays_in_bounds(what: str) -> None:
    text = SENT[what]
    sent: list[str] = []

    assert calls(lambda: sent.append(check(text, operation_name="A" if "query A" in text else None).text)) < MAX_CALLS
    assert tokens_of(sent[0]) <= min(tokens_of(text), LIMITS.max_tokens)
    assert nodes_of(sent[0]) < MAX_NODES
    assert len(sent[0].encode()) <= len(text.encode()) + 20 * nodes_of(sent[0])
    assert "query B" not in sent[0]


ANSWERED = {
    "every type with everything": "{ __schema { types { name fields { args { type { name } } type { name } } } } }",
    "aliases of types": "{" + " ".join(f'a{n}: __type(name: "Query") {{ fields {{ name }} }}' for n in range(20)) + "}",
    "many fields of every type": "{ __schema { types { " + " ".join(f"a{n}: name" for n in range(400)) + "} } }",
    "types within types": "{ __schema { types { fields { type { fields { type { name } } } } } } }",
}


BREAKS = "\n" * 900
WIDE_SDL = (
    "type Query { colours(of: [Colour]): Int "
    + " ".join(f"external{number}Repository: Int" for number in range(600))
    + " } enum Colour { "
    + " ".join(f"SHADE_{number}_OF_REPOSITORY" for number in range(600))
    + " }"
)
WIDE_VIEW = schemas_of(WIDE_SDL)
MANY_MISTAKES = {
    "fields that a wide root lacks": "{"
    + BREAKS.join(f"external{number}Repositories" for number in range(1_000, 1_190))
    + "}",
    "values that a wide enum lacks": "{ colours(of: ["
    + BREAKS.join(f"SHADE_{number}_OF_REPOSITORIES" for number in range(1_000, 1_190))
    + "]) }",
    "types that there are not": "{"
    + BREAKS.join(f"... on External{number}Type {{ a }}" for number in range(1_000, 1_190))
    + "}",
}


@pytest.mark.parametrize("what", MANY_MISTAKES)
def test_many_mistakes_among_many_lines_take_no_more_work_than_few(what: str) -> None:
    """Ten are told, each with the nearest names, whatever else there is."""
    refusals: list[DocumentRefused] = []

    def work() -> None:
        with pytest.raises(DocumentRefused) as caught:
            check(MANY_MISTAKES[what], schemas=WIDE_VIEW)
        refusals.append(caught.value)

    assert calls(work) < MAX_CALLS
    assert refusals[0].faults[-1].message == "and more"


@settings(deadline=None)
@given(st.text(alphabet="ab\r\n\u2028\f", max_size=30))
def test_places_are_those_of_graphql_core(text: str) -> None:
    for position in range(len(text) + 1):
        assert DocumentText(text).get_location(position) == Source(text).get_location(position)


@pytest.mark.parametrize("what", ANSWERED)
def test_questions_for_the_schema_are_answered_in_bounds_and_never_sent(what: str) -> None:
    answers: list[Any] = []

    def work() -> None:
        checked = check(ANSWERED[what])
        answers.append(answer_introspection(checked, VIEW))

    assert calls(work) < MAX_CALLS
    assert len(json.dumps(answers[0]).encode()) < MAX_ANSWER_BYTES
    assert not any(
        f'"{name}"' in json.dumps(answers[0]) for name in ("ssn", "salary", "salaryGt", "SALARY", "Payroll", "fire")
    )


def tokens_of(text: str) -> int:
    lexer, count = Lexer(Source(text)), 0
    while lexer.advance().kind is not TokenKind.EOF:
        count += 1
    return count


def nodes_of(text: str) -> int:
    class Counter(Visitor):
        count = 0

        def enter(self, *_: object) -> None:
            self.count += 1

    counter = Counter()
    visit(parse(text), counter)
    return counter.count


# Reads stay reads.

READS = schemas_of(SDL, HIDDEN | {"Mutation.rename"})

WRITES = (
    'mutation { rename(id: 1, name: "x") { id } }',
    'mutation M { rename(id: 1, name: "x") { id } } query Q { self { __typename } }',
    "mutation { __typename }",
    "mutation { ...F } fragment F on Query { self { __typename } }",
    'query Q { ...F } fragment F on Mutation { rename(id: 1, name: "x") { id } }',
    'query Q { ... on Mutation { rename(id: 1, name: "x") { id } } }',
    'query Q { rename(id: 1, name: "x") { id } }',
    'query Q { self { ... on Mutation { rename(id: 1, name: "x") { id } } } }',
    'query Q { rename: self { __typename } } mutation Q { rename(id: 1, name: "x") { id } }',
    "mutation { __schema { queryType { name } } }",
    'query Q { __typename } mutation M { rename(id: 1, name: "x") { id } }',
)


@pytest.mark.parametrize("text", WRITES)
@pytest.mark.parametrize("name", [None, "", "M", "Q"])
def test_view_of_queries_alone_sends_no_mutation(text: str, name: str | None) -> None:
    with pytest.raises(DocumentRefused):
        check(text, schemas=READS, operation_name=name)


def test_view_of_both_sends_what_was_chosen_as_what_it_is() -> None:
    both = 'query Q { self { __typename } } mutation M { rename(id: 1, name: "x") { id } }'

    assert [check(both, operation_name=name).kind for name in ("Q", "M")] == ["query", "mutation"]
    assert check(both, operation_name="Q").text.startswith("query Q")
    assert "mutation" not in check(both, operation_name="Q").text
