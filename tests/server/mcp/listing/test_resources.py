"""Resources as clients of both eras get them: files, and schemas as SDL."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from graphql import GraphQLSchema, build_client_schema, build_schema, get_introspection_query, print_schema
from mcp_types import methods as oracle

from handler.bundle.stored import index_key
from handler.compiler.compile import Compiled, compile_endpoint
from handler.server.auth.principal import ANONYMOUS
from handler.server.context import Caller, Services
from handler.server.endpoints.endpoint import Endpoint
from handler.server.mcp.content import resources_for
from handler.server.mcp.revisions import LEGACY, MODERN, TEXT_ONLY
from handler.storage.local import MemoryStorage
from tests.graph.documents.test_limits import calls
from tests.support.codes import rpc_error
from tests.support.endpoints import READABLE, cached_counts, compiled, write_endpoint
from tests.support.function import Answer, Function, running_function, store
from tests.support.identities import HOLDER, identified

SCHEMA = """
type Query { employee: Employee, version: String }
type Employee { name: String, salary: Int, taxId: String, boss: Boss }
type Boss { name: String }
"""
CONFIG = """\
graphql: MODE
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
      rules: [{condition: INTROSPECTION, fields: [__schema, __type]}]
    - type: Employee
      policyDefault: {condition: true}
      rules: [{condition: '$jwt.role:String == "hr"', fields: [salary]}]
  hide: [Employee.taxId]
"""
TOOLS = """
extend schema
  @tool(name: "staff", title: "Staff", graphql: {expose: true, types: "Query", fields: "employee"})
  @tool(name: "bare", graphql: [
    {expose: true, types: "Query", fields: "employee"}, {expose: false, types: "Employee", fields: "boss"}])
  @tool(name: "scoped", scopes: ["staff:read"], graphql: {expose: true, types: "Query", fields: "version"})
  @tool(name: "quiet", hidden: true, graphql: {expose: true, types: "Query", fields: "version"})
