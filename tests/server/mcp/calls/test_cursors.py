"""Cursors with which a call goes on where its answer was cut: over the demo's API, and in the hands of attackers."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from handler.compiler.compile import Compiled
from handler.server.auth.sealed_state import STATE_S, RequestStates
from tests.conftest import DEMO
from tests.support.api import Api, Asked, Reply, running_api
from tests.support.endpoints import READABLE, compiled, prescribed_tool
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified
from tests.support.secrecy import SESSION
from tests.support.upstream import Upstream

KEY = SESSION.keep("the key of cursors", "Vt7-cursors-are-sealed-with-it-Qm2")
OTHER_KEY = SESSION.keep("another key of cursors", "Zr9-nobody-sealed-anything-with-it")

OPERATIONS = """
query Staff($size: Int! = 100) @mcpTool(name: "staff") { employees(first: $size) { id name email title } }

query Shop($size: Int! = 30, $stileCursor: String) @mcpTool(name: "shop") {
  customers(first: $size, after: $stileCursor) {
    totalCount
    people: edges { node { id name orders(first: 20) { edges { node { id number lines { product quantity } } } } } }
  }
}

query Paged($size: Int! = 100, $after: String) @mcpTool(name: "paged") {
  customers(first: $size, after: $after) {
    edges { cursor node { id name email } } pageInfo { endCursor hasNextPage } totalCount
  }
}

query Both($size: Int! = 100) @mcpTool(name: "both") {
  staff: employees(first: $size) { id name }
  again: employees(first: $size) { id email }
  customers(first: $size) { edges { node { id name } } pageInfo { endCursor hasNextPage } }
}
"""
INDEX = """
schema
  @sdl(files: ["schema.graphql"])
  @tool(name: "ask", graphql: [{expose: true, types: "Query", fields: ".*"}])
  @tool(name: "nested", prescribed: "Staff")
{ query: Query mutation: Mutation }
"""


def demo_files(upstream: Upstream, max_bytes: int) -> dict[str, str]:
    config = f"upstream: {{url: '{upstream.url}'}}\nlimits: {{continue: true, max_result_bytes: {max_bytes}}}\n"
    return {
        "schema.graphql": (DEMO / "schema.graphql").read_text("utf-8"),
        "index.graphql": INDEX,
        "operations/o.graphql": OPERATIONS,
        "config.yaml": f"{config}graphql: persisted\n{READABLE}",
    }


@contextmanager
def shop(folder: Path, upstream: Upstream, *, max_bytes: int = 2_000, **services: Any) -> Iterator[Function]:
    made = compiled(folder, demo_files(upstream, max_bytes))
    services = {"states": RequestStates([KEY]), **services}
    with running_function(made, **services) as function:
        yield Function(function.handler, function.lines, path="/api/things/mcp")


def followed(function: Function, tool: str, arguments: dict[str, Any], *, calls: int = 500) -> list[Any]:
    """The data of an answer, and of all that its notes lead to, with the list that each continues."""
    found: list[Any] = []
    waiting = [arguments]
    while waiting:
        assert len(found) < calls, "the notes never end"
        sent = waiting.pop(0)
        result = function.call(tool, sent).result
        assert not result.get("isError"), result
        answer = json.loads(result["content"][0]["text"])
        assert result.get("structuredContent", answer) == answer
        told = answer.get("extensions", {}).get("stile", {})
        found.append((answer["data"], told.get("continued")))
        waiting += [{**arguments, **note["next"]} for note in told.get("truncated", [])]
    return found


def ids(value: Any) -> Iterator[str]:
    """Every object with an id, and every other item of a list, as a text."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict) and not {"id", "node"} & item.keys():
                yield json.dumps(item)
            yield from ids(item)
    elif isinstance(value, dict):
        if "id" in value:
            yield value["id"]
        for each in value.values():
            yield from ids(each)


def new_ids(data: Any, continued: Any) -> Counter[str]:
    for key in continued["path"] if continued else ():
        data = data[key]
    return Counter(ids(data))


def whole(upstream: Upstream, folder: Path, tool: str, arguments: dict[str, Any]) -> Counter[str]:
    with shop(folder / "whole", upstream, max_bytes=0) as function:
        return Counter(ids(json.loads(function.call(tool, arguments).text)["data"]))


