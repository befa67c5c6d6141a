"""The catalog: shorter lists, tools found by what they do, and calls by name that are no second way in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from handler.bundle.tools import CatalogTool
from handler.code_tools.sections import Listed
from handler.compiler.compile import Compiled
from handler.search.ranking import Ranking
from handler.server.asgi.response_size import Room
from handler.server.auth.sealed_state import RequestStates
from handler.server.mcp.catalog import ranked_of
from handler.strict_json import to_json_bytes
from tests.server.mcp.calls.test_consent import YES
from tests.server.mcp.calls.test_consent import call as modern_call
from tests.support.endpoints import compiled
from tests.support.function import Answer, Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.raw_http import RawServer, answer, answering, running_server

SDL = """
extend schema @tool(name: "explore", graphql: {expose: true, types: "Query", fields: "orders"})
type Query { orders(first: Int): Int  payslips: Int  customers: Int }
type Mutation { pay(id: ID!): Int  refund(id: ID!): Int }
"""
OPERATIONS = """
"Orders that nobody has paid."
query Overdue($first: Int) @mcpTool(name: "overdue") { orders(first: $first) }
"The payslips of everybody."
query Payslips @mcpTool(name: "payslips") { payslips }
"All customers."
query Customers @mcpTool(name: "customers" scopes: ["crm"]) { customers }
"Pay an order."
mutation Pay($id: ID!) @mcpTool(name: "pay") { pay(id: $id) }
"Give the money back."
mutation Refund($id: ID!) @mcpTool(name: "refund" confirm: required) { refund(id: $id) }
"""
ACCESS = """
access:
  policies:
    - type: Query
      rules: [{name: hr, condition: '$jwt.role:String == "hr"', fields: [payslips]}]
      policyDefault: {condition: true}
    - {type: Mutation, policyDefault: {condition: '$jwt.role:String != "guest"'}}
