"""The built-in table in Chromium, in a host of MCP Apps with the official bridge and SDK, over a real server."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from handler.compiler.compile import compile_endpoint
from handler.server.auth.sealed_state import RequestStates
from tests.clients.inspector import MODULES, NODE, Inspector
from tests.clients.serving import UNHURRIED, running_server
from tests.support.endpoints import READABLE, write_endpoint
from tests.support.require import requires
from tests.support.secrecy import SESSION

PROGRAMS = Path(__file__).parent / "programs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WAIT_S = 60
SHELL = b'<!doctype html><meta charset="utf-8"><body><script src="/host.js"></script>'
HOSTILE = (
    "<img src=x onerror=canary('img')>",
    "</td></table><script>canary('script')</script>",
    "javascript:canary('url')",
    "<svg/onload=canary('svg')>\u202e\u2028 &lt;b&gt;",
    "\ud83c",
    "{{constructor.constructor('canary(1)')()}}",
)
STATE_KEY = SESSION.keep("a key of cursors", "h3Tq8Lw1Vb6Zn9Xc4Mf7Pd2Ks5Rj0GyU")
VARIABLES = {
    "--color-text-primary": "rgb(1, 2, 3)",
    "--color-background-primary": "url(https://evil.example/a.png)",
    "--font-sans": "\\75rl(https://evil.example/b)",
    "not-a-variable": "red",
}
SCHEMA = """\
type Query { orders(after: String): OrderConnection kinds: [Kind] other: [Kind] nothing: [Order] failing: Order
  people: [Named] places: [Named] skipped(offset: Int): [Named] any: Any members: MemberConnection
}
type MemberConnection { edges: [MemberEdge] }
type MemberEdge { cursor: String role: String id: Long node: Member }
type Member { id: Long name: String friends: [Long!] }
scalar Long
type Named { name: String note: String }
scalar Any
type OrderConnection { edges: [OrderEdge] pageInfo: PageInfo! totalCount: Int }
type OrderEdge { cursor: String! node: Order }
type PageInfo { endCursor: String hasNextPage: Boolean! }
type Order { number: String total: Float lines: [Int] }
enum Kind { NEW OLD }
"""
OPERATIONS = """\
query Orders($after: String) @mcpTool(name: "orders", view: "table", limits: {max_result_bytes: 3000}) {
  orders(after: $after) {
    edges { cursor node { number total constructor: lines } } pageInfo { endCursor hasNextPage } totalCount
  }
}
query Pages($after: String) @mcpTool(name: "pages", view: "table", output_schema: off) {
  orders(after: $after) { edges { node { total } } pageInfo { endCursor hasNextPage } }
}
query Kinds @mcpTool(name: "kinds", view: "table") { kinds other nothing { number } }
query Rows @mcpTool(name: "rows", view: "table", limits: {max_result_bytes: 2000, continue: true}) {
  people { name note } places { name note }
}
query Skipped($offset: Int) @mcpTool(name: "skipped", view: "table", limits: {max_result_bytes: 1500}) {
  skipped(offset: $offset) { name note }
}
query Whatever @mcpTool(name: "whatever", view: "table", limits: {max_result_bytes: 0}) { any }
query Members @mcpTool(name: "members", view: "table") {
  members { edges { cursor role id node { id name friends } } }
}
query Failing @mcpTool(name: "failing", view: "table") { failing { number } }
"""


def order(number: int) -> Any:
    text = HOSTILE[number % len(HOSTILE)] if number % 2 else f"A-{number}"
    return {"number": text, "total": number / 2, "constructor": [number, None]}


def named(letter: str) -> list[Any]:
    return [{"name": f"{letter}{number}", "note": "n" * 20} for number in range(40)]


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """The API: 60 orders, which a connection has ten or all of; every other one has a hostile text."""
    query, after = asked["query"], (asked.get("variables") or {}).get("after")
    first = int(after[1:]) + 1 if after else 0
    if "Kinds" in query:
        return {"data": {"kinds": ["NEW", "OLD"], "other": ["OLD"], "nothing": []}}
    if "Rows" in query:
        return {"data": {"people": named("p"), "places": named("q")}}
    if "Skipped" in query:
        return {"data": {"skipped": named("s")[(asked.get("variables") or {}).get("offset") or 0 :]}}
    if "Whatever" in query:
        return {"data": {"any": WHATEVER}}
    if "Members" in query:
        return {"data": {"members": {"edges": [MEMBER, {"cursor": "c2", "role": "guest", "id": 1, "node": None}]}}}
    if "Failing" in query:
        return {"data": {"failing": None}, "errors": [{"message": HOSTILE[0]}]}
    last = min(first + 10, 60) if "cursor node" not in " ".join(query.split()) else 60
    edges = [{"cursor": f"c{each}", "node": order(each)} for each in range(first, last)]
    page = {"endCursor": f"c{last - 1}", "hasNextPage": last < 60}
    if "totalCount" not in query:
        edges = [{"node": {"total": each["node"]["total"]}} for each in edges]
        return {"data": {"orders": {"edges": edges, "pageInfo": page}}}
    return {"data": {"orders": {"edges": edges, "pageInfo": page, "totalCount": 60}}}


def nested(levels: int) -> Any:
    return {"below": nested(levels - 1)} if levels else HOSTILE[1]


WHATEVER = {
    "__proto__": [{"polluted": 1}],
    "rows": [
        {
            "__proto__": {"polluted": True},
            "constructor": HOSTILE[0],
            "toString": HOSTILE[2],
            "node": None,
            "deep": nested(40),
            "long": "<b>" * 5_000,
        },
        None,
        [1, [HOSTILE[1]]],
        {"node": {"other": HOSTILE[3]}},
        *({"deep": number} for number in range(10_000)),
    ],
    "wide": [{f"<i>{number}": number for number in range(100)}],
}


MEMBER = {
    "cursor": "c1",
    "role": "owner",
    "id": -9_223_372_036_854_775_807,
    "node": {"id": 9_007_199_254_740_993, "name": "1.0", "friends": [9_007_199_254_740_995, 2]},
}


class Desk:
    """The origin of the host: its page and script, the API behind the endpoint, and a way to the endpoint."""

    def __init__(self, script: bytes) -> None:
        self.script, self.told, self.given = script, queue.Queue[Any](), b"{}"
        self.endpoint = ""
        self.calls: list[Any] = []
        desk = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages = {"/": ("text/html", SHELL), "/host.js": ("text/javascript", desk.script)}
                kind, body = pages.get(self.path, ("application/json", desk.given))
                self._send(200 if self.path in (*pages, "/given") else 405, body, kind)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/told":
                    desk.told.put(json.loads(body))
                    self._send(200, b"{}", "application/json")
                elif self.path == "/graphql":
                    self._send(200, json.dumps(answer(json.loads(body))).encode(), "application/json")
                else:
                    self._forward(body)

            def _forward(self, body: bytes) -> None:
                desk.calls += [asked["params"]] if (asked := json.loads(body)).get("method") == "tools/call" else []
                passed = ("Content-Type", "Accept", "MCP-Protocol-Version")
                headers = {name: self.headers[name] for name in passed if name in self.headers}
                request = urllib.request.Request(desk.endpoint, data=body, headers=headers)
                with urllib.request.urlopen(request) as got:
                    self._send(got.status, got.read(), got.headers.get("Content-Type", "application/json"))

            def _send(self, status: int, body: bytes, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            self.server.shutdown()
            thread.join()
            self.server.server_close()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    requires("node", NODE.is_file(), "`make clients` installs the SDKs and Node.js")
    requires("chromium", browser(), "`apt-get install chromium` installs it")
    folder = tmp_path_factory.mktemp("chat")
    script = folder / "host.js"
    done = subprocess.run(
        [NODE, PROGRAMS / "bundle.mjs", PROGRAMS / "chat_host.mjs", MODULES, script],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    desk = Desk(script.read_bytes())
    files = {
        "index.graphql": SCHEMA,
        "operations/o.graphql": OPERATIONS,
        "config.yaml": f"{READABLE}scalars: {{Long: {{type: integer}}}}\nupstream: {{url: '{desk.url}/graphql'}}\n",
    }
    made = compile_endpoint(write_endpoint(folder, files), environ={"STILE_STATE_KEY": STATE_KEY})
    with desk.running(), running_server(made, states=RequestStates([STATE_KEY])) as url:
        desk.endpoint = url
        yield desk


def browser() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def shown(desk: Desk, folder: Path, tool: str, *press: str, result: Any = None) -> Any:
    """What the host told of a tool's view, after these buttons were pressed: of ``result``, or of a call."""
    given = {"tool": tool, "arguments": {}, "press": press, "variables": VARIABLES, "result": result}
    desk.given, desk.calls = json.dumps(given).encode(), []
    # Chromium's sandbox needs rights that root and containers lack.
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}"]
    command = [str(browser()), *options, "--remote-debugging-port=0", desk.url]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            told = desk.told.get(timeout=WAIT_S)
        finally:
            process.terminate()
    assert "failed" not in told, told["failed"]
    assert (told["violations"], told["requests"]) == ([], [])
    return {**told, "calls": [{name: call[name] for name in ("name", "arguments")} for call in desk.calls[1:]]}


