"""What a refusal tells a model to do about it, and that none of it comes from what is hidden."""

from __future__ import annotations

import re
from typing import Any

import pytest
from graphql import GraphQLObjectType, build_schema
from hypothesis import given, settings

from handler.errors.calls import DocumentRefused
from handler.graph.documents.hints import MAX_SDL_BYTES
from handler.graph.sdl import print_view
from tests.graph.documents.random_documents import random_document
from tests.graph.random_schemas import random_sdl
from tests.graph.shop import SDL, VIEW, WIDE, check
from tests.support.examples import examples, seeded
from tests.support.schemas import schemas_of


def refused(text: str, variables: dict[str, Any] | None = None, **options: Any) -> DocumentRefused:
    """The refusal of a document; it must be refused."""
    with pytest.raises(DocumentRefused) as caught:
        check(text, variables, **options)
    return caught.value


EMPLOYEE = (
    "type Employee implements Person & Node {\n"
    "  id: ID!\n  name: String!\n  manager: Employee\n  reports: [Employee!]!\n}"
)
FILTER = "input EmployeeFilter {\n  name: String\n  ages: [Int!]\n  and: [EmployeeFilter!]\n  json: JSON\n}"
ORDER = "enum Order {\n  NAME\n}"
NODE_FIELD = "type Query {\n  node(id: ID!): Node\n  # and 5 more\n}"

HINTS = {
    "a field": ("{ employee(id: 1) { nmae } }", "Did you mean name?", EMPLOYEE),
    "a field that is near to none": ("{ employee(id: 1) { turnover } }", "", EMPLOYEE),
    "a field of a type below an interface": (
        "{ node(id: 1) { reports { id } } }",
        "Ask for it in ... on Employee.",
        "interface Node {\n  id: ID!\n}",
    ),
    "a field of members of a union": (
        '{ search(text: "") { name } }',
        "Ask for it in ... on Customer or ... on Employee.",
        "union Found = Customer | Employee",
    ),
    "an argument": ("{ node(di: 1) { id } }", "Did you mean id?", NODE_FIELD),
    "a required argument": ("{ node { id } }", "", NODE_FIELD),
    "a type": ("{ node(id: 1) { ... on Employe { id } } }", "Did you mean Employee?", ""),
    "a variable's type": (
        "query($x: EmployeFilter) { employees(where: $x) { id } }",
        "Did you mean EmployeeFilter or Employee?",
        "",
    ),
    "fields that are missing": ("{ employee(id: 1) }", "Did you mean 'employee { ... }'?", EMPLOYEE),
    "an input field": ("{ employees(where: {nam: 1}) { id } }", "Did you mean name or and?", FILTER),
    "an input object": ("{ employees(where: 1) { id } }", "", FILTER),
    "an enum value": ("{ employees(order: NAM) { id } }", "Did you mean NAME?", ORDER),
    "an enum's kind": ('{ employees(order: "NAME") { id } }', "", ORDER),
}


@pytest.mark.parametrize("what", HINTS)
def test_refusal_shows_the_nearest_names_and_the_type_that_was_wrong(what: str) -> None:
    text, sentence, sdl = HINTS[what]

    refusal = refused(text)

    assert refusal.faults[0].message.endswith(sentence)
    assert ("Did you mean" in refusal.faults[0].message) == ("Did you mean" in sentence)
    assert refusal.sdl == sdl
    assert str(refusal) == "The GraphQL request was refused: " + "; ".join(map(str, refusal.faults)) + (
        f"\n\nUsable parts of the types that it got wrong:\n\n{sdl}" if sdl else ""
    )


