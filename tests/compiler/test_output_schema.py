from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, execute_sync, parse
from jsonschema import Draft202012Validator

from handler.bundle import JSONObject
from handler.compiler.output_schema import output_schema
from tests.support.endpoints import compiled, prescribed_tool

SDL = """
scalar Money
enum Status { PAID OPEN }
interface Node { id: ID! }
interface Named { name: String }
interface Nobody { id: ID! }
union Found = Customer | Order
type Query { order(id: ID = 1): Order! orders: [Order!]! node: Node nodes: [Node]! found: [Found!] named: Named
  nobody: Nobody n: Int! f: Float b: Boolean }
type Order implements Node {
  id: ID! total: Money status: Status! statuses: [Status!] customer: Customer grid: [[Int]!] }
type Customer implements Node & Named { id: ID! name: String orders: [Order!]! }
type Employee implements Node & Named { id: ID! name: String boss: Employee }
type Query2 { a: Int }
"""

STRING, NULL_STRING = {"type": "string"}, {"type": ["string", "null"]}


def data_of(operation: str) -> JSONObject:
    """The schema of ``data``."""
    whole = output_schema(parse(operation), build_schema(SDL))
    Draft202012Validator.check_schema(whole)
    data: JSONObject = whole["properties"]["data"]
    return data


def shape(required: str = "", *, null: bool = False, **properties: Any) -> JSONObject:
    """An object's schema; all its properties are required unless it is said which."""
    names = required.split() if required else list(properties)
    kind = ["object", "null"] if null else "object"
    return {"type": kind, "properties": properties, **({"required": names} if required != "-" else {})}


def test_answer_is_a_graphql_response(tmp_path: Path) -> None:
    operation = "query O @mcpTool { n }"
    tool = prescribed_tool(compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation}), "O")

    assert tool.entry["outputSchema"] == {
        "type": "object",
        "properties": {
            "data": {"type": ["object", "null"], "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "message": {"type": "string"},
                        "path": {"type": "array"},
                        "extensions": {"type": "object"},
                    },
                    "required": ["message"],
                },
            },
        },
        "required": ["data"],
    }


def test_scalars_enums_and_lists_keep_their_nullability() -> None:
    assert data_of("{ n f b order { id total status statuses grid } }") == shape(
        null=True,
        n={"type": "integer"},
        f={"type": ["number", "null"]},
        b={"type": ["boolean", "null"]},
        order=shape(
            id=STRING,
            total={},
            status={"type": "string", "enum": ["PAID", "OPEN"]},
            statuses={"type": ["array", "null"], "items": {"type": "string", "enum": ["PAID", "OPEN"]}},
            grid={
                "type": ["array", "null"],
                "items": {"type": "array", "items": {"type": ["integer", "null"]}},
            },
        ),
    )


def test_alias_names_the_key() -> None:
    assert data_of("{ a: n b: n first: order { key: id } }") == shape(
        null=True, a={"type": "integer"}, b={"type": "integer"}, first=shape(key=STRING)
    )


def test_fields_that_are_selected_twice_are_merged() -> None:
    operation = """
    { order { id } order { total } ...F ... { order { status } } }
    fragment F on Query { order { customer { name } } order { customer { id } } }
    """
    assert data_of(operation) == shape(
        null=True,
        order=shape(
            id=STRING,
            total={},
            customer=shape(null=True, name=NULL_STRING, id=STRING),
            status={"type": "string", "enum": ["PAID", "OPEN"]},
        ),
    )


def test_skipped_field_is_not_required() -> None:
    operation = """
    query O($x: Boolean!) {
      n @skip(if: $x) f
      order { id @include(if: $x) ...F @include(if: $x) ... @skip(if: $x) { status } }
    }
    fragment F on Order { total }
    """
    assert data_of(operation) == shape(
        "f order",
        null=True,
        n={"type": "integer"},
        f={"type": ["number", "null"]},
        order=shape("-", id=STRING, total={}, status={"type": "string", "enum": ["PAID", "OPEN"]}),
    )


def test_field_that_is_also_selected_without_a_condition_is_required() -> None:
    assert data_of("query O($x: Boolean!) { n @skip(if: $x) n }")["required"] == ["n"]


def test_what_a_skipped_selection_adds_to_an_object_is_not_required() -> None:
    operation = "query O($x: Boolean!) { order @skip(if: $x) { id } order { total } }"

    assert data_of(operation) == shape(null=True, order=shape("total", id=STRING, total={}))


def test_only_selection_of_a_skipped_object_is_required_in_it() -> None:
    operation = "query O($x: Boolean!) { order @skip(if: $x) { id } }"

    assert data_of(operation) == shape("-", null=True, order=shape(id=STRING))


def test_interface_has_one_shape_where_all_types_have_it() -> None:
    assert data_of("{ node { id } }") == shape(null=True, node=shape(null=True, id=STRING))


def test_typename_is_one_of_the_possible_types() -> None:
    assert data_of("{ __typename node { __typename } order { kind: __typename } }") == shape(
        null=True,
        __typename={"type": "string", "enum": ["Query"]},
        node=shape(null=True, __typename={"type": "string", "enum": ["Order", "Customer", "Employee"]}),
        order=shape(kind={"type": "string", "enum": ["Order"]}),
    )


