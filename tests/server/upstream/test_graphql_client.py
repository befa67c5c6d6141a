"""An upstream that fails in every way gives a sentence the model can act on, within the deadline and the byte cap."""

from __future__ import annotations

import dataclasses
import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from handler.bundle.tools import PrescribedTool
from handler.compiler.compile import Compiled
from tests.support.function import Answer, Context, Function, event_for, running_function
from tests.support.raw_http import Peer, answer, answering, running_server
from tests.support.upstream import Upstream

JSON = {"content_type": "application/json"}
DATA = {"data": {"customer": None}}


def _asking(demo: Compiled, url: str, **upstream: Any) -> Compiled:
    changed = dataclasses.replace(demo.bundle.upstream, url=url, **{"timeout_s": 1.0, "max_bytes": 100_000, **upstream})
    limits = dataclasses.replace(demo.bundle.limits, max_result_bytes=0)  # the bounds of front doors are tried here
    return dataclasses.replace(demo, bundle=dataclasses.replace(demo.bundle, upstream=changed, limits=limits))


def _call(demo: Compiled, url: str, tool: str = "list_orders", **upstream: Any) -> Answer:
    arguments: dict[str, Any] = {"email": "x@example.com"}
    if tool == "place_order":
        arguments = {"input": {"customerId": "cust_0001", "lines": []}}
    with running_function(_asking(demo, url, **upstream), development=True) as function:
        return function.call(tool, arguments)


def _answer_of(demo: Compiled, script: Callable[[Peer], None], **upstream: Any) -> Answer:
    with running_server(script) as server:
        return _call(demo, f"{server.url}graphql", **upstream)


def _drips(peer: Peer) -> None:
    peer.read_request()
    peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n")
    peer.drip(b"{" * 1000, every_s=0.2)


def _drips_headers(peer: Peer) -> None:
    peer.read_request()
    peer.drip(b"HTTP/1.1 200 OK\r\nx-a: " + b"a" * 1000, every_s=0.2)


def _says_nothing(peer: Peer) -> None:
    peer.read_request()
    peer.wait()


def _hangs_up(peer: Peer) -> None:
    peer.read_request()


BOMB = gzip.compress(b'{"data": "' + b" " * 50_000_000 + b'"}')

SLOW = "The API did not answer within 1 s. Ask for less, or try later."

