"""The page of ``stile dev``: its own routes, personas, live events, and who may ask for them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.commands.running import change
from tests.commands.test_dev import Dev, running_dev
from tests.support.api import Reply, running_api
from tests.support.endpoints import write_endpoint

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e'\""
SECRET = "Zq7-unspoken-9f4c"
HTML = "text/html,*/*;q=0.8"
OWN = {"sec-fetch-site": "same-origin"}

CONFIG = """\
upstream:
  url: %s
  auth: {header: x-upstream-key, value: env:PARTS}
access:
  anonymous: allow
  policies:
    - type: Query
      policyDefault: {condition: true}
    - type: Employee
      policyDefault: {condition: true}
      rules:
        - {fields: [salary], condition: "$jwt.role:String == 'hr'"}
"""
FILES = {
    "index.graphql": (
        'schema @tool(name: "ask", title: "Ask", graphql: [{expose: true, types: "Query|Employee", fields: ".*"}]) '
        f"{{ query: Query }}\n"
        f"type Query {{ me: Employee open: String }}\n"
        f'"""{HOSTILE[:-1]}x""" type Employee {{ name: String salary: Int boss: Employee }}\n'
    ),
    "operations/pay.graphql": 'query Pay @mcpTool(name: "pay", title: "Pay") { me { name salary } }\n',
    ".env": f"STILE_SECRET_PARTS={SECRET}\n",
    "hr.json": '{"sub": "ada", "role": "hr"}',
    "<b>.json": '{"sub": "<script>"}',
    "role.json": '{"role": "sales"}',
    "package.json": '{"name": "x", "version": "1"}',
    "list.json": '["sub"]',
    "broken.json": '{"sub": ',
    ".hidden.json": '{"sub": "x"}',
    "../above.json": '{"email": "x@example.com"}',
}


class Page:
    """What the page of a running ``stile dev`` asks for."""

    def __init__(self, dev: Dev) -> None:
        self.dev = dev
        self.url = dev.url
        self.http = urllib3.PoolManager(retries=False, timeout=30)

    def get(self, path: str, headers: Mapping[str, str] = OWN) -> urllib3.BaseHTTPResponse:
        return self.http.request("GET", f"{self.url}{path}", headers=dict(headers))

    def told(self, route: str, **query: str) -> Any:
        answer = self.http.request("GET", f"{self.url}/-/{route}", fields=query, headers=OWN)
        assert answer.status == 200, answer.data
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        return answer.json()

    def call(self, method: str, params: Any = None, name: str = "api/things", **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        sent = {
            "content-type": "application/json",
            **OWN,
            **{key.replace("_", "-"): one for key, one in headers.items()},
        }
        return self.http.request("POST", f"{self.url}/{name}/mcp", body=json.dumps(body), headers=sent)

    def tools(self, **headers: str) -> list[str] | int:
        answer = self.call("tools/list", **headers)
        return [each["name"] for each in answer.json()["result"]["tools"]] if answer.status == 200 else answer.status


class Events:
    """The stream of events of one page."""

    def __init__(self, page: Page) -> None:
        self._answer = page.http.request("GET", f"{page.url}/-/events", headers=OWN, preload_content=False, timeout=20)
        assert self._answer.headers["content-type"].startswith("text/event-stream")
        self._lines = (line for chunk in self._chunks() for line in chunk)

    def _chunks(self) -> Iterator[list[str]]:
        rest = ""
        for chunk in self._answer.stream(65_536):
            *lines, rest = (rest + chunk.decode()).split("\n")
            yield lines

    def next(self, kind: str, **wanted: Any) -> Any:
        """The next event of a kind with these members."""
        event = ""
        for line in self._lines:
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: ") and event == kind:
                found = json.loads(line[6:])
                if all(found[name] == value for name, value in wanted.items()):
                    return found
        raise AssertionError(f"no event {kind} {wanted}")

    def ends(self) -> bool:
        return list(self._lines) is not None

    def close(self) -> None:
        self._answer.close()


@contextlib.contextmanager
def listening(page: Page) -> Iterator[Events]:
    events = Events(page)
    try:
        yield events
    finally:
        events.close()


def ready(dev: Dev) -> Page:
    dev.url = dev.wait_for(r"^The page for your browser: (http://127\.0\.0\.1:\d+)/$")[1]
    dev.wait_for("Ctrl-C ends it")
    return Page(dev)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder of the module's processes, with an endpoint."""
    place, before = tmp_path_factory.mktemp("page"), Path.cwd()
    os.chdir(place)
    reply = Reply({"data": {"me": {"name": f"Ada {SECRET}", "salary": 7}}})
    with running_api(lambda _: reply) as api:
        write_endpoint(place, {**FILES, "config.yaml": CONFIG % api.url})
        yield place
    os.chdir(before)


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[Page]:
    with running_dev("api") as dev:
        yield ready(dev)


