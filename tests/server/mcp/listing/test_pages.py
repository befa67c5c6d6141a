"""Lists that are larger than a page: with whom they are paged, what is left out first, and how they are compressed."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from handler.bundle.model import Bundle
from handler.bundle.stored import read_record, write_bundle
from handler.bundle.tools import CatalogTool
from handler.compiler.compile import Compiled
from handler.list_entries import LIST_BUDGET
from handler.server.asgi.response_size import MAX_PAGE_BYTES
from handler.strict_json import Entry, to_json_bytes
from tests.support.endpoints import compiled, problems_of
from tests.support.function import Context, Function, event_for, running_function
from tests.support.sdk import Mode, sdk_client

LAMBDA_BYTES = 6_291_456
GZIP = {"accept-encoding": "gzip, deflate, br"}
CONFIG = """
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{condition: "?$jwt", fields: [secret]}]
limits: {max_schema_bytes: 0}
"""
PUBLIC = """\
access: {anonymous: allow, policies: [{type: Query, policyDefault: {condition: true}}]}
limits: {max_schema_bytes: 0, max_output_schema_bytes: 0}
"""


def made(folder: Path, described: Sequence[int], *, wide: int = 1, limits: str = "") -> Compiled:
    """An endpoint with a tool for each of ``described``, which is how many bytes its input takes about."""
    fields = " ".join(f"f{n}: String" for n in range(wide))
    operations = "\n".join(
        f'"Runs." query Q{place}("{"d" * size}" $id: ID) @mcpTool {{ thing(id: $id) {{ {selection(wide)} }} }}'
        for place, size in enumerate(described)
    )
    files = {
        "index.graphql": f"type Query {{ thing(id: ID): Thing }} type Thing {{ {fields} }}",
        "operations/all.graphql": operations,
        "config.yaml": PUBLIC.replace("max_schema_bytes: 0, ", f"max_schema_bytes: 0{limits}, "),
    }
    return compiled(folder, files)


def selection(wide: int) -> str:
    return " ".join(f"f{n}" for n in range(wide))


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """About 4 MB of tools."""
    return made(tmp_path_factory.mktemp("paged"), [40_000] * 100)


@pytest.fixture
def function(paged: Compiled) -> Iterator[Function]:
    with running_function(paged) as running:
        yield running


def pages_of(function: Function, *, modern: bool = True, method: str = "tools/list") -> list[Any]:
    """All pages, by the cursors that come."""
    pages = [function.request(method, modern=modern).result]
    while "nextCursor" in pages[-1]:
        pages.append(function.request(method, {"cursor": pages[-1]["nextCursor"]}, modern=modern).result)
    return pages


@pytest.mark.parametrize("modern", [True, False])
def test_pages_have_every_tool_once_and_in_order(function: Function, paged: Compiled, *, modern: bool) -> None:
    pages = pages_of(function, modern=modern)

    names = [tool["name"] for page in pages for tool in page["tools"]]
    assert names == [tool.name for tool in paged.bundle.tools]
    assert len(pages) > 1
    assert all(len(json.dumps(page)) <= MAX_PAGE_BYTES * 1.01 for page in pages)
    assert [page.get("cacheScope") for page in pages] == ["public" if modern else None] * len(pages)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_lists_all_pages(paged: Compiled, mode: Mode) -> None:
    async def names(client: Client) -> list[str]:
        found = await client.list_tools()
        listed = [tool.name for tool in found.tools]
        while found.next_cursor is not None:
            found = await client.list_tools(cursor=found.next_cursor)
            listed += [tool.name for tool in found.tools]
        return listed

    async def run(function: Function) -> list[str]:
        async with sdk_client(function, mode=mode) as client:
            return await names(client)

    with running_function(paged) as function:
        assert asyncio.run(run(function)) == [tool.name for tool in paged.bundle.tools]


def test_small_list_has_one_page_with_output_schemas(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10] * 3)) as function:
        result = function.request("tools/list", modern=True).result

    assert "nextCursor" not in result
    assert all("outputSchema" in tool for tool in result["tools"])


def sized(function: Function, *, modern: bool = True) -> tuple[list[Any], int]:
    """The tools of a list without pages, and the bytes of their JSON."""
    result = function.request("tools/list", modern=modern).result
    assert "nextCursor" not in result
    return result["tools"], len(to_json_bytes(result["tools"]))


@pytest.mark.parametrize(("config", "most"), [("", 4 * LIST_BUDGET), (", list_budget: 12000", 48_000)])
def test_output_schemas_are_shortened_to_the_budget(tmp_path: Path, config: str, most: int) -> None:
    endpoint = made(tmp_path, [10] * 100, wide=200, limits=config)
    with running_function(endpoint) as function, running_function(endpoint) as other:
        tools, size = sized(function)
        assert sized(function) == (tools, size)
        assert sized(other) == (tools, size)

    assert len(tools) == 100
    assert 0.95 * most < size <= most
    assert 0 < max(len(names_of(tool)) for tool in tools) < 200


def names_of(tool: Any) -> list[str]:
    """The fields of the thing that an output schema names."""
    root = tool["outputSchema"]["properties"]["data"]["anyOf"][0]["properties"]["thing"]["anyOf"][0]
    return list(root.get("properties", {}))


def test_budget_of_nothing_is_a_page(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10] * 60, wide=200, limits=", list_budget: 0")) as function:
        tools, size = sized(function)
        assert size > 4 * LIST_BUDGET
        assert all(len(names_of(tool)) == 200 for tool in tools)
    with running_function(made(tmp_path / "more", [10] * 110, wide=200, limits=", list_budget: 0")) as function:
        tools, size = sized(function)

    assert 0.9 * MAX_PAGE_BYTES < size <= MAX_PAGE_BYTES
    assert len(tools) == 110


def test_list_without_output_schemas_by_its_revision_has_more_room(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10] * 100, wide=200)) as function:
        params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        function.request("initialize", params)
        listed = function.request("tools/list", headers={"mcp-protocol-version": "2025-03-26"}).result["tools"]

    assert len(listed) == 100
    assert not any("outputSchema" in tool for tool in listed)


def test_calls_are_checked_by_the_whole_schema_and_list_the_same_after_them(tmp_path: Path) -> None:
    endpoint = made(tmp_path, [10] * 100, wide=200)
    with running_function(endpoint) as function:
        before = sized(function)
        function.call("Q1", {"id": []})
        assert sized(function) == before


def test_bundle_of_an_earlier_release_has_the_budget_of_its_catalog_or_the_usual_one(tmp_path: Path) -> None:
    raw = json.loads(write_bundle(made(tmp_path / "small", [10]).bundle))["content"]
    del raw["list_budget"]
    assert read_record(Bundle, raw).list_budget == LIST_BUDGET
    endpoint = made(tmp_path, [10] * 100, wide=200)
    catalog = CatalogTool(
        name="catalog",
        entry=Entry({"name": "catalog", "inputSchema": {"type": "object"}}),
        options=replace(endpoint.bundle.tools[0].options, hidden=True),
        unlisted="above_budget",
        list_budget=8_000,
    )
    tools = (*endpoint.bundle.tools, catalog)
    with running_function(replace(endpoint, bundle=replace(endpoint.bundle, tools=tools))) as function:
        _, size = sized(function)

    assert 0.95 * 32_000 < size <= 32_000


def test_tool_that_is_larger_than_a_page_has_one_to_itself(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10, MAX_PAGE_BYTES * 2, 10])) as function:
        pages = pages_of(function)

    assert [[tool["name"] for tool in page["tools"]] for page in pages] == [["Q0"], ["Q1"], ["Q2"]]


def test_tool_that_no_answer_holds_is_a_problem(tmp_path: Path) -> None:
    inputs = {f"part{n}.graphql": f'input In{n} {{ "{"d" * 3_100_000}" x: Int }}' for n in range(2)}
    files = {
        "index.graphql": 'schema @sdl(files: ["part0.graphql", "part1.graphql", "query.graphql"]) { query: Query }',
        "query.graphql": "type Query { a(one: In0, two: In1): Int }",
        "operations/o.graphql": "query O($one: In0, $two: In1) @mcpTool { a(one: $one, two: $two) }",
        "config.yaml": PUBLIC,
        **inputs,
    }

    codes = [problem.code for problem in problems_of(tmp_path, files)]

    assert codes == ["unlistable-tool"]


def test_tool_that_no_answer_holds_is_not_listed_and_the_log_says_so(tmp_path: Path) -> None:
    """Published by an earlier release."""
    endpoint = made(tmp_path, [10, 10])
    large, other = endpoint.bundle.tools
    entry = Entry({**large.entry, "description": "d" * 7_000_000})
    bundle = replace(endpoint.bundle, tools=(replace(large, entry=entry), other))
    with running_function(replace(endpoint, bundle=bundle)) as function:
        result = function.request("tools/list", modern=True).result
        called = function.call("Q0", {"id": []})

    assert [tool["name"] for tool in result["tools"]] == ["Q1"]
    assert function.lines[0]["too_large"] == "Q0"
    assert "/id" in called.text


@pytest.mark.lambda_alone
@pytest.mark.parametrize("sizes", [[40_000] * 180, [10, 5_500_000], [10] * 3])
def test_no_page_passes_what_lambda_takes(tmp_path: Path, sizes: Sequence[int]) -> None:
    with running_function(made(tmp_path, sizes)) as function:
        cursor: dict[str, str] = {}
        while True:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": cursor})
            event = event_for("POST", function.path, body=body, headers={"content-type": "application/json"})
            response = function.handler(event, Context())
            assert len(json.dumps(response)) <= LAMBDA_BYTES
            result = json.loads(response["body"])["result"]
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}


def refused(function: Function, cursor: Any) -> str:
    """The sentence with which a list of tools refuses a cursor."""
    error = function.request("tools/list", {"cursor": cursor}, modern=True).json["error"]
    assert error["code"] == -32602
    return str(error["message"])


UNKNOWN = "Invalid params: unknown cursor: it is of another list, or the list has changed. Ask again without a cursor"


def test_cursor_of_another_bundle_is_refused(function: Function, tmp_path: Path) -> None:
    cursor = function.request("tools/list", modern=True).result["nextCursor"]

    with running_function(made(tmp_path, [*[40_000] * 99, 39_999])) as other:
        assert refused(other, cursor) == UNKNOWN
        assert "nextCursor" in other.request("tools/list", modern=True).result


def test_cursor_holds_in_another_container(function: Function, paged: Compiled) -> None:
    first = function.request("tools/list", modern=True).result

    with running_function(paged) as other:
        second = other.request("tools/list", {"cursor": first["nextCursor"]}, modern=True).result

    assert second["tools"][0]["name"] == paged.bundle.tools[len(first["tools"])].name


def test_cursor_of_a_caller_who_sees_another_list_is_refused(tmp_path: Path) -> None:
    operations = [f'query Q{n}("{"d" * 40_000}" $id: ID) @mcpTool {{ thing(id: $id) }}' for n in range(50)]
    files = {
        "index.graphql": "type Query { thing(id: ID): Int secret: Int }",
        "operations/all.graphql": "\n".join([*operations, "query Secret @mcpTool { secret }"]),
        "config.yaml": CONFIG,
    }
    endpoint = compiled(tmp_path, files)
    with running_function(endpoint, development=True) as owner, running_function(endpoint) as anonymous:
        of_owner = owner.request("tools/list", modern=True).result["nextCursor"]
        own = anonymous.request("tools/list", modern=True).result["nextCursor"]

        assert refused(anonymous, of_owner) == UNKNOWN
        assert anonymous.request("tools/list", {"cursor": own}, modern=True).status == 200


def test_cursor_of_a_list_is_the_same_whatever_is_hidden_from_the_caller(tmp_path: Path) -> None:
    """A digest of more than the list would confirm what a stranger guesses of the rest."""
    operations = [f'query Q{n}("{"d" * 40_000}" $id: ID) @mcpTool {{ thing(id: $id) }}' for n in range(50)]
    cursors = set()
    for number, hidden in enumerate(("Int", "String")):
        files = {
            "index.graphql": f"type Query {{ thing(id: ID): Int secret: {hidden} }}",
            "operations/all.graphql": "\n".join([*operations, f"query Secret{number} @mcpTool {{ secret }}"]),
            "config.yaml": CONFIG,
        }
        with running_function(compiled(tmp_path / str(number), files)) as anonymous:
            cursors.add(anonymous.request("tools/list", modern=True).result["nextCursor"])

    assert len(cursors) == 1


def changed(cursor: str) -> list[Any]:
    raw = base64.urlsafe_b64decode(f"{cursor}==")
    place = int.from_bytes(raw[:4], "big")
    return [
        "",
        cursor[:-1],
        f"{cursor}=",
        f"{cursor} ",
        cursor.swapcase(),
        base64.urlsafe_b64encode(raw[:4]).decode(),
        base64.urlsafe_b64encode((place + 1).to_bytes(4, "big") + bytes(12)).decode().rstrip("="),
        "\ud83c",
        "x" * 100_000,
        0,
        False,
        [],
        {},
    ]


def test_cursor_that_was_changed_is_refused(function: Function) -> None:
    cursor = function.request("tools/list", modern=True).result["nextCursor"]

    for each in changed(cursor):
        assert refused(function, each) == UNKNOWN, each


def test_lists_of_prompts_are_paged_too(tmp_path: Path) -> None:
    prompts = {f"prompts/p{n}.md": f"---\ndescription: {'d' * 9_000}\n---\nText." for n in range(100)}
    files = {"index.graphql": "type Query { a: Int }", "config.yaml": PUBLIC, **prompts}
    with running_function(compiled(tmp_path, files)) as function:
        pages = pages_of(function, method="prompts/list")

        assert refused(function, pages[0]["nextCursor"]) == UNKNOWN
    assert len(pages) == 2
    assert len({prompt["name"] for page in pages for prompt in page["prompts"]}) == 100


@pytest.mark.parametrize("modern", [True, False])
def test_large_list_is_compressed_for_clients_that_take_it(function: Function, *, modern: bool) -> None:
    plain = function.request("tools/list", modern=modern)
    packed = function.request("tools/list", modern=modern, headers=GZIP)

    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) * 5 < len(plain.body)
    assert "content-encoding" not in plain.headers
    for answer in (plain, packed):
        assert "Accept-Encoding" in answer.headers["vary"]
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("offered", ["", "identity", "br", "gzip;q=0", "deflate, gzip; q=0.0"])
def test_list_is_not_compressed_for_other_clients(function: Function, offered: str) -> None:
    answer = function.request("tools/list", modern=True, headers={"accept-encoding": offered})

    assert "content-encoding" not in answer.headers
    assert answer.result["tools"]


def test_small_list_is_not_compressed(tmp_path: Path) -> None:
    with running_function(made(tmp_path, [10])) as function:
        answer = function.request("tools/list", modern=True, headers=GZIP)

    assert "content-encoding" not in answer.headers
    assert "Accept-Encoding" not in answer.headers.get("vary", "")


def test_compressed_list_travels_in_base64(function: Function) -> None:
    response = _list_event(function, {"version": "2.0"})

    assert response["isBase64Encoded"]
    assert json.loads(gzip.decompress(base64.b64decode(response["body"])))["result"]["tools"]


@pytest.mark.lambda_alone
def test_list_is_not_compressed_behind_a_rest_api_which_would_pass_base64_on(function: Function) -> None:
    rest = {"httpMethod": "POST", "path": function.path, "resource": "/{proxy+}", "multiValueHeaders": None}

    response = _list_event(function, rest, without=("version",))

    assert not response["isBase64Encoded"]
    assert json.loads(response["body"])["result"]["tools"]


@pytest.mark.lambda_alone
def test_list_is_compressed_behind_a_load_balancer(function: Function) -> None:
    balancer = {
        "httpMethod": "POST",
        "path": function.path,
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:us-east-1:1:targetgroup/a/b"}},
        "queryStringParameters": {},
    }

    response = _list_event(function, balancer, without=("version",))

    assert response["isBase64Encoded"]
    assert json.loads(gzip.decompress(base64.b64decode(response["body"])))["result"]["tools"]


def _list_event(function: Function, changes: dict[str, Any], *, without: Sequence[str] = ()) -> Any:
    headers = {"content-type": "application/json", **GZIP}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    event = {**event_for("POST", function.path, body=body, headers=headers), **changes}
    return function.handler({name: each for name, each in event.items() if name not in without}, Context())