FAILURES: dict[str, tuple[Callable[[Peer], None], str, str]] = {
    "drips its body": (_drips, SLOW, "upstream-timeout"),
    "drips its headers": (
        _drips_headers,
        "The API did not answer within 1 s. Ask for less, or try later.",
        "upstream-timeout",
    ),
    "says nothing": (
        _says_nothing,
        "The API did not answer within 1 s. Ask for less, or try later.",
        "upstream-timeout",
    ),
    "hangs up": (_hangs_up, "The API's answer broke off, or could not be read. Try later.", "upstream-broken"),
    "redirects": (
        answering(answer(status="302 Found", location="http://127.0.0.1:1/elsewhere")),
        "The API answered with a redirect, which is not followed. This tool's maintainer has to fix the problem.",
        "upstream-redirect",
    ),
    "answers HTML": (
        answering(answer(b"<html>Login</html>", content_type="text/html")),
        "The API answered with status 200 and no GraphQL response: it is a web page.",
        "upstream-html",
    ),
    "answers an error page": (
        answering(answer(b"Bad gateway at 10.0.0.7", status="502 Bad Gateway", content_type="text/plain")),
        "The API answered with status 502 and no GraphQL response. Try later.",
        "upstream-status",
    ),
    "answers JSON that is no GraphQL": (
        answering(answer(b'{"ok": true}', **JSON)),
        "The API answered with status 200 and no GraphQL response.",
        "upstream-not-graphql",
    ),
    "answers data that is no object": (
        answering(answer(b'{"data": [1]}', **JSON)),
        "The API answered with status 200 and no GraphQL response.",
        "upstream-not-graphql",
    ),
    "answers errors that are no list": (
        answering(answer(b'{"data": {"customer": null}, "errors": "abc"}', **JSON)),
        "The API answered with status 200 and no GraphQL response.",
        "upstream-not-graphql",
    ),
    "sends a gzip bomb": (
        answering(answer(BOMB, content_encoding="gzip", **JSON)),
        "The API's answer is larger than 100000 bytes. Ask for fewer rows or fields.",
        "upstream-too-large",
    ),
    "sends 50 MB": (
        answering(answer(b'{"data": "' + b"x" * 50_000_000 + b'"}', **JSON)),
        "The API's answer is larger than 100000 bytes. Ask for fewer rows or fields.",
        "upstream-too-large",
    ),
    "answers NaN": (
        answering(answer(b'{"data": {"customer": NaN}}', **JSON)),
        "The API answered with status 200 and no GraphQL response that can be read: NaN is no JSON.",
        "upstream-bad-json",
    ),
    "answers an endless number": (
        answering(answer(b'{"data": {"customer": 1e999}}', **JSON)),
        "The API answered with status 200 and no GraphQL response that can be read: 1e999 is too large a number.",
        "upstream-bad-json",
    ),
    "nests without end": (
        answering(answer(b'{"data": ' + b"[" * 40_000, **JSON)),
        "The API answered with status 200 and no GraphQL response that can be read: nested too deeply.",
        "upstream-bad-json",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_upstream_that_fails_is_an_error_with_a_sentence(demo: Compiled, failure: str) -> None:
    script, sentence, code = FAILURES[failure]
    started = time.monotonic()

    result = _answer_of(demo, script).result

    assert result == {
        "content": [{"type": "text", "text": sentence}],
        "isError": True,
        "_meta": {"stile/code": code},
    }
    assert time.monotonic() - started < 60  # a deadline of 1 s, with room for a busy machine; drips last 200 s


def test_upstream_that_is_down_is_an_error_without_its_address(demo: Compiled) -> None:
    result = _call(demo, "http://127.0.0.1:1/graphql").result

    assert result["isError"] is True
    assert result["content"][0]["text"] == ("The API cannot be reached at the moment, so nothing was sent. Try later.")


def test_missing_upstream_says_what_is_missing(demo: Compiled) -> None:
    assert "upstream.url" in _call(demo, "").text


def test_query_is_sent_again_on_a_closed_connection_and_a_mutation_is_not(demo: Compiled) -> None:
    calls = {"list_orders": 0, "place_order": 0}

    def closes_after_each_answer(peer: Peer) -> None:
        if peer.read_request():
            peer.send(answer(json.dumps(DATA).encode(), **JSON))
            peer.read_request()  # the next request on the kept connection gets no answer

    for tool in calls:
        with running_server(closes_after_each_answer) as server:
            arguments: dict[str, Any] = {"email": "x"}
            if tool == "place_order":
                arguments = {"input": {"customerId": "cust_0001", "lines": []}}
            with running_function(_asking(demo, server.url), development=True) as function:
                function.call(tool, arguments)
                second = function.call(tool, arguments).result
            calls[tool] = len(server.requests)
            assert second.get("isError", False) is (tool == "place_order")

    assert calls == {"list_orders": 3, "place_order": 2}


def test_what_is_sent_is_the_operation_without_descriptions_and_our_directives(demo: Compiled) -> None:
    with running_server(answering(answer(json.dumps(DATA).encode(), **JSON))) as server:
        _call(demo, server.url)

        (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    sent = json.loads(body)
    assert sent["operationName"] == "ListOrders"
    assert sent["variables"] == {"email": "x@example.com"}
    assert sent["query"].startswith("query ListOrders($email: String!, $first: Int! = 5, $status: OrderStatus) {")
    assert b"authorization" not in head.lower()


def test_no_selection_of_the_caller_reaches_the_upstream_when_its_arguments_do_not_fit(demo: Compiled) -> None:
    with running_server(answering(answer(json.dumps(DATA).encode(), **JSON))) as server:
        with running_function(_asking(demo, server.url)) as function:
            text = function.call("list_orders", {"first": "x", "status": "GONE", "mail": 1}).text

        assert server.requests == []
    assert text == (
        'Invalid arguments for tool list_orders: /first: expected integer, got string "x"; '
        '/status: expected one of "PENDING", "PAID", "SHIPPED", "DELIVERED", "CANCELLED", null, got string "GONE"; '
        "/email: required, but missing; /mail: unknown name; did you mean email?"
    )


def _response(demo: Compiled, response: Any) -> Any:
    with running_server(answering(answer(json.dumps(response).encode(), **JSON))) as server:
        return _call(demo, server.url).result


def test_errors_without_data_are_an_error_and_keep_message_path_and_code(demo: Compiled) -> None:
    error = {
        "message": "no such customer",
        "path": ["customer"],
        "locations": [{"line": 1, "column": 1}],
        "extensions": {"code": "NOT_FOUND", "stacktrace": ["secret.py:1"]},
    }

    result = _response(demo, {"data": {"customer": None}, "errors": [error], "extensions": {"tracing": "secret"}})

    kept = {"message": "no such customer", "path": ["customer"], "extensions": {"code": "NOT_FOUND"}}
    assert result["isError"] is True
    assert result["structuredContent"] == {"data": {"customer": None}, "errors": [kept]}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_errors_beside_data_are_no_error_and_both_are_kept(demo: Compiled) -> None:
    data = {"customer": {"name": "Elif", "orders": {"totalCount": 0, "edges": []}}}

    result = _response(demo, {"data": data, "errors": [{"message": "orders are down", "path": ["customer", "orders"]}]})

    assert "isError" not in result
    assert result["structuredContent"]["data"] == data
    assert result["structuredContent"]["errors"][0]["message"] == "orders are down"


DID_YOU_MEAN = 'Cannot query field "orders". Did you mean "salary"?'


@pytest.mark.parametrize(
    "error",
    [
        {"message": DID_YOU_MEAN, "locations": [{"line": 1, "column": 2}]},
        {"message": DID_YOU_MEAN, "locations": [{"line": 1, "column": 2}], "path": None},
        {"message": DID_YOU_MEAN, "locations": [{"line": 1, "column": 2}], "path": []},
        {"message": DID_YOU_MEAN, "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}},
        {  # graphql-ruby's, whose paths lead through the document
            "message": "Field 'orders' doesn't exist on type 'Employee' (Did you mean `salary`?)",
            "locations": [{"line": 1, "column": 3}],
            "path": ["query ListOrders", "employee", "x"],
            "extensions": {"code": "undefinedField", "typeName": "Employee", "fieldName": "x"},
        },
        {
            "message": "Field 'orders' doesn't exist on type 'Employee' (Did you mean `salary`?)",
            "locations": [{"line": 1, "column": 3}],
            "path": ["fragment F", "x"],
        },
        {  # graphql-java's
            "message": "Validation error (FieldUndefined@[salary/x]) : Field 'orders' in type 'Salary' is undefined",
            "locations": [{"line": 1, "column": 3}],
            "path": ["salary", "x"],
            "extensions": {"classification": "ValidationError"},
        },
        {  # Hot Chocolate's
            "message": "The field `orders` does not exist on the type `Employee`; `salary` does.",
            "locations": [{"line": 1, "column": 3}],
            "path": ["salary"],
            "extensions": {
                "type": "Salary",
                "specifiedBy": "https://spec.graphql.org/October2021/#sec-Field-Selections",
            },
        },
    ],
)
@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {}}])
def test_validation_error_of_the_upstream_means_drift_and_its_suggestions_stay_here(
    demo: Compiled, error: Any, data: Any
) -> None:
    result = _response(demo, {**data, "errors": [error]})

    assert result["isError"] is True
    assert "salary" not in json.dumps(result)
    assert "publish the tool again" in result["structuredContent"]["errors"][0]["message"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"message": DID_YOU_MEAN}, 'Cannot query field "orders".'),
        ({"message": "Field 'x' doesn't exist (Did you mean `salary`?)"}, "Field 'x' doesn't exist"),
        (
            {"message": "Variable '$a' got invalid value 'b'. Did you mean 'SALARY'?", "locations": [{"line": 1}]},
            "Variable '$a' got invalid value 'b'.",
        ),
        ({"message": "Sign in first", "extensions": {"code": "UNAUTHENTICATED"}, "locations": []}, "Sign in first"),
    ],
)
@pytest.mark.parametrize("data", [{}, {"data": {}}])
def test_other_errors_of_a_request_keep_their_words_but_for_suggestions(
    demo: Compiled, error: Any, message: str, data: Any
) -> None:
    result = _response(demo, {**data, "errors": [error]})

    assert result["isError"] is True
    assert result["structuredContent"]["data"] is None
    assert result["structuredContent"]["errors"][0]["message"] == message