def test_table_pages_by_the_notes_of_cut_lists_and_shows_hostile_texts_as_text(desk: Desk, tmp_path: Path) -> None:
    told = shown(desk, tmp_path, "orders", "next", "next", "previous")

    first, second, third, back = told["looks"]
    rows = [row for look in (first, second, third) for row in look["rows"]]
    assert len(rows) == 60
    assert first["head"] == ["number", "total", "constructor"]
    expected = [order(number) for number in range(len(rows))]
    assert [row[:2] for row in rows] == [
        [each["number"].replace("\ud83c", "\ufffd"), f"{each['total']:g}"] for each in expected
    ]
    assert rows[3][2] == "[3,null]"
    assert [call["name"] for call in told["calls"]] == ["orders", "orders"]
    ends = [len(first["rows"]) - 1, len(first["rows"]) + len(second["rows"]) - 1]
    assert [call["arguments"] for call in told["calls"]] == [{"after": f"c{end}"} for end in ends]
    assert back == {**second, "buttons": [True, True]}
    assert [look["buttons"] for look in (first, second, third)] == [[False, True], [True, True], [True, False]]
    assert {look["elements"] for look in told["looks"]} == {2}  # the scripts of the page itself
    assert (told["theme"], told["colour"], told["background"]) == ("dark", "rgb(1, 2, 3)", "")
    assert told["sizes"] > 0
    assert told["focused"] == ["next", "previous", "previous"]  # the last page has no next one


