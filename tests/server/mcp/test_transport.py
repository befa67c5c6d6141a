"""The HTTP side of the MCP endpoint. Source: MCP 2026-07-28, basic/transports/streamable-http."""

from __future__ import annotations

import pytest

from handler import __version__
from handler.compiler.compile import Compiled
from handler.server.context import MAX_BODY_BYTES
from tests.support.function import META, Context, Function, running_function
from tests.support.upstream import Upstream

REVISIONS_WITH_NULL = [(revision, {"id": None}) for revision in ("2024-11-05", "2025-03-26", "2025-06-18")]
REVISIONS_WITHOUT: list[tuple[str, dict[str, None]]] = [("2025-11-25", {}), ("2026-07-28", {}), ("2099-01-01", {})]

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize("path", ["/api/orders/mcp", "/other/customers/mcp", "/api/customers", "/", "/api/../x/mcp"])
def test_unknown_path_is_404_json(function: Function, path: str) -> None:
    answer = function.post(LIST, path=path)

    assert answer.status == 404
    assert answer.headers["content-type"] == "application/json"
    assert "error" in answer.json


@pytest.mark.lambda_alone
@pytest.mark.parametrize("name", ["0x", "a.b", "%2e%2e", "a%2Fb", "a b"])
def test_unusable_endpoint_name_is_404_and_never_reaches_storage(function: Function, name: str) -> None:
    assert function.post(LIST, path=f"/api/{name}/mcp").status == 404
    assert not [line for line in function.lines if "trouble" in line]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_other_methods_than_post_are_405(function: Function, method: str) -> None:
    answer = function.send(method)

    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"nope", b'{"a": NaN}', b"[" * 100_000, b'{"id":1}{"id":2}'])
def test_body_that_is_not_json_is_400_parse_error(function: Function, body: bytes) -> None:
    answer = function.post(body)

    assert answer.status == 400
    assert answer.json["error"]["code"] == -32700
    assert answer.json["id"] is None


@pytest.mark.parametrize(("revision", "identifier"), [*REVISIONS_WITH_NULL, *REVISIONS_WITHOUT])
@pytest.mark.parametrize("body", [b"{", b"7", b'{"jsonrpc": "2.0", "id": null, "method": "ping"}'])
def test_id_that_cannot_be_read_is_null_or_left_out_as_the_revision_has_it(
    function: Function, body: bytes, revision: str, identifier: dict[str, None]
) -> None:
    answer = function.post(body, headers={"mcp-protocol-version": revision})

    assert answer.status == 400
    assert {key: value for key, value in answer.json.items() if key == "id"} == identifier


def test_body_over_a_mebibyte_is_413(function: Function) -> None:
    padding = {**LIST, "params": {"x": "y" * MAX_BODY_BYTES}}

    assert function.post(padding).status == 413
    assert function.post({**LIST, "params": {"x": "y" * (MAX_BODY_BYTES - 200)}}).status == 200


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_content_types_are_taken(function: Function, kind: str) -> None:
    assert function.post(LIST, headers={"content-type": kind}).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "", "application/jsonx", "multipart/form-data"])
def test_other_content_types_are_415(function: Function, kind: str) -> None:
    assert function.post(LIST, headers={"content-type": kind}).status == 415


