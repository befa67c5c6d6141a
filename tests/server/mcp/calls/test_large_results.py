"""Results above ``limits.max_result_bytes``: cut inside, valid, and followed to the last row by what they say."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from graphql import build_schema, graphql_sync

from tests.support.endpoints import PUBLIC, compiled, prescribed_tool
from tests.support.function import Answer, Function, running_function
from tests.support.sdk import Mode, sdk_client

SDL = """
type Query {
  orders(first: Int, after: String, last: Int, before: String, status: String, by: OrderFilter, salary: Int,
    orderBy: String): Orders!
  page(options: PageOptions): Page!
  report: Report
  stuck: Orders!
}
type Mutation { import: Report }
input PageOptions { skip: Int take: Int salary: Int }
input OrderFilter { status: String note: String }
scalar JSON
type Page { items: [Order!]! total: Int! }
type Orders { edges: [Edge!]! nodes: [Order!]! pageInfo: PageInfo! totalCount: Int! }
type Edge { cursor: String! node: Order! }
type PageInfo { startCursor: String endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! }
type Order { salary: Int id: ID! note: String! lines: [String!]! }
type Report { text: String! data: JSON }
"""
COUNT = 300
ROWS = [{"id": f"o{number}", "note": f"Zoë {number} " * 20, "lines": ["a", "b"]} for number in range(COUNT)]


class Api:
    """The resolvers of an API of 300 orders."""

    def orders(
        self, _info: Any, *, first: int = COUNT, after: str = "", last: int | None = None, before: str = "", **_: Any
    ) -> Any:
        start = int(after.removeprefix("c")) + 1 if after else 0
        end = int(before.removeprefix("c")) if before else COUNT
        if last is None:
            end = min(end, start + first)
        else:
            start = max(start, end - last)
        return _connection(start, end)

    def stuck(self, _info: Any) -> Any:
        return _connection(0, COUNT)

    def page(self, _info: Any, *, options: Any = None) -> Any:
        skip, take = (options or {}).get("skip", 0), (options or {}).get("take", COUNT)
        return {"items": ROWS[skip : skip + take], "total": COUNT}

    def report(self, _info: Any) -> Any:
        return {"text": "x" * 90_000, "data": ["y" * 60] * 200}

    def _import(self, _info: Any) -> Any:
        return {"text": "done", "data": ["y" * 60] * 2_000}


def _connection(start: int, end: int) -> Any:
    return {
        "edges": [{"cursor": f"c{number}", "node": ROWS[number]} for number in range(start, end)],
        "nodes": ROWS[start:end],
        "pageInfo": {
            "startCursor": f"c{start}",
            "endCursor": f"c{end - 1}",
            "hasNextPage": end < COUNT,
            "hasPreviousPage": start > 0,
        },
        "totalCount": COUNT,
    }


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        root = {
            name.removeprefix("_"): getattr(Api(), name) for name in ("orders", "page", "report", "stuck", "_import")
        }
        found = graphql_sync(build_schema(SDL), asked["query"], root, variable_values=asked.get("variables"))
        body = json.dumps(found.formatted).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


OPERATIONS = """
query Orders($first: Int, $after: String) @mcpTool(name: "orders") {
  orders(first: $first, after: $after) {
    edges { cursor node { id note } } pageInfo { endCursor hasNextPage } totalCount
  }
}

query Latest($last: Int, $before: String) @mcpTool(name: "latest") {
  found: orders(last: $last, before: $before) {
    edges { c: cursor node { id } } nodes { note } page: pageInfo { at: startCursor more: hasPreviousPage }
  }
}

query Page($options: PageOptions) @mcpTool(name: "page") { page(options: $options) { items { id note } total } }

query Narrow($status: String, $note: String, $after: String) @mcpTool(name: "narrow") {
  orders(status: $status, by: {note: $note}, after: $after) { edges { cursor node { id note } } }
}

query Both @mcpTool(name: "both") { orders { edges { cursor } nodes { id note } } }

query Report @mcpTool(name: "report") { report { text } }

query Stuck @mcpTool(name: "stuck") { stuck { nodes { id note } pageInfo { endCursor } } }

mutation Import @mcpTool(name: "import") { import { text data } }

