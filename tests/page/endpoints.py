"""The endpoints that tests look at: callers with different rights, every kind of argument, and many tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo, build_schema, graphql_sync

from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import write_endpoint

PARTNER_KEY = "stile_9f1c2b7a6d5e4f3a2b1c0d9e8f7a6b5c"
"""The key of a partner, who may read what claims allow."""

STATE_KEY = "c2VjcmV0IG9mIHRoZSBwYWdlJ3MgdGVzdHMgMDEyMzQ="

Resolver = Any

DESK = '''
"""What people at the desk ask."""
schema { query: Query mutation: Mutation }
type Query {
  "One order by its number."
  order("The number on the invoice." number: Int!): Order
  "Everybody who works here."
  employees: [Employee!]!
  "Many rows, so that an answer is cut."
  rows: [Row!]!
  "Fails at the API."
  broken: String
  "A list that an outage hides in part."
  partly: [Order]!
}
type Mutation { "Calls an order off." cancelOrder(number: Int!, reason: Reason): Order }
enum Reason { "The customer changed their mind." CHANGED_MIND LATE }
"An order." type Order { number: Int! status: String! seller: Employee }
type Employee { id: ID! name: String! "Before taxes." salary: Int manager: Employee orders: [Order!]! }
type Row { id: ID! text: String! }
'''
DESK_OPERATIONS = """
"One order."
query OneOrder($number: Int!) @mcpTool(name: "one_order", title: "One order") {
  order(number: $number) { number status }
}
"What everybody earns."
query Salaries @mcpTool(name: "salaries", title: "Salaries") { employees { name salary } }
"Many rows."
query Rows @mcpTool(name: "rows", title: "Rows", limits: {continue: true, max_result_bytes: 4000}) { rows { id text } }
"Fails at the API."
query Broken @mcpTool(name: "broken", title: "Broken") { broken }
"Answers in part."
query Partly @mcpTool(name: "partly", title: "Partly") { partly { number status } }
"Call an order off."
mutation CancelOrder($number: Int!, $reason: Reason)
@mcpTool(name: "cancel_order", title: "Cancel an order", confirm: required) {
  cancelOrder(number: $number, reason: $reason) { number status }
}
"""
DESK_TOOL = """
schema
  @tool(name: "ask_desk", title: "Ask the desk", description: "Orders and staff. {graphql_tool}",
    graphql: [{expose: true, types: "Query", fields: "order|employees"}]) { query: Query mutation: Mutation }
"""

KINDS = '''
"""Arguments of every kind."""
type Query {
  enums(one: Colour!, many: [Colour!], hue: Colour = GREEN): JSON
  lists(flat: [Int!]!, deep: [[Int!]!], texts: [String]): JSON
  nested(order: OrderInput!): JSON
  recursive(where: Where): JSON
  defaults(first: Int! = 5, ratio: Float = 0.5, ok: Boolean! = true,
    text: String = "a \\"b\\"", ids: [ID!] = ["x"]): JSON
  nullable(text: String, number: Int, yes: Boolean): JSON
  oneof(by: By!): JSON
  scalars(when: DateTime, day: Date, url: URL, uuid: UUID, big: BigInt, money: Money, any: JSON, price: Decimal): JSON
  required(text: String!, number: Int!, ratio: Float!, yes: Boolean!, id: ID!): JSON
  nothing: JSON
}
"A colour." enum Colour { "As the sky." BLUE GREEN RED }
input OrderInput { "Who buys." customer: CustomerInput! lines: [LineInput!]! note: String rush: Boolean = false }
input CustomerInput { email: String! address: AddressInput }
input AddressInput { street: String! zip: String! }
input LineInput { product: ID! quantity: Int! = 1 colour: Colour }
input Where { and: [Where!] or: [Where!] not: Where name: TextFilter }
input TextFilter { eq: String contains: String in: [String!] }
input By @oneOf { id: ID email: String key: KeyInput }
input KeyInput { name: String! value: Int! }
scalar JSON
scalar DateTime
scalar Date
scalar URL
scalar UUID
scalar BigInt
scalar Decimal
scalar Money
'''
KINDS_SIGNATURES = {
    "enums": "$one: Colour!, $many: [Colour!], $hue: Colour = GREEN",
    "lists": "$flat: [Int!]!, $deep: [[Int!]!], $texts: [String]",
    "nested": "$order: OrderInput!",
    "recursive": "$where: Where",
    "defaults": "$first: Int! = 5, $ratio: Float = 0.5, $ok: Boolean! = true, "
    '$text: String = "a \\"b\\"", $ids: [ID!] = ["x"]',
    "nullable": "$text: String, $number: Int, $yes: Boolean",
    "oneof": "$by: By!",
    "scalars": "$when: DateTime, $day: Date, $url: URL, $uuid: UUID, "
    "$big: BigInt, $money: Money, $any: JSON, $price: Decimal",
    "required": "$text: String!, $number: Int!, $ratio: Float!, $yes: Boolean!, $id: ID!",
    "nothing": "",
}
OPEN = "access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}\n"


def kinds_operations() -> str:
    """Write an operation for each root field, which passes on all of its arguments."""
    written = []
    for name, signature in KINDS_SIGNATURES.items():
        names = [part.split(":")[0].strip() for part in signature.split("$")[1:]]
        arguments = f"({', '.join(f'{each}: ${each}' for each in names)})" if names else ""
        variables = f"({signature})" if signature else ""
        written.append(
            f'"Arguments: {name}."\nquery {name.title()}{variables} @mcpTool(name: "{name}") {{ {name}{arguments} }}'
        )
    return "\n".join(written)


def desk_config(url: str, identity: str) -> str:
    digest = hashlib.sha256(PARTNER_KEY.encode()).hexdigest()
    return f"""\