def test_url_of_the_page_is_printed_and_has_the_document(page: Page) -> None:
    for path in ("/", "/api/things"):
        answer = page.get(path, {"accept": HTML})
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert b'data-mode="dev"' in answer.data
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    card = page.get("/api/things", {"accept": "*/*"})
    assert (card.json()["name"], page.get("/", {"accept": "*/*"}).status) == ("api/things", 200)


def test_endpoints_have_their_personas_and_warnings(page: Page) -> None:
    told = page.told("endpoints")
    (endpoint,) = told["endpoints"]

    assert (endpoint["name"], endpoint["mcpUrl"]) == ("api/things", f"{page.url}/api/things/mcp")
    assert endpoint["upstream"].startswith("http://127.0.0.1:")
    assert [(each["id"], each["kind"]) for each in endpoint["personas"]] == [
        ("author", "author"),
        ("anonymous", "anonymous"),
        ("file:api/things/%3Cb%3E.json", "claims"),
        ("file:api/things/hr.json", "claims"),
        ("file:api/things/role.json", "claims"),
        ("file:api/above.json", "claims"),
    ]
    assert ("undescribed-tool", "warning", "api/things/operations/pay.graphql", 1) in [
        (each["code"], each["severity"], each["place"]["file"], each["place"]["line"]) for each in told["problems"]
    ]
    assert (endpoint["problems"], endpoint["warnings"]) == (0, len(told["problems"]))


def test_callers_are_told_as_check_says_them_and_the_api_as_its_server_answers(page: Page) -> None:
    (endpoint,) = page.told("endpoints")["endpoints"]

    assert endpoint["callers"] == "Who gets in: anonymous callers."
    assert page.told("api", endpoint="api/things") == {"reached": True, "said": ""}
    file = Path("api/things/config.yaml")
    before = file.read_text("utf-8")
    with listening(page) as events:
        file.write_text(before.replace(endpoint["upstream"], "http://127.0.0.1:9/"), "utf-8")
        events.next("reload")
        refused = page.told("api", endpoint="api/things")
        file.write_text(before, "utf-8")
        events.next("reload")
    assert refused["reached"] is False
    assert refused["said"] == "POST http://127.0.0.1:9/: connection refused: start the API, or correct upstream.url"


def test_tools_are_told_with_the_standing_of_a_persona(page: Page) -> None:
    told = {
        caller: {each["name"]: each for each in page.told("tools", endpoint="api/things", caller=caller)["tools"]}
        for caller in ("author", "anonymous", "file:api/things/hr.json")
    }

    assert {caller: [name for name, each in tools.items() if each["usable"]] for caller, tools in told.items()} == {
        "author": ["ask", "pay"],
        "anonymous": ["ask"],
        "file:api/things/hr.json": ["ask", "pay"],
    }
    pay = told["anonymous"]["pay"]
    assert (pay["kind"], pay["file"], pay["line"]) == ("prescribed", "api/things/operations/pay.graphql", 1)
    assert pay["tokens"] > 10
    assert [each for each in pay["warnings"] if "description" in each]


def test_reasons_have_the_rule_and_its_place(page: Page) -> None:
    line = CONFIG.splitlines().index("        - {fields: [salary], condition: \"$jwt.role:String == 'hr'\"}") + 1
    rule = {"rule": "$jwt.role:String == 'hr'", "file": "api/things/config.yaml", "line": line}
    of_tool = page.told("why", endpoint="api/things", caller="anonymous", tool="pay")
    of_field = page.told("why", endpoint="api/things", caller="anonymous", field="Employee.salary")

    for told in (of_tool, of_field):
        (found,) = told["reasons"]
        assert {name: found[name] for name in rule} == rule
        assert found["text"] == "Employee.salary: $jwt.role:String == 'hr'"
    assert page.told("why", endpoint="api/things", caller="author", tool="pay")["reasons"] == []