@pytest.mark.parametrize(
    ("tool", "arguments", "max_bytes"),
    [
        ("staff", {}, 900),
        ("staff", {"size": 61}, 2_000),
        ("shop", {}, 3_000),
        ("shop", {"size": 7}, 3_500),
        ("shop", {"size": 100}, 20_000),
        ("both", {}, 1_500),
        ("both", {}, 7_000),
    ],
)
def test_whoever_follows_the_notes_reads_each_row_once(
    tmp_path: Path, upstream: Upstream, tool: str, arguments: dict[str, Any], max_bytes: int
) -> None:
    with shop(tmp_path, upstream, max_bytes=max_bytes) as function:
        answers = followed(function, tool, arguments)

    expected = whole(upstream, tmp_path, tool, arguments)
    assert sum((new_ids(*each) for each in answers), Counter()) == expected
    assert len(answers) > 1


def test_connection_whose_tool_takes_after_is_continued_by_the_api(tmp_path: Path, upstream: Upstream) -> None:
    with shop(tmp_path, upstream) as function:
        found, arguments, pages = Counter[str](), {"size": 100}, 0
        while arguments:
            pages += 1
            answer = json.loads(function.call("paged", arguments).text)
            info = answer["data"]["customers"]["pageInfo"]
            found.update(ids(answer["data"]))
            (note,) = answer.get("extensions", {}).get("stile", {}).get("truncated", [{"next": {}}])
            assert note["next"].get("after", info["endCursor"]) == info["endCursor"]
            assert "stileCursor" not in json.dumps(note)
            more = {"after": info["endCursor"]} if info["hasNextPage"] else {}
            arguments = {"size": 100, **note["next"], **more} if note["next"] or more else {}

    assert pages > 3
    assert set(found.values()) == {1}
    assert len(found) == upstream.query_rows("select count(*) from customers")[0][0]


DOCUMENT = (
    "query Q($size: Int!) { employees(first: $size) { id } a: customers(first: $size) { edges { node { id } } } }"
)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("ask", {"query": DOCUMENT, "variables": {"size": 90}}), ("nested", {"variables": {"size": 100}})],
)
def test_documents_of_models_and_nested_variables_are_continued_too(
    tmp_path: Path, upstream: Upstream, tool: str, arguments: dict[str, Any]
) -> None:
    with shop(tmp_path, upstream) as function:
        answers = followed(function, tool, arguments)

    assert sum((new_ids(*each) for each in answers), Counter()) == whole(upstream, tmp_path, tool, arguments)
    assert len(answers) > 1


def test_argument_is_listed_and_enforced_and_never_sent(tmp_path: Path, upstream: Upstream) -> None:
    with shop(tmp_path, upstream) as function:
        listed = {each["name"]: each for each in function.request("tools/list").result["tools"]}
        schemas = {name: each["inputSchema"]["properties"] for name, each in listed.items()}
        assert {name: [key for key in each if "Cursor" in key] for name, each in schemas.items()} == {
            "ask": ["stileCursor"],
            "nested": ["stileCursor"],
            "staff": ["stileCursor"],
            "shop": ["stileCursor", "stileCursor2"],
            "paged": ["stileCursor"],
            "both": ["stileCursor"],
        }
        assert schemas["staff"]["stileCursor"] == schemas["shop"]["stileCursor2"]
        assert function.call("staff", {"stileCursor": 1}).code == "invalid-arguments"
        assert function.call("staff", {"stileCursor2": "a"}).code == "invalid-arguments"

        answer = function.call("shop", {"size": 30}).result["structuredContent"]
        jsonschema.validate(answer, listed["shop"]["outputSchema"])
        upstream.clear()
        again = function.call("shop", {"size": 30, **answer["extensions"]["stile"]["truncated"][0]["next"]}).result
        jsonschema.validate(again["structuredContent"], listed["shop"]["outputSchema"])
        (sent,) = upstream.requests()
        assert json.loads(sent["body"])["variables"] == {"size": 30}


def test_cursor_is_for_the_tool_however_it_is_called(tmp_path: Path, upstream: Upstream) -> None:
    files = demo_files(upstream, 2_000)
    files["config.yaml"] += "catalog: true\n"
    with running_function(compiled(tmp_path, files), states=RequestStates([KEY])) as running:
        function = Function(running.handler, path="/api/things/mcp")
        first = json.loads(function.call("catalog-call", {"name": "staff", "arguments": {}}).text)
        again = first["extensions"]["stile"]["truncated"][0]["next"]
        calls = [
            function.call("staff", again),
            function.call("catalog-call", {"name": "staff", "arguments": again}),
            function.request("tools/call", {"name": "staff", "arguments": again}, modern=True),
        ]

        (data,) = {json.dumps(json.loads(each.text)["data"]) for each in calls}
        assert data != json.dumps(first["data"])
        assert json.loads(function.call("staff", {"stileCursor": None}).text)["data"] == first["data"]
        mutation = {"query": 'mutation { placeOrder(input: {customerId: "a", lines: []}) { id } }'}
        assert refused(function, upstream, "ask", {**mutation, **again})