@pytest.mark.parametrize(
    ("text", "value", "sentence", "sdl"),
    [
        (
            "query($v: EmployeeFilter) { employees(where: $v) { id } }",
            {"and": [{"nam": 1}]},
            "Did you mean name or and?",
            FILTER,
        ),
        ("query($v: EmployeeFilter) { employees(where: $v) { id } }", 7, "", FILTER),
        ("query($v: Order) { employees(order: $v) { id } }", "NMAE", "Did you mean NAME?", ORDER),
        ("query($v: Order) { employees(order: $v) { id } }", 7, "", ORDER),
        ("query($v: Int) { echo(int: $v) }", "x", "", ""),
    ],
)
def test_hints_for_variables_are_those_for_literals(text: str, value: Any, sentence: str, sdl: str) -> None:
    refusal = refused(text, {"v": value})

    assert refusal.faults[0].message.endswith(sentence)
    assert ("Did you mean" in refusal.faults[0].message) == bool(sentence)
    assert refusal.sdl == sdl


def test_required_argument_of_an_input_object_shows_that_too() -> None:
    schemas = schemas_of("type Query { a(in: In!, x: Int): Int b: Int } input In { y: Int! }")

    assert refused("{ a }", schemas=schemas).sdl == (
        "type Query {\n  a(in: In!, x: Int): Int\n  # and 1 more\n}\n\ninput In {\n  y: Int!\n}"
    )
    assert refused("{ a(in: {}) }", schemas=schemas).sdl == "input In {\n  y: Int!\n}"


def test_one_of_input_objects_are_shown() -> None:
    schemas = schemas_of("type Query { a(in: In): Int } input In @oneOf { y: Int z: Int }")

    assert refused("{ a(in: {y: 1, z: 2}) }", schemas=schemas).sdl == "input In @oneOf {\n  y: Int\n  z: Int\n}"
    text = "query($v: In) { a(in: $v) }"
    assert refused(text, {"v": {"y": 1, "z": 2}}, schemas=schemas).sdl == "input In @oneOf {\n  y: Int\n  z: Int\n}"


def test_each_type_is_shown_once() -> None:
    refusal = refused("{ employee(id: 1) { nmae manager { nam } } node(di: 1) { x } }")

    assert refusal.sdl.count("type Employee ") == 1
    assert len(re.findall(r"^(type|interface) (\w+)", refusal.sdl, re.MULTILINE)) == 3


def test_types_are_shown_within_a_bound() -> None:
    fields = " ".join(f'"""{"what it is " * 20}""" field{number}(argument: Int): Int' for number in range(1_000))
    schemas = schemas_of(f"type Query {{ {fields} }} type Mutation {{ {fields} }}")

    refusal = refused("query A { x } mutation B { x }", schemas=schemas, operation_name="A")

    assert len(refusal.sdl.encode()) <= MAX_SDL_BYTES + 30  # the comment
    assert re.findall(r"^type (\w+) \{\n  field0\(argument: Int\): Int$", refusal.sdl, re.MULTILINE) == [
        "Query",
        "Mutation",
    ]
    assert len(re.findall(r"^  # and 9\d\d more$", refusal.sdl, re.MULTILINE)) == 2
    assert "what it is" not in refusal.sdl


def test_members_that_are_near_to_the_wrong_names_come_first_where_not_all_fit() -> None:
    fields = " ".join(f"field{number}(argument: Int): Int" for number in range(1_000))
    schemas = schemas_of(
        f"type Query {{ {fields} orderByNumber(number: Int!): Int customers: Int small: Small }}"
        " type Small { id: ID! }"
    )

    sdl = refused("{ field77x getOrder customerList small { idd } }", schemas=schemas).sdl

    first = sdl.split("\n")[1:4]
    assert {line.strip().partition("(")[0] for line in first} == {"field77", "orderByNumber", "customers: Int"}
    assert sdl.endswith("type Small {\n  id: ID!\n}")


def test_names_of_any_length_are_answered_at_once() -> None:
    assert "Did you mean" not in str(refused("{ " + "x" * 50_000 + " }"))