def test_interface_has_a_shape_for_each_selection_that_types_have() -> None:
    operation = "{ node { __typename id ... on Order { total } ...N } } fragment N on Named { name }"

    assert data_of(operation) == shape(
        null=True,
        node={
            "anyOf": [
                shape(__typename={"type": "string", "enum": ["Order"]}, id=STRING, total={}),
                shape(__typename={"type": "string", "enum": ["Customer", "Employee"]}, id=STRING, name=NULL_STRING),
                {"type": "null"},
            ]
        },
    )


def test_union_has_a_shape_for_each_member_also_for_one_of_which_nothing_is_selected() -> None:
    assert data_of("{ found { ... on Order { id } } }") == shape(
        null=True,
        found={
            "type": ["array", "null"],
            "items": {"anyOf": [{"type": "object", "properties": {}}, shape(id=STRING)]},
        },
    )


def test_same_key_may_differ_by_type() -> None:
    operation = "{ found { ... on Order { x: status } ... on Customer { x: orders { id } } } }"

    Draft202012Validator.check_schema(data_of(operation))
    assert len(data_of(operation)["properties"]["found"]["items"]["anyOf"]) == 2


def test_interface_that_nothing_implements_is_an_open_object() -> None:
    assert data_of("{ nobody { id } }") == shape(null=True, nobody={"type": ["object", "null"]})


def test_introspection_is_left_open() -> None:
    assert data_of('{ __schema { types { name } } __type(name: "Order") { name } n }') == shape(
        null=True, __schema={}, __type={}, n={"type": "integer"}
    )


def test_shape_that_is_nested_deeply_is_left_open() -> None:
    operation = "{ order " + "{ customer { orders " * 80 + "{ id }" + " } }" * 80 + " }"
    whole = data_of(operation)

    depth = 0
    while "properties" in whole:
        depth += 1
        (whole,) = whole["properties"].values()
        whole = whole.get("items", whole)
    assert depth == 40
    assert whole == {"type": ["object", "null"]} or whole == {"type": "object"}


def test_interfaces_within_interfaces_do_not_multiply() -> None:
    kinds = "\n".join(f"type T{n} implements Node {{ id: ID! next: Node own{n}: Int }}" for n in range(100))
    schema = build_schema(f"interface Node {{ id: ID! next: Node }}\ntype Query {{ node: Node }}\n{kinds}")
    started = time.perf_counter()

    whole = output_schema(parse("{ node " + "{ id next " * 12 + "{ id }" + " }" * 13), schema)

    Draft202012Validator.check_schema(whole)
    assert time.perf_counter() - started < 2


ORDER = {"id": "o1", "total": "1.50", "status": "PAID", "statuses": ["OPEN"], "grid": [[1, None], []]}
CUSTOMER = {"__typename": "Customer", "id": "c1", "name": None, "orders": [ORDER]}
EMPLOYEE: JSONObject = {"__typename": "Employee", "id": "e1", "name": "E", "boss": None}
ROOT = {
    "order": {**ORDER, "customer": CUSTOMER},
    "orders": [{**ORDER, "customer": None}],
    "node": EMPLOYEE,
    "nodes": [CUSTOMER, None, {"__typename": "Order", **ORDER}, EMPLOYEE],
    "found": [CUSTOMER, {"__typename": "Order", **ORDER}],
    "named": CUSTOMER,
    "nobody": None,
    "n": 1,
    "f": 1,
    "b": False,
}


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize(
    "operation",
    [
        "{ n f b order { id total status statuses grid customer { name } } }",
        "{ orders { customer { name } } nobody { id } }",
        "{ nodes { __typename id ... on Named { name } ... on Order { total grid } ... on Employee { boss { id } } } }",
        "{ found { __typename ... on Customer { orders { status } } } }",
        "{ node { ...A } named { ...A } } fragment A on Node { id ... on Employee { name boss { name } } }",
        "query ($on: Boolean!) { order @include(if: $on) { id } order { total @skip(if: $on) status } }",
        "query ($on: Boolean!) { nodes { ...A @include(if: $on) ... on Order { id } } } fragment A on Node { id }",
        (
            "query ($on: Boolean!) { order { customer @include(if: $on) { id } ...C } }"
            " fragment C on Order { customer @skip(if: $on) { name } }"
        ),
        '{ __typename t: __type(name: "Order") { name fields { name } } }',
    ],
)
def test_answers_fit_the_schema(operation: str, on: bool) -> None:
    schema, document = build_schema(SDL), parse(operation)
    variables = {"on": on} if "$on" in operation else {}

    result = execute_sync(schema, document, root_value=ROOT, variable_values=variables).formatted

    assert "errors" not in result
    Draft202012Validator(output_schema(document, schema)).validate(result)


def test_answer_with_errors_fits_the_schema() -> None:
    schema, document = build_schema(SDL), parse("{ n f }")

    result = execute_sync(schema, document, root_value={"n": None, "f": 1}).formatted

    assert result["data"] is None
    Draft202012Validator(output_schema(document, schema)).validate(result)


def test_what_the_schema_does_not_say_is_refused() -> None:
    validator = Draft202012Validator(output_schema(parse("{ n node { __typename } }"), build_schema(SDL)))

    assert not validator.is_valid({"data": {"n": None, "node": None}})
    assert not validator.is_valid({"data": {"n": 1}})
    assert not validator.is_valid({"data": {"n": 1, "node": {"__typename": "Found"}}})
    assert not validator.is_valid({"n": 1, "node": None})
