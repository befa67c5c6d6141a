from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, execute_sync, parse
from jsonschema import Draft202012Validator

from handler.compiler.json_schemas.output_schema import output_schema
from handler.policy.evaluation import HIDDEN, OPEN, Mask
from handler.strict_json import JSONObject
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

STRING: JSONObject = {"type": "string"}
INTEGER: JSONObject = {"type": "integer"}
STATUS: JSONObject = {"type": "string", "description": "One of: PAID, OPEN, or one added later"}
ID: JSONObject = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
LATER: JSONObject = {"type": "object", "additionalProperties": False}
"""An object of a type that is added later, of which nothing is selected."""


def data_of(operation: str, sdl: str = SDL) -> JSONObject:
    """The schema of ``data``."""
    whole = output_schema(parse(operation), build_schema(sdl))
    Draft202012Validator.check_schema(whole)
    data: JSONObject = whole["properties"]["data"]
    return data


def shape(required: str = "", **properties: Any) -> JSONObject:
    """An object's schema; all its properties are required unless it is said which."""
    names = required.split() if required else list(properties)
    return {"type": "object", "properties": properties, **({"required": names} if required != "-" else {})}


def closed(required: str = "", **properties: Any) -> JSONObject:
    """The same where nothing else may stand in it."""
    return {**shape(required, **properties), "additionalProperties": False}


def nullable(*schemas: JSONObject) -> JSONObject:
    """Any of these, or null."""
    return {"anyOf": [*schemas, {"type": "null"}]}


def one_of(names: str) -> JSONObject:
    """Any text, described by the names of today."""
    return {"type": "string", "description": f"One of: {names}, or one added later"}


def data(required: str = "", **properties: Any) -> JSONObject:
    """The schema of ``data`` itself."""
    return nullable(shape(required, **properties))


