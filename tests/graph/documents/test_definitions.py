"""``__definitions``: the answers are graphql-core's own from the view's SDL and the types of the draft."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from graphql import (
    GraphQLCompositeType,
    GraphQLDirective,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLField,
    GraphQLInt,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_ast_schema,
    build_schema,
    execute_sync,
    parse,
    print_type,
    validate,
)
from graphql.utilities import resolve_schema_coordinate
from hypothesis import given, settings

from handler.errors.calls import DocumentRefused
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.documents.search_fields import SEARCH_FIELDS, SEARCH_TYPES
from handler.graph.sdl import print_view
from tests.graph.documents.test_introspection import RICH
from tests.graph.random_schemas import coordinates_of, random_sdl
from tests.graph.shop import HIDDEN, VIEW, WIDE, check
from tests.support.examples import examples, seeded
from tests.support.schemas import schemas_of

DRAFT = """
type Draft {
  __search(query: String!, first: Int! = 10, after: String, minScore: Float): [__SearchResult!]!
  __definitions(coordinates: [String!]!): [__SchemaDefinition!]!
}
type __SearchResult {
  coordinate: String!
  definition: __SchemaDefinition!
  pathsToRoot: [[String!]!]!
  score: Float
  cursor: String!
}
union __SchemaDefinition = __Type | __Field | __InputValue | __EnumValue | __Directive
"""
"""Source: GraphQL AI working group, "Semantic Introspection" (draft)."""

KINDS = {
    "NamedType": "__Type",
    "Field": "__Field",
    "InputField": "__InputValue",
    "FieldArgument": "__InputValue",
    "DirectiveArgument": "__InputValue",
    "EnumValue": "__EnumValue",
    "Directive": "__Directive",
}


class DraftSchema(GraphQLSchema):
    """A view's SDL with the draft's fields at the root of a query, resolved by graphql-core."""

    fields: dict[str, GraphQLField]

    def get_field(self, parent_type: GraphQLCompositeType, field_name: str) -> GraphQLField | None:
        if parent_type is self.query_type and field_name in self.fields:
            return self.fields[field_name]
        return super().get_field(parent_type, field_name)


def draft_schema(sdl: str) -> DraftSchema:
    """The schema of a text of SDL as the draft extends it."""
    built = build_ast_schema(parse(sdl + DRAFT), assume_valid=True, assume_valid_sdl=True)
    fields = dict(built.type_map["Draft"].fields)  # type: ignore[attr-defined]
    types = [type_ for name, type_ in built.type_map.items() if name != "Draft"]
    whole = DraftSchema(
        query=built.query_type,
        mutation=built.mutation_type,
        types=types,
        directives=built.directives,
        description=built.description,
        assume_valid=True,
    )
    whole.fields = fields
    fields["__definitions"].resolve = lambda _, info, coordinates: [resolved(info.schema, each) for each in coordinates]
    union: Any = whole.type_map["__SchemaDefinition"]
    union.resolve_type = kind_of
    return whole


def resolved(schema: GraphQLSchema, coordinate: str) -> Any:
    """The source of a definition as graphql-core's resolvers take it, or the error in its place."""
    try:
        found: Any = resolve_schema_coordinate(schema, coordinate)
    except (GraphQLError, TypeError):
        found = None
    if found is None or ".__" in coordinate:  # meta-fields have no coordinates
        return GraphQLError(f"Unknown schema coordinate '{coordinate}'.")
    element = found[-2]
    if isinstance(element, GraphQLNamedType | GraphQLDirective):
        return element
    return re.findall(r"\w+", coordinate)[-1], element


def kind_of(value: Any, _info: Any, _type: Any) -> str:
    match value:
        case GraphQLNamedType():
            return "__Type"
        case GraphQLDirective():
            return "__Directive"
        case (_, GraphQLField()):
            return "__Field"
        case (_, GraphQLEnumValue()):
            return "__EnumValue"
        case _:
            return "__InputValue"


def same(schemas: ViewSchemas, text: str, variables: dict[str, Any] | None = None) -> Any:
    """The response to a valid document, which has to be graphql-core's own from the SDL and the draft."""
    whole, document = draft_schema(print_view(schemas.view)), parse(text)
    assert validate(whole, document) == []
    expected = execute_sync(whole, document, variable_values=variables).formatted
    actual = answer_introspection(check(text, variables, schemas=schemas, limits=WIDE), schemas)
    for error in actual.get("errors", ()):
        assert error.pop("extensions") == {"code": "document-refused"}
    assert json.dumps(actual) == json.dumps(expected)
    return actual


