"""Openings: differences by which callers without a credential reach or use more, and new root types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from handler.audience.ways import version_of
from handler.commands.changes.change import Change
from handler.commands.changes.endpoint_changes import EndpointChanges, compare, markdown, text_lines
from tests.support.endpoints import compiled

SCHEMA = """\
type Query { orders(first: Int, state: State, where: Where): [Order!]! margins: [Order!]! }
type Mutation { pay(id: ID!): Order }
type Order { id: ID! margin: Float }
enum State { OPEN PAID }
input Where { id: ID total: Float }
"""

KEYS = "".join(f"{{name: k{number}, sha256: {f'{number}' * 64}, claims: {{role: r{number}}}}}, " for number in range(6))

CONFIG = f"""\
upstream: {{url: https://orders.example.com/graphql}}
graphql: off
identity: {{issuer: https://id.example.com, audience: a, jwksendpoint: https://id.example.com/keys, api_keys: [{KEYS}]}}
access:
  anonymous: allow
  policies:
    - {{type: Query, policyDefault: {{condition: true}}, rules: [{{condition: RULE, fields: [margins]}}]}}
    - {{type: Mutation, policyDefault: {{condition: false}}}}
"""

FREE = 'extend schema @tool(name: "search", graphql: [{expose: true, types: "Query", fields: ".*"}])\n'

ORDERS = 'query Orders($first: Int) @mcpTool(name: "orders") { orders(first: $first) { id } }\n'

STAFF = '$jwt.role:String == "admin"'


def files(rule: str = STAFF, *, schema: str = SCHEMA, config: str = CONFIG, **more: str) -> dict[str, str]:
    others = {name.replace("__", "/").replace("_", "."): text for name, text in more.items()}
    return {"index.graphql": schema, "config.yaml": config.replace("RULE", json.dumps(rule)), **others}


def compared(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> EndpointChanges:
    return compare(*(version_of(compiled(folder / name, each)) for name, each in (("a", before), ("b", after))))


def openings(made: EndpointChanges) -> list[Change]:
    return [each for each in made.changes if each.opening]


EVERYBODY = " || ".join([f"!(?$jwt.role) || {STAFF}", *(f'$jwt.role:String == "r{number}"' for number in range(6))])


def test_opened_field_is_for_everybody_in_each_form_however_many_classes_gain_it(tmp_path: Path) -> None:
    made = compared(tmp_path, files(schema=FREE + SCHEMA), files(EVERYBODY, schema=FREE + SCHEMA))

    (change,) = openings(made)
    assert change.callers[:2] == ("anonymous", "token {}")
    assert change.callers[-6:] == tuple(f"key:k{number}" for number in range(6))
    plain = made.as_json()
    assert (plain["opening"], plain["breaking"]) == (True, False)
    assert (plain["changes"][0]["opensToEverybody"], plain["changes"][0]["callers"][0]) == (True, "anonymous")
    for lines in (text_lines(made, full=False), text_lines(made, full=True), markdown([made]).splitlines()):
        text = "\n".join(lines)
        assert "Open to everybody" in text
        assert "Query.margins and 1 more, for everybody" in text or "Query.margins, for everybody" in text
    assert ", key:k0, key:k1, key:k2, key:k3, key:k4, key:k5" in "\n".join(text_lines(made, full=True))


def test_callers_who_lose_a_field_are_named_with_the_anonymous_ones_first(tmp_path: Path) -> None:
    made = compared(tmp_path, files(EVERYBODY, schema=FREE + SCHEMA), files(schema=FREE + SCHEMA))

    (lost,) = [each for each in made.changes if each.code == "reach-lost"]
    assert (lost.callers[0], lost.opening) == ("anonymous", False)
    assert "for anonymous or token {} or " in lost.sentence
    assert made.breaking
    assert not made.opening


@pytest.mark.parametrize(
    ("rule", "is_open"),
    [
        ("?$jwt", False),
        ('$jwt.role:String == "r1"', False),
        ("true", True),
        ("!?$jwt", True),
        (f'{STAFF} || !($jwt.role:String == "r1")', False),  # a condition on a claim fails without claims
    ],
)
def test_opening_is_for_callers_without_a_credential_alone(tmp_path: Path, rule: str, is_open: bool) -> None:
    made = compared(tmp_path, files(schema=FREE + SCHEMA), files(rule, schema=FREE + SCHEMA))

    gained = [each for each in made.changes if each.code == "reach-gained"]
    assert gained
    assert [bool(openings(made)), "anonymous" in {each for one in gained for each in one.callers}] == [is_open] * 2


OPERATIONS = {
    "an argument": ORDERS.replace("$first: Int", "$first: Int, $state: State").replace(
        "(first:", "(state: $state first:"
    ),
    "a field": ORDERS.replace("{ id }", "{ id margin }"),
    "a root field": ORDERS.replace("{ id } }", "{ id } margins { id } }"),
    "a tool": ORDERS + 'query More @mcpTool(name: "more") { orders { id } }\n',
    "a variable that was bound": ORDERS,
}


@pytest.mark.parametrize("what", OPERATIONS)
def test_operation_opens_to_everybody(tmp_path: Path, what: str) -> None:
    bound = ORDERS.replace("$first: Int", "$first: Int @mcpBind(value: 5)")
    before = files("true", operations__o_graphql=bound if "bound" in what else ORDERS)

    made = compared(tmp_path, before, files("true", operations__o_graphql=OPERATIONS[what]))

    assert openings(made), made.lines()
    assert {each.callers[0] for each in openings(made)} == {"anonymous"}


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("OPEN PAID", "OPEN PAID LATE", "State.LATE"),
        ("id: ID total", "id: ID secret: String total", "Where.secret"),
    ],
)
def test_further_values_and_input_fields_open_to_everybody(tmp_path: Path, old: str, new: str, name: str) -> None:
    takes = "query Orders($s: State, $w: Where) @mcpTool { orders(state: $s, where: $w) { id } }\n"
    changed = SCHEMA.replace(old, new)

    made = compared(tmp_path, files(operations__o_graphql=takes), files(schema=changed, operations__o_graphql=takes))
    free = compared(tmp_path / "free", files(schema=FREE + SCHEMA), files(schema=FREE + changed))

    (opening,) = openings(made)
    assert {name, f"$s.{name[6:]}", f"$w.{name[6:]}"} & set(opening.coordinates)
    assert name in openings(free)[0].coordinates


def test_argument_that_is_hidden_from_them_opens_nothing_to_everybody(tmp_path: Path) -> None:
    takes = "query Orders($w: Where) @mcpTool { orders(where: $w) { id } }\n"
    rule = "{type: Order, rules: [{condition: '?$jwt', fields: [margin]}], policyDefault: {condition: true}}"
    hidden = CONFIG + f"    - {rule}\n"
    changed = SCHEMA.replace("id: ID total", "id: ID margin: Float total")

    made = compared(
        tmp_path,
        files(config=hidden, operations__o_graphql=takes),
        files(schema=changed, config=hidden, operations__o_graphql=takes),
    )

    assert "argument-added" in {each.code for each in made.changes}
    assert openings(made) == [], made.lines()


def test_further_way_to_what_everybody_may_ask_for_anyway_is_no_opening(tmp_path: Path) -> None:
    before = files(schema=FREE + SCHEMA, operations__o_graphql=ORDERS)

    made = compared(tmp_path, before, {**before, "operations/o.graphql": OPERATIONS["a field"]})

    assert "reach-gained" in {each.code for each in made.changes}
    assert openings(made) == [], made.lines()


SHUT = CONFIG.replace("anonymous: allow", "anonymous: challenge")
PROMPT = "---\ndescription: A\ncondition: '?$jwt'\n---\nHello\n"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (files(config=SHUT, schema=FREE + SCHEMA), files(schema=FREE + SCHEMA), "anonymous-admitted"),
        (
            files(prompts__p_md=PROMPT),
            files(prompts__p_md=PROMPT.replace("condition: '?$jwt'\n", "")),
            "content-opened",
        ),
        (files(), files(prompts__p_md=PROMPT.replace("condition: '?$jwt'\n", "")), "content-added"),
        (
            files(operations__o_graphql=ORDERS.replace('"orders")', '"orders", hidden: true)')),
            files(operations__o_graphql=ORDERS),
            "tool-listed",
        ),
        (
            files(operations__o_graphql=ORDERS.replace('"orders")', '"orders", scopes: ["orders"])')),
            files(operations__o_graphql=ORDERS),
            "tool-opened",
        ),
        (
            files(operations__o_graphql=ORDERS.replace('"orders")', '"orders", condition: "?$jwt")')),
            files(operations__o_graphql=ORDERS),
            "tool-opened",
        ),
        (
            files(operations__o_graphql=ORDERS),
            files(operations__o_graphql=ORDERS, config=CONFIG.replace("graphql: off", "graphql: on")),
            "tool-opened",
        ),
        (
            files(operations__o_graphql=ORDERS),
            files(operations__o_graphql=ORDERS, config=CONFIG + "catalog: true\n"),
            "tool-opened",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_other_openings(tmp_path: Path, before: dict[str, str], after: dict[str, str], code: str) -> None:
    made = compared(tmp_path, before, after)

    assert code in {each.code for each in openings(made)}, made.lines()


@pytest.mark.parametrize("prompt", [PROMPT, PROMPT.replace("?$jwt", STAFF)])
def test_prompt_for_others_is_no_opening(tmp_path: Path, prompt: str) -> None:
    assert not compared(tmp_path, files(), files(prompts__p_md=prompt)).opening


WITHOUT_PAY = SCHEMA.replace("type Mutation { pay(id: ID!): Order }\n", "")
SHUT_WITHOUT_PAY = SHUT.replace("    - {type: Mutation, policyDefault: {condition: false}}\n", "")
PAY = 'mutation Pay($id: ID!) @mcpTool(name: "pay") { pay(id: $id) { id } }\n'


def test_new_root_type_that_a_key_reaches_is_an_opening(tmp_path: Path) -> None:
    key = f"api_keys: [{{name: whole, sha256: {'f' * 64}}}, "
    before = files(schema=FREE + WITHOUT_PAY, config=SHUT_WITHOUT_PAY.replace("api_keys: [", key))
    after = files(schema=FREE + SCHEMA, config=SHUT.replace("api_keys: [", key))

    made = compared(tmp_path, before, {**after, "operations/pay.graphql": PAY})
    unreached = compared(tmp_path / "no", before, after)

    (change,) = openings(made)
    assert (change.code, change.about, change.callers, change.for_everybody) == (
        "root-opened",
        "Mutation",
        ("key:whole",),
        False,
    )
    assert "New root types" in "\n".join(text_lines(made, full=False))
    assert openings(unreached) == []


def test_new_endpoint_is_an_opening_of_diff_if_it_admits_everybody(tmp_path: Path) -> None:
    shut, opened = (version_of(compiled(tmp_path / each[:9], files(config=each))) for each in (SHUT + " ", CONFIG))

    assert not compare(None, shut).opening
    assert compare(None, opened).opening