def test_row_of_a_connection_has_what_its_edge_says_and_whole_numbers_keep_their_digits(
    desk: Desk, tmp_path: Path
) -> None:
    (look,) = shown(desk, tmp_path, "members")["looks"]

    assert look["head"] == ["id", "name", "friends", "role", "edge.id"]
    assert look["rows"] == [
        ["9007199254740993", "1.0", "[9007199254740995,2]", "owner", "-9223372036854775807"],
        ["", "", "", "guest", "1"],
    ]


def test_table_pages_by_the_cursor_of_a_connection_that_was_not_cut(desk: Desk, tmp_path: Path) -> None:
    told = shown(desk, tmp_path, "pages", "next")

    assert [len(look["rows"]) for look in told["looks"]] == [10, 10]
    assert told["looks"][1]["rows"][0] == ["5"]
    assert told["calls"] == [{"name": "pages", "arguments": {"after": "c9"}}]


def first_cells(*looks: Any) -> list[str]:
    return [row[0] for look in looks for row in look["rows"]]


@UNHURRIED
def test_table_pages_by_the_cursor_of_stile_through_the_list_that_is_chosen(desk: Desk, tmp_path: Path) -> None:
    told = shown(desk, tmp_path, "rows", "next", "previous", "data.places", "next", "previous")

    people, rest, _, places, more, back = told["looks"]
    assert first_cells(people, rest) == [f"p{number}" for number in range(40)]
    assert first_cells(places, more) == [f"q{number}" for number in range(40)]
    assert (rest["lists"], more["lists"]) == (["data.people"], ["data.places"])
    assert back["rows"] == places["rows"]
    assert [list(call["arguments"]) for call in told["calls"]] == [["stileCursor"], ["stileCursor"]]


