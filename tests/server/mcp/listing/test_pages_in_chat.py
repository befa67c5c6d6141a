"""Pages in the chat as callers of both eras get them: the extension, the URIs of tools, and the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.compiler.tools.views import PAGE_TYPE
from handler.server.mcp.content import SETTINGS
from handler.server.mcp.revisions import APPS, LEGACY, MODERN
from tests.support.endpoints import compiled
from tests.support.every_method import ask
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER, identified

OPEN = """\
access:
  anonymous: allow
  policies:
    - type: Query
      rules: [{fields: [pay], condition: '$jwt.role:String == "support"'}]
      policyDefault: {condition: true}
"""
PAGE = "<!doctype html>\n<title>Ü</title>\n"
META = {"ui": {"csp": {"connectDomains": ["https://api.corp.example"]}}}
CSP = "csp: {connect_domains: ['https://api.corp.example']}"
FILES = {
    "index.graphql": """type Query {
      list(after: String): [Row] pay: [Row]
    }
    type Row { id: ID }
    """,
    "config.yaml": f"{OPEN}ui: {{pages: {{orders: {{{CSP}}}}}}}\n",
    "ui/orders.html": PAGE,
    "operations/o.graphql": """
    query Plain @mcpTool(name: "plain") { list { id } }
    query Shown @mcpTool(name: "shown", view: "orders") { list { id } }
    query Listed($after: String = "</script>") @mcpTool(name: "listed", view: "table") { list(after: $after) { id } }
    query Pay @mcpTool(name: "pay", view: "table") { pay { id } }
    """,
}
SUPPORT = """'$jwt.role:String == "support"'"""
EVERYBODY = "{type: Query, policyDefault: {condition: true}}"
KINDS = [f"A{number}_{'X' * 500}" for number in range(250)]
REVISIONS = (*LEGACY, *MODERN)
TABLE = "ui://api/things/table/listed.html"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    return compiled(tmp_path_factory.mktemp("shop"), FILES)


@pytest.fixture
def function(shop: Compiled) -> Iterator[Function]:
    with running_function(shop) as running:
        yield running


def introduced(function: Function, revision: str) -> Any:
    method = "server/discover" if revision in MODERN else "initialize"
    params = {} if revision in MODERN else {"protocolVersion": revision}
    return ask(function, revision, method, params).result


def views(function: Function, revision: str) -> dict[str, Any]:
    tools = ask(function, revision, "tools/list", {}).result["tools"]
    return {tool["name"]: tool.get("_meta", {}).get("ui", {}).get("resourceUri") for tool in tools}


@pytest.mark.parametrize("revision", REVISIONS)
def test_extension_tools_and_pages_belong_together(function: Function, revision: str) -> None:
    assert introduced(function, revision)["capabilities"]["extensions"] == {APPS: {}}

    has_meta = revision >= "2025-06-18"
    shown = {"plain": None, "shown": "ui://api/things/orders.html", "listed": TABLE}
    assert views(function, revision) == (shown if has_meta else dict.fromkeys(shown))
    for uri in (uri for uri in shown.values() if uri):
        (content,) = ask(function, revision, "resources/read", {"uri": uri}).result["contents"]
        assert (content["uri"], content["mimeType"]) == (uri, PAGE_TYPE)
        assert content["text"].lower().startswith("<!doctype html>")
    (page,) = ask(function, revision, "resources/read", {"uri": "ui://api/things/orders.html"}).result["contents"]
    expected = {"uri": "ui://api/things/orders.html", "mimeType": PAGE_TYPE, "text": PAGE}
    assert page == (expected | {"_meta": META} if has_meta else expected)
    listed = ask(function, revision, "resources/list", {}).result["resources"]
    assert [each["uri"] for each in listed] == ["ui://api/things/orders.html"]


def settings_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="settings">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_table_has_the_tool_as_its_caller_sees_it_and_no_text_ends_the_element(function: Function) -> None:
    (content,) = ask(function, MODERN[0], "resources/read", {"uri": TABLE}).result["contents"]
    tools = {each["name"]: each for each in ask(function, MODERN[0], "tools/list", {}).result["tools"]}

    told = settings_of(content["text"])
    assert told == {name: tools["listed"][name] for name in ("name", "inputSchema", "outputSchema", "annotations")}
    assert content["text"].count("<script") == 2
    assert "</script>" in json.dumps(told)
    assert SETTINGS not in content["text"]


@pytest.mark.parametrize(
    "uri",
    [
        "ui://api/things/table/plain.html",  # a tool without the view
        "ui://api/things/table/shown.html",  # a tool with another view
        "ui://api/things/table/pay.html",  # a tool of other callers
        "ui://api/things/table/none.html",
        "ui://api/things/table/listed",
        "ui://api/things/table/%6Cisted.html",
        "ui://api/things/Orders.html",
        "ui://api/other/orders.html",
        "ui://",
        "UI://api/things/orders.html",
    ],
)
def test_page_of_no_tool_of_the_caller_is_not_found(function: Function, uri: str) -> None:
    error = ask(function, MODERN[0], "resources/read", {"uri": uri}).json["error"]

    assert (error["code"], "pay" in error["message"].replace(uri, "")) == (-32602, False)


@pytest.mark.parametrize(
    ("variable", "selected", "limit", "kept"),
    [
        (
            "String",
            [f"{kind}: id" for kind in KINDS],
            "max_output_schema_bytes",
            {"name", "inputSchema", "annotations"},
        ),
        ("Kind", ["id"], "max_schema_bytes", {"name"}),
    ],
)
def test_large_schema_is_left_out_of_the_table(
    tmp_path: Path, variable: str, selected: list[str], limit: str, kept: set[str]
) -> None:
    sdl = f"type Query {{ list(after: {variable}): [Row] }} type Row {{ id: ID }} enum Kind {{ {' '.join(KINDS)} }}"
    call = f"{{ list(after: $after) {{ {' '.join(selected)} }} }}"
    files = {
        "index.graphql": sdl,
        "operations/o.graphql": f'query L($after: {variable}) @mcpTool(name: "listed", view: "table") {call}',
        "config.yaml": f"access: {{anonymous: allow, policies: [{EVERYBODY}]}}\nlimits: {{{limit}: 0}}\n",
    }
    with running_function(compiled(tmp_path, files)) as function:
        (content,) = ask(function, MODERN[0], "resources/read", {"uri": TABLE}).result["contents"]

    assert settings_of(content["text"]).keys() == kept


@pytest.mark.parametrize("ui", ["5", "null", '"x"', "[]", "{resourceUri: 5}"])
def test_tool_with_any_value_as_its_ui_has_no_table(tmp_path: Path, ui: str) -> None:
    files = {**FILES, "operations/o.graphql": f'query Pay @mcpTool(name: "pay", meta: {{ui: {ui}}}) {{ pay {{ id }} }}'}
    with running_function(compiled(tmp_path, files)) as function:
        answered = function.request("resources/read", {"uri": "ui://api/things/table/pay.html"}, modern=True)

    assert answered.json["error"]["code"] == -32602


def test_tool_of_some_callers_has_its_table_for_them(tmp_path: Path) -> None:
    with running_function(identified(compiled(tmp_path, FILES), {"role": "support"})) as function:
        uri = "ui://api/things/table/pay.html"
        read = function.request("resources/read", {"uri": uri}, modern=True, headers=HOLDER).result
        (content,) = read["contents"]

        assert settings_of(content["text"])["name"] == "pay"
        assert read["cacheScope"] == "private"


@pytest.mark.parametrize("revision", REVISIONS)
def test_caller_who_may_read_no_page_finds_no_trace_of_one(tmp_path: Path, revision: str) -> None:
    hiding = compiled(tmp_path / "a", {**FILES, "config.yaml": f"{OPEN}ui: {{condition: {SUPPORT}}}\n"})
    without = {name: text for name, text in FILES.items() if not name.startswith("ui/")}
    bare_operations = re.sub(r", view: \"\w+\"", "", FILES["operations/o.graphql"])
    bare = compiled(tmp_path / "b", {**without, "operations/o.graphql": bare_operations, "config.yaml": OPEN})
    said = []
    for endpoint in (hiding, bare):
        with running_function(endpoint) as function:
            asked = [("tools/list", {}), ("resources/list", {}), ("resources/read", {"uri": TABLE})]
            asked += [("resources/read", {"uri": "ui://api/things/orders.html"})]
            asked += [("resources/read", {"uri": "ui://api/things/table.html"})]
            said.append([ask(function, revision, *each).json for each in asked])
            capabilities = introduced(function, revision)["capabilities"]
            said[-1].append(capabilities.get("extensions"))

    if "result" in said[1][1]:
        assert said[0] == said[1]
    else:  # an endpoint without any resource has no such methods, whoever asks
        assert (said[0][0], said[0][-1]) == (said[1][0], said[1][-1])
        assert said[0][1]["result"]["resources"] == []
        assert all("error" in each for each in said[0][2:5])


def test_condition_of_a_page_is_its_own_and_its_reader_gets_the_view(tmp_path: Path) -> None:
    config = f"{OPEN}ui: {{pages: {{orders: {{condition: {SUPPORT}}}}}}}\n"
    made = identified(compiled(tmp_path, {**FILES, "config.yaml": config}), {"role": "support"})
    with running_function(made) as function:
        assert views(function, MODERN[0]) == {"plain": None, "shown": None, "listed": TABLE}
        listed = function.request("tools/list", {}, modern=True, headers=HOLDER).result["tools"]
        uris = {each["name"]: each.get("_meta", {}).get("ui", {}).get("resourceUri") for each in listed}
        assert uris["shown"] == "ui://api/things/orders.html"
        assert function.request("server/discover", {}, modern=True).result["capabilities"]["extensions"] == {APPS: {}}


def test_catalog_tells_of_views_as_the_list_does(tmp_path: Path) -> None:
    config = f"{OPEN}catalog: {{list: pinned}}\nui: {{condition: {SUPPORT}}}\n"
    made = identified(compiled(tmp_path, {**FILES, "config.yaml": config}), {"role": "support"})
    with running_function(made) as function:
        found = []
        for headers in (None, HOLDER):
            tools = function.request("tools/list", {}, modern=True, headers=headers or {}).result["tools"]
            search = next(each["name"] for each in tools if each.get("title") == "Find tools")
            call = {"name": search, "arguments": {"names": ["shown", "ui://api/things/orders.html"]}}
            result = function.request("tools/call", call, modern=True, headers=headers or {}).result
            found.append(result["structuredContent"])

    assert ["_meta" in each["tools"][0] for each in found] == [False, True]
    assert [each["resources"] for each in found] == [[], []]
