"""Codes of results of tools, prompts and resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from handler.bundle.upstream import BearerAuth, PassthroughAuth, SecretText, UpstreamAuth
from handler.compiler.compile import Compiled
from tests.server.error_codes.asking import (
    JSON,
    Ask,
    asked_of,
    call,
    expect,
    running,
    serving,
)
from tests.support.function import Context, Function
from tests.support.identities import HOLDER
from tests.support.raw_http import Peer, answer, answering, running_server

# Results of tools


@pytest.mark.parametrize(
    ("asking", "code"),
    [
        (call("number", {"n": "x"}), "invalid-arguments"),
        (call("number", {}), "invalid-arguments"),
        (call("g", {"query": "{ nothing }"}), "document-refused"),
        (call("g", {"query": "{ secret }"}), "document-refused"),
        (call("mine", {"n": 2}), "values-refused"),
        (call("of_tenant"), "binding-missing"),
        (call("advisory", {"n": 1}), "consent-required"),
        (call("required", {"n": 1}), "consent-impossible"),
        (call("a"), "upstream-unreachable"),
    ],
)
def test_result_of_a_tool_has_the_code_of_its_failure(function: Function, asking: Ask, code: str) -> None:
    answered = expect(function, asking, 200, code)

    assert answered.result["isError"]
    assert code not in answered.text


def stalls(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


def hangs_up(peer: Peer) -> None:
    peer.read_request()
    peer.close()


def answers(body: bytes = b"", *, status: str = "200 OK", **headers: str) -> Callable[[Peer], None]:
    return answering(answer(body, status=status, **headers))


FAILURES: dict[str, Callable[[Peer], None]] = {
    "upstream-timeout": stalls,
    "upstream-broken": hangs_up,
    "upstream-redirect": answers(status="302 Found", location="http://127.0.0.1:1/"),
    "upstream-html": answers(b"<html>", content_type="text/html"),
    "upstream-bad-json": answers(b"{", **JSON),
    "upstream-not-graphql": answers(b'{"ok": 1}', **JSON),
    "upstream-media-type": answers(b"--a", content_type="multipart/mixed; boundary=a"),
    "upstream-csrf": answers(b"CSRF token missing", status="403 Forbidden", content_type="text/plain"),
    "upstream-encoding": answers(b"abc", content_encoding="zstd", **JSON),
    "upstream-too-large": answers(b'"' + b"x" * 2_000_000 + b'"', **JSON),
    "upstream-status": answers(b"down", status="502 Bad Gateway"),
    "upstream-limit": answers(b"slow down", status="429 Too Many Requests"),
    "upstream-refused": answers(b"no", status="401 Unauthorized"),
}


@pytest.mark.parametrize("code", FAILURES)
def test_failure_of_the_api_has_one_code_at_both_doors(tmp_path: Path, code: str) -> None:
    limit = ", max_bytes: 1000000, auth: {bearer: x}"
    with running_server(FAILURES[code]) as server, serving(tmp_path, url=server.url, upstream=limit) as function:
        expect(function, call("a"), 200, code)
        answered = expect(function, asked_of("{ a }"), 502, code)
        old = asked_of("{ a }", headers={"accept": "application/json"})(function)

    assert (old.status, old.json) == (200, answered.json)


def test_errors_of_the_api_keep_its_own_codes(tmp_path: Path) -> None:
    body = b'{"data": null, "errors": [{"message": "no", "extensions": {"code": "NOT_TODAY"}}, {"message": "no"}]}'
    with running_server(answers(body, **JSON)) as server, serving(tmp_path, url=server.url) as function:
        answered = expect(function, call("a"), 200, "api-errors")
        routed = asked_of("{ a }")(function)

    errors = [{"message": "no", "extensions": {"code": "NOT_TODAY"}}, {"message": "no"}]
    assert answered.result["structuredContent"]["errors"] == errors
    assert routed.json["errors"] == errors
    assert "code" not in function.lines[-1]


def test_errors_beside_data_are_no_failure_and_have_no_code(tmp_path: Path) -> None:
    body = b'{"data": {"a": 1, "b": null}, "errors": [{"message": "no"}]}'
    with running_server(answers(body, **JSON)) as server, serving(tmp_path, url=server.url) as function:
        answered = call("a")(function)

    assert "stile/code" not in answered.result["_meta"]
    assert "code" not in function.lines[-1]


def test_answer_that_violates_the_schema_has_a_code(tmp_path: Path) -> None:
    script = answers(b'{"data": {"a": "x"}}', **JSON)
    with running_server(script) as server, serving(tmp_path, url=server.url) as function:
        expect(function, call("a"), 200, "answer-misfit")


def test_api_that_did_not_answer_several_times_is_left_alone_with_a_code(function: Function) -> None:
    seen = [call("a")(function).code for _ in range(6)]

    assert set(seen) == {"upstream-unreachable", "circuit-open"}
    assert seen[-1] == "circuit-open"


def with_auth(made: Compiled, auth: UpstreamAuth) -> Compiled:
    return replace(made, bundle=replace(made.bundle, upstream=replace(made.bundle.upstream, auth=auth)))


def test_call_without_the_token_that_the_api_needs_has_a_code(silent: Compiled) -> None:
    with running(with_auth(silent, PassthroughAuth(audience="things"))) as function:
        expect(function, call("a"), 200, "caller-token-required")
        expect(function, asked_of("{ a }"), 403, "caller-token-required")


def test_credential_that_cannot_be_read_has_a_code(silent: Compiled) -> None:
    with running(with_auth(silent, BearerAuth(token=SecretText("env:NOWHERE")))) as function:
        expect(function, call("a"), 200, "credential-unavailable")
        expect(function, asked_of("{ a }"), 502, "credential-unavailable")


# Tools, prompts and resources in Python


@pytest.mark.parametrize(
    ("asking", "status", "code"),
    [
        (call("refuse", headers=HOLDER), 200, "tool-error"),
        (call("boom", headers=HOLDER), 200, "code-failed"),
        (call("quit_it", headers=HOLDER), 200, "code-failed"),
        (call("echo", {"text": 1}, headers=HOLDER), 200, "invalid-arguments"),
        (call("surroundings", headers=HOLDER), 200, "code-changed"),
        (call("customer_name", {"email": "a@b.example"}, headers=HOLDER), 200, "tool-error"),
        (call("ask_graphql", {"query": "{ a }"}, headers=HOLDER), 200, "upstream-unreachable"),
        (call("book", {"room": "7"}, headers=HOLDER), 400, "missing-capability"),
        (lambda each: each.call("book", {"room": "7"}, headers=HOLDER), 200, "client-cannot-ask"),
        (call("error", {"code": 1001}, headers=HOLDER), 200, "own-error"),
        (call("error", {"code": -32602}, headers=HOLDER), 400, "invalid-params"),
        (call("needs_token"), 400, "authentication-required"),
        (call("scoped", headers=HOLDER), 403, "insufficient-scope"),
        (lambda each: each.request("prompts/get", {"name": "broken"}, modern=True), 200, "code-failed"),
        (lambda each: each.request("prompts/get", {"name": "greeting"}, modern=True), 400, "invalid-params"),
        (lambda each: each.request("resources/read", {"uri": "acme://pages/none"}, modern=True), 200, "code-failed"),
    ],
)
def test_what_python_answers_has_a_code(in_python: Function, asking: Ask, status: int, code: str) -> None:
    expect(in_python, asking, status, code)


def test_data_of_an_author_stays_and_gets_the_code_beside_it(in_python: Function) -> None:
    answered = call("error", {"code": 1001}, headers=HOLDER)(in_python)

    assert answered.json["error"]["data"] == {"code": "own-error", "x": 1}


def test_tool_in_python_that_takes_too_long_has_the_code_of_a_deadline(in_python: Function) -> None:
    expect(replace(in_python, context=Context(remaining_ms=800)), call("slow", headers=HOLDER), 200, "deadline-passed")