query All @mcpTool(name: "all", limits: {max_result_bytes: 0}) { stuck { nodes { id note } } }

query Structured @mcpTool(name: "structured", output: structured) { stuck { nodes { id note } } }

query Text @mcpTool(name: "text", output: text) { stuck { nodes { id note } } }
"""
LIMIT = 12_000
RULE_OF_SALARY = """\
    - {type: Order, policyDefault: {condition: true}, rules: [{condition: RULE, fields: [salary]}]}
"""
DEFAULT_TOOL = """
extend schema @tool(name: "ask", graphql: {expose: true, types: "Query", fields: ".*"}, limits: {max_cost: 100000})
"""


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Function]:
    with serving(tmp_path_factory.mktemp("large"), f"limits: {{max_result_bytes: {LIMIT}}}") as made:
        yield made


@contextmanager
def serving(folder: Path, config: str, *, access: str = PUBLIC) -> Iterator[Function]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    files = {
        "config.yaml": f"upstream: {{url: 'http://127.0.0.1:{server.server_port}/'}}\n{config}\n{access}",
        "index.graphql": SDL + DEFAULT_TOOL,
        "operations/all.graphql": OPERATIONS,
    }
    try:
        with running_function(compiled(folder, files)) as made:
            yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def note_of(answer: Answer) -> Any:
    (note,) = json.loads(answer.result["content"][0]["text"])["extensions"]["stile"]["truncated"]
    return note


def size_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def followed(function: Function, tool: str, arguments: dict[str, Any], rows: Any) -> list[str]:
    """The rows of all calls, each with the arguments that the one before named."""
    found: list[list[str]] = []
    for _ in range(COUNT):
        content = function.call(tool, arguments).result["structuredContent"]
        assert size_of(content) <= LIMIT
        found.append([row["id"] for row in rows(content["data"])])
        notes = content.get("extensions", {}).get("stile", {}).get("truncated", [])
        if not notes:
            return [row for each in (reversed(found) if tool == "latest" else found) for row in each]
        arguments = {**arguments, **notes[0]["next"]}
    raise AssertionError("it never ends")


def test_following_the_cursor_of_a_note_reads_every_row_once(function: Function) -> None:
    rows = followed(function, "orders", {}, lambda data: [each["node"] for each in data["orders"]["edges"]])

    assert rows == [row["id"] for row in ROWS]


def test_following_the_offset_of_a_note_reads_every_row_once(function: Function) -> None:
    rows = followed(function, "page", {"options": {"skip": 10, "take": COUNT}}, lambda data: data["page"]["items"])

    assert rows == [row["id"] for row in ROWS[10:]]


def test_end_of_a_list_is_read_backwards_through_aliases(function: Function) -> None:
    rows = followed(function, "latest", {"last": 290}, lambda data: [each["node"] for each in data["found"]["edges"]])

    assert rows == [row["id"] for row in ROWS]


def test_connection_names_the_last_row_that_is_kept(function: Function) -> None:
    answer = function.call("orders", {})
    orders, note = answer.result["structuredContent"]["data"]["orders"], note_of(answer)

    last = orders["edges"][-1]["cursor"]
    assert orders["pageInfo"] == {"endCursor": last, "hasNextPage": True}
    assert orders["totalCount"] == COUNT
    assert (note["path"], note["kept"] + note["dropped"]) == (["orders", "edges"], COUNT)
    assert note["next"] == {"after": last}
    assert note["total"] == COUNT
    assert_tokens_of_rest(answer)
    how = f'Call again with the same arguments, and after: "{last}". '
    assert note["how"] == f"{how}Left: {note['dropped']} items, about {note['tokens']:,} tokens."


def assert_tokens_of_rest(answer: Answer) -> None:
    note, rest = note_of(answer), ROWS[-note_of(answer)["dropped"] :]
    size = size_of([{"cursor": "c100", "node": {"id": row["id"], "note": row["note"]}} for row in rest])
    assert note["tokens"] == pytest.approx(size / 4, rel=0.1)


def test_note_of_a_tool_names_the_filters_that_the_tool_takes(function: Function) -> None:
    note = note_of(function.call("narrow", {}))

    assert note["filters"] == ["note", "status"]
    assert "counts" not in note
    assert note["how"].endswith(" tokens. To narrow it: note, status.")
    assert size_of({**note, "next": None}) <= 400


def test_edges_and_nodes_are_cut_alike_at_the_start(function: Function) -> None:
    found = function.call("latest", {"last": 290}).result["structuredContent"]["data"]["found"]

    assert len(found["edges"]) == len(found["nodes"])
    assert found["nodes"][-1]["note"] == ROWS[-1]["note"]
    assert found["page"] == {"at": found["edges"][0]["c"], "more": True}


def test_note_of_edges_and_nodes_weighs_both(function: Function) -> None:
    note = note_of(function.call("latest", {"last": 290}))
    rest = [{"c": "c100", "node": {"id": row["id"]}, "note": row["note"]} for row in ROWS[: note["dropped"]]]
    narrowed = note_of(function.query("ask", "{ orders { edges { cursor } nodes { id note } } }"))
    unpaged = note_of(function.call("both", {}))

    assert note["tokens"] == pytest.approx(size_of(rest) / 4, rel=0.1)
    assert narrowed["tokens"] > 50 * narrowed["dropped"]
    assert "The largest fields are nodes.note, " in unpaged["how"]


def test_text_and_structured_content_are_one_document(function: Function) -> None:
    result = function.call("orders", {}).result
    alone = [function.call(name, {}).result for name in ("structured", "text")]

    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert alone[0]["content"] == []
    assert "structuredContent" not in alone[1]
    assert json.loads(alone[1]["content"][0]["text"]) == alone[0]["structuredContent"]


def test_long_string_is_cut_and_told(function: Function) -> None:
    answer = function.call("report", {})
    text, note = answer.result["structuredContent"]["data"]["report"]["text"], note_of(answer)

    assert text == "x" * note["kept"] + "…"
    assert note["kept"] + note["dropped"] == 90_000
    assert (note["path"], note["of"]) == (["report", "text"], "characters")


def test_list_that_names_its_end_without_cursors_stays_whole(function: Function) -> None:
    answer = function.call("stuck", {})

    assert answer.code == "result-too-large"
    assert "structuredContent" not in answer.result
    assert "The largest fields are stuck.nodes.note, stuck.nodes.id." in answer.text


def test_mutation_whose_answer_cannot_be_cut_was_carried_out(function: Function) -> None:
    answer = function.call("import", {})

    assert answer.code == "result-too-large"
    assert answer.text.startswith("The mutation was carried out: do not repeat it. The answer has 126,")
    assert "import.data" in answer.text
    assert function.lines[-1]["decision"] == "allowed"


def test_request_that_a_model_writes_is_cut_by_its_view(function: Function) -> None:
    answer = function.query("ask", "{ some: orders { edges { cursor node { id note } } pageInfo { endCursor } } }")
    last = json.loads(answer.text)["data"]["some"]["edges"][-1]["cursor"]

    assert note_of(answer)["how"].startswith(f'Ask again for this field with after: "{last}". Left: ')
    assert "next" not in note_of(answer)


@pytest.mark.parametrize("given", [{}, {"o": {"skip": 20, "take": 200}}])
def test_offset_of_a_note_counts_from_that_of_the_request(function: Function, given: Any) -> None:
    defaults = "$o: PageOptions = {skip: 10, take: 200}, $x: Boolean = true"
    query = f"query({defaults}) {{ page(options: $o) {{ items {{ id note @include(if: $x) }} }} }}"
    answer = function.call("ask", {"query": query, "variables": {"x": True, **given}})
    note, skipped = note_of(answer), 20 if given else 10

    assert note["next"] == {"variables": {"x": True, "o": {"skip": skipped + note["kept"], "take": 200}}}


def test_request_that_cannot_be_paged_names_the_largest_fields(function: Function) -> None:
    answer = function.query("ask", "{ orders { nodes { id note } } }")

    note = note_of(answer)
    rest = f"Left: {note['dropped']} items, about {note['tokens']:,} tokens."
    offers = "To narrow it: by, salary, status. To count it: totalCount."
    assert note["how"] == f"Ask for fewer fields, of which the largest are note, id. {rest} {offers}"


def test_limit_of_a_tool_takes_the_place_of_the_endpoints(function: Function) -> None:
    answer = function.call("all", {}).result["structuredContent"]

    assert len(answer["data"]["stuck"]["nodes"]) == COUNT
    assert "extensions" not in answer


def test_each_answer_of_a_batch_has_the_limit(function: Function) -> None:
    message = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "orders", "arguments": {}}}
    answers = function.post(
        [{**message, "id": number} for number in range(3)], headers={"mcp-protocol-version": "2025-03-26"}
    ).json

    assert [len(each["result"]["content"][0]["text"].encode()) <= LIMIT for each in answers] == [True] * 3
    assert [each["truncated"] for each in function.lines[-1]["calls"]] == [1] * 3


def test_line_of_the_log_counts_the_cut_places(function: Function) -> None:
    function.call("orders", {})
    cut = function.lines[-1]
    function.call("orders", {"first": 1})

    assert (cut["outcome"], cut["truncated"]) == ("ok", 1)
    assert "truncated" not in function.lines[-1]


def test_route_of_graphql_has_no_such_limit(tmp_path: Path) -> None:
    with serving(tmp_path, "graphql: on\nlimits: {max_result_bytes: 1000, max_cost: 100000}") as function:
        answer = function.graphql({"query": "{ orders { nodes { id note } } }"})

    assert len(answer.json["data"]["orders"]["nodes"]) == COUNT


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_official_client_takes_a_cut_answer(function: Function, mode: Mode) -> None:
    async def call() -> Any:
        async with sdk_client(function, mode=mode) as client:
            await client.list_tools()
            return await client.call_tool("orders", {})

    assert asyncio.run(call()).structured_content["extensions"]["stile"]["truncated"]


@pytest.mark.parametrize("hidden", [False, True])
def test_note_names_filters_and_counts_that_the_caller_sees(tmp_path: Path, hidden: bool) -> None:
    hide = "  hide: ['Query.orders(salary:)', Orders.totalCount]\n" if hidden else ""
    config = f"limits: {{max_result_bytes: {LIMIT}}}"
    with serving(tmp_path, config, access=PUBLIC + hide) as function:
        note = note_of(function.query("ask", "{ orders { nodes { id note } } }"))

    assert note["filters"] == ["by", *([] if hidden else ["salary"]), "status"]
    assert note.get("counts", []) == ([] if hidden else ["totalCount"])
    assert ("totalCount" in str(note), "salary" in str(note)) == (not hidden, not hidden)


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("", ["options.salary"]),
        ("  hide: [PageOptions.salary]\n", []),
        (RULE_OF_SALARY.replace("RULE", "'?$jwt'"), []),
        (RULE_OF_SALARY.replace("RULE", "true"), ["options.salary"]),
    ],
)
def test_note_of_a_tool_names_no_input_field_that_some_callers_do_not_see(
    tmp_path: Path, rule: str, shown: list[str]
) -> None:
    config = f"limits: {{max_result_bytes: {LIMIT}}}"
    with serving(tmp_path, config, access=PUBLIC + rule) as function:
        note = note_of(function.call("page", {}))

    assert note.get("filters", []) == shown
    assert ("salary" in str(note)) == bool(shown)
    assert note["next"] == {"options": {"skip": note["kept"]}}


def test_plan_of_a_tool_has_no_variable_of_a_hidden_type(tmp_path: Path) -> None:
    operation = (
        "query N($by: OrderFilter, $status: String) @mcpTool { orders(by: $by, status: $status) { nodes { id } } }"
    )
    files = {
        "config.yaml": f"{PUBLIC}  hide: [OrderFilter]\n",
        "index.graphql": SDL,
        "operations/n.graphql": operation,
    }

    plan = prescribed_tool(compiled(tmp_path, files), "N").plan

    assert "filter:status" in plan
    assert "filter:by" not in plan


@pytest.mark.parametrize("letter", ["x", "語"])
def test_note_of_a_text_weighs_its_bytes(tmp_path: Path, letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Api, "report", lambda *_: {"text": letter * 90_000})
    with serving(tmp_path, f"limits: {{max_result_bytes: {LIMIT}}}") as function:
        note = note_of(function.call("report", {}))

    assert note["tokens"] == note["dropped"] * len(letter.encode()) // 4