EVERYTHING = """
  __typename
  ... on __Type { kind typeName: name description specifiedByURL isOneOf fields(includeDeprecated: true) { name }
    interfaces { name } possibleTypes { name } enumValues { name } inputFields { name } }
  ... on __Field { name description isDeprecated deprecationReason args { name } type { ...Named } }
  ... on __InputValue { name description defaultValue isDeprecated deprecationReason type { ...Named } }
  ... on __EnumValue { name description isDeprecated deprecationReason }
  ... on __Directive { name description isRepeatable locations args { name } }
"""
NAMED = " fragment Named on __Type { kind name ofType { kind name ofType { name } } }"
ALL = "query($c: [String!]!) { __definitions(coordinates: $c) {" + EVERYTHING + "} }" + NAMED

DEFINED = {
    "types of all kinds": ["Root", "Node", "U", "E", "In", "One", "Moment"],
    "fields, deprecated ones too": ["Root.old", "Root.id", "Node.id", "Change.write"],
    "arguments": ["Root.old(a:)", "Named.name(in:)", "Change.write(in:)"],
    "inputs and values": ["In.a", "In.b", "E.THREE", "One.b"],
    "what every schema has": ["String", "Boolean", "@skip", "@skip(if:)", "@deprecated(reason:)", "@include"],
    "introspection itself": ["__Type", "__Type.fields", "__Type.fields(includeDeprecated:)", "__TypeKind.LIST"],
    "the same twice": ["Root.id", "Root.id", "Root"],
    "nothing": [],
}


@pytest.mark.parametrize("name", DEFINED)
def test_definitions_are_those_of_graphql_core_in_the_order_asked(name: str) -> None:
    answer = same(schemas_of(RICH), ALL, {"c": DEFINED[name]})

    assert len(answer["data"]["__definitions"]) == len(DEFINED[name])


UNKNOWN = ["Nope", "Root.nope", "Root.id(nope:)", "Nope.a(b:)", "@nope", "@skip(nope:)", "U.Root", "Root.__typename"]
MALFORMED = [
    "",
    " Root",
    "Root.id ",
    "Root.",
    "Root.id(a)",
    "Root.id(a: )",
    "@a.b",
    "{Root}",
    "Root\n",
    "Rööt",
    "a.b.c",
]


@pytest.mark.parametrize("coordinate", [*UNKNOWN, *MALFORMED])
def test_unknown_coordinate_is_an_error_at_its_place_and_leaves_no_data(coordinate: str) -> None:
    answer = same(schemas_of(RICH), ALL, {"c": ["Root", coordinate, "Nope"]})

    assert answer["data"] is None
    assert answer["errors"][0]["path"] == ["__definitions", 1]


@pytest.mark.parametrize("hidden", sorted(HIDDEN))
def test_hidden_coordinate_gets_the_error_of_one_that_does_not_exist(hidden: str) -> None:
    def error(schemas: ViewSchemas) -> Any:
        return answer_introspection(check(ALL, {"c": [hidden]}, schemas=schemas), schemas)["errors"]

    assert error(VIEW) == error(schemas_of("type Query { a: Int }"))


def test_type_of_a_view_of_mutations_alone_is_defined_as_introspection_shows_it() -> None:
    schemas = schemas_of("type Query { a: Int } type Mutation { b: Int }", {"Query.a"})
    fields = "... on __Type { n: name } ... on __Field { name }"
    text = f'{{ __definitions(coordinates: ["Query", "Query._empty"]) {{ {fields} }} }}'

    assert answer_introspection(check(text, schemas=schemas), schemas) == {
        "data": {"__definitions": [{"n": "Query"}, {"name": "_empty"}]}
    }


def test_types_are_those_of_the_draft() -> None:
    draft = build_ast_schema(parse("type Query { a: Int }" + DRAFT), assume_valid=True, assume_valid_sdl=True)
    own = GraphQLSchema(
        GraphQLObjectType("Query", {"a": GraphQLField(GraphQLInt)}),
        types=[GraphQLObjectType("Draft", SEARCH_FIELDS), *SEARCH_TYPES.values()],
    )

    for name in ("Draft", *SEARCH_TYPES):
        assert bare(print_type(own.type_map[name])) == bare(print_type(draft.type_map[name]))


