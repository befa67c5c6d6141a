"""Questions for the schema: the answers are those that graphql-core gives from the view's SDL."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from graphql import GraphQLSchema, build_schema, execute_sync, get_introspection_query, parse, print_ast, validate
from graphql.language import StringValueNode
from graphql.language.block_string import is_printable_as_block_string
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.errors.calls import DocumentRefused, Fault
from handler.graph.documents.document_check import answer_introspection
from handler.graph.documents.introspection import MAX_BYTES, introspection_data
from handler.graph.documents.introspection_fields import text_of
from handler.graph.documents.partial_schema import ViewSchemas
from handler.graph.sdl import print_view
from tests.graph.random_schemas import coordinates_of, random_sdl
from tests.graph.shop import HIDDEN, LIMITS, SDL, check
from tests.support.examples import examples, seeded
from tests.support.schemas import schema_of_sdl, schemas_of
from tests.work.schema import work_sdl

RICH = '''
"""Everything that a schema may say"""
schema { query: Root mutation: Change }

"""The root"""
type Root implements Named & Node {
  "an identifier" id: ID!
  name("""of
    two lines""" long: Boolean = false, in: In = {a: 1, b: [TWO], c: "x"}): [[String!]]! @deprecated
  old(a: Int @deprecated(reason: "gone"), b: Float = 1.5): Int @deprecated(reason: "use \\"name\\"")
  empty: U @deprecated(reason: "")
  when: Moment
  one: One
}
type Change { write(in: [In!]! = [{a: 2}]): Node }
interface Node { id: ID! }
interface Named implements Node { id: ID! name(long: Boolean = false, in: In): [[String!]]! }
union U = Root | Change
enum E { ONE "second" TWO @deprecated THREE @deprecated(reason: "no") }
input In { a: Int! = 3 b: [E!] = [ONE, TWO] @deprecated c: String d: In }
input One @oneOf { a: Int b: String }
scalar Moment @specifiedBy(url: "https://example.com/\\u00e9")
'''.replace("one: One", "one(by: One): Int")

STANDARD = get_introspection_query(
    descriptions=True,
    specified_by_url=True,
    directive_is_repeatable=True,
    schema_description=True,
    input_value_deprecation=True,
    one_of=True,
)


def same(schemas: ViewSchemas, whole: GraphQLSchema, text: str, variables: dict[str, Any] | None = None) -> Any:
    """The answer, which has to be graphql-core's own from the SDL, in its order."""
    document = parse(text)
    assert validate(whole, document) == []
    expected = execute_sync(whole, document, variable_values=variables)
    actual = introspection_data(document, schemas, variables or {})
    assert expected.errors is None
    assert json.dumps(actual) == json.dumps(expected.data)
    return actual


@pytest.mark.parametrize(("sdl", "hidden"), [(SDL, ()), (SDL, HIDDEN), (RICH, ()), (RICH, ["Root.old", "In.d"])])
def test_standard_query_is_answered_as_from_the_sdl(sdl: str, hidden: Any) -> None:
    schemas = schemas_of(sdl, hidden)
    whole = schema_of_sdl(print_view(schemas.view))

    assert len(same(schemas, whole, STANDARD)["__schema"]["types"]) > 15
    same(schemas, whole, get_introspection_query(descriptions=False))


DEPRECATED = """
    query($d: Boolean = true) { __schema { types {
      fields(includeDeprecated: $d) { name args(includeDeprecated: true) { name deprecationReason } } f: fields { name }
      enumValues(includeDeprecated: true) { name isDeprecated deprecationReason } e: enumValues { name }
      inputFields(includeDeprecated: true) { name isDeprecated } i: inputFields { name }
    } } }
"""
MERGED = """
    { __schema { types { ...A ...B ... on __Type { fields { type { kind } } } } } __typename }
    fragment A on __Type { name fields { name ...C } } fragment B on __Type { fields { type { name } } }
    fragment C on __Field { args { name } }
"""
LEFT_OUT = """
    query($y: Boolean!, $n: Boolean = false) { __schema @include(if: $y) {
      a: queryType @skip(if: $y) { name } ... @include(if: $n) { mutationType { name } } ...F @skip(if: $n)
      directives { __typename name locations isRepeatable }
    } }
    fragment F on __Schema { description subscriptionType { name } }
"""
WITHIN = """
    { __schema { types {
      name possibleTypes { name interfaces { name } }
      fields { __typename type { __typename ofType { fields { name } } } }
    } } }
"""