def test_reach_of_a_field_has_the_ways_of_each_persona(page: Page) -> None:
    told = page.told("reach", endpoint="api/things", field="salary")
    by_label = {each["label"]: each for each in told["personas"]}

    assert (told["field"], [each["coordinate"] for each in told["matches"]]) == ("Employee.salary", ["Employee.salary"])
    assert {label: each["reached"] for label, each in by_label.items()} == {
        "anonymous": False,
        "<b>.json": False,
        "hr.json": True,
        "role.json": False,
        "above.json": False,
    }
    assert [(each["tool"], each["path"]) for each in by_label["hr.json"]["through"]] == [
        ("ask", "Query.me -> Employee.salary"),
        ("pay", "me > salary"),
    ]
    assert by_label["role.json"]["reasons"][0]["rule"] == "$jwt.role:String == 'hr'"


@pytest.mark.parametrize("text", ["", "nothing", "Employee.nope", HOSTILE, "x" * 10_000, "Employee.salary(", "\0", "*"])
def test_text_that_is_no_part_of_the_schema_reaches_nothing(page: Page, text: str) -> None:
    told = page.told("reach", endpoint="api/things", field=text)

    assert (told["field"], told["personas"]) == (None, [])


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("tools?endpoint=api/absent", 404),
        ("tools?endpoint=../../etc", 404),
        ("api?endpoint=api/absent", 404),
        ("tools?endpoint=api/things&caller=file:/etc/passwd", 400),
        ("tools?endpoint=api/things&caller=file:api/things/package.json", 400),
        ("tools?endpoint=api/things&caller=key:none", 400),
        ("why?endpoint=api/things&caller=anonymous&tool=absent", 400),
        ("why?endpoint=api/things&caller=anonymous", 400),
        ("why?endpoint=api/things&caller=anonymous&field=Nothing.x", 400),
        ("absent", 404),
    ],
)
def test_question_about_something_absent_is_refused(page: Page, query: str, status: int) -> None:
    answer = page.get(f"/-/{query}")

    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    assert "error" in answer.json()


def test_persona_of_the_header_has_its_own_tools(page: Page) -> None:
    assert page.tools() == ["ask", "pay"]
    assert page.tools(stile_caller="anonymous") == ["ask"]
    assert page.tools(stile_caller="file:api/things/hr.json") == ["ask", "pay"]
    assert page.tools(stile_caller="file:api/things/role.json") == ["ask"]


def test_persona_is_refused_unless_the_request_is_of_the_page(page: Page) -> None:
    for site in ("cross-site", "same-site", "", "same-origin, none"):
        assert page.tools(stile_caller="anonymous", sec_fetch_site=site) == 403
    for caller in ("nobody", "file:/etc/passwd", "file:api/things/package.json", ""):
        wanted = 400 if caller else ["ask", "pay"]
        assert page.tools(stile_caller=caller) == wanted


LINK = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}
"""The headers of a browser that follows a link of another site."""


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/", "/api/things", "/no/endpoint"])
def test_link_on_another_site_opens_the_page_which_no_frame_shows(page: Page, path: str, site: str) -> None:
    answer = page.get(path, {**LINK, "sec-fetch-site": site})

    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert answer.data == page.get("/", {**LINK, **OWN}).data


def test_link_on_another_site_to_an_mcp_url_leads_to_the_page(page: Page) -> None:
    answer = page.http.request("GET", f"{page.url}/api/things/mcp", headers=LINK, redirect=False)

    assert (answer.status, answer.headers["location"]) == (303, "../things")