def test_answer_is_a_graphql_response(tmp_path: Path) -> None:
    operation = "query O @mcpTool { n }"
    tool = prescribed_tool(compiled(tmp_path, {"index.graphql": SDL, "operations/o.graphql": operation}), "O")

    assert tool.entry["outputSchema"] == {
        "type": "object",
        "properties": {
            "data": data(n=INTEGER),
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
    assert data_of("{ n f b order { id total status statuses grid } }") == data(
        n=INTEGER,
        f=nullable({"type": "number"}),
        b=nullable({"type": "boolean"}),
        order=shape(
            id=ID,
            total={},
            status=STATUS,
            statuses=nullable({"type": "array", "items": STATUS}),
            grid=nullable({"type": "array", "items": {"type": "array", "items": nullable(INTEGER)}}),
        ),
    )


def test_alias_names_the_key() -> None:
    assert data_of("{ a: n b: n first: order { key: id } }") == data(a=INTEGER, b=INTEGER, first=shape(key=ID))


def test_fields_that_are_selected_twice_are_merged() -> None:
    operation = """
    { order { id } order { total } ...F ... { order { status } } }
    fragment F on Query { order { customer { name } } order { customer { id } } }
    """
    assert data_of(operation) == data(
        order=shape(id=ID, total={}, customer=nullable(shape(name=nullable(STRING), id=ID)), status=STATUS)
    )


def test_skipped_field_is_not_required() -> None:
    operation = """
    query O($x: Boolean!) {
      n @skip(if: $x) f
      order { id @include(if: $x) ...F @include(if: $x) ... @skip(if: $x) { status } }
    }
    fragment F on Order { total }
    """
    assert data_of(operation) == data(
        "f order", n=INTEGER, f=nullable({"type": "number"}), order=shape("-", id=ID, total={}, status=STATUS)
    )


def test_field_that_is_also_selected_without_a_condition_is_required() -> None:
    assert data_of("query O($x: Boolean!) { n @skip(if: $x) n }") == data(n=INTEGER)


def test_fragment_that_is_also_spread_without_a_condition_is_required() -> None:
    fragment = "fragment F on Query { n order { id } }"
    required = data(n=INTEGER, order=shape(id=ID))

    assert data_of("query O($x: Boolean!) { ...F @skip(if: $x) ...F } " + fragment) == required
    assert data_of("query O($x: Boolean!) { ...F ...F @skip(if: $x) } " + fragment) == required


def test_directive_of_the_api_may_leave_a_field_out_and_change_its_value() -> None:
    sdl = f"directive @own on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT {SDL}"
    operation = "{ n @own f order @own { id } ... @own { b } ...F @own } fragment F on Query { m: n }"
    number, flag = nullable({"type": "number"}), nullable({"type": "boolean"})

    assert data_of(operation, sdl) == nullable(shape("f", n={}, f=number, order={}, b=flag, m=INTEGER))


def test_directive_of_a_client_says_nothing_of_the_answer() -> None:
    assert data_of("{ n @nonreactive }") == data(n=INTEGER)


def test_what_a_skipped_selection_adds_to_an_object_is_not_required() -> None:
    operation = "query O($x: Boolean!) { order @skip(if: $x) { id } order { total } }"

    assert data_of(operation) == data(order=shape("total", id=ID, total={}))


def test_only_selection_of_a_skipped_object_is_required_in_it() -> None:
    operation = "query O($x: Boolean!) { order @skip(if: $x) { id } }"

    assert data_of(operation) == data("-", order=shape(id=ID))


def test_interface_has_one_shape_where_all_types_have_it() -> None:
    assert data_of("{ node { id } }") == data(node=nullable(shape(id=ID)))


def test_typename_is_one_of_the_possible_types() -> None:
    assert data_of("{ __typename node { __typename } order { kind: __typename } }") == data(
        __typename={"type": "string", "enum": ["Query"]},
        node=nullable(shape(__typename=one_of("Order, Customer, Employee"))),
        order=shape(kind={"type": "string", "enum": ["Order"]}),
    )


def test_interface_has_a_shape_for_each_selection_that_types_have() -> None:
    operation = "{ node { __typename id ... on Order { total } ...N } } fragment N on Named { name }"

    assert data_of(operation) == data(
        node=nullable(
            closed(__typename={"type": "string", "enum": ["Order"]}, id=ID, total={}),
            closed(__typename={"type": "string", "enum": ["Customer", "Employee"]}, id=ID, name=nullable(STRING)),
            closed("__typename id", __typename=STRING, id=ID, name=nullable(STRING)),
        )
    )


def test_union_has_a_shape_for_each_member_also_for_one_of_which_nothing_is_selected() -> None:
    assert data_of("{ found { ... on Order { id } } }") == data(
        found=nullable({"type": "array", "items": {"anyOf": [LATER, closed(id=ID)]}})
    )


def test_type_may_answer_with_less_than_its_interface_says() -> None:
    schema = build_schema("""
    type Query { pets: [Pet!]! }
    interface Pet { friend: Pet }
    type Cat implements Pet { friend: Cat }
    type Dog implements Pet { friend: Pet }
    """)
    whole = output_schema(parse("{ pets { friend { __typename } } }"), schema)

    assert whole["properties"]["data"] == data(
        pets={
            "type": "array",
            "items": {
                "anyOf": [
                    closed(friend=nullable(shape(__typename={"type": "string", "enum": ["Cat"]}))),
                    closed(friend=nullable(shape(__typename=one_of("Cat, Dog")))),
                ]
            },
        }
    )


def test_types_of_which_the_same_is_answered_have_one_shape() -> None:
    operation = "{ found { ... on Order { x: id } ... on Customer { x: id } } }"

    assert data_of(operation) == data(found=nullable({"type": "array", "items": {"anyOf": [closed(x=ID), LATER]}}))


def test_same_key_may_differ_by_type() -> None:
    operation = "{ found { ... on Order { x: status } ... on Customer { x: orders { id } } } }"

    assert data_of(operation) == data(
        found=nullable(
            {
                "type": "array",
                "items": {"anyOf": [closed(x={"type": "array", "items": shape(id=ID)}), closed(x=STATUS), LATER]},
            }
        )
    )


def test_value_that_is_wrong_for_its_type_does_not_pass_for_another_type() -> None:
    found = "{ found { ... on Order { status } ... on Customer { name } } }"
    validator = Draft202012Validator(output_schema(parse(found), build_schema(SDL)))

    assert validator.is_valid({"data": {"found": [{"status": "PAID"}, {"name": None}]}})
    assert not validator.is_valid({"data": {"found": [{"status": None}]}})
    assert not validator.is_valid({"data": {"found": [{"name": 5}]}})


def test_interface_that_nothing_implements_is_an_open_object() -> None:
    assert data_of("{ nobody { id } }") == data(nobody=nullable({"type": "object"}))


def test_introspection_is_left_open() -> None:
    assert data_of('{ __schema { types { name } } __type(name: "Order") { name } n }') == data(
        __schema={}, __type={}, n=INTEGER
    )


def test_shape_that_is_nested_deeply_is_left_open() -> None:
    operation = "{ order " + "{ customer { orders " * 80 + "{ id }" + " } }" * 80 + " }"
    (whole, _) = data_of(operation)["anyOf"]

    depth = 0
    while "properties" in whole:
        depth += 1
        (whole,) = whole["properties"].values()
        whole = whole.get("items", whole)
        whole = whole["anyOf"][0] if "anyOf" in whole else whole
    assert depth == 40
    assert whole == {"type": "object"}


def test_what_repeats_stands_once() -> None:
    customer = "{ id name orders { id status statuses } }"
    whole = output_schema(
        parse(f"{{ a: order {{ customer {customer} }} b: order {{ status customer {customer} }} }}"),
        build_schema(SDL),
    )

    assert whole["$defs"] == {
        "Customer": shape(
            id=ID,
            name=nullable(STRING),
            orders={
                "type": "array",
                "items": shape(id=ID, status=STATUS, statuses=nullable({"type": "array", "items": STATUS})),
            },
        )
    }
    reference = nullable({"$ref": "#/$defs/Customer"})
    assert whole["properties"]["data"] == data(a=shape(customer=reference), b=shape(status=STATUS, customer=reference))


def test_what_is_short_is_repeated() -> None:
    assert "$defs" not in output_schema(parse("{ a: order { id } b: order { id } }"), build_schema(SDL))


def test_shapes_of_one_type_that_differ_have_names_of_their_own() -> None:
    one = "{ id name orders { id status grid total } }"
    other = "{ id name orders { total } anOrder: orders { grid total status } }"
    both = f"x: customer {one} y: customer {other}"
    operation = f"{{ a: order {{ {both} }} b: order {{ status {both} }} }}"

    assert list(output_schema(parse(operation), build_schema(SDL))["$defs"]) == ["Customer", "Customer2"]


def test_fragments_within_fragments_do_not_multiply() -> None:
    levels = "\n".join(
        f"fragment F{n} on Order {{ a: customer {{ orders {{ ...F{n + 1} }} }}"
        f" b: customer {{ orders {{ ...F{n + 1} }} }} ...F{n + 1} }}"
        for n in range(30)
    )
    started = time.perf_counter()

    whole = output_schema(
        parse(f"{{ order {{ ...F0 ...F0 }} }} {levels} fragment F30 on Order {{ id }}"), build_schema(SDL)
    )

    assert time.perf_counter() - started < 2
    assert len(json.dumps(whole)) < 20_000


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
    assert not validator.is_valid({"data": {"n": 1, "node": {"__typename": None}}})
    assert not validator.is_valid({"n": 1, "node": None})


@pytest.mark.parametrize(
    ("operation", "answer"),
    [
        ("{ order { status statuses } }", {"order": {"status": "REFUNDED", "statuses": ["PAID", "REFUNDED"]}}),
        ("{ node { __typename id } }", {"node": {"__typename": "Shop", "id": "s"}}),
        ("{ node { kind: __typename ... on Order { total } } }", {"node": {"kind": "Shop"}}),
        ("{ node { id ...N } } fragment N on Named { name }", {"node": {"id": "s", "name": None}}),
        (
            "{ found { __typename ... on Order { total } ... on Named { name } } }",
            {"found": [{"__typename": "Shop", "name": "S"}]},
        ),
        ("{ found { ... on Order { total } } }", {"found": [{}]}),
        ("{ found { ... on Node { ... on Named { name } ... on Order { total } } } }", {"found": [{"name": "S"}]}),
    ],
)
def test_what_an_api_adds_later_fits(operation: str, answer: JSONObject) -> None:
    validator = Draft202012Validator(output_schema(parse(operation), build_schema(SDL)))

    assert validator.is_valid({"data": answer})


def test_field_that_a_later_type_may_have_of_two_interfaces_may_be_anything_there() -> None:
    sdl = "type Query { a: U } union U = A interface I { x: Int } interface J { x: Int! } type A { y: Int }"
    operation = "{ a { ... on A { y } ... on I { x } ... on J { x } } }"

    assert data_of(operation, sdl) == data(a=nullable(closed(y=nullable(INTEGER)), closed("-", x={})))


@pytest.mark.parametrize("id_", ["7", 7, 2**70])
def test_id_is_a_text_or_the_number_that_servers_send(id_: str | int) -> None:
    validator = Draft202012Validator(output_schema(parse("{ order { id } }"), build_schema(SDL)))

    assert validator.is_valid({"data": {"order": {"id": id_}}})
    assert not validator.is_valid({"data": {"order": {"id": None}}})
    assert not validator.is_valid({"data": {"order": {"id": 1.5}}})
    assert not validator.is_valid({"data": {"order": {"id": True}}})


def test_names_of_a_long_enum_are_cut() -> None:
    many = " ".join(f"VALUE_{number:03}" for number in range(300))
    (schema, _) = data_of("{ n }", f"type Query {{ n: E }} enum E {{ {many} }}")["anyOf"][0]["properties"]["n"]["anyOf"]

    assert len(schema["description"]) < 220
    assert schema["description"].startswith("One of: VALUE_000, VALUE_001, ")
    assert schema["description"].endswith("VALUE_013 and 286 more, or one added later")


def test_names_that_are_too_long_are_not_shown() -> None:
    (schema, _) = data_of("{ n }", f"type Query {{ n: E }} enum E {{ {'A' * 500} }}")["anyOf"][0]["properties"]["n"][
        "anyOf"
    ]

    assert schema == STRING


HIDDEN_SDL = """
type Query { node: Node! found: Found! status: Status }
interface Node { kind: String }
union Found = Customer | Order | Secret
type Customer implements Node { kind: String name: String }
type Order implements Node { kind: String status: Status }
type Secret implements Node { kind: String code: String }
enum Status { PAID OPEN LOST }
"""


def data_without(operation: str, *hidden: str) -> JSONObject:
    whole = output_schema(parse(operation), build_schema(HIDDEN_SDL), dict.fromkeys(hidden, HIDDEN))
    found: JSONObject = whole["properties"]["data"]["anyOf"][0]["properties"]
    return found


def test_hidden_enum_value_is_not_named() -> None:
    assert data_without("{ status }", "Status.LOST") == {"status": nullable(one_of("PAID, OPEN"))}


def test_enum_without_a_value_that_may_be_told_is_any_text() -> None:
    assert data_without("{ status }", "Status.PAID", "Status.OPEN", "Status.LOST") == {"status": nullable(STRING)}


@pytest.mark.parametrize("field", ["node", "found"])
@pytest.mark.parametrize("hidden", [("Secret",), ("Secret.kind", "Secret.code")], ids=["type", "all fields"])
def test_hidden_possible_type_is_not_named(field: str, hidden: tuple[str, ...]) -> None:
    name = one_of("Customer, Order")

    assert data_without(f"{{ {field} {{ __typename }} }}", *hidden) == {field: shape(__typename=name)}


def test_possible_type_with_a_field_that_is_left_is_named() -> None:
    name = one_of("Customer, Order, Secret")

    assert data_without("{ node { __typename } }", "Secret.code") == {"node": shape(__typename=name)}


def test_hidden_types_and_values_are_in_no_tool(tmp_path: Path) -> None:
    hide = "access: {hide: [Secret, Status.LOST]}"
    operation = "query O @mcpTool { status found { __typename ... on Order { status } } }"
    files = {"index.graphql": HIDDEN_SDL, "operations/o.graphql": operation, "config.yaml": hide}
    schema = json.dumps(prescribed_tool(compiled(tmp_path, files), "O").entry["outputSchema"])

    assert "Secret" not in schema
    assert "LOST" not in schema
    assert "Customer" in schema


ADMINS = frozenset({5})


@pytest.mark.parametrize(
    ("guarded", "mask", "named"),
    [
        ("Status.LOST", OPEN, ["Customer", "Order"]),
        ("Status.LOST", ADMINS, ["PAID", "LOST", "Customer", "Order"]),
        ("Order", OPEN, ["PAID", "LOST"]),
        ("Order", ADMINS, ["PAID", "LOST", "Customer", "Order"]),
    ],
)
def test_names_that_are_not_for_all_callers_of_a_tool_are_in_no_description(
    guarded: str, mask: Mask, named: list[str]
) -> None:
    document = parse("{ status found { __typename } node { __typename kind } }")
    schema = json.dumps(output_schema(document, build_schema(HIDDEN_SDL), {guarded: ADMINS}, mask=mask))

    assert [name for name in ("PAID", "LOST", "Customer", "Order") if name in schema] == named