"""
BASE = "stile://api/things"


def endpoint(folder: Path, *, mode: str = "on", introspection: str = "true") -> Compiled:
    config = CONFIG.replace("MODE", mode).replace("INTROSPECTION", introspection)
    made = write_endpoint(folder, {"index.graphql": TOOLS + SCHEMA, "config.yaml": config, "resources/a/b c.md": "# B"})
    (made / "resources" / "logo.png").write_bytes(b"\x89PNG\r\n")
    return compile_endpoint(made)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Its own GraphQL takes whatever a caller writes."""
    return endpoint(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Its own GraphQL takes persisted documents."""
    return endpoint(tmp_path_factory.mktemp("closed"), mode="persisted")


@pytest.fixture
def function(whole: Compiled) -> Iterator[Function]:
    with running_function(whole) as running:
        yield running


def ask(function: Function, revision: str, method: str, params: dict[str, Any]) -> Answer:
    if revision in MODERN:
        return function.request(method, params, modern=True)
    return function.request(method, params, headers={"mcp-protocol-version": revision})


def uris(function: Function, **headers: str) -> list[str]:
    listed = function.request("resources/list", headers=headers).result["resources"]
    return [resource["uri"] for resource in listed]


def read(function: Function, path: str, **headers: str) -> Answer:
    return function.request("resources/read", {"uri": f"{BASE}/{path}"}, headers=headers)


def text(function: Function, path: str, **headers: str) -> str:
    (content,) = read(function, path, **headers).result["contents"]
    return str(content["text"])


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
def test_list_has_files_then_schemas_at_every_revision(function: Function, revision: str) -> None:
    result = ask(function, revision, "resources/list", {}).result

    oracle.validate_server_result("resources/list", revision, result)
    markdown, logo, schema, staff, bare = result["resources"]
    assert markdown == {
        "uri": f"{BASE}/resources/a/b%20c.md",
        "name": "a/b c.md",
        "mimeType": "text/markdown",
        "size": 3,
    }
    assert (logo["name"], logo["mimeType"]) == ("logo.png", "image/png")
    assert schema == {
        "uri": f"{BASE}/schema.graphql",
        "name": "schema.graphql",
        **({} if revision in TEXT_ONLY else {"title": "GraphQL schema"}),
        "description": "What /api/things/graphql can be asked, by this caller.",
        "mimeType": "application/graphql",
    }
    assert staff == {
        "uri": f"{BASE}/tools/staff.graphql",
        "name": "tools/staff.graphql",
        **({} if revision in TEXT_ONLY else {"title": "Schema of Staff"}),
        "description": "What the tool staff can be asked, by this caller.",
        "mimeType": "application/graphql",
    }
    assert bare["uri"] == f"{BASE}/tools/bare.graphql"


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
def test_files_are_read_as_text_or_in_base64_at_every_revision(function: Function, revision: str) -> None:
    markdown, logo = (
        ask(function, revision, "resources/read", {"uri": f"{BASE}/resources/{name}"}).result
        for name in ("a/b%20c.md", "logo.png")
    )

    for result in (markdown, logo):
        oracle.validate_server_result("resources/read", revision, result)
        assert ("ttlMs" in result) is (revision in MODERN)
    assert markdown["contents"] == [{"uri": f"{BASE}/resources/a/b%20c.md", "mimeType": "text/markdown", "text": "# B"}]
    assert base64.b64decode(logo["contents"][0]["blob"]) == b"\x89PNG\r\n"


@pytest.mark.parametrize("revision", [*LEGACY, *MODERN])
def test_list_of_templates_is_empty_without_any(function: Function, revision: str) -> None:
    result = ask(function, revision, "resources/templates/list", {}).result

    oracle.validate_server_result("resources/templates/list", revision, result)
    assert result["resourceTemplates"] == []


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "nonsense",
        BASE,
        f"{BASE}/",
        f"{BASE}/resources",
        f"{BASE}/resources/",
        f"{BASE}/resources/a/b c.md",
        f"{BASE}/resources/a/b%20c.md?x",
        f"{BASE}/resources/a/b%20c.md#x",
        f"{BASE}/resources/a/../a/b%20c.md",
        f"{BASE}/resources/a%2Fb%20c.md",
        f"{BASE}/resources/../config.yaml",
        f"{BASE}/resources/%2e%2e/config.yaml",
        f"{BASE}/resources//etc/passwd",
        f"{BASE}/config.yaml",
        f"{BASE}/tools/nonsense.graphql",
        f"{BASE}/tools/../schema.graphql",
        f"{BASE.upper()}/schema.graphql",
        "STILE://api/things/schema.graphql",
        "stile://api/others/schema.graphql",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data/",
        f"{BASE}/{'a' * 100_000}",
        f"{BASE}/\ud800",
        f"{BASE}/\0",
    ],
)
def test_uri_that_is_not_listed_is_not_found(function: Function, uri: str) -> None:
    legacy = function.request("resources/read", {"uri": uri})
    line = function.lines[-1]

    told = uri.replace("\ud800", "\ufffd")
    assert (legacy.status, legacy.json["error"]["code"]) == (200, -32002)
    assert legacy.json["error"]["message"] == f"Resource not found: {told[:200]}"
    assert legacy.json["error"]["data"] == {"code": "resource-not-found", "uri": told[:2_000]}
    assert (line["decision"], line["reason"]) == ("denied", "ResourceNotFound")
    assert "resource" not in line


def test_resource_that_is_not_found_is_invalid_params_in_the_modern_era(function: Function) -> None:
    answer = function.request("resources/read", {"uri": f"{BASE}/nonsense"}, modern=True)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


def test_resource_that_is_not_found_is_an_error_of_its_item_in_a_batch(function: Function) -> None:
    items = [
        {"jsonrpc": "2.0", "id": number, "method": "resources/read", "params": {"uri": f"{BASE}/{path}"}}
        for number, path in enumerate(["resources/logo.png", "nonsense"])
    ]
    answer = function.post(items)

    assert "result" in answer.json[0]
    assert answer.json[1]["error"]["code"] == -32002


@pytest.mark.parametrize("params", [{}, {"uri": 5}, {"uri": None}, {"uri": ["a"]}])
def test_malformed_request_is_invalid_params(function: Function, params: dict[str, Any]) -> None:
    answer = function.request("resources/read", params)

    assert (answer.status, answer.json["error"]["code"]) == (200, -32602)


def test_log_has_the_resource(function: Function) -> None:
    read(function, "resources/logo.png")

    line = function.lines[-1]
    assert (line["method"], line["resource"]) == ("resources/read", f"{BASE}/resources/logo.png")
    assert (line["decision"], line["outcome"]) == ("allowed", "ok")


def test_resources_of_an_endpoint_without_policies_are_for_those_who_skip_policies(tmp_path: Path) -> None:
    files = {"index.graphql": SCHEMA, "config.yaml": "access: {anonymous: allow}\n", "resources/a.md": "A"}
    made = compiled(tmp_path, files)
    with running_function(identified(made)) as function:
        assert uris(function) == []
        assert f"{BASE}/resources/a.md" in uris(function, **HOLDER)
        assert read(function, "resources/a.md").status == 401
    with running_function(identified(made, {"role": "hr"})) as function:
        assert uris(function, **HOLDER) == []
        assert read(function, "resources/a.md", **HOLDER).json["error"]["code"] == -32002


# Schemas


def introspected(function: Function, path: str, **headers: str) -> GraphQLSchema:
    data = function.graphql({"query": get_introspection_query()}, path, headers=headers).json["data"]
    return build_client_schema(data)


@pytest.mark.parametrize("claims", [{}, {"role": "hr"}, None])
@pytest.mark.parametrize(("name", "route"), [("schema", "/graphql"), ("tools/staff", "/tools/staff/graphql")])
def test_schema_is_what_introspection_tells_the_same_caller(
    whole: Compiled, claims: dict[str, str] | None, name: str, route: str
) -> None:
    with running_function(identified(whole, claims)) as function:
        sdl = text(function, f"{name}.graphql", **HOLDER)
        told = introspected(function, route, **HOLDER)

    assert print_schema(build_schema(sdl)) == print_schema(told)
    assert ("salary" in sdl) is (claims != {})
    assert "taxId" not in sdl


def test_schema_of_a_tool_shows_what_its_description_shows(function: Function) -> None:
    tools = {tool["name"]: tool for tool in function.request("tools/list").result["tools"]}

    for name in ("staff", "bare"):
        assert (
            text(function, f"tools/{name}.graphql") in tools[name]["inputSchema"]["properties"]["query"]["description"]
        )


def test_schema_of_a_tool_shows_no_more_than_the_tool(function: Function) -> None:
    assert "boss" in text(function, "tools/staff.graphql")
    for hidden in ("boss", "Boss", "salary", "taxId", "version"):
        assert hidden not in text(function, "tools/bare.graphql")


@pytest.mark.parametrize("mode", ["persisted", "off"])
@pytest.mark.parametrize("holder", [{}, HOLDER])
def test_endpoint_that_takes_no_documents_of_callers_shows_nobody_its_schema(
    tmp_path: Path, mode: str, holder: dict[str, str]
) -> None:
    with running_function(identified(endpoint(tmp_path, mode=mode))) as function:
        assert f"{BASE}/schema.graphql" not in uris(function, **holder)
        answer = read(function, "schema.graphql", **holder)

    assert answer.status == (200 if holder else 401)
    assert b"Employee" not in answer.body


def test_schema_of_the_endpoint_is_for_those_whom_it_answers_introspection(tmp_path: Path) -> None:
    made = endpoint(tmp_path, introspection="'$jwt.role:String == \"hr\"'")
    for claims, shown in (({"role": "hr"}, True), ({"role": "guest"}, False)):
        with running_function(identified(made, claims)) as function:
            assert (f"{BASE}/schema.graphql" in uris(function, **HOLDER)) is shown
            assert ("result" in read(function, "schema.graphql", **HOLDER).json) is shown
            assert function.graphql({"query": "{ __schema { __typename } }"}, headers=HOLDER).status == (
                200 if shown else 400
            )


def test_schema_of_a_tool_that_a_caller_cannot_use_is_not_there(tmp_path: Path) -> None:
    config = CONFIG.replace("MODE", "persisted").replace("INTROSPECTION", "true")
    config = config.replace(
        "policyDefault: {condition: true}\n      rules: [{c", "policyDefault: {condition: '?$jwt'}\n      rules: [{c", 1
    )
    made = compiled(tmp_path, {"index.graphql": TOOLS + SCHEMA, "config.yaml": config})
    with running_function(identified(made, {"role": "guest"})) as function:
        assert uris(function) == []
        assert read(function, "tools/staff.graphql").status == 401
        assert f"{BASE}/tools/staff.graphql" in uris(function, **HOLDER)


def test_schema_of_a_tool_with_scopes_needs_them(closed: Compiled) -> None:
    with running_function(identified(closed, {"scope": "staff:read"})) as function:
        assert f"{BASE}/tools/scoped.graphql" in uris(function, **HOLDER)
        assert "version" in text(function, "tools/scoped.graphql", **HOLDER)
        assert read(function, "tools/scoped.graphql").status == 401
    with running_function(identified(closed, {"scope": "other"})) as function:
        assert f"{BASE}/tools/scoped.graphql" not in uris(function, **HOLDER)
        assert read(function, "tools/scoped.graphql", **HOLDER).status == 403


def test_schema_of_a_hidden_tool_is_not_listed_and_can_be_read(function: Function) -> None:
    assert f"{BASE}/tools/quiet.graphql" not in uris(function)
    assert "version" in text(function, "tools/quiet.graphql")


def test_list_and_schemas_are_public_where_everybody_gets_them_and_private_where_not(whole: Compiled) -> None:
    def scopes(function: Function, **headers: str) -> list[str]:
        asked = [
            ("resources/list", {}),
            ("resources/read", {"uri": f"{BASE}/resources/logo.png"}),
            ("resources/read", {"uri": f"{BASE}/tools/staff.graphql"}),
        ]
        return [function.request(*each, modern=True, headers=headers).result["cacheScope"] for each in asked]

    with running_function(identified(whole, {"role": "guest"})) as function:
        assert scopes(function) == scopes(function, **HOLDER) == ["public"] * 3
    with running_function(identified(whole, {"role": "hr", "scope": "staff:read"})) as function:
        assert scopes(function, **HOLDER) == ["private", "public", "private"]
    challenged = replace(whole.bundle, access=replace(whole.bundle.access, anonymous="challenge"))
    with running_function(identified(replace(whole, bundle=challenged), {"role": "guest"})) as function:
        assert scopes(function, **HOLDER) == ["private"] * 3


def test_schema_of_a_tool_with_scopes_is_private(closed: Compiled) -> None:
    params = {"uri": f"{BASE}/tools/scoped.graphql"}
    with running_function(identified(closed, {"scope": "staff:read"})) as function:
        result = function.request("resources/read", params, modern=True, headers=HOLDER).result

    assert result["cacheScope"] == "private"


def test_schema_that_cannot_be_loaded_is_an_error_that_says_so(closed: Compiled) -> None:
    storage = MemoryStorage()
    with running_function(closed, storage=storage) as function:
        storage.remove(index_key(closed.bundle.endpoint, closed.bundle.index))
        answer = read(function, "tools/staff.graphql")

    sentence = "The schema cannot be loaded at the moment. Try later."
    assert answer.json["error"] == rpc_error(-32603, sentence, "upstream-error")
    assert function.lines[-1]["reason"] == "InternalError"


def test_schema_larger_than_an_answer_may_be_is_an_error_that_says_so(tmp_path: Path) -> None:
    files = {
        "index.graphql": f'type Query {{ """{"x" * 6_500_000}""" a: Int }}',
        "config.yaml": READABLE + "graphql: on\n",
    }
    with running_function(compiled(tmp_path, files)) as function:
        answer = read(function, "schema.graphql")

    assert answer.json["error"] == rpc_error(-32603, "The resource is larger than an answer may be", "answer-too-large")


LARGE = "type Query { " + " ".join(f"f{n}(a: Int, b: String): T{n}" for n in range(300)) + " }\n"
LARGE += "\n".join(f"type T{n} {{ a: Int, b(c: Int): String, t: T{n // 2} }}" for n in range(300))


@pytest.fixture
def large(tmp_path: Path) -> Endpoint:
    tool = 'extend schema @tool(name: "all", graphql: {expose: true, types: "Query", fields: ".*"})\n'
    made = compiled(tmp_path, {"index.graphql": tool + LARGE, "config.yaml": OPEN_TO_ALL})
    storage = MemoryStorage()
    store(storage, made)
    return Endpoint(made.bundle, storage)


def test_list_of_resources_prints_no_schema(large: Endpoint) -> None:
    caller = Caller(endpoint=large, principal=ANONYMOUS, evaluation=large.everybody, services=cast("Services", None))

    listed = asyncio.run(resources_for(caller))

    assert {each.entry["uri"] for each in listed} == {f"{BASE}/schema.graphql", f"{BASE}/tools/all.graphql"}
    assert cached_counts(large)["printed"] == 0


def test_a_schema_is_printed_once_and_counts_among_what_its_endpoint_takes(large: Endpoint) -> None:
    large.schema.view(None, large.everybody.outcome(large.bundle.graphql.conditions))
    before = large.cost_bytes

    first = calls(lambda: large.schema.sdl(None, large.everybody))

    sdl = large.schema.sdl(None, large.everybody)
    assert calls(lambda: large.schema.sdl(None, large.everybody)) < 100 < first
    assert large.cost_bytes >= before + len(sdl)
    assert cached_counts(large)["printed"] == 1


OPEN_TO_ALL = "graphql: on\n" + READABLE