@pytest.mark.parametrize(
    "changed",
    [
        *({"sec-fetch-dest": each} for each in ("iframe", "frame", "embed", "object", "empty", "script", "")),
        *({"sec-fetch-mode": each} for each in ("cors", "no-cors", "websocket", "")),
        *({"accept": each} for each in ("application/json", "*/*", "text/event-stream")),
        {"sec-fetch-dest": "document, iframe"},
        {"sec-fetch-mode": "navigate, cors"},
    ],
)
def test_other_requests_of_another_site_are_refused_as_before(page: Page, changed: Mapping[str, str]) -> None:
    for path in ("/", "/api/things", "/api/things/mcp"):
        assert page.get(path, {**LINK, **changed}).status == 403


def test_link_on_another_site_opens_nothing_but_the_page(page: Page) -> None:
    for path in (
        *("/-/endpoints", "/-/events", "/-/editor", "/health", "/%2D/events", "//-/events"),
        *(
            "/api/things/graphql?query={me{name}}",
            "/api/things/__graphql",
            "/api/things/tools/ask/graphql?query={open}",
        ),
        *("/.well-known/oauth-protected-resource/api/things/mcp", "/api/things/mcp/x", "/api/../-/events"),
    ):
        assert page.get(path, LINK).status == 403, path
    for path in ("/", "/api/things", "/api/things/mcp"):
        assert page.http.request("POST", f"{page.url}{path}", headers=LINK, body="{}").status == 403
        assert page.get(path, {**LINK, "host": f"evil.example:{page.url.rpartition(':')[2]}"}).status == 421


