"""Views: the SDL of a whole one is graphql-core's, and a cut one has what it should and nothing else."""

from __future__ import annotations

import re
from random import Random

import pytest
from graphql import (
    DirectiveDefinitionNode,
    GraphQLSchema,
    build_schema,
    parse,
    print_schema,
    validate,
    validate_schema,
)
from graphql.validation import FieldsOnCorrectTypeRule, KnownTypeNamesRule
from hypothesis import given, settings

from handler.graph.sdl import print_small_view, print_view
from tests.conftest import DEMO
from tests.graph.random_schemas import coordinates_of, expected_coordinates, random_sdl
from tests.support.examples import examples, seeded
from tests.support.schemas import schema_of_sdl, view_of

WHOLE = {
    "the demo": (DEMO / "schema.graphql").read_text(encoding="utf-8"),
    "descriptions everywhere": '''
        """Of the type"""
        type Query {
          """Of the field"""
          a(
            """Of the argument"""
            x: Int

            y: Int

            """Of several
            lines"""
            z: In
          ): E
          b: U
          "Of one line"
          c: S
        }
        """Of the input""" input In { """Of its field""" x: Int, y: Int """Of another""" z: Int }
        """Of the enum""" enum E { """Of its value""" A B """Of another""" C }
        """Of the union""" union U = Query
        """Of the scalar""" scalar S
    ''',
    "descriptions that are hard to print": r'''
        "ends with a quote\""
        type Query {
          "ends with a backslash\\"
          a: Int
          "three \"\"\" quotes"
          b: Int
          """   leading spaces"""
          c: Int
          """
            indented
          less

          and a gap
          """
          d(
            "a\nb\n\n  c"
            x: Int
            "ends with a quote\""
            y: Int
          ): Int
          "tabs\tand\u0007bells"
          e: Int
          "日本語 🎉 \u{1F600}"
          f: Int
          "   "
          g: Int
          "\n"
          h: Int
          "trailing newline\n"
          i: Int
          """ \""" """
          j: Int
        }
    ''',
    "deprecations": r"""
        type Query {
          a: Int @deprecated
          b(x: Int @deprecated(reason: "not \"used\""), y: In): E @deprecated(reason: "old\nvery")
          c: Int @deprecated(reason: "")
        }
        input In { a: Int @deprecated(reason: "日本") }
        enum E { A B @deprecated }
    """,
    "defaults of every kind": r'''
        type Query {
          a(
            int: Int = -3, float: Float = 1.5e10, string: String = "a \"b\" \\ \n", block: String = """x
            y""", yes: Boolean = true, no: Boolean = false, nothing: Int = null, id: ID = 7, other: ID = "x"
            enum: E = A, list: [Int!] = [1, 2], one: [Int] = 1, nested: [[E]] = [[A], []], empty: [Int] = []
            object: In = {a: 1, b: {c: [A]}, d: "x"}, emptyObject: In = {}, scalar: S = {any: [1, "x", null, A]}
          ): Int
        }
        input In { a: Int = 1, b: In, c: [E!] = [A], d: String = "" }
        enum E { A }
        scalar S
    ''',
    "specifiedBy and oneOf": """
        type Query { a(x: In): S }
        scalar S @specifiedBy(url: "https://example.com/\\"s\\"")
        input In @oneOf { a: Int b: String }
    """,
    "interfaces of interfaces": """
        type Query { node: Node }
        interface Node { id: ID! }
        interface Named implements Node { id: ID! name: String }
        type A implements Named & Node { id: ID! name: String! self: A }
        type B implements Node { id: ID! }
    """,
    "renamed roots": "schema { query: Root mutation: Change } type Root { a: Int } type Change { a: Int }",
    "one renamed root": "schema { query: Root mutation: Mutation } type Root { a: Int } type Mutation { a: Int }",
    "a description of the schema": '"""All of "it"\nand more""" schema { query: Query } type Query { a: Int }',
    "an object type named like a root": """
        schema { query: Query } type Query { a: Subscription b: Mutation }
        type Subscription { ends: String } type Mutation { a: Int }
    """,
    "the root type as an object": "type Query { self: Query } type Mutation { a: Query }",
}