upstream: {{url: "{url}"}}
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {{condition: true}}
      rules:
        - {{condition: "?$jwt", fields: [employees]}}
    - type: Employee
      policyDefault: {{condition: true}}
      rules:
        - {{name: pay, condition: '$jwt.roles:String has "hr"', fields: [salary]}}
    - type: Mutation
      policyDefault: {{condition: "?$jwt"}}
identity:
{identity}  api_keys:
    - {{name: partner, sha256: {digest}, claims: {{roles: [desk]}}}}
"""


def _row(number: int) -> dict[str, Any]:
    return {"id": str(number), "text": f"row {number} " + "x" * 60}


ADA = {"id": "1", "name": "Ada", "salary": 91_000}
DESK_ANSWERS: Mapping[str, Resolver] = {
    "order": lambda number: {"number": number, "status": "SENT", "seller": ADA},
    "employees": lambda: [ADA, {"id": "2", "name": "Ben", "salary": 54_000, "manager": ADA}],
    "rows": lambda: [_row(number) for number in range(200)],
    "partly": lambda: [{"number": 1, "status": "SENT"}, {"number": 2}],
    "cancelOrder": lambda number, reason=None: {"number": number, "status": f"CANCELLED {reason}"},
}


def answering_with(sdl: str, answers: Mapping[str, Resolver]) -> Any:
    """An API with this schema. A root field without an answer repeats its arguments, and ``broken`` fails."""
    schema = build_schema(sdl)

    def resolve(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        if info.path.prev is None and info.field_name not in answers:
            if info.field_name == "broken":
                raise GraphQLError("The warehouse does not answer.")
            return arguments
        if info.path.prev is None:
            return answers[info.field_name](**arguments)
        return source.get(info.field_name)

    def answer(asked: Asked) -> Reply:
        body = asked.json
        done = graphql_sync(schema, body["query"], field_resolver=resolve, variable_values=body.get("variables"))
        return Reply(done.formatted)

    return answer


@contextmanager
def desk(folder: Path, *, claims: Mapping[str, Any] | None = None, identity: str = "") -> Iterator[tuple[Path, Api]]:
    """The endpoint shop/desk with two people's claims beside it, and its API."""
    with running_api(answering_with(DESK, DESK_ANSWERS)) as api:
        endpoint = write_endpoint(
            folder,
            {
                "index.graphql": DESK.replace("schema { query: Query mutation: Mutation }", DESK_TOOL),
                "operations/desk.graphql": DESK_OPERATIONS,
                "config.yaml": desk_config(api.url, identity),
            },
            name="shop/desk",
        )
        people = {"ada.json": {"sub": "ada", "roles": ["hr"]}, "ben.json": {"sub": "ben", "roles": ["desk"]}}
        for name, each in {**people, **(claims or {})}.items():
            (endpoint / name).write_text(json.dumps(each), encoding="utf-8")
        yield endpoint, api


@contextmanager
def kinds(folder: Path) -> Iterator[tuple[Path, Api]]:
    """The endpoint shop/kinds, whose tools repeat arguments of every kind, and its API."""
    with running_api(answering_with(KINDS, {})) as api:
        files = {
            "index.graphql": KINDS,
            "operations/kinds.graphql": kinds_operations(),
            "config.yaml": f'upstream: {{url: "{api.url}"}}\n{OPEN}code: [{{use: "page_tools:kit", condition: true}}]\n'
            "scalars: {Money: {type: string, pattern: '^\\d+\\.\\d{2}$'}}\n",
        }
        yield write_endpoint(folder, files, name="shop/kinds"), api


def write_many(folder: Path, url: str, *, tools: int = 500) -> Path:
    """Write the endpoint shop/many, which has this many tools."""
    fields = "\n".join(f'  "Field {number}." field{number}(a: Int): String' for number in range(tools))
    operations = "\n".join(
        f'"Tool number {number}, which reads a field."\nquery T{number}($a: Int) @mcpTool(name: "tool_{number:03}")'
        f" {{ field{number}(a: $a) }}"
        for number in range(tools)
    )
    files = {
        "index.graphql": f"type Query {{\n{fields}\n}}\n",
        "operations/many.graphql": operations,
        "config.yaml": f'upstream: {{url: "{url}"}}\n{OPEN}',
    }
    return write_endpoint(folder, files, name="shop/many")
