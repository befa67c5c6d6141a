"""Forty kinds of edits of tools, arguments and settings, each with the code of its difference.

``docs/diff.md`` says which codes break. Each kind changes files of one endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA = """\
type Query {
  order(id: ID!, first: Int = 10, state: State, where: Where, since: Day, all: Boolean = false): Order
  orders: [Order!]!
  secret: String
}
type Mutation { pay(id: ID!, lines: [Line!], ways: [Way], least: Bound, most: Bound): Order }
interface Named { name: String! }
interface Sold { total: Float! }
type Order { id: ID! total: Float! state: State note: String sold: Sold named: Named buyer: Buyer }
type Buyer implements Named { name: String! mail: String }
type Thing implements Sold { total: Float! }
input Line { sku: ID }
input Bound { total: Float }
enum Way { CARD CASH }
input Where { total: Float, state: State }
enum State { OPEN PAID }
scalar Day
directive @inc(count: Int = 1) on FIELD | QUERY
"""

CONFIG = """\
upstream:
  url: https://orders.example.com/graphql
  timeout_s: 10
  headers: {x-app: one}
  auth: {bearer: "secret:ORDERS"}
limits: {max_depth: 8}
scalars: {Day: {type: string, maxLength: 10}}
graphql: on
instructions: Orders of a shop.
identity:
  api_keys:
    - {name: partner, sha256: "AAAA", claims: {role: partner}}
access:
  anonymous: allow
  policies:
    - {type: Query, rules: [{condition: false, fields: [secret]}], policyDefault: {condition: true}}
    - {type: Mutation, policyDefault: {condition: true}}
""".replace("AAAA", "a" * 64)

ORDER = """\
query Order($id: ID!, $first: Int = 10, $state: State, $where: Where, $since: Day)
  @mcpTool(name: "order", title: "One order", description: "Finds an order.", scopes: ["orders"]) {
  order(id: $id, first: $first, state: $state, where: $where, since: $since) { id total state note buyer { name } }
}
"""

PAY = """\
mutation Pay($id: ID!, $lines: [Line!], $ways: [Way], $least: Bound = {total: 1}, $most: Bound = {total: 2})
  @mcpTool(name: "pay") { pay(id: $id, lines: $lines, ways: $ways, least: $least, most: $most) { id state } }
