"""A tool's condition: who does not meet it is answered as if the tool did not exist, at every door."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.storage.local import MemoryStorage
from tests.support.acme_tools import kit as acme
from tests.support.codes import unknown_tool
from tests.support.endpoints import compiled, graphql_tool
from tests.support.function import Answer, Function, running_function, store
from tests.support.identities import HOLDER, identified
from tests.support.kits import with_catalog, with_kit

HR = """condition: "$jwt.roles:String has 'hr'" """
OPERATION = (
    'query MyPay($of: ID) @mcpTool(name: "my_pay" aliases: ["old_pay"] {condition}) {{ thing(id: $of) {{ a }} }}'
)
FILES: Mapping[str, str] = {
    "index.graphql": """
        schema
          @sdl(files: "types.graphql")
          @tool(name: "open", graphql: [{expose: true, types: "Query", fields: ".*"}])
          @tool(name: "staff", graphql: [{expose: true, types: "Query", fields: ".*"}], condition: "CONDITION")
          @tool(name: "run", prescribed: "Run", condition: "CONDITION")
        { query: RootQuery }
    """.replace('"CONDITION"', '"""$jwt.roles:String has "hr" """'),
    "types.graphql": "type RootQuery { thing(id: ID): Thing known: Int } type Thing { a: Int b: Int }",
    "operations/run.graphql": "query Run { thing { b } }",
    "operations/my_pay.graphql": OPERATION.format(condition=HR),
    "config.yaml": """
        graphql: persisted
        access:
          anonymous: allow
          policies:
            - {type: Query, rules: [{condition: "?$jwt.iss", fields: [known]}], policyDefault: {condition: true}}
    """,
}
CONDITIONAL = ("staff", "run", "my_pay", "old_pay")
CLERK: Mapping[str, Any] = {"iss": "https://idp.example", "sub": "c", "roles": ["clerk"]}
BOSS: Mapping[str, Any] = {"iss": "https://idp.example", "sub": "b", "roles": ["hr"]}


def without_conditional() -> dict[str, str]:
    """The endpoint as it would be if nobody had written these tools."""
    index = FILES["index.graphql"].partition('@tool(name: "staff"')[0] + "{ query: RootQuery }"
    return {"index.graphql": index, **{name: FILES[name] for name in ("types.graphql", "config.yaml")}}


@contextmanager
def serving(folder: Path, files: Mapping[str, str], claims: Mapping[str, Any] | None) -> Iterator[Function]:
    with_everything = with_kit(with_catalog(compiled(folder, files)), "tests.support.acme_tools:kit")
    endpoint = identified(with_everything, claims, issuers=["https://idp.example"])
    with running_function(endpoint, code_modules=("tests.support.acme_tools",)) as function:
        yield function


def test_kit_that_runs_operations_is_there() -> None:
    assert {"run_operation", "ask_graphql"} <= {tool.name for tool in acme.tools}


@pytest.mark.parametrize("headers", [{}, HOLDER], ids=["anonymous", "clerk"])
@pytest.mark.parametrize("modern", [False, True])
def test_lists_are_those_of_an_endpoint_without_the_tool(tmp_path: Path, modern: bool, headers: dict[str, str]) -> None:
    def lists(folder: str, files: Mapping[str, str]) -> list[tuple[int, bytes]]:
        with serving(tmp_path / folder, files, CLERK) as function:
            methods = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
            answers = [function.request(method, modern=modern, headers=headers) for method in methods]
            params = {"name": "catalog", "arguments": {"detail": "full"}}
            answers.append(function.request("tools/call", params, modern=modern, headers=headers))
            return [(answer.status, answer.body) for answer in answers]

    told = lists("with", FILES)

    assert told == lists("without", without_conditional())
    assert not [name for name in CONDITIONAL for _, body in told if f'"{name}"'.encode() in body]


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("name", CONDITIONAL)
@pytest.mark.parametrize("headers", [{}, HOLDER], ids=["anonymous", "clerk"])
def test_conditional_tool_is_called_as_an_invented_one(
    tmp_path: Path, name: str, modern: bool, headers: dict[str, str]
) -> None:
    invented = name[:-1] + "_"
    with serving(tmp_path, FILES, CLERK) as function:
        answers = [
            function.request("tools/call", {"name": each, "arguments": {"a": 1}}, modern=modern, headers=headers)
            for each in (name, invented)
        ]

    assert _told(answers[0], name) == _told(answers[1], invented)
    assert answers[0].status == 401 if not headers else answers[0].json["error"] == unknown_tool(name)


@pytest.mark.parametrize("name", CONDITIONAL)
def test_conditional_tool_has_no_route_and_no_schema(tmp_path: Path, name: str) -> None:
    invented = name[:-1] + "_"
    with serving(tmp_path, FILES, CLERK) as function:
        routes = [
            function.graphql({"query": "{ thing { a } }"}, f"/tools/{each}/graphql", headers=HOLDER)
            for each in (name, invented)
        ]
        schemas = [
            function.request("resources/read", {"uri": f"stile://api/things/tools/{each}.graphql"}, headers=HOLDER)
            for each in (name, invented)
        ]

    assert routes[0].status == 404
    assert _told(routes[0], name) == _told(routes[1], invented)
    assert _told(schemas[0], name) == _told(schemas[1], invented)


@pytest.mark.parametrize("file", ["operations/run.graphql", "operations/my_pay.graphql"])
def test_operation_of_a_conditional_tool_is_no_persisted_document(tmp_path: Path, file: str) -> None:
    known, missing = (f"sha256:{digest}" for digest in (sha256(FILES[file].encode()).hexdigest(), "0" * 64))
    with serving(tmp_path, FILES, CLERK) as function:
        answers = [function.graphql({"documentId": each}, headers=HOLDER) for each in (known, missing)]

    assert answers[0].code == "document-not-found"
    assert _told(answers[0], known) == _told(answers[1], missing)


@pytest.mark.parametrize("name", ["Run", "MyPay"])
def test_tools_in_python_cannot_run_the_operation_for_who_lacks_the_condition(tmp_path: Path, name: str) -> None:
    with serving(tmp_path, FILES, CLERK) as function:
        answer = function.call("run_operation", {"name": name}, headers=HOLDER)

    assert answer.result["isError"] is True
    assert answer.text == f"There is no operation {name}"


@pytest.mark.parametrize("claims", [BOSS, None], ids=["hr", "key without claims"])
def test_who_meets_the_condition_has_the_tool(tmp_path: Path, claims: Mapping[str, Any] | None) -> None:
    with serving(tmp_path, FILES, claims) as function:
        listed = {tool["name"] for tool in function.request("tools/list", headers=HOLDER).result["tools"]}
        uris = {each["uri"] for each in function.request("resources/list", headers=HOLDER).result["resources"]}
        routed = function.graphql({"query": "{ __typename }"}, "/tools/staff/graphql", headers=HOLDER)

    assert {"staff", "run", "my_pay"} <= listed
    assert "stile://api/things/tools/staff.graphql" in uris
    assert routed.code == "upstream-error"  # it would be sent


def test_operation_of_two_tools_asks_for_the_conditions_of_both(tmp_path: Path) -> None:
    files = {
        **FILES,
        "index.graphql": FILES["index.graphql"].replace(
            '@tool(name: "open"', '@tool(name: "everybody", prescribed: "MyPay") @tool(name: "open"'
        ),
    }
    asked = {"documentId": f"sha256:{sha256(files['operations/my_pay.graphql'].encode()).hexdigest()}"}
    with serving(tmp_path, files, CLERK) as function:
        called = function.call("everybody", {}, headers=HOLDER)
        answer = function.graphql(asked, headers=HOLDER)
    with serving(tmp_path, files, BOSS) as function:
        of_boss = function.graphql(asked, headers=HOLDER)

    assert called.result["_meta"]["stile/code"] == "upstream-error"  # it would be sent
    assert (answer.code, of_boss.code) == ("document-not-found", "upstream-error")


def test_who_lacks_the_condition_needs_no_schema(tmp_path: Path) -> None:
    files = {**FILES, "index.graphql": FILES["index.graphql"].replace('@tool(name: "open"', '@tool(name: "staff2"')}
    files["index.graphql"] = files["index.graphql"].replace(
        'fields: ".*"}])', 'fields: ".*"}], condition: "?$jwt.hr")', 1
    )
    endpoint = identified(compiled(tmp_path, files), CLERK)
    storage = MemoryStorage()
    store(storage, replace(endpoint, index=b"damaged"))
    with running_function(storage=storage) as function:
        api = replace(function, path="/api/things/mcp")
        listed = api.request("tools/list", headers=HOLDER)
        called = api.call("staff", {"query": "{ thing { a } }"}, headers=HOLDER)

    assert listed.result["tools"] == []
    assert called.json["error"] == unknown_tool("staff")


def test_condition_that_everybody_meets_changes_nothing(tmp_path: Path) -> None:
    def bundle_of(folder: str, condition: str) -> Compiled:
        return compiled(
            tmp_path / folder, {**FILES, "operations/my_pay.graphql": OPERATION.format(condition=condition)}
        )

    made, plain = bundle_of("a", 'condition: "true"'), bundle_of("b", "")

    assert made.bundle.tools == plain.bundle.tools
    assert graphql_tool(made, "open").mask == frozenset()


def _told(answer: Answer, word: str) -> tuple[int, Any, bytes]:
    """All that an answer tells, but for the word that the caller wrote."""
    return answer.status, sorted(answer.headers.items()), answer.body.replace(word.encode(), b"*")