def bare(sdl: str) -> str:
    """A type's SDL without its descriptions."""
    return re.sub(r'""".*?"""|[\s,]+', "", sdl, flags=re.DOTALL)


OF_TYPES = """
{ a: __type(name: "__SearchResult") { ...T } b: __type(name: "__SchemaDefinition") { ...T }
  __definitions(coordinates: ["__SearchResult", "__SearchResult.score", "__SchemaDefinition"]) {
    ...T ... on __Field { n: name t: type { name ofType { name } } }
  } }
fragment T on __Type {
  kind name fields { name args { name } type { kind name ofType { kind name } } }
  interfaces { name } possibleTypes { name }
}
"""


def test_types_of_search_are_answered_by_name() -> None:
    same(schemas_of(RICH), OF_TYPES)


def test_neither_fields_nor_types_of_search_are_listed() -> None:
    text = "{ __schema { types { name fields { name } } } }"
    answer = answer_introspection(check(text), VIEW)

    assert not set(SEARCH_TYPES) & {each["name"] for each in answer["data"]["__schema"]["types"]}
    assert not any(name in json.dumps(answer) for name in (*SEARCH_FIELDS, *SEARCH_TYPES))


SHAPES = {
    "aliases and fragments": (
        "query($c: [String!]!) { a: __definitions(coordinates: $c) { ...D }"
        " b: __definitions(coordinates: $c) { x: __typename } }"
        " fragment D on __SchemaDefinition { ... on __Type { n: name } ... on __SchemaDefinition { ...F } }"
        " fragment F on __Field { name type { fields { name } } }"
    ),
    "merged selections": (
        "query($c: [String!]!) { __definitions(coordinates: $c) { ... on __Type { name fields { name } } }"
        " __definitions(coordinates: $c) { ... on __Type { fields { type { name } } kind } __typename } }"
    ),
    "parts left out": (
        "query($c: [String!]!, $y: Boolean = true) { __definitions(coordinates: $c) {"
        " ... on __Type @skip(if: $y) { name } ... on __Type @include(if: $y) { kind } }"
        " b: __definitions(coordinates: []) @skip(if: $y) { __typename } }"
    ),
    "beside other introspection": (
        'query($c: [String!]!) { __schema { queryType { name } } __type(name: "E") { name } __typename'
        " ... on Root { __definitions(coordinates: $c) { __typename } } }"
    ),
    "a single coordinate as a list": '{ __definitions(coordinates: "Root.id") { ... on __Field { name } } }',
}


@pytest.mark.parametrize("name", SHAPES)
def test_documents_of_any_shape_are_answered_as_by_graphql_core(name: str) -> None:
    given = ["Root", "Root.id"] if "$c" in SHAPES[name] else None

    same(schemas_of(RICH), SHAPES[name], {"c": given} if given else None)


WRONG = [
    "{ __definitions { __typename } }",
    "{ __definitions(coordinates: null) { __typename } }",
    "{ __definitions(coordinates: [1]) { __typename } }",
    "{ __definitions(coordinates: []) }",
    "{ __definitions(coordinates: []) { name } }",
    "{ __definitions(coordinates: []) { ... on __SearchResult { score } } }",
    "{ __definitions(coordinates: []) { ... on __Schema { description } } }",
    "{ __definitions(coordinates: [], other: 1) { __typename } }",
    "query($c: String) { __definitions(coordinates: [$c]) { __typename } }",
    "{ __search(query: 1) { score } }",
    '{ __search(query: "a", first: null) { score } }',
    '{ __search(query: "a", first: "b") { score { a } cursor } }',
    '{ __search(query: "a") }',
    '{ __search(query: "a") { rank definition } }',
    'query($s: __SearchResult) { __search(query: "a") { score } }',
    '{ a: __search(query: "a") { score } a: __search(query: "b") { score } }',
    'fragment F on __SearchResult { a } { __search(query: "a") { ...F } }',
]


