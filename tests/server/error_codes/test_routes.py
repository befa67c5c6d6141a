"""Codes at the GraphQL routes and of refusals by HTTP, and what codes never tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handler.compiler.compile import Compiled
from handler.compiler.schema.tool_options import META_KEY, RESERVED_PREFIX
from handler.server.mcp.graphql_results import CODE
from handler.storage.local import MemoryStorage
from handler.storage.storage import StoredObject
from tests.server.error_codes.asking import (
    Ask,
    asked_of,
    call,
    endpoint,
    expect,
    persisted,
    rows,
    running,
    sent,
)
from tests.support.function import Function, running_function
from tests.support.identities import HOLDER

# GraphQL routes


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (asked_of("{ nothing }"), 400, "document-refused"),
        (asked_of("{"), 400, "document-refused"),
        (asked_of("query ($n: Int!) { mine(n: $n) }", variables={"n": 2}), 400, "document-refused"),
        (persisted("number", n="x"), 400, "invalid-arguments"),
        (persisted("mine", n=2), 403, "values-refused"),
        (persisted("of_tenant"), 400, "binding-missing"),
        (persisted("advisory", n=1), 403, "consent-required"),
        (persisted("required", n=1), 403, "consent-impossible"),
        (lambda each: each.graphql({"documentId": "sha256:0"}), 400, "document-not-found"),
        (persisted("secret"), 400, "document-not-found"),
        (lambda each: each.graphql([]), 400, "malformed-request"),
        (lambda each: each.get({}), 400, "malformed-request"),
        (asked_of("{ a }", "/tools/nothing/graphql"), 404, "tool-not-found"),
        (asked_of("{ a }", "/tools/secret/graphql"), 404, "tool-not-found"),
        (lambda each: each.get({"query": "mutation { set(n: 1) }"}), 405, "mutation-by-get"),
        (asked_of("{ a }", headers={"accept": "text/html"}), 406, "not-acceptable"),
        (asked_of("{ a }", headers={"content-type": "text/plain"}), 415, "unsupported-media-type"),
        (lambda each: each.send("PUT", "/api/things/graphql", body="{}"), 405, "method-not-allowed"),
        (asked_of("{ a }", "/graphql//"), 404, "not-found"),
    ],
)
def test_every_error_of_a_graphql_route_has_a_code(function: Function, asking: Ask, status: int, code: str) -> None:
    answered = expect(function, asking, status, code)

    assert {each["extensions"]["code"] for each in answered.json["errors"]} == {code}
    assert code not in " ".join(each["message"] for each in answered.json["errors"])


@pytest.mark.parametrize(
    ("mode", "status", "code"), [("off", 404, "graphql-off"), ("persisted", 403, "persisted-documents-only")]
)
def test_route_that_does_not_take_documents_says_so_by_a_code(
    tmp_path: Path, mode: str, status: int, code: str
) -> None:
    with running(endpoint(tmp_path, mode=mode)) as function:
        expect(function, asked_of("{ a }"), status, code)


# HTTP

MCP = "/api/things/mcp"
LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (sent("GET", MCP), 405, "method-not-allowed"),
        (sent("GET", "/nowhere"), 404, "not-found"),
        (sent("GET", "/api%2Fthings/mcp"), 404, "not-found"),
        (sent("POST", "/api/nobody/mcp", content_type="application/json"), 404, "endpoint-not-found"),
        (sent("POST", "/0/nobody/mcp", content_type="application/json"), 404, "endpoint-not-found"),
        (sent("POST", MCP, content_type="text/plain"), 415, "unsupported-media-type"),
        (sent("POST", MCP, content_type="application/json", accept="text/html"), 406, "not-acceptable"),
        (sent("POST", MCP, body=" " * 1_048_577, content_type="application/json"), 413, "body-too-large"),
        (sent("POST", MCP, body=LIST, origin="https://a.example"), 403, "foreign-origin"),
        (sent("GET", "/.well-known/oauth-protected-resource/api/things/mcp"), 404, "not-found"),
        (sent("GET", "/api/things/oauth/authorize"), 404, "not-found"),
    ],
)  # fmt: skip
def test_refusal_by_http_has_a_code(function: Function, asking: Ask, status: int, code: str) -> None:
    answered = expect(function, asking, status, code)

    assert rows()[code][1] == str(answered.status)
    assert set(answered.json) == {"error", "code"}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 421, "foreign-host"),
        ({"host": "127.0.0.1:8000", "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}, 403, "foreign-page"),
    ],
)
def test_own_machine_refuses_with_a_code(silent: Compiled, headers: dict[str, str], status: int, code: str) -> None:
    with running(silent, hosts=frozenset({"127.0.0.1:8000"}), own_machine=True) as function:
        for path in (MCP, "/api/things/graphql"):
            expect(function, lambda each, path=path: each.send("GET", path, headers=headers), status, code)  # type: ignore[misc]


# Nothing is told by a code


def test_hidden_and_missing_things_have_equal_answers_but_for_their_names(function: Function) -> None:
    pairs = [
        (call("secret"), call("nobody")),
        (asked_of("{ a }", "/tools/secret/graphql"), asked_of("{ a }", "/tools/nobody/graphql")),
        (persisted("secret"), lambda each: each.graphql({"documentId": f"sha256:{'0' * 64}"})),
        (call("g", {"query": "{ secret }"}), call("g", {"query": "{ nobody }"})),
    ]
    for hidden, missing in pairs:
        one, other = hidden(function), missing(function)
        assert (one.status, one.body.replace(b"secret", b"nobody")) == (other.status, other.body)


def test_text_that_a_model_reads_never_has_a_code(function: Function, in_python: Function) -> None:
    for asked, asking in [(function, call("number", {})), (in_python, call("boom", headers=HOLDER))]:
        answered = asking(asked)
        assert answered.code
        assert answered.code not in json.dumps(answered.result["content"])


class Broken(MemoryStorage):
    """A storage that fails in a way that nobody foresaw."""

    def read(self, key: str, *, etag: str | None = None, timeout_s: float = 0) -> StoredObject | None:
        raise ZeroDivisionError(f"a secret of {key}")


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-protected-resource/api/nobody/mcp", "/api/nobody/oauth/authorize"]
)
def test_unforeseen_failure_of_any_other_route_has_a_code_too(path: str) -> None:
    with running_function(storage=Broken()) as function:
        answered = function.send("GET", path)

    (line,) = function.lines
    assert (answered.status, answered.json) == (500, {"error": "Internal error", "code": "internal-error"})
    assert (line["outcome"], line["code"], type(line["failure"])) == ("failed", "internal-error", ZeroDivisionError)


def test_member_of_meta_has_a_name_that_mcp_allows() -> None:
    assert META_KEY.fullmatch(CODE)
    assert not RESERVED_PREFIX.match(CODE)