QUESTIONS = {
    "a type by name": ('query($n: String!) { a: __type(name: $n) { kind } b: __type(name: "x") { kind } }', {"n": "E"}),
    "a type of introspection": ('{ __type(name: "__Type") { fields { name args { name defaultValue } } } }', None),
    "with and without what is deprecated": (DEPRECATED, None),
    "deprecation by variable": (
        "query($d: Boolean) { __schema { types { fields(includeDeprecated: $d) { name } } } }",
        {"d": False},
    ),
    "fragments that are merged": (MERGED, None),
    "parts that are left out": (LEFT_OUT, {"y": True}),
    "everything left out": ("{ __schema @skip(if: true) { types { name } } }", None),
    "types within types": (WITHIN, None),
    "the query type by way of an interface": (
        "{ ... on Node { __typename } ... on U { t: __typename } ... on Root { __schema { queryType { name } } } }",
        None,
    ),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_are_answered_as_from_the_sdl(name: str) -> None:
    text, variables = QUESTIONS[name]

    same(schemas_of(RICH), schema_of_sdl(print_view(schemas_of(RICH).view)), text, variables)


@settings(max_examples=examples(200), derandomize=True, deadline=None, database=None)
@given(seeded())
def test_standard_query_is_answered_as_from_the_sdl_of_random_views(random: Random) -> None:
    schema = build_schema(random_sdl(random))
    hideable = sorted(coordinate for coordinate in coordinates_of(schema) if not coordinate.endswith(".KEPT"))
    schemas = schemas_of(schema, set(random.sample(hideable, random.randint(0, len(hideable) // 4))))
    if "query" in schemas.view.root_fields():
        same(schemas, schema_of_sdl(print_view(schemas.view)), STANDARD)


@settings(max_examples=examples(300), derandomize=True, deadline=None, database=None)
@given(st.text(alphabet='ab \t\n\r"\\é', min_size=1))
def test_description_is_read_back_as_it_was(text: str) -> None:
    printed = print_ast(StringValueNode(value=text, block=is_printable_as_block_string(text)))

    assert text_of(printed) == text


def test_no_description_is_none() -> None:
    assert text_of("") is None


def test_standard_query_passes_the_limits_of_an_endpoint_that_sets_none() -> None:
    checked = check(STANDARD)

    assert checked.introspection is not None
    assert "Employee" in json.dumps(answer_introspection(checked, schemas_of(SDL, HIDDEN)))


def test_answer_is_bounded_in_bytes() -> None:
    """The count is that of compact JSON without escapes, as near as makes no difference to a bound."""
    schemas = schemas_of(SDL)
    document = parse(STANDARD)
    size = len(json.dumps(introspection_data(document, schemas, {}), separators=(",", ":")))

    assert introspection_data(document, schemas, {}, max_bytes=size + size // 10)
    with pytest.raises(DocumentRefused) as caught:
        introspection_data(document, schemas, {}, max_bytes=size * 9 // 10)
    assert caught.value.faults == (
        Fault(
            f"the answer would have more than {size * 9 // 10:,} bytes: ask for one type at a time with __type(name:), "
            "and first for the names of its fields alone"
        ),
    )


WIDE = "type Query { " + " ".join(f"f{n}(a: Int, b: Int @deprecated): Query" for n in range(600)) + " }"
LEFT_OUT = "name @skip(if: true)"
AGAIN = {
    "fields": " ".join(f"a{n}: fields {{ {LEFT_OUT} }}" for n in range(600)),
    "fields that are not included": " ".join(f"a{n}: fields {{ name @include(if: false) }}" for n in range(600)),
    "arguments": "fields { " + " ".join(f"a{n}: args {{ {LEFT_OUT} }}" for n in range(240)) + " }",
}


@pytest.mark.parametrize("selection", AGAIN.values(), ids=AGAIN)
@pytest.mark.parametrize("way", ["__schema { types { %s } }", '__type(name: "Query") { %s }'])
def test_objects_whose_fields_are_left_out_are_counted(selection: str, way: str) -> None:
    with pytest.raises(DocumentRefused) as caught:
        introspection_data(parse(f"{{ {way % selection} }}"), schemas_of(WIDE), {})

    assert str(caught.value.faults[0]).endswith(
        "the answer would have more than 300,000 values: ask for one type at a time with __type(name:), and first for "
        "the names of its fields alone"
    )


def test_query_of_the_usual_clients_has_fewer_values_than_a_twentieth_of_its_bytes() -> None:
    """So it is bounded in bytes, as before."""
    schemas = schemas_of(work_sdl())

    with pytest.raises(DocumentRefused, match=f"more than {MAX_BYTES:,} bytes"):
        introspection_data(parse(STANDARD), schemas, {})
    assert (
        len(json.dumps(introspection_data(parse(get_introspection_query(descriptions=False)), schemas, {})))
        > MAX_BYTES * 0.6
    )


def test_types_within_types_are_answered_once_and_refused_for_their_size() -> None:
    """Each field leads to all types again: 200 to the power of 6 objects, were they walked."""
    sdl = "type Query { " + " ".join(f"f{n}: T{n}" for n in range(200)) + " }"
    sdl += " ".join(f"type T{n} {{ {' '.join(f'f{m}: T{m}' for m in range(0, 200, 5))} }}" for n in range(200))
    schemas = schemas_of(sdl)
    deep = "{ __schema { types { " + "fields { type { " * 6 + "name" + " } }" * 6 + " } } }"

    with pytest.raises(DocumentRefused, match=f"more than {MAX_BYTES:,} bytes"):
        introspection_data(parse(deep), schemas, {})


def test_long_aliases_count() -> None:
    text = "{ __schema { types { fields { " + "x" * 100_000 + ": name } } } }"

    with pytest.raises(DocumentRefused, match="bytes"):
        answer_introspection(check(text, limits=LIMITS), schemas_of(SDL))