def test_route_of_graphql_takes_the_variables_of_an_operation_alone(tmp_path: Path, upstream: Upstream) -> None:
    made = compiled(tmp_path, demo_files(upstream, 2_000))
    document = made.bundle.graphql.documents[0]

    assert document.tools == ()
    assert [[*each.variables["properties"]] for each in document.operations if each.operation.name == "Staff"] == [
        ["size"]
    ]


def cursor_of(function: Function, arguments: dict[str, Any], tool: str = "staff", **headers: Any) -> str:
    answer = json.loads(function.call(tool, arguments, **headers).text)
    return str(answer["extensions"]["stile"]["truncated"][0]["next"]["stileCursor"])


def refused(function: Function, upstream: Upstream, tool: str, arguments: dict[str, Any], **headers: Any) -> bool:
    """Tell if a call is refused for its cursor alone, in one sentence, before anything is sent."""
    upstream.clear()
    answer = function.call(tool, arguments, **headers)
    if answer.code != "cursor-refused":
        return False
    assert answer.text == (
        "Nothing was sent, because stileCursor is not a cursor for this call. A cursor is valid for 15 minutes, with "
        "the arguments of the call that returned it. Call again without stileCursor."
    )
    assert upstream.requests() == []
    return True


def test_forged_and_foreign_cursors_are_refused(tmp_path: Path, upstream: Upstream) -> None:
    with shop(tmp_path, upstream) as function:
        cursor = cursor_of(function, {"size": 80})
        raw = bytearray(base64.b64decode(cursor))
        for place in range(0, len(raw), 5):
            changed = bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
            sent = {"size": 80, "stileCursor": base64.b64encode(changed).decode()}
            assert refused(function, upstream, "staff", sent)
        for forged in ("", "a", "=" * 40, cursor + "=", cursor[:-8], f" {cursor}", "Ä", "A" * 200_000):
            assert refused(function, upstream, "staff", {"size": 80, "stileCursor": forged})

        assert refused(function, upstream, "staff", {"size": 81, "stileCursor": cursor})
        assert refused(function, upstream, "staff", {"stileCursor": cursor})
        assert refused(function, upstream, "nested", {"variables": {"size": 80}, "stileCursor": cursor})
        assert refused(function, upstream, "both", {"size": 80, "stileCursor": cursor})
        assert not refused(function, upstream, "staff", {"size": 80, "stileCursor": cursor})

    with shop(tmp_path / "2", upstream, states=RequestStates([OTHER_KEY])) as other:
        assert refused(other, upstream, "staff", {"size": 80, "stileCursor": cursor})
    with shop(tmp_path / "3", upstream, states=RequestStates([OTHER_KEY, KEY])) as replaced:
        assert not refused(replaced, upstream, "staff", {"size": 80, "stileCursor": cursor})


def test_cursor_of_another_caller_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    made = identified(compiled(tmp_path, demo_files(upstream, 2_000)), {"sub": "ada"})
    with running_function(made, states=RequestStates([KEY])) as running:
        function = Function(running.handler, path="/api/things/mcp")
        cursor = cursor_of(function, {}, headers=HOLDER)

        assert refused(function, upstream, "staff", {"stileCursor": cursor})
        assert not refused(function, upstream, "staff", {"stileCursor": cursor}, headers=HOLDER)


def test_expired_cursor_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    now = [1_800_000_000.0]
    with shop(tmp_path, upstream, states=RequestStates([KEY], clock=lambda: now[0])) as function:
        sent = {"stileCursor": cursor_of(function, {})}
        now[0] += STATE_S
        assert not refused(function, upstream, "staff", sent)
        now[0] += 1
        assert refused(function, upstream, "staff", sent)


def test_cursor_is_no_request_state_and_a_request_state_is_no_cursor(tmp_path: Path, upstream: Upstream) -> None:
    with shop(tmp_path, upstream) as function:
        cursor = cursor_of(function, {})
        content = json.loads(base64.b64decode(cursor)[:-32])

        assert content["state"] == [["employees"], content["state"][1], False]
        assert isinstance(content["state"][1], int)


def test_without_a_key_lists_are_cut_without_cursors(tmp_path: Path, upstream: Upstream) -> None:
    with shop(tmp_path, upstream, states=RequestStates()) as function:
        answer = json.loads(function.call("staff", {}).text)
        (note,) = answer["extensions"]["stile"]["truncated"]
        assert "next" not in note
        assert note["how"].startswith("This tool cannot go on here")
        assert function.call("staff", {"stileCursor": "a"}).code == "cursor-refused"