def test_value_that_the_upstreams_scalar_refuses_is_the_models_to_mend(
    dev_function: Function, upstream: Upstream
) -> None:
    upstream.clear()

    lines = [{"product": "p", "unitPrice": "abc"}]
    result = dev_function.call("place_order", {"input": {"customerId": "cust_0001", "lines": lines}}).result

    assert result["isError"] is True
    assert "expected an amount with two decimals" in result["content"][0]["text"]
    assert len(upstream.requests()) == 1


def test_empty_data_without_errors_is_data_that_does_not_fit(demo: Compiled) -> None:
    result = _response(demo, {"data": {}})

    assert result["isError"] is True
    assert "structuredContent" not in result
    assert result["content"][0]["text"].splitlines()[1:] == ['{"data":{}}']


@pytest.mark.parametrize("errors", [["text"], [{"message": 5}], [{}], [None]])
def test_malformed_errors_become_a_plain_one(demo: Compiled, errors: Any) -> None:
    result = _response(demo, {"data": None, "errors": errors})

    assert result["isError"] is True
    assert result["structuredContent"]["errors"] == [{"message": "The API reported an error."}]


@pytest.mark.lambda_alone
@pytest.mark.parametrize("filler", ["x", '"', "\\", "\n", "ü", "😀"])
def test_answer_always_fits_lambda_and_a_larger_one_is_an_error(demo: Compiled, filler: str) -> None:
    def lambda_payload(characters: int) -> tuple[int, Any]:
        orders = {"totalCount": 0, "edges": []}
        data = {"data": {"customer": {"name": filler * characters, "orders": orders}}}
        upstreams = answer(json.dumps(data, ensure_ascii=False).encode(), **JSON)
        with (
            running_server(answering(upstreams)) as server,
            running_function(_asking(demo, server.url, max_bytes=20_000_000, timeout_s=10.0)) as function,
        ):
            message = {"name": "list_orders", "arguments": {"email": "x"}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message})
            event = event_for("POST", function.path, body=body, headers={"content-type": "application/json"})
            response = function.handler(event, Context())
        return len(json.dumps(response, ensure_ascii=False).encode()), json.loads(response["body"])["result"]

    small, fitting = lambda_payload(400_000)
    large, refused = lambda_payload(3_500_000)

    assert max(small, large) < 6 * 1024 * 1024
    assert "isError" not in fitting
    assert refused["isError"] is True
    assert refused["content"][0]["text"] == "The result is larger than an answer may be. Ask for fewer rows or fields."


def test_demo_has_tools_of_both_kinds_that_these_tests_call(demo: Compiled) -> None:
    tools = {tool.name: tool for tool in demo.bundle.tools}

    assert isinstance(tools["list_orders"], PrescribedTool)
    assert isinstance(tools["place_order"], PrescribedTool)
    assert tools["place_order"].operation.kind == "mutation"


def test_half_a_surrogate_pair_in_an_answer_is_replaced(demo: Compiled) -> None:
    customer = rb'{"name": "\ud800", "orders": {"totalCount": 0, "edges": []}}'
    with running_server(answering(answer(b'{"data": {"customer": %b}}' % customer, **JSON))) as server:
        result = _call(demo, server.url).result

    assert result["structuredContent"]["data"]["customer"]["name"] == "\ufffd"
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