def test_routes_of_the_page_are_refused_to_everything_else(page: Page) -> None:
    for route in ("endpoints", "tools", "api", "why", "reach", "events"):
        for headers in ({}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
            assert page.get(f"/-/{route}", headers).status == 403
        rebound = page.get(f"/-/{route}", {**OWN, "host": f"evil.example:{page.url.rpartition(':')[2]}"})
        assert rebound.status == 421
        foreign = page.get(f"/-/{route}", {**OWN, "origin": "https://evil.example"})
        assert (foreign.status, foreign.headers.get("access-control-allow-origin")) == (403, None)
        assert page.http.request("POST", f"{page.url}/-/{route}", headers=OWN).status == 405


def test_call_is_told_with_what_the_api_got_and_without_secrets(page: Page) -> None:
    answer = page.call("tools/call", {"name": "pay", "arguments": {}}, stile_caller="file:api/things/hr.json")
    with listening(page) as events:
        told = events.next("call", id=answer.headers["stile-call"])

    assert (told["endpoint"], told["tool"], told["method"]) == ("api/things", "pay", "tools/call")
    assert (told["caller"], told["outcome"], told["status"]) == ("file:api/things/hr.json", "ok", 200)
    assert told["bytes"] == len(answer.data)
    assert told["log"]["request_id"] == told["id"] == answer.headers["x-request-id"]
    (sent,) = told["sent"]
    assert (sent["method"], sent["status"], sent["headers"]["x-upstream-key"]) == ("POST", 200, "…")
    assert "salary" in sent["document"]
    assert "Ada …" in sent["answer"]
    assert SECRET not in json.dumps(told)


def test_credentials_of_callers_are_in_no_event(page: Page) -> None:
    given = "stile_hJ4unspoken77Key0000000000000000000000000"
    first = page.call("tools/list", x_api_key=given)
    second = page.call("tools/list", authorization=f"Bearer {given}.a.b", stile_caller="author")
    with listening(page) as events:
        told = [events.next("call", id=each.headers["stile-call"]) for each in (first, second)]

    assert [(each["status"], each["outcome"]) for each in told] == [(401, "denied")] * 2
    assert given not in json.dumps(told)


def test_several_pages_hear_the_same_and_the_last_calls_come_first(page: Page) -> None:
    before = page.call("tools/list").headers["stile-call"]
    with listening(page) as one, listening(page) as two:
        assert one.next("call", id=before)
        assert two.next("call", id=before)
        now = page.call("ping").headers["stile-call"]
        assert one.next("call", id=now)["method"] == two.next("call", id=now)["method"] == "ping"


def test_questions_of_the_page_are_no_calls_and_have_no_lines(page: Page) -> None:
    page.told("endpoints")
    page.get("/", {"accept": HTML})
    marked = page.call("ping").headers["stile-call"]
    with listening(page) as events:
        paths = {json.loads(line[6:])["log"].get("route") for line in _calls_until(events, marked)}

    assert "page" not in paths
    page.dev.wait_for(r"POST /api/things/mcp ping")
    lines = [line for line in page.dev.printed if "no Accept: text/html" not in line]  # that of curl
    assert not any("/-/endpoints 200" in line or " / 200" in line for line in lines)


def _calls_until(events: Events, id_: str) -> Iterator[str]:
    for line in events._lines:
        if line.startswith("data: ") and '"log"' in line:
            yield line
            if id_ in line:
                return


def test_page_that_does_not_read_holds_no_call_up(page: Page) -> None:
    host, port = page.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.sendall(f"GET /-/events HTTP/1.1\r\nhost: {host}:{port}\r\nsec-fetch-site: none\r\n\r\n".encode())
        began = time.monotonic()
        for _ in range(30):
            assert page.call("tools/list").status == 200
        assert time.monotonic() - began < 20


def test_saved_mistake_is_told_and_gone_again(page: Page, folder: Path) -> None:
    operation = folder / "api/things/operations/pay.graphql"
    with listening(page) as events:
        events.next("problems")
        change(operation, "salary", "salry")
        reload = events.next("reload")
        problems = events.next("problems")["problems"]
        served = page.told("endpoints")["endpoints"][0]
        unknown = page.get("/-/why?endpoint=api/things&caller=anonymous&field=Employee.name")
        change(operation, "salry", "salary")
        events.next("reload")
        left = events.next("problems")["problems"]

    assert reload["files"] == ["api/things/operations/pay.graphql"]
    (error,) = [each for each in problems if each["severity"] == "error"]
    assert (error["place"]["file"], error["endpoint"]) == ("api/things/operations/pay.graphql", "api/things")
    assert served["problems"] == 1
    assert unknown.status in (200, 503)  # an earlier answer about this version, or none yet
    assert [each for each in left if each["severity"] == "error"] == []


def test_endpoint_that_never_compiled_is_listed_with_its_problems(page: Page, folder: Path) -> None:
    with listening(page) as events:
        events.next("problems")
        for name in ("api/broken", "api/no name"):
            write_endpoint(folder, {"index.graphql": "type Query { a: Int"}, name=name)
            events.next("reload")
        told = page.told("endpoints")
        for name in ("api/broken", "api/no name"):
            (folder / name / "index.graphql").unlink()
            events.next("reload")
        after = page.told("endpoints")

    assert [(each["name"], each["served"], each["problems"]) for each in told["endpoints"]] == [
        ("api/things", True, 0),
        ("api/broken", False, 1),
        ("api/no name", False, 2),
    ]
    assert all(set(each) == set(told["endpoints"][0]) for each in told["endpoints"])
    errors = [each["endpoint"] for each in told["problems"] if each["severity"] == "error"]
    assert sorted(errors) == ["api/broken", "api/no name", "api/no name"]
    assert [each["name"] for each in after["endpoints"]] == ["api/things"]


def test_hostile_names_stay_in_json(page: Page) -> None:
    told = page.told("endpoints")
    label = page.get("/-/tools?endpoint=api/things&caller=%3Cscript%3E")

    assert "<b>.json" in [each["label"] for each in told["endpoints"][0]["personas"]]
    assert "<script>" not in label.json()["error"]
    assert page.get("/-/%3Cscript%3E").headers["content-type"] == "application/json"


def test_as_deployed_opens_the_page_without_personas_and_ends_its_streams(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n', "utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with running_dev("api", "--as-deployed", "--open") as dev:
        page = ready(dev)
        told = page.told("endpoints")
        assert [each["personas"] for each in told["endpoints"]] == [[]]
        assert (told["personas"], "--as-deployed" in told["note"]) == (False, True)
        assert page.tools(stile_caller="author") == page.tools() == ["ask"]
        assert page.get("/-/tools?endpoint=api/things&caller=anonymous").status == 400
        assert page.told("tools", endpoint="api/things")["tools"]
        with listening(page) as events:
            assert {each["severity"] for each in events.next("problems")["problems"]} == {"warning"}
            dev.process.send_signal(signal.SIGINT)
            assert events.ends()
        assert dev.process.wait(10) == 0

    assert "Traceback" not in dev.all_printed()
    assert seen.read_text("utf-8").strip() == f"{page.url}/"