# The API answers differently the next time

SDL = (
    "type Query { rows(none: Boolean): [Row] wide: Wide } type Row { id: ID secret: String } type Wide { rows: [Row] }"
)


@contextmanager
def changing(folder: Path, **more: str) -> Iterator[tuple[Function, Api, Compiled]]:
    api = running_api(lambda _: Reply({"data": {"wide": {"rows": [{"id": f"row {each}"} for each in range(200)]}}}))
    with api as running:
        config = f"upstream: {{url: '{running.url}'}}\nlimits: {{continue: true, max_result_bytes: 1000}}\n"
        files = {
            "index.graphql": SDL,
            "operations/o.graphql": 'query O @mcpTool(name: "staff") { wide { rows { id } } }',
            "config.yaml": config + more.get("config", READABLE),
        }
        made = compiled(folder, files)
        with running_function(made, states=RequestStates([KEY])) as function:
            yield Function(function.handler, path="/api/things/mcp"), running, made


@pytest.mark.parametrize("data", [None, {"wide": None}, {"wide": {"rows": None}}, {"wide": {"rows": [{"id": "1"}]}}])
def test_list_that_is_gone_or_shorter_is_said_so(tmp_path: Path, data: Any) -> None:
    with changing(tmp_path) as (function, api, _):
        cursor = cursor_of(function, {})
        api.answer = lambda _: Reply({"data": data or {"wide": {"rows": []}}})

        answer = function.call("staff", {"stileCursor": cursor})

    assert answer.code == "cursor-past-end"
    assert answer.result["isError"]
    assert answer.text == (
        "The API's answer has changed since stileCursor was made: data.wide.rows is gone, or is shorter now. "
        "Call again without stileCursor."
    )


def test_list_that_ends_at_the_cursor_is_empty_and_errors_of_the_api_are_kept(tmp_path: Path) -> None:
    with changing(tmp_path) as (function, api, _):
        cursor = cursor_of(function, {})
        kept = json.loads(function.call("staff", {}).text)["extensions"]["stile"]["truncated"][0]["kept"]

        def shorter(_: Asked) -> Reply:
            return Reply({"data": {"wide": {"rows": [{"id": "1"}] * kept}}})

        api.answer = shorter
        answer = json.loads(function.call("staff", {"stileCursor": cursor}).text)
        assert answer["data"] == {"wide": {"rows": []}}
        assert answer["extensions"] == {"stile": {"continued": {"path": ["wide", "rows"], "from": kept}}}

        api.answer = lambda _: Reply({"data": {"wide": None}, "errors": [{"message": "later", "path": ["wide"]}]})
        answer = json.loads(function.call("staff", {"stileCursor": cursor}).text)
        assert [error["message"] for error in answer["errors"]] == ["later"]


def test_rights_are_judged_at_each_call(tmp_path: Path) -> None:
    claims: dict[str, Any] = {"sub": "ada", "may": True}
    policy = "access: {policies: [{type: Query, policyDefault: {condition: '$jwt.may:Boolean == true'}}]}\n"
    with changing(tmp_path, config=policy) as (_, api, made):
        with running_function(identified(made, claims), states=RequestStates([KEY])) as running:
            function = Function(running.handler, path="/api/things/mcp")
            cursor = cursor_of(function, {}, headers=HOLDER)
        asked = len(api.asked)
        with running_function(identified(made, {**claims, "may": False}), states=RequestStates([KEY])) as running:
            function = Function(running.handler, path="/api/things/mcp")
            assert function.call("staff", {"stileCursor": cursor}, headers=HOLDER).code == "tool-not-found"
        assert len(api.asked) == asked


def test_only_queries_of_endpoints_that_ask_for_it_take_cursors(tmp_path: Path) -> None:
    schema = "type Query { a: [Int] } type Mutation { b: [Int] }"
    operations = """
query A @mcpTool { a }
mutation B @mcpTool { b }
query C @mcpTool(limits: {continue: false}) { a }
query D @mcpTool(limits: {continue: true}) { a }
"""
    for setting, expected in (("limits: {continue: true}\n", ["A", "D"]), ("", ["D"])):
        files = {"index.graphql": schema, "operations/o.graphql": operations, "config.yaml": setting}
        made = compiled(tmp_path / str(len(setting)), files)
        assert [name for name in "ABCD" if prescribed_tool(made, name).options.cursor] == expected