def definitions(sdl: str) -> dict[str, str]:
    """Each definition as it is printed; directives are not part of an index."""
    return {
        getattr(getattr(node, "name", None), "value", "schema"): sdl[node.loc.start : node.loc.end]
        for node in parse(sdl).definitions
        if node.loc and not isinstance(node, DirectiveDefinitionNode)
    }


@pytest.mark.parametrize("name", WHOLE)
def test_sdl_of_a_whole_view_is_the_one_that_graphql_core_prints(name: str) -> None:
    schema = build_schema(WHOLE[name])

    sdl = print_view(view_of(schema))

    assert definitions(sdl) == definitions(print_schema(schema))
    assert print_schema(build_schema(sdl)) == sdl.rstrip("\n")


@pytest.mark.parametrize("name", WHOLE)
def test_sdl_up_to_a_bound_is_that_of_the_whole_view_or_none(name: str) -> None:
    view = view_of(build_schema(WHOLE[name]))
    sdl = print_view(view)
    size = len(sdl.encode())

    assert [print_small_view(view, size + more) for more in (-1, 0, 1)] == [None, sdl, sdl]
    assert print_small_view(view, 0) is None


def test_subscriptions_and_custom_directives_are_no_part_of_a_view() -> None:
    sdl = print_view(
        view_of(
            "directive @d on OBJECT type Query @d { a: Int s: Subscription t: __Type } type Subscription { b: Int }"
        )
    )

    assert sdl == "type Query {\n  a: Int\n}\n"


def test_empty_description_is_not_printed() -> None:
    assert print_view(view_of('"" type Query { "" a("" x: Int): Int }')) == "type Query {\n  a(x: Int): Int\n}\n"


def test_type_named_like_a_hidden_root_does_not_become_the_root() -> None:
    schema = """
        schema { query: Query mutation: Change }
        type Query { a: Mutation } type Mutation { x: Int } type Change { x: Int }
    """

    view, whole = schema_of_sdl(print_view(view_of(schema, ["Change"]))), schema_of_sdl(print_view(view_of(schema)))

    assert (view.mutation_type, "Mutation" in view.type_map) == (None, True)
    assert whole.mutation_type is whole.type_map["Change"]


def test_root_fields_are_named_by_kind_of_operation() -> None:
    schema = "type Query { a: Int b: Int } type Mutation { c: Int }"

    assert view_of(schema, ["Query.b"]).root_fields() == {"query": ("a",), "mutation": ("c",)}
    assert view_of(schema, ["Mutation.c"]).root_fields() == {"query": ("a", "b")}
    assert view_of(schema, ["Query", "Mutation"]).root_fields() == {}


def test_view_without_roots_is_empty() -> None:
    assert print_view(view_of("type Query { a: Int }", ["Query.a"])) == ""


CUTS = {
    "a type without fields takes the fields that return it": (
        "type Query { a: A b: Int } type A { x: Int }",
        ["A.x"],
        "type Query {\n  b: Int\n}\n",
    ),
    "a required argument takes its field, an optional one does not": (
        "type Query { a(x: Int!): Int b(x: Int): Int c(x: Int! = 1): Int }",
        ["Query.a(x:)", "Query.b(x:)", "Query.c(x:)"],
        "type Query {\n  b: Int\n  c: Int\n}\n",
    ),
    "a required input field takes the arguments of its type": (
        "type Query { a(x: In): Int b(x: In!): Int } input In { y: Int! z: Int }",
        ["In.y"],
        "type Query {\n  a: Int\n}\n",
    ),
    "an enum without values takes what names it": (
        "type Query { a: E b(x: E): Int } enum E { A }",
        ["E.A"],
        "type Query {\n  b: Int\n}\n",
    ),
    "a union loses a member, and goes with the last": (
        "type Query { u: U v: V } union U = A | B union V = A type A { x: Int } type B { x: Int }",
        ["A.x"],
        "type Query {\n  u: U\n}\n\nunion U = B\n\ntype B {\n  x: Int\n}\n",
    ),
    "what only a hidden field reaches is gone": (
        "type Query { a: A b: Int } type A { b: B } type B { x: Int }",
        ["Query.a"],
        "type Query {\n  b: Int\n}\n",
    ),
    "types that hold only each other are gone": (
        "type Query { a: A b: Int } type A { b: B x: Int } type B { a: A y: Int }",
        ["A.x", "B.y", "A.b"],
        "type Query {\n  b: Int\n}\n",
    ),
    "an interface's field goes with an implementer's": (
        "type Query { i: I } interface I { a: Int b: S } scalar S type T implements I { a: Int b: S }",
        ["T.a"],
        "type Query {\n  i: I\n}\n\ninterface I {\n  b: S\n}\n\nscalar S\n\ntype T implements I {\n  b: S\n}\n",
    ),
    "a type that an implementer's field narrows to takes the interface's": (
        """
            type Query { i: I t: T } interface I { a: Node b: Int } type T implements I { a: N b: Int }
            interface Node { id: ID } type N implements Node { id: ID }
            """,
        ["N"],
        "type Query {\n  i: I\n  t: T\n}\n\ninterface I {\n  b: Int\n}\n\ntype T implements I {\n  b: Int\n}\n",
    ),
    "an interface that is gone is named no more": (
        "type Query { t: T } interface I { a: Int } type T implements I { a: Int b: Int }",
        ["I.a"],
        "type Query {\n  t: T\n}\n\ntype T {\n  a: Int\n  b: Int\n}\n",
    ),
}