@UNHURRIED
def test_table_pages_by_an_offset(desk: Desk, tmp_path: Path) -> None:
    told = shown(desk, tmp_path, "skipped", "next")

    assert first_cells(*told["looks"]) == [f"s{number}" for number in range(40)]
    assert told["calls"] == [{"name": "skipped", "arguments": {"offset": len(told["looks"][0]["rows"])}}]


@UNHURRIED
def test_names_values_and_sizes_of_any_kind_are_shown_as_text(desk: Desk, tmp_path: Path) -> None:
    first, rows, wide = shown(desk, tmp_path, "whatever", "data.any.rows", "data.any.wide")["looks"]

    assert (first["head"], first["rows"], first["state"]) == (["polluted"], [["1"]], "1 row")
    assert rows["head"] == ["__proto__", "constructor", "toString", "node", "deep", "long", "other"]
    one, *others = rows["rows"]
    assert one[:4] == ['{"polluted":true}', HOSTILE[0], HOSTILE[2], ""]
    assert (HOSTILE[1] in one[4], len(one[5])) == (True, 2_001)
    assert others[:3] == [[""], [json.dumps([1, [HOSTILE[1]]], separators=(",", ":"))], [*[""] * 6, HOSTILE[3]]]
    assert (len(rows["rows"]), rows["state"]) == (500, "10004 rows, of which 500 are shown")
    assert len(wide["head"]) == 40
    assert {look["elements"] for look in (first, rows, wide)} == {2}


def test_list_of_values_and_lists_without_rows_are_shown(desk: Desk, tmp_path: Path) -> None:
    (look,) = shown(desk, tmp_path, "kinds")["looks"]

    assert (look["head"], look["rows"]) == (["Value"], [["NEW"], ["OLD"]])
    assert look["lists"] == ["data.kinds", "data.other", "data.nothing"]


@UNHURRIED
def test_result_without_data_is_shown_as_its_text(desk: Desk, tmp_path: Path) -> None:
    texts = {"type": "text", "text": HOSTILE[0]}
    (look,) = shown(desk, tmp_path, "kinds", result={"content": [texts]})["looks"]

    assert (look["state"], look["rows"], look["elements"]) == (HOSTILE[0], [], 2)


@UNHURRIED
def test_empty_result_is_told_as_empty(desk: Desk, tmp_path: Path) -> None:
    (look,) = shown(desk, tmp_path, "kinds", result={"content": [], "structuredContent": {}})["looks"]

    assert look["state"] == "The result is empty."


def test_error_of_the_api_is_told_as_text(desk: Desk, tmp_path: Path) -> None:
    (look,) = shown(desk, tmp_path, "failing")["looks"]

    assert HOSTILE[0] in look["fault"]
    assert look["elements"] == 2


def test_inspector_finds_the_page_of_a_tool_and_its_policy(inspector: Inspector, tmp_path: Path) -> None:
    settings = "ui: {pages: {own: {csp: {connect_domains: ['https://api.corp.example']}, permissions: [camera]}}}\n"
    files = {
        "index.graphql": SCHEMA,
        "operations/o.graphql": 'query Own @mcpTool(name: "own", view: "own") { kinds }\n' + OPERATIONS,
        "config.yaml": f"{READABLE}upstream: {{url: 'http://127.0.0.1:9'}}\n{settings}",
        "ui/own.html": "<!doctype html>\n<title>Own</title>\n",
    }
    with running_server(compile_endpoint(write_endpoint(tmp_path, files))) as url:
        own, table = (inspector.app_info(url, tool, era="modern") for tool in ("own", "orders"))

    assert (own.code, table.code) == (0, 0), own.complaints + table.complaints
    assert own.printed["appInfo"] == {
        "hasApp": True,
        "toolName": "own",
        "resourceUri": "ui://api/things/own.html",
        "csp": {"connectDomains": ["https://api.corp.example"]},
        "permissions": {"camera": {}},
        "resourceMimeType": "text/html;profile=mcp-app",
    }
    assert table.printed["appInfo"] == {
        "hasApp": True,
        "toolName": "orders",
        "resourceUri": "ui://api/things/table/orders.html",
        "resourceMimeType": "text/html;profile=mcp-app",
    }