def test_words_of_the_caller_give_no_hints_of_their_own() -> None:
    """A value that reads like graphql-core's own error names nothing that is not visible all the same."""
    claims = "Cannot query field 'ssn' on type 'Payroll'."

    refusal = refused('{ echo(int: "' + claims + '") }')

    assert refusal.sdl == ""
    assert "Did you mean" not in str(refusal)


# A hidden name is answered as one that does not exist.

NEVER_THERE = schemas_of(
    re.sub(r"union Found = .*", "union Found = Customer | Employee", SDL)
    .replace("  payroll: Payroll\n", "")
    .replace(" fire(id: ID!): Employee", "")
    .replace("name: String! address: String ssn: String! salary: Float!", "name: String!")
    .replace(
        "id: ID! name: String! address: String manager: Person }\ntype Employee",
        "id: ID! name: String! manager: Person }\ntype Employee",
    )
    .replace("type Payroll { total: Float! }\n", "")
    .replace(" salaryGt: Float", "")
    .replace("{ NAME SALARY }", "{ NAME }")
)


def test_schema_without_what_is_hidden_is_the_view() -> None:
    """What the tests below are worth."""
    assert NEVER_THERE.view.members == VIEW.view.members


PROBES = (
    "{ employee(id: 1) { %s } }",
    "{ employee(id: 1) { %s { id } } }",
    "{ node(id: 1) { ... on Person { %s } } }",
    '{ search(text: "") { ... on %s { total } } }',
    "{ %s { total } }",
    "mutation { %s(id: 1) { id } }",
    "{ employees(where: {%s: 5}) { id } }",
    "{ employees(order: %s) { id } }",
    "query($v: %s) { echo(json: $v) }",
    "query($v: [%s!]! = 1) { echo(json: $v) }",
    "{ employee(%s: 1) { id } }",
    '{ __type(name: "%s") { name } }',
)
NAMES = (
    "payroll",
    "Payroll",
    "fire",
    "ssn",
    "salary",
    "address",
    "salaryGt",
    "SALARY",
    "salarys",
    "Payrol",
    "ssm",
    "total",
)


@pytest.mark.parametrize("probe", PROBES)
def test_hidden_name_is_refused_byte_for_byte_as_one_that_never_existed(probe: str) -> None:
    for name in NAMES:
        outcomes = [_outcome(probe % name, schemas) for schemas in (VIEW, NEVER_THERE)]
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("value", [{"salaryGt": 1}, {"and": [{"salaryGt": 1}]}, {"salary": 1}])
def test_hidden_name_in_a_variable_is_refused_as_one_that_never_existed(value: Any) -> None:
    text = "query($v: EmployeeFilter) { employees(where: $v) { id } }"

    assert str(refused(text, {"v": value})) == str(refused(text, {"v": value}, schemas=NEVER_THERE))


@settings(max_examples=examples(120), derandomize=True, deadline=None, database=None)
@given(seeded())
def test_random_documents_are_refused_as_where_what_is_hidden_never_existed(random: Any) -> None:
    """The documents are written by somebody who knows the whole schema."""
    schema = build_schema(random_sdl(random))
    hideable = sorted(
        f"{type_.name}.{name}"
        for type_ in schema.type_map.values()
        if isinstance(type_, GraphQLObjectType) and not type_.name.startswith("__")
        for name in type_.fields
    )
    view = schemas_of(schema, set(random.sample(hideable, random.randint(1, 3))))
    if "query" not in view.view.root_fields():
        return
    without = schemas_of(_only(view))

    for _ in range(5):
        text = random_document(schema, random, mistakes=0.05)
        assert _outcome(text, view) == _outcome(text, without)


def _only(view: Any) -> str:
    """The SDL of a view: a schema in which nothing else ever existed."""

    return print_view(view.view)


def _outcome(text: str, schemas: Any) -> str:
    try:
        return check(text, schemas=schemas, limits=WIDE).text
    except DocumentRefused as refusal:
        return str(refusal)
