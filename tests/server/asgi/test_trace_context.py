"""The trace of a request goes on to the API. Source: W3C Trace Context and W3C Baggage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from handler.server.asgi.trace_context import MAX_BAGGAGE_CHARS, continue_trace
from tests.support.function import Function
from tests.support.upstream import Upstream

ID = "4bf92f3577b34da6a3ce929d0e0e4736"
OTHER = "0af7651916cd43dd8448eb211c80319c"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{ID}-{SPAN}-01"
EMAIL = {"variables": {"email": "elif.nunez@example.com"}}


def continued(**carrier: Any) -> Mapping[str, str]:
    trace = continue_trace(carrier)
    return trace.headers if trace else {}


@pytest.mark.parametrize(
    ("parent", "flags"),
    [
        (PARENT, "01"),
        (f" {PARENT}\t", "01"),
        (f"00-{ID}-{SPAN}-00", "00"),
        (f"00-{ID}-{SPAN}-ff", "03"),
        (f"cc-{ID}-{SPAN}-01", "01"),
        (f"cc-{ID}-{SPAN}-01-what-comes-later", "01"),
    ],
)
def test_a_trace_is_continued_with_a_span_of_our_own(parent: str, flags: str) -> None:
    version, trace_id, span, continued_flags = continued(traceparent=parent)["traceparent"].split("-")

    assert (version, trace_id, continued_flags) == ("00", ID, flags)
    assert len(span) == 16
    assert span != SPAN
    assert continued(traceparent=parent)["traceparent"] != continued(traceparent=parent)["traceparent"]


@pytest.mark.parametrize(
    "parent",
    [
        None,
        7,
        [PARENT],
        "",
        "x",
        PARENT.upper(),
        f"{PARENT}, {PARENT}",
        f"{PARENT}-more",
        f"ff-{ID}-{SPAN}-01",
        f"cc-{ID}-{SPAN}-01more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{ID}-{'0' * 16}-01",
        f"00-{ID[:-1]}-{SPAN}-01",
        f"00-{ID}-{SPAN}-0g",
        f"cc-{ID}-{SPAN}-01-{'x' * 300}",
        f"{PARENT}\n",
        PARENT.replace("4bf9", "4bfé"),
    ],
)
def test_a_malformed_parent_is_no_trace_and_nothing_is_sent_on(parent: Any) -> None:
    assert continued(traceparent=parent, tracestate="a=b", baggage="a=b") == {}


@pytest.mark.parametrize("state", ["a=b", "rojo=00f067,congo=t61 r x", "a=1 , ,b@c=2", "k=" + "v" * 256, "1a/_-*=~"])
def test_trace_state_is_sent_on(state: str) -> None:
    assert continued(traceparent=PARENT, tracestate=state)["tracestate"] == state


@pytest.mark.parametrize(
    "state",
    [
        7,
        "",
        "a",
        "a=",
        "A=b",
        "a=b,a=c",
        "a=b=c",
        "a=b\n",
        "a=é",
        "a=" + "v" * 257,
        ",".join(["a=b"] * 33),
        ",".join(f"a{n}=b" for n in range(33)),
        ",".join(f"a{n}={'v' * 200}" for n in range(3)),
    ],
)
def test_malformed_trace_state_is_left_out(state: Any) -> None:
    assert set(continued(traceparent=PARENT, tracestate=state)) == {"traceparent"}


@pytest.mark.parametrize("baggage", ["a=b", "user=%C3%A9, a = b;p;q = 1 ;r=", "a=", "a=b=c", "a=" + "v" * 8_000])
def test_baggage_is_sent_on(baggage: str) -> None:
    assert continued(traceparent=PARENT, baggage=baggage)["baggage"] == baggage


@pytest.mark.parametrize(
    "baggage",
    [
        {},
        "",
        "a",
        ",",
        "a=b,",
        "=b",
        "a b=c",
        "a=é",
        'a="b"',
        "a=b\r\nx: y",
        "a=b;é",
        ",".join(["a=b"] * 65),
        "a=" + "v" * MAX_BAGGAGE_CHARS,
    ],
)
def test_malformed_baggage_is_left_out(baggage: Any) -> None:
    assert set(continued(traceparent=PARENT, baggage=baggage)) == {"traceparent"}


def _sent(upstream: Upstream) -> dict[str, str]:
    (request,) = upstream.requests()
    upstream.clear()
    return dict(request["headers"])


def test_the_api_and_the_log_get_the_trace_of_the_headers(function: Function, upstream: Upstream) -> None:
    upstream.clear()
    headers = {"traceparent": PARENT, "tracestate": "a=b", "baggage": "c=d"}

    function.call("customer-by-email", EMAIL, headers=headers)

    sent = _sent(upstream)
    assert sent["traceparent"].startswith(f"00-{ID}-")
    assert (sent["tracestate"], sent["baggage"]) == ("a=b", "c=d")
    assert function.lines[0]["trace_id"] == ID


def test_the_trace_of_the_message_comes_before_that_of_the_headers(function: Function, upstream: Upstream) -> None:
    upstream.clear()
    meta = {"traceparent": PARENT.replace(ID, OTHER), "baggage": "c=d"}
    headers = {"traceparent": PARENT, "tracestate": "a=b"}

    params = {"name": "customer-by-email", "arguments": EMAIL, "_meta": meta}
    function.request("tools/call", params, headers=headers)

    sent = _sent(upstream)
    assert sent["traceparent"].startswith(f"00-{OTHER}-")
    assert sent["baggage"] == "c=d"
    assert "tracestate" not in sent  # it is of the other trace
    assert function.lines[0]["trace_id"] == OTHER


def test_a_malformed_trace_is_no_error(function: Function, upstream: Upstream) -> None:
    upstream.clear()
    params = {"name": "customer-by-email", "arguments": EMAIL, "_meta": {"traceparent": 1}}

    answer = function.request("tools/call", params, headers={"traceparent": "nonsense"})

    assert not answer.result.get("isError")
    assert "traceparent" not in _sent(upstream)
    assert "trace_id" not in function.lines[0]


def test_each_call_of_a_batch_has_its_own_trace(function: Function, upstream: Upstream) -> None:
    upstream.clear()
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "customer-by-email", "arguments": EMAIL}}
        for n in (1, 2)
    ]
    calls[0]["params"]["_meta"] = {"traceparent": PARENT.replace(ID, OTHER)}  # type: ignore[index]

    function.post(calls, headers={"traceparent": PARENT})

    parents = [request["headers"]["traceparent"].split("-")[1] for request in upstream.requests()]
    assert parents == [OTHER, ID]
    (line,) = function.lines
    assert (line["trace_id"], line["calls"][0]["trace_id"]) == (ID, OTHER)


def test_graphql_requests_belong_to_the_trace_of_their_headers(dev_function: Function, upstream: Upstream) -> None:
    upstream.clear()

    dev_function.graphql(
        {"query": '{ employee(id: "empl_01") { id } }'},
        "/tools/employee-lookup/graphql",
        headers={"traceparent": PARENT},
    )

    assert _sent(upstream)["traceparent"].startswith(f"00-{ID}-")
    assert dev_function.lines[0]["trace_id"] == ID


@pytest.mark.parametrize("name", ["traceparent", "tracestate", "baggage"])
@pytest.mark.parametrize("text", [" ,", "a= ", "a=b;", "a =", ", , ", "\t"])
@pytest.mark.parametrize("chars", [500, MAX_BAGGAGE_CHARS])
def test_long_texts_that_almost_fit_are_left_out(name: str, text: str, chars: int) -> None:
    carrier = {"traceparent": PARENT, name: text * (chars // len(text)) + "\x01"}

    assert name == "traceparent" or name not in continued(**carrier)
    assert name != "traceparent" or not continued(**carrier)