@pytest.mark.parametrize("text", WRONG)
def test_document_that_is_not_valid_is_refused_in_the_words_of_graphql_core(text: str) -> None:
    whole = draft_schema(print_view(schemas_of(RICH).view))
    expected = validate(whole, parse(text), hide_suggestions=True)

    with pytest.raises(DocumentRefused) as refused:
        check(text, {"s": None, "c": None}, schemas=schemas_of(RICH))

    assert expected
    assert [fault.message for fault in refused.value.faults] == [error.message for error in expected]


def test_fields_of_search_belong_to_the_root_of_a_query_alone() -> None:
    for text in ("mutation { __definitions(coordinates: []) { __typename } }", "{ self { __search(query: 1) { a } } }"):
        with pytest.raises(DocumentRefused, match=r"Cannot query field|cannot stand beside"):
            check(text)


def random_definitions(random: Random, coordinates: list[str]) -> tuple[str, dict[str, Any]]:
    """A document with some ``__definitions``, most of them of coordinates that the view has."""
    lists = [random.choices(coordinates, k=random.randint(0, 3)) for _ in range(random.randint(1, 3))]
    variables = {f"c{place}": each for place, each in enumerate(lists)}
    declared = ", ".join(f"$c{place}: [String!]!" for place in range(len(lists)))
    fields = []
    for place in range(len(lists)):
        chosen = random.choice([EVERYTHING, "__typename", "...D __typename", "... on __SchemaDefinition { ...D }"])
        skipped = random.choice(["", "", " @skip(if: false)", " @include(if: false)"])
        fields.append(f"d{place}: __definitions(coordinates: $c{place}){skipped} {{ {chosen} ...D }}")
    text = f"query({declared}) {{ {' '.join(fields)} }} fragment D on __SchemaDefinition {{ {EVERYTHING} }}"
    return text + NAMED, variables


@settings(max_examples=examples(200), derandomize=True, deadline=None, database=None)
@given(seeded())
def test_definitions_of_random_views_are_those_of_graphql_core(random: Random) -> None:
    schema = build_schema(random_sdl(random))
    everything = sorted(coordinates_of(schema))
    hideable = [coordinate for coordinate in everything if not coordinate.endswith(".KEPT")]
    schemas = schemas_of(schema, set(random.sample(hideable, random.randint(0, len(hideable) // 8))))
    if "query" in schemas.view.root_fields():
        same(schemas, *random_definitions(random, everything))


def test_too_many_coordinates_are_refused() -> None:
    text = "query($c: [String!]!) { __definitions(coordinates: $c) { __typename } }"
    few, many = (answer_introspection(check(text, {"c": ["Query"] * count}), VIEW) for count in (100, 101))

    assert len(few["data"]["__definitions"]) == 100
    assert many["errors"][0]["message"] == "coordinates: expected at most 100"
    assert many["errors"][0]["path"] == ["__definitions"]


def test_a_document_has_ten_searches_at_most() -> None:
    def text(count: int) -> str:
        parts = (f"f{place}: __definitions(coordinates: []) {{ __typename }}" for place in range(count))
        return f"{{ {' '.join(parts)} }}"

    assert check(text(10)).introspection
    with pytest.raises(DocumentRefused, match="more than 10 __search and __definitions"):
        check(text(11))
    spread = "query { ...A ...B } fragment A on Query { ...B } fragment B on Query {" + text(6)[1:]
    with pytest.raises(DocumentRefused, match="more than 10 __search and __definitions"):
        check(spread)


def test_model_gets_the_error_as_a_sentence_with_its_place() -> None:
    with pytest.raises(DocumentRefused) as refused:
        answer_introspection(check('{ __definitions(coordinates: ["Nope"]) { __typename } }'), VIEW, for_model=True)

    assert str(refused.value) == "The GraphQL request was refused: 1:3: Unknown schema coordinate 'Nope'."


def test_answer_is_bounded_in_bytes() -> None:
    text = "{ __definitions(coordinates: [%s]) { ... on __Type { description name fields { name } } } }"
    wide = schemas_of("type Query { " + " ".join(f"field_{number}: Int" for number in range(500)) + " }")
    document = check(text % ", ".join(['"Query"'] * 100), schemas=wide)

    with pytest.raises(DocumentRefused, match="more than 100,000 bytes"):
        answer_introspection(document, wide, for_model=True)