@pytest.mark.parametrize(
    "accept",
    ["application/json, text/event-stream", "*/*", "application/*", "application/json", "", "text/html;q=0, */*;q=0.1"],
)
def test_accept_that_takes_json_is_enough(function: Function, accept: str) -> None:
    assert function.post(LIST, headers={"accept": accept}).status == 200


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json;q=0", "text/*, image/png"])
def test_accept_that_excludes_json_is_406(function: Function, accept: str) -> None:
    assert function.post(LIST, headers={"accept": accept}).status == 406


def test_foreign_origin_is_403_and_an_allowed_one_passes(served_demo: Compiled) -> None:
    with running_function(served_demo, allowed_origins=frozenset({"https://app.example"})) as function:
        assert function.post(LIST, headers={"origin": "https://evil.example"}).status == 403
        assert function.post(LIST, headers={"origin": "https://app.example"}).status == 200


@pytest.mark.lambda_alone
def test_every_answer_has_the_request_id_and_is_not_stored(function: Function) -> None:
    for answer in (
        function.post(LIST),
        function.post(LIST, path="/x/y/mcp"),
        function.send("GET"),
        function.post(b"{"),
    ):
        assert answer.headers["x-request-id"] == Context.aws_request_id
        assert answer.headers["cache-control"] == "no-store"
        assert "mcp-session-id" not in answer.headers


def test_notifications_are_202_without_a_body(function: Function) -> None:
    for method in ("notifications/initialized", "notifications/cancelled", "notifications/unheard-of"):
        answer = function.post({"jsonrpc": "2.0", "method": method})

        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("version", [None, "2025-11-25"])
def test_posted_response_is_202_without_a_body(function: Function, version: str | None) -> None:
    headers = {"mcp-protocol-version": version} if version else {}

    answer = function.post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers=headers)

    assert (answer.status, answer.body) == (202, b"")
    assert function.lines[0]["method"] == "response"


def test_posted_response_is_400_in_the_modern_era(function: Function) -> None:
    answer = function.post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers={"mcp-protocol-version": "2026-07-28"})

    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert "id" not in answer.json


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_sessions_and_places_in_streams_are_ignored(function: Function, version: str) -> None:
    headers = {"mcp-session-id": "s1", "last-event-id": "e1"}

    answer = function.request("tools/list", modern=version == "2026-07-28", headers=headers)

    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers


def test_health_counts_endpoints_tells_when_they_were_checked_and_names_none(function: Function) -> None:
    function.post(LIST)

    answer = function.send("GET", "/health")

    assert answer.json == {"status": "ok", "endpoints": 1, "failing": 0, "lacking": 0, "oldestCheckS": 0}


@pytest.mark.lambda_alone
def test_one_line_a_request_says_what_was_done_and_no_argument(function: Function) -> None:
    answer = function.call("customer-by-email", {"variables": {"email": "elif.nunez@example.com"}})

    (line,) = function.lines
    assert 0 < line.pop("upstream_ms") < line.pop("duration_ms")
    assert len(line.pop("bundle")) == 12
    assert line == {
        "request_id": Context.aws_request_id,
        "stile": __version__,
        "upstream_status": 200,
        "bundle_age_s": 0.0,
        "answer_tokens": len(answer.text.encode()) // 4,
        "answer_bytes": len(answer.body),
        "route": "mcp",
        "endpoint": "api/customers",
        "principal": "anonymous",
        "who": "anonymous",
        "method": "tools/call",
        "tool": "customer-by-email",
        "kind": "prescribed",
        "decision": "allowed",
        "outcome": "ok",
        "status": 200,
        "failure": None,
    }


@pytest.mark.parametrize("path", ["/api/customers/mcp//", "/health//"])
def test_nothing_redirects_to_the_host_that_a_request_names(function: Function, path: str) -> None:
    answer = function.post(LIST, path=path, headers={"host": "evil.example"})

    assert answer.status == 404
    assert "location" not in answer.headers


def test_slash_at_the_end_means_nothing(function: Function) -> None:
    answer = function.post(LIST, path="/api/customers/mcp/", headers={"host": "evil.example"})

    assert (answer.status, answer.body) == (200, function.post(LIST).body)
    assert "location" not in answer.headers
    assert function.send("GET", "/health/").json["status"] == "ok"


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_modern_call_that_headers_deny_reaches_no_api(function: Function, upstream: Upstream, revision: str) -> None:
    upstream.clear()
    params = {"name": "customer-by-email", "arguments": {"email": "a@example.com"}, "_meta": META}
    message = {**LIST, "method": "tools/call", "params": params}
    routing = {"mcp-protocol-version": revision, "mcp-method": "tools/list", "mcp-name": "zzz"}

    answers = [function.post(message, headers=routing), function.post(message, headers={**routing, "mcp-name": ""})]

    assert [(each.status, each.json["error"]["code"]) for each in answers] == [(400, -32020)] * 2
    assert {each.code for each in answers} == {"header-mismatch"}
    assert upstream.requests() == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_json_in_another_encoding_than_utf_8_is_a_parse_error(function: Function, encoding: str) -> None:
    answer = function.post('{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode(encoding))

    assert (answer.status, answer.json["error"]["code"]) == (400, -32700)


def test_log_holds_a_callers_texts_bounded_and_printable(function: Function) -> None:
    function.post({"jsonrpc": "2.0", "method": "notifications/" + "x" * 1_000})
    function.post(r'{"jsonrpc": "2.0", "method": "\ud800"}')
    function.post({**LIST, "method": "tools/call", "params": {"name": {"secret": 1}}})

    long, odd, malformed = function.lines
    assert len(long["method"]) == 200
    assert odd["method"] == "\\ud800"
    assert "tool" not in malformed
