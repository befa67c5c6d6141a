"""What a document touches is enough: graphql-core says of it what it says with the whole view, word for word."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from graphql import DocumentNode, GraphQLObjectType, GraphQLSchema, build_schema, get_variable_values, parse, validate
from hypothesis import given, settings

from handler.graph.documents.partial_schema import (
    MAX_DOCUMENTS,
    MAX_KEPT_CHARS,
    MAX_SCHEMAS,
    ValidDocument,
    ViewSchemas,
)
from handler.graph.sdl import print_view
from tests.graph.documents.random_documents import random_document
from tests.graph.random_schemas import coordinates_of, random_sdl
from tests.graph.shop import HIDDEN, LIMITS, SDL
from tests.support.examples import examples, seeded
from tests.support.schemas import schema_of_sdl, schemas_of

SHOP = schemas_of(SDL, HIDDEN)
WHOLE = schema_of_sdl(print_view(SHOP.view))


def told(schema: GraphQLSchema, document: DocumentNode) -> list[object]:
    """Every error, with its place."""
    errors = validate(schema, document, max_errors=100, hide_suggestions=True)
    return [(error.message, error.locations) for error in errors]


def with_query_type(schema: GraphQLSchema) -> GraphQLSchema:
    """The schema, with an empty query type where it has none: without one, nothing is looked up for queries."""
    if schema.query_type:
        return schema
    parts = schema.to_kwargs()
    parts["query"] = GraphQLObjectType("Query", {})
    parts["assume_valid"] = True
    return GraphQLSchema(**parts)


def same(schemas: ViewSchemas, whole: GraphQLSchema, text: str) -> int:
    """How many errors there are; they have to be the same."""
    document = parse(text)
    expected = told(whole, document)
    assert told(schemas.touched_by(document), document) == expected, text
    return len(expected)


BY_HAND = {
    "valid": ("{ employees(where: {and: [{name: 1}]}) { id } }".replace("1", '"x"'), 0),
    "nothing but __typename": ("{ __typename }", 0),
    "a fragment below an unknown field": (
        "{ nothing { ... on Employee { name nothing } ...F } } fragment F on Node { id x }",
        3,
    ),
    "a fragment below an unknown type": ("{ self { ... on Nothing { ... on Employee { x } self { y } } } }", 2),
    "fragments without a type below unknown fields": ("{ nothing { ... { id ... on Employee { x } } } }", 2),
    "an interface on an interface that share an object": ("{ node(id: 1) { ... on Person { name } } }", 0),
    "an interface on one that shares none": ("{ node(id: 1) { ... on Query { self { __typename } } } }", 1),
    "an interface on a union": ('{ search(text: "") { ... on Person { name ... on Node { id } } } }', 0),
    "a union on an interface": ("{ node(id: 1) { ...F } } fragment F on Found { ... on Customer { orders } }", 0),
    "an object on another one": ("{ employee(id: 1) { ... on Customer { orders } } }", 1),
    "an object that is no member": ('{ search(text: "") { ... on Query { __typename } } }', 1),
    "a hidden member of a union": ('{ search(text: "") { ... on Payroll { total } } }', 1),
    "fragments on inputs, enums and scalars": (
        "{ ... on Order { x } ...F ...G } fragment F on JSON { x } fragment G on EmployeeFilter { name }",
        3,
    ),
    "a type that the view does not use": ("query($f: Float, $x: Boolean, $d: Decimal) { echo(float: $f, yes: $x) }", 2),
    "fields of leafs, and composites without fields": ("{ employee(id: 1) { name { x } manager } self }", 3),
    "fields of unions": ('{ search(text: "") { id __typename } }', 1),
    "wrong variables": (
        "query($a: Employee, $b: Nothing, $c: [Order!], $d: ID) { employees(order: $c) { id } node(id: $d) { id } }",
        6,
    ),
    "wrong literals": (
        '{ echo(int: "1", float: [1], string: 1, id: 1.5, yes: 1, filter: 3) employees(order: NOTHING) { id } }',
        7,
    ),
    "nested input objects": ("{ employees(where: {and: [{and: {nothing: 1, ages: [null]}}]}) { id } }", 2),
    "unused fragments": ("{ __typename } fragment F on Employee { manager { x } } fragment G on Nothing { a }", 4),
    "fields that cannot be merged": (
        "{ a: employee(id: 1) { id } a: employee(id: 2) { id } b: self { __typename } b: node(id: 1) { id } }",
        2,
    ),
    "the same key for different types": (
        '{ search(text: "") { ... on Employee { x: manager { id } } ... on Customer { x: orders } } }',
        1,
    ),
    "required arguments": ("{ employee { id } node(nothing: 1) { id } search { __typename } }", 4),
    "introspection": (
        "{ __schema { types { nothing } } __type { name } __type(name: 1) { fields(x: 1) { name } } }",
        5,
    ),
    "fragments on the types of introspection": (
        "{ __schema { types { ...T } } } fragment T on __Type { name x } fragment U on __Nothing { a }",
        3,
    ),
    "introspection below another field": (
        "{ self { __schema { types { name } } } employee(id: 1) { __schema { types { name } } }}",
        1,
    ),
    "directives": ("query @skip(if: true) { self @include @nothing { __typename @skip(if: 1) @deprecated } }", 5),
    "operations that there are none of": ("subscription { hired { id } } query Q { __typename }", 2),
    "a definition that is no request": ("{ __typename } type Employee { x: Nothing } extend type Query { y: Int }", 3),
    "cycles": ("{ ...F } fragment F on Query { self { ...G } } fragment G on Query { ...F }", 1),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_errors_are_those_of_the_whole_view(name: str) -> None:
    text, errors = BY_HAND[name]

    assert same(SHOP, WHOLE, text) == errors


@settings(max_examples=examples(250, share=8), derandomize=True, deadline=None, database=None)
@given(seeded())
def test_errors_of_random_documents_are_those_of_the_whole_view(random: Random) -> None:
    schema = build_schema(random_sdl(random))
    hideable = sorted(coordinate for coordinate in coordinates_of(schema) if not coordinate.endswith(".KEPT"))
    schemas = schemas_of(schema, set(random.sample(hideable, random.randint(0, len(hideable) // 4))))
    if not schemas.view.members:
        return
    whole = with_query_type(schema_of_sdl(print_view(schemas.view)))

    for _ in range(8):
        same(schemas, whole, random_document(schema, random, mistakes=random.choice([0, 0.05, 0.2])))


def test_random_documents_are_valid_and_invalid() -> None:
    """What the test above is worth."""
    random = Random(1)
    schema = WHOLE
    counts = [
        same(SHOP, WHOLE, random_document(schema, random, mistakes=random.choice([0, 0.1])))
        for _ in range(examples(300))
    ]

    assert sum(not count for count in counts) > examples(30)
    assert sum(count > 1 for count in counts) > examples(60)


VALUES: tuple[Any, ...] = (
    None,
    1,
    -1,
    2**31,
    1.5,
    "",
    "NAME",
    "SALARY",
    True,
    [],
    [1],
    [[None]],
    {},
    {"name": 1},
    {"salaryGt": 1},
    {"and": [{"and": {"nothing": 1}}]},
    {"ages": [1, None]},
    {"json": {"a": [1]}},
)


@pytest.mark.parametrize("type_", ["EmployeeFilter", "[EmployeeFilter!]!", "Order", "[Order]", "JSON", "ID!", "Int"])
def test_variables_are_coerced_as_with_the_whole_view(type_: str) -> None:
    document = parse(f"query($v: {type_}, $w: {type_.strip('!')} = null) {{ __typename }}")
    (operation,) = document.definitions
    nodes = operation.variable_definitions or ()  # type: ignore[attr-defined] # an operation
    schema = SHOP.touched_by(document)

    for value in VALUES:
        expected = get_variable_values(WHOLE, nodes, {"v": value}, hide_suggestions=True)
        actual = get_variable_values(schema, nodes, {"v": value}, hide_suggestions=True)
        if isinstance(expected, list):
            assert isinstance(actual, list)
            assert [error.message for error in actual] == [error.message for error in expected]
        else:
            assert not isinstance(actual, list)
            assert actual.coerced == expected.coerced


def test_schema_has_what_the_document_touches_and_little_else() -> None:
    schema = SHOP.touched_by(parse("{ employee(id: 1) { name } }"))

    own = {name for name in schema.type_map if not name.startswith("__")}
    assert own == {"Query", "Employee", "Mutation", "Person", "Node", "ID", "String", "Boolean"}
    assert schema.query_type
    assert list(schema.query_type.fields) == ["employee"]


def test_documents_that_touch_the_same_share_a_schema() -> None:
    schemas = schemas_of(SDL)

    first = schemas.touched_by(parse("query A { employee(id: 1) { name } }"))
    assert schemas.touched_by(parse("{ ...F } fragment F on Query { e: employee(id: 2) { n: name } }")) is not first
    assert schemas.touched_by(parse("{ e: employee(id: 2) { n: name name } }")) is first


def test_schemas_that_are_held_are_bounded() -> None:
    schemas = schemas_of("type Query { " + " ".join(f"f{number}: Int" for number in range(100)) + " }")
    first = schemas.touched_by(parse("{ f0 }"))

    for number in range(1, MAX_SCHEMAS):
        schemas.touched_by(parse(f"{{ f{number} }}"))
    assert schemas.touched_by(parse("{ f0 }")) is first  # used again, so it is not the next to go
    schemas.touched_by(parse(f"{{ f{MAX_SCHEMAS} }}"))
    assert schemas.touched_by(parse("{ f0 }")) is first
    for number in range(1, MAX_SCHEMAS + 1):
        schemas.touched_by(parse(f"{{ f{number} }}"))
    assert schemas.touched_by(parse("{ f0 }")) is not first


def test_documents_that_are_held_are_bounded_in_number_and_length() -> None:
    schemas = schemas_of("type Query { a: Int }")
    valid = ValidDocument(parse("{ a }"), schemas.touched_by(parse("{ a }")))

    for number in range(MAX_DOCUMENTS + 1):
        schemas.keep_valid(f"{{ a }} # {number}", LIMITS, valid)
    schemas.keep_valid("{ a }" + " " * MAX_KEPT_CHARS, LIMITS, valid)

    assert schemas.find_valid("{ a } # 0", LIMITS) is None
    assert schemas.find_valid("{ a } # 1", LIMITS) is valid
    schemas.keep_valid("{ a }", LIMITS, valid)
    assert schemas.find_valid("{ a } # 1", LIMITS) is valid  # used again, so it was not the next to go
    assert schemas.find_valid("{ a } # 1", replace(LIMITS, max_depth=1)) is None
    assert schemas.find_valid("{ a }" + " " * MAX_KEPT_CHARS, LIMITS) is None