"""

ASK = "---\narguments: [{name: tone, values: [brief, formal]}]\n---\nTone: {{tone}}\n"
PAGE = "ui: {pages: {orders: {title: Orders, csp: {connect_domains: [https://a.example.com]}}}}\n"

FILES: Mapping[str, str] = {
    "index.graphql": SCHEMA,
    "config.yaml": CONFIG + PAGE,
    "operations/order.graphql": ORDER,
    "operations/pay.graphql": PAY,
    "prompts/ask.md": ASK,
    "ui/orders.html": "<!doctype html><title>Orders</title>",
}

NAMES = {
    "schema": "index.graphql",
    "config": "config.yaml",
    "order": "operations/order.graphql",
    "pay": "operations/pay.graphql",
    "prompt": "prompts/ask.md",
}


MORE = ORDER.replace("since: $since", "since: $since, all: $more")
"""The operation with a further variable, which is to be declared."""


@dataclass(frozen=True, slots=True)
class Kind:
    """An edit: in a file, ``old`` becomes ``new``; ``code`` is the difference that it has to make, ``breaks`` if so."""

    what: str
    file: str
    old: str
    new: str
    code: str
    breaks: bool


KINDS = (
    Kind("a tool is gone", "pay", PAY, "query Other { orders { id } }\n", "tool-removed", True),
    Kind(
        "a tool is new",
        "order",
        ORDER,
        f'{ORDER}query All @mcpTool(name: "all") {{ orders {{ id }} }}\n',
        "tool-added",
        False,
    ),
    Kind("a renamed tool", "order", '"order"', '"find"', "tool-removed", True),
    Kind("a renamed tool with an alias", "order", '"order"', '"find", aliases: ["order"]', "tool-renamed", False),
    Kind("a further alias", "order", '"order"', '"order", aliases: ["old"]', "alias-added", False),
    Kind("a tool that lists lack", "order", '"order"', '"order", hidden: true', "tool-unlisted", True),
    Kind("another title", "order", "One order", "An order", "text-changed", False),
    Kind("another description", "order", "Finds an", "Looks up an", "text-changed", False),
    Kind("further scopes", "order", '["orders"]', '["orders", "read"]', "scopes-added", True),
    Kind("fewer scopes", "order", ', scopes: ["orders"]', "", "scopes-removed", False),
    Kind("consent", "pay", '"pay"', '"pay", confirm: required', "confirm-raised", True),
    Kind(
        "a further argument",
        "order",
        ORDER,
        MORE.replace("$id: ID!", "$id: ID!, $more: Boolean = false"),
        "argument-added",
        False,
    ),
    Kind(
        "a further needed argument",
        "order",
        ORDER,
        MORE.replace("$id: ID!", "$id: ID!, $more: Boolean!"),
        "argument-required-added",
        True,
    ),
    Kind(
        "an argument less",
        "order",
        ORDER,
        ORDER.replace("$state: State, ", "").replace("state: $state, ", ""),
        "argument-removed",
        True,
    ),
    Kind("a needed argument", "order", "$state: State,", "$state: State!,", "argument-required", True),
    Kind("an argument that may be left out", "order", "$id: ID!", '$id: ID! = "1"', "argument-optional", False),
    Kind("another default", "order", "= 10", "= 20", "argument-default", True),
    Kind("no default", "order", "$first: Int = 10", "$first: Int", "argument-default", True),
    Kind("a further value", "schema", "OPEN PAID", "OPEN PAID LATE", "argument-value-added", False),
    Kind("a value less", "schema", "OPEN PAID", "OPEN", "argument-value-removed", True),
    Kind("a further input field", "schema", "{ total: Float,", "{ total: Float, from: Int,", "argument-added", False),
    Kind(
        "a needed input field",
        "schema",
        "{ total: Float,",
        "{ total: Float, from: Int!,",
        "argument-required-added",
        True,
    ),
    Kind("an input field less", "schema", "{ total: Float, state", "{ state", "argument-removed", True),
    Kind("an input field of fewer types", "schema", "{ total: Float,", "{ total: Int,", "argument-narrowed", True),
    Kind("an input field of other types", "schema", "{ total: Float,", "{ total: Boolean,", "argument-type", True),
    Kind("a lower limit of values", "config", "maxLength: 10", "maxLength: 8", "argument-limit-lowered", True),
    Kind("a higher limit of values", "config", "maxLength: 10", "maxLength: 12", "argument-limit-raised", False),
    Kind(
        "a pattern of values", "config", "maxLength: 10", 'maxLength: 10, pattern: "^[0-9-]+$"', "argument-rule", True
    ),
    Kind("a further field of results", "order", "{ name }", "{ name mail }", "output-added", False),
    Kind("a field of results less", "order", " note buyer", " buyer", "output-removed", True),
    Kind("a result that may be null", "schema", "total: Float!", "total: Float", "output-nullable", True),
    Kind("a result that is never null", "schema", "note: String ", "note: String! ", "output-required", False),
    Kind("a result of another type", "schema", "note: String ", "note: Boolean ", "output-type", True),
    Kind("results in another form", "order", '"order"', '"order", output: text', "output-form", True),
    Kind("another URL", "config", "orders.example", "sales.example", "upstream-url", False),
    Kind("another header", "config", "x-app: one", "x-app: two", "upstream-headers", False),
    Kind("another secret", "config", "secret:ORDERS", "secret:SALES", "upstream-credential", False),
    Kind("a lower limit", "config", "max_depth: 8", "max_depth: 5", "limit-lowered", True),
    Kind("a higher limit", "config", "max_depth: 8", "max_depth: 9", "limit-raised", False),
    Kind("results without limit", "config", "max_depth: 8", "max_depth: 8, max_result_bytes: 0", "limit-raised", False),
    Kind(
        "a lower limit of a tool's results",
        "pay",
        '"pay"',
        '"pay", title: "Pay", limits: {max_result_bytes: 900}',
        "limit-lowered",
        True,
    ),
    Kind("no schemas of results", "config", "graphql: on", "graphql: on\noutput_schema: off", "output-removed", True),
    Kind(
        "schemas of results with open parts",
        "config",
        "max_depth: 8",
        "max_depth: 8, max_output_schema_bytes: 200",
        "output-removed",
        True,
    ),
    Kind(
        "an address for each tenant",
        "config",
        "https://orders.example.com/graphql",
        '"https://{claim:tenant}.example.com/graphql"\n  tenant_pattern: "[a-z]+"',
        "upstream-url",
        False,
    ),
    Kind("no anonymous callers", "config", "anonymous: allow", "anonymous: challenge", "anonymous-refused", True),
    Kind("a key less", "config", "name: partner", "name: reseller", "key-removed", True),
    Kind("another key", "config", "a" * 64, "b" * 64, "key-changed", True),
    Kind("other claims of a key", "config", "role: partner", "role: admin", "key-claims", True),
    Kind("other instructions", "config", "of a shop", "of two shops", "content-changed", False),
    Kind("another identity", "config", "instructions:", "server: {title: Shop}\ninstructions:", "text-changed", False),
    Kind("another default of the schema", "schema", "first: Int = 10", "first: Int = 20", "input-default", True),
    Kind("a needed argument of the schema", "schema", "first: Int = 10", "first: Int!", "input-required", True),
    Kind("a list that may be null", "schema", "orders: [Order!]!", "orders: [Order!]", "field-type", True),
    Kind("a field that is never null", "schema", "buyer: Buyer }", "buyer: Buyer! }", "field-required", False),
    Kind(
        "a needed input field of items",
        "schema",
        "Line { sku",
        "Line { count: Int! sku",
        "argument-required-added",
        True,
    ),
    Kind("a value of items less", "schema", "CARD CASH", "CARD", "argument-value-removed", True),
    Kind("a value of items more", "schema", "CARD CASH", "CARD CASH GIFT", "argument-value-added", False),
    Kind("items that are not null", "pay", "$ways: [Way]", "$ways: [Way!]", "argument-narrowed", True),
    Kind(
        "another default of a second argument of one type", "pay", "{total: 2}", "{total: 3}", "argument-default", True
    ),
    Kind(
        "a second argument of one type without null", "pay", "$most: Bound", "$most: Bound!", "argument-narrowed", True
    ),
    Kind("a value of a prompt less", "prompt", "[brief, formal]", "[brief]", "argument-value-removed", True),
    Kind("a value of a prompt more", "prompt", "formal]", "formal, kind]", "argument-value-added", False),
    Kind("a prompt that takes any value", "prompt", ", values: [brief, formal]", "", "argument-widened", False),
    Kind("other origins of a page", "config", "a.example.com", "b.example.com", "content-changed", False),
    Kind("other icons", "pay", '"pay"', '"pay", icons: [{src: "https://a.example.com/i.png"}]', "text-changed", False),
    Kind("an interface less", "schema", "Buyer implements Named {", "Buyer {", "interface-left", True),
    Kind("an interface more", "schema", "type Order {", "type Order implements Sold {", "interface-joined", False),
    Kind("a directive in fewer places", "schema", "FIELD | QUERY", "FIELD", "directive-narrowed", True),
    Kind(
        "a directive in further places",
        "schema",
        "FIELD | QUERY",
        "FIELD | QUERY | MUTATION",
        "directive-widened",
        False,
    ),
    Kind("a needed argument of a directive", "schema", "count: Int = 1", "count: Int!", "input-required", True),
    Kind(
        "longer lists",
        "config",
        "limits: {",
        "limits: {list_sizes: {Query.orders: 50}, ",
        "cost-changed",
        True,
    ),
    Kind("a text of the schema", "schema", "note: String", '"Of the buyer." note: String', "text-changed", False),
    Kind("a field that is old", "schema", "mail: String", "mail: String @deprecated", "text-changed", False),
    Kind(
        "a newly open field",
        "config",
        "condition: false, fields: [secret]",
        "condition: true, fields: [secret]",
        "reach-gained",
        False,
    ),
    Kind(
        "a mutation in place of a query",
        "order",
        ORDER,
        PAY.replace("Pay", "Order").replace('"pay"', '"order"'),
        "operation-writes",
        True,
    ),
)