"""
HR = {"role": "hr", "scope": "crm"}
SALES = {"role": "sales"}
GUEST = {"role": "guest"}


@contextmanager
def serving(
    folder: Path, catalog: str, claims: Mapping[str, Any], *, pinned: str = "", renamed: str = ""
) -> Iterator[tuple[Function, RawServer]]:
    body = b'{"data": {"orders": 3, "payslips": 4, "customers": 5, "pay": 6, "refund": 7}}'
    with running_server(answering(answer(body, content_type="application/json"))) as api:
        options = " ".join(filter(None, ('name: "overdue"', "pinned: true" if pinned else "", renamed)))
        operations = OPERATIONS.replace('(name: "overdue")', f"({options})")
        files = {
            "index.graphql": SDL,
            "operations/o.graphql": operations,
            "config.yaml": f"upstream: {{url: '{api.url}'}}\n{ACCESS}catalog: {catalog}\n",
        }
        made = identified(compiled(folder, files), claims)
        with running_function(made, states=RequestStates(["k" * 32])) as function:
            yield function, api


def listed(function: Function) -> list[str]:
    result = function.request("tools/list", modern=True, headers=HOLDER).result
    return [each["name"] for each in result["tools"]]


def call(function: Function, tool: str, arguments: Mapping[str, Any], **params: Any) -> Answer:
    return function.request("tools/call", {"name": tool, "arguments": arguments, **params}, modern=True, headers=HOLDER)


ALL = ["explore", "overdue", "payslips", "customers", "pay", "refund"]
CATALOG = ["catalog", "catalog-call", "catalog-call-mutation"]


@pytest.mark.parametrize(
    ("catalog", "expected"),
    [
        ("false", ALL),
        ("true", ALL),
        ("{hidden: false}", ALL + CATALOG),
        ("{list: all}\nlimits: {list_budget: 1}", ALL),
        ("true\nlimits: {list_budget: 100}", CATALOG),
        ("{list_budget: 100}", CATALOG),
        ("{list: pinned}", CATALOG),
        ("{list: pinned, name: tools}", ["tools", "tools-call", "tools-call-mutation"]),
    ],
)
def test_list_is_shorter_if_the_author_or_its_size_says_so(tmp_path: Path, catalog: str, expected: list[str]) -> None:
    with serving(tmp_path, catalog, HR) as (function, _):
        assert listed(function) == expected


def test_pinned_tools_stay_listed(tmp_path: Path) -> None:
    with serving(tmp_path, "{list: pinned}", HR, pinned="overdue") as (function, _):
        assert listed(function) == ["overdue", *CATALOG]


def test_budget_is_that_of_the_callers_own_list(tmp_path: Path) -> None:
    with serving(tmp_path, "true\nlimits: {list_budget: 320}", HR) as (function, _):
        assert listed(function) == CATALOG
    with serving(tmp_path, "true\nlimits: {list_budget: 320}", GUEST) as (function, _):
        assert listed(function) == ["explore", "overdue", "customers"]


def test_list_is_shortened_before_tools_leave_it(tmp_path: Path) -> None:
    with serving(tmp_path, "true\nlimits: {list_budget: 600}", HR) as (function, _):
        tools = function.request("tools/list", modern=True, headers=HOLDER).result["tools"]

    assert [each["name"] for each in tools] == ALL
    assert len(to_json_bytes(tools)) <= 4 * 600


def test_caller_without_tools_that_write_gets_no_way_to_call_them(tmp_path: Path) -> None:
    with serving(tmp_path, "{list: pinned}", GUEST) as (function, _):
        assert listed(function) == CATALOG[:2]


def test_entries_are_found_by_what_they_do_and_called_by_name(tmp_path: Path) -> None:
    with serving(tmp_path, "{list: pinned}", HR) as (function, api):
        (line,) = call(function, "catalog", {"query": "which orders did nobody pay for", "type": "tools"}).result[
            "structuredContent"
        ]["tools"][:1]
        whole = call(function, "catalog", {"names": ["overdue"]}).result["structuredContent"]
        direct = call(function, "overdue", {"first": 2}).result
        done = call(function, line["call"], {"name": line["name"], "arguments": {"first": 2}}).result

    assert line == {
        "name": "overdue",
        "about": "Orders that nobody has paid.",
        "arguments": "first?",
        "call": "catalog-call",
        "hidden": True,
    }
    assert whole["tools"][0]["inputSchema"]["properties"]["first"]["type"] == "integer"
    assert done == direct
    assert len(api.requests) == 2
    assert [request.count(b'"variables":{"first":2}') for request in api.requests] == [1, 1]


def test_alias_counts_as_a_name_and_is_not_shown(tmp_path: Path) -> None:
    with serving(tmp_path, "true", HR, renamed='aliases: ["late_invoices"]') as (function, _):
        found = call(function, "catalog", {"query": "late invoices", "type": "tools"})

    assert [each["name"] for each in found.result["structuredContent"]["tools"]] == ["overdue"]
    assert "late" not in found.text


def test_entries_that_do_not_fit_an_answer_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handler.server.asgi.response_size.LAMBDA", Room(max_bytes=3_000, page_bytes=800_000))
    with serving(tmp_path, "true", HR) as (function, _):
        found = call(function, "catalog", {"names": ALL})

    assert found.text == "The entries are larger than an answer may be. Ask for fewer names at a time."


def test_call_by_name_has_the_log_line_of_the_tool(tmp_path: Path) -> None:
    with serving(tmp_path, "true", HR) as (function, _):
        call(function, "overdue", {})
        call(function, "catalog-call", {"name": "overdue"})

    direct, named = function.lines[-2:]
    assert named["through"] == "catalog-call"
    differing = {"through", "duration_ms", "upstream_ms", "request_id", "timestamp"}
    assert {key: named[key] for key in named.keys() - differing} == {
        key: direct[key] for key in direct.keys() - differing
    }


@pytest.mark.parametrize(
    ("tool", "name", "said"),
    [
        ("catalog-call", "pay", "pay may change something: call it with catalog-call-mutation."),
        ("catalog-call-mutation", "overdue", "overdue only reads: call it with catalog-call."),
    ],
)
def test_consent_to_one_of_the_two_does_not_cover_the_other(tmp_path: Path, tool: str, name: str, said: str) -> None:
    with serving(tmp_path, "true", HR) as (function, api):
        answer = call(function, tool, {"name": name, "arguments": {"id": "1"}})

    assert (answer.text, answer.code, api.requests) == (said, "other-catalog-call", [])


def test_hidden_and_invented_names_are_answered_alike(tmp_path: Path) -> None:
    with serving(tmp_path, "true", SALES) as (function, api):
        answers = [
            call(function, tool, {"name": name}).body.replace(b"tool: " + name.encode(), b"")
            for tool in ("catalog-call", "catalog-call-mutation")
            for name in ("payslips", "paysheet", "catalog", "catalog-call")
        ]

    assert len(set(answers)) == 1
    assert api.requests == []
    assert {line["decision"] for line in function.lines[-8:]} == {"denied"}


def test_scopes_arguments_and_consent_are_those_of_the_tool(tmp_path: Path) -> None:
    with serving(tmp_path, "true", SALES) as (function, api):
        direct = call(function, "customers", {})
        named = call(function, "catalog-call", {"name": "customers"})
        assert (named.status, named.body) == (direct.status, direct.body)
        wrong = call(function, "catalog-call", {"name": "overdue", "arguments": {"first": "x", "last": 1}})
        assert wrong.text == call(function, "overdue", {"first": "x", "last": 1}).text
        assert api.requests == []


def test_user_is_asked_about_a_call_by_name_and_the_answer_is_to_this_call_only(tmp_path: Path) -> None:
    named = {"name": "refund", "arguments": {"id": "1"}}
    with serving(tmp_path, "true", HR) as (function, api):
        asked = modern_call(function, named, tool="catalog-call-mutation", headers=HOLDER).result
        assert asked["resultType"] == "input_required"
        assert api.requests == []
        agreed = {"inputResponses": {"confirm": YES}, "requestState": asked["requestState"]}
        other = {"name": "refund", "arguments": {"id": "2"}}
        refused = modern_call(function, other, tool="catalog-call-mutation", headers=HOLDER, **agreed)
        assert "result" not in refused.json
        assert api.requests == []
        done = modern_call(function, named, tool="catalog-call-mutation", headers=HOLDER, **agreed).result

    assert done["structuredContent"]["data"]["refund"] == 7
    assert len(api.requests) == 1


def test_ten_are_shown_at_most_and_the_rest_is_counted(tmp_path: Path) -> None:
    many = "\n".join(f'"Order number {n}." query Q{n} @mcpTool(name: "q{n}") {{ orders }}' for n in range(30))
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": many,
        "config.yaml": f"upstream: {{url: 'https://api.example/graphql'}}\n{ACCESS}catalog: {{list: pinned}}\n",
    }
    with running_function(identified(compiled(tmp_path, files), HR)) as function:
        shown = call(function, "catalog", {"type": "tools", "query": "order"}).result["structuredContent"]

    assert len(shown["tools"]) == 10
    assert shown["more"] == 21  # and the tool "explore", whose root field is named orders


WORDS = ("order", "invoice", "customer", "late", "open", "paid", "refund", "stock", "price", "list", "create", "cancel")


def offered(folder: Path, seed: int, *, whole: bool) -> Compiled:
    """An endpoint of 40 tools with random texts, some for nobody here; not ``whole``: compiled without those."""
    rng = Random(seed)
    lines = []
    for number in range(40):
        text, root = " ".join(rng.choices(WORDS, k=6)), rng.choice(["orders", "payslips"])
        if whole or root == "orders":
            lines.append(f'"{text}" query Q{number} @mcpTool(name: "{rng.choice(WORDS)}-{number}") {{ {root} }}')
        else:
            rng.choice(WORDS)
    files = {
        "index.graphql": SDL,
        "operations/o.graphql": "\n".join(lines),
        "config.yaml": f"upstream: {{url: 'https://api.example/graphql'}}\n{ACCESS}catalog: {{list: pinned}}\n",
    }
    return identified(compiled(folder, files), SALES)


def test_answers_and_their_order_are_those_of_an_endpoint_without_the_hidden_tools(tmp_path: Path) -> None:
    rng = Random(7)
    differing = 0
    for seed in range(3):
        whole, bare = (offered(tmp_path / f"{seed} {each}", seed, whole=each) for each in (True, False))
        with running_function(whole) as one, running_function(bare) as other:
            for _ in range(40):
                asked = {"query": " ".join(rng.choices(WORDS, k=3)), "type": "tools"}
                answer = call(one, "catalog", asked)
                assert answer.body == call(other, "catalog", asked).body
                names = [each["name"] for each in answer.result["structuredContent"]["tools"]]
                differing += names != ranked_over_all(whole, asked["query"], names)

    assert differing  # statistics of all tools would order them otherwise


def ranked_over_all(made: Compiled, question: str, names: list[str]) -> list[str]:
    tools = [tool for tool in made.bundle.tools if not isinstance(tool, CatalogTool)]
    documents = [ranked_of(Listed(entry=tool.entry), key=tool.name) for tool in tools]
    return [key for key, _ in Ranking(documents).rank(question) if key in names]


def test_words_of_the_author_find_tools(tmp_path: Path) -> None:
    asked = {"query": "arrears", "type": "tools"}
    with serving(tmp_path / "without", "true", HR) as (function, _):
        assert call(function, "catalog", asked).result["structuredContent"]["tools"] == []
    with serving(tmp_path / "with", "true\nfind: {words: {arrears: [nobody]}}", HR) as (function, _):
        found = call(function, "catalog", asked).result["structuredContent"]["tools"]

    assert [each["name"] for each in found] == ["overdue"]


def test_arguments_beside_their_place_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "true", HR) as (function, api):
        called = call(function, "catalog-call", {"name": "overdue", "first": 2})
        searched = call(function, "catalog", {"question": "orders"})

    assert called.text == ("Invalid arguments for tool catalog-call: /first: unknown name; known here: name, arguments")
    assert searched.text.endswith("/question: unknown name; known here: query, names, type, category, include_hidden")
    assert api.requests == []