@pytest.mark.parametrize("name", CUTS)
def test_what_is_hidden_takes_along_what_needs_it(name: str) -> None:
    sdl, hidden, left = CUTS[name]

    assert print_view(view_of(sdl, hidden)) == left


IMPLEMENTERS = """
    interface I { a: Int } type T implements I { a: Int }
    type Other implements I { a: Int b: Far } type Far { x: Int }
"""


def test_interface_brings_its_implementers_where_a_field_returns_it() -> None:
    assert set(view_of("type Query { i: I }" + IMPLEMENTERS).members) >= {"Query", "I", "T", "Other", "Far"}


def test_interface_that_is_only_named_by_a_type_does_not_bring_the_others() -> None:
    assert set(view_of("type Query { t: T }" + IMPLEMENTERS).members) == {"Query", "I", "T", "Int"}


def fields_that_validate(schema: GraphQLSchema, coordinates: list[str]) -> set[str]:
    """Those of the fields that may be selected, each tried on a line of its own."""
    lines = [
        f"fragment F{n} on {type_} {{ {field} }}" for n, (type_, field) in enumerate(c.split(".") for c in coordinates)
    ]
    errors = validate(
        schema, parse("\n".join(lines)), rules=[KnownTypeNamesRule, FieldsOnCorrectTypeRule], max_errors=1000
    )
    wrong = {error.locations[0].line for error in errors if error.locations}
    return {coordinate for line, coordinate in enumerate(coordinates, start=1) if line not in wrong}


@settings(max_examples=examples(400), derandomize=True, deadline=None, database=None)
@given(seeded())
def test_view_has_what_is_neither_hidden_nor_out_of_reach(random: Random) -> None:
    """Defaults name no value that gets hidden: such an argument is hidden by the compiler, not by the view.

    A view without a query root is the one kind that is no valid schema: it has mutations only.
    """
    schema = build_schema(random_sdl(random))
    assert validate_schema(schema) == []
    hideable = sorted(coordinate for coordinate in coordinates_of(schema) if not coordinate.endswith(".KEPT"))
    hidden = set(random.sample(hideable, random.randint(0, len(hideable) // 3)))

    sdl = print_view(view_of(schema, hidden))

    expected = expected_coordinates(schema, hidden)
    if not sdl:
        assert not expected & {"Query", "Mutation"}
        return
    view = build_schema(sdl)
    assert coordinates_of(view) == expected
    assert not expected & hidden
    assert [error.message for error in validate_schema(view)] == (
        [] if view.query_type else ["Query root type must be provided."]
    )
    selectable = sorted(coordinate for coordinate in coordinates_of(schema) if re.fullmatch(r"\w+\.f\d", coordinate))
    assert fields_that_validate(schema_of_sdl(sdl), selectable) == expected & set(selectable)
