"""The mutation of a tool with ``@mcpTask`` over failures of real servers, and of the way to them: it is sent once."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from handler.server.auth.sealed_state import RequestStates
from tests.support.api import Api, Reply
from tests.support.endpoints import PUBLIC, compiled
from tests.support.function import running_function
from tests.support.jobs import KEY, WITH_TASKS, Jobs, Site
from tests.support.raw_http import Peer, RawServer, answer, running_server
from tests.support.upstream import free_port
from tests.upstreams.provoking import paid
from tests.upstreams.serving import POSTGRAPHILE, VARIANTS, Server

DOUBT = (
    "The mutation was sent and may have been carried out: find out whether it was before anything is sent once more."
)
REFUSING = {"401", "403", "429", "503"}
UNANSWERED = {"slow", "dropped"}
SHORT_S, LONG_S = 1.5, 10.0
"""Time for an answer that does not come, and for others."""

SILENCE = "no answer in time"
WITHOUT_THE_MUTATION = {"renamed", "enum", "changed"}
"""Variants of PostGraphile."""

OPERATIONS = """
mutation Pay%s @mcpTool(name: "pay")
@mcpTask(poll: "Receipt" %s variables: {payment: "%s"} status: "receipt" completed: ["GREEN"]) { %s }
query Receipt($payment: Int) { receipt(payment: $payment) }
"""

Fault = Callable[[Peer, bytes], None]
"""Answers a request in place of the server, whose answer it gets."""


def _part(share: float) -> Fault:
    return lambda peer, whole: peer.send(whole[: int(len(whole) * share)])


def _page(status: str, body: bytes = b"<html></html>", **headers: str) -> Fault:
    # A client must not send the next request over a connection that ends.
    told = {"content_type": "text/html", "connection": "close", **headers}
    return lambda peer, _: peer.send(answer(body, status=status, **told))


FAULTS: Mapping[str, Fault] = {
    "reset": lambda peer, _: peer.reset(),
    "closed": lambda _, __: None,
    SILENCE: lambda peer, _: peer.wait(),
    "part of a head": _part(0.1),
    "part of an answer": _part(0.97),
    "500": _page("500 Internal Server Error"),
    "502": _page("502 Bad Gateway"),
    "503 with Retry-After": _page("503 Service Unavailable", retry_after="1"),
    "504": _page("504 Gateway Timeout", b""),
    "page with status 200": _page("200 OK"),
    "nothing with status 200": _page("200 OK", b""),
    "answer that ends early": _page("200 OK", b'{"data": {"pay": 1}}', content_length="40"),
    "answer above the limit": _page("200 OK", b'{"data": {"pay": 1, "x": "' + b"x" * 20_000 + b'"}}'),
}
"""Failures after the server has run the mutation. Its caller cannot know."""


def expect_one_start_of_each_variant(server: Server, urls: Mapping[str, str], folder: Path) -> None:
    """Start a job of each variant, by a client with tasks; and of some by one without."""
    tried: list[tuple[str, Mapping[str, Any]]] = [(variant, WITH_TASKS) for variant in VARIANTS]
    for variant, capabilities in [*tried, ("plain", {}), ("503", {})]:
        timeout_s = SHORT_S if variant in UNANSWERED else LONG_S
        with _relay(urls[variant]) as relay, _site(folder, server, relay, timeout_s=timeout_s) as site:
            fails = variant in REFUSING | UNANSWERED or (
                server.program == POSTGRAPHILE and variant in WITHOUT_THE_MUTATION
            )
            runs = not fails or variant in UNANSWERED
            before = paid(urls["plain"])
            arguments = {"slow": variant == "slow"} if server.program == POSTGRAPHILE else {}
            result = site.call("pay", arguments, capabilities=capabilities).result

        told = (server.name, variant, result)
        assert _mutations(relay) == 1, told
        assert _payments_since(before, urls["plain"], expected=int(runs)) == int(runs), told
        if fails:
            assert result["isError"] is True, told
            assert (DOUBT in result["content"][0]["text"]) is (variant in UNANSWERED | {"503"}), told
        else:
            assert result["resultType"] == ("task" if capabilities else "complete"), told
            assert capabilities or "Do not start the job again." in result["content"][0]["text"], told


def expect_one_start_over_each_way(server: Server, urls: Mapping[str, str], folder: Path) -> None:
    """Start, ask about and cancel a job over each failure of the way to a server."""
    url = urls["plain"]
    for name, fault in FAULTS.items():
        faults: dict[bytes, Fault] = {b"mutation": fault}
        timeout_s = SHORT_S if name == SILENCE else LONG_S
        with _relay(url, faults) as relay, _site(folder, server, relay, timeout_s=timeout_s) as site:
            before = paid(url)
            for number, capabilities in enumerate((WITH_TASKS, {}), start=1):
                result = site.call("pay", capabilities=capabilities).result
                told = (server.name, name, result)
                assert _mutations(relay) == number == _payments_since(before, url, expected=number), told
                assert (result["isError"], DOUBT in result["content"][0]["text"]) == (True, True), told
            faults.clear()
            task_id = site.start(name="pay")
            faults[b"query Receipt"] = fault
            error = site.get(task_id).json["error"]
            assert (error["code"], "ask again later." in error["message"]) == (-32603, True), (name, error)
            faults.clear()
            assert site.get(task_id).result["status"] == "working"
            faults[b"mutation"] = fault  # over the connection that is kept of the last answer
            result = site.call("pay").result
            assert DOUBT in result["content"][0]["text"], (name, result)
            error = site.ask("tasks/cancel", {"taskId": task_id}).json["error"]
            assert (error["code"], DOUBT in error["message"]) == (-32603, True), (name, error)
            assert (_mutations(relay), _payments_since(before, url, expected=5)) == (5, 5), name
    _expect_nothing_sent(server, folder)


def _expect_nothing_sent(server: Server, folder: Path) -> None:
    """Where nothing listens, nothing was sent, and the model reads no doubt."""
    with _served(folder, server, f"http://127.0.0.1:{free_port()}/", timeout_s=LONG_S) as site:
        result = site.call("pay").result
    assert (result["isError"], "may have been carried out" in str(result)) == (True, False)


@contextmanager
def _relay(url: str, faults: Mapping[bytes, Fault] | None = None) -> Iterator[RawServer]:
    """A server before another one, which keeps the requests.

    With faults it keeps connections, too, and answers a request with a word by the fault of that word.
    """
    ended = threading.Event()

    def script(peer: Peer) -> None:
        while request := peer.read_request():
            whole = b"".join(_forwarded(url, request, ended))
            if faults is None:
                peer.send(whole)
                return
            fault = next((each for word, each in faults.items() if word in request), None)
            if fault:
                fault(peer, whole)
                return
            peer.send(re.sub(rb"(?i)\nconnection: close\r", b"\nx-relay: 1\r", whole))

    with running_server(script) as server:
        yield server
        ended.set()


def _forwarded(url: str, request: bytes, ended: threading.Event) -> Iterator[bytes]:
    """The bytes of a server's answer to a request; as many as come before the test ends."""
    parts = urlsplit(url)
    with socket.create_connection((str(parts.hostname), parts.port or 80), timeout=0.1) as upstream:
        upstream.sendall(request.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        while not ended.is_set():
            with contextlib.suppress(TimeoutError):
                try:
                    piece = upstream.recv(65_536)
                except ConnectionError:
                    return
                if not piece:
                    return
                yield piece


@contextmanager
def _site(folder: Path, server: Server, relay: RawServer, *, timeout_s: float) -> Iterator[Site]:
    with _served(folder, server, relay.url, timeout_s=timeout_s) as site:
        yield site


@contextmanager
def _served(folder: Path, server: Server, url: str, *, timeout_s: float) -> Iterator[Site]:
    """A function with the tool ``pay`` over a server at a URL."""
    words, more = ("", 'cancel: "Undo"', "pay", "pay"), "mutation Undo { order { id } }"
    if server.program == POSTGRAPHILE:
        words, more = ("($slow: Boolean)", "", "pay.integer", "pay(input: {slow: $slow}) { integer }"), ""
    files = {
        "index.graphql": server.sdl.replace("type Query {", "type Query { receipt(payment: Int): Color ", 1),
        "config.yaml": f"upstream: {{url: '{url}graphql', timeout_s: {timeout_s}, max_bytes: 10000}}\n{PUBLIC}",
        "operations/pay.graphql": OPERATIONS % words + more,
    }
    with running_function(compiled(folder, files), states=RequestStates((KEY,))) as function:
        yield Site(function, Jobs(Api(lambda _: Reply())), [])


def _mutations(relay: RawServer) -> int:
    return sum(b"mutation" in each for each in relay.requests)


def _payments_since(before: int, url: str, *, expected: int) -> int:
    """How many payments an API has made since, of which some may end after their caller has gone."""
    deadline = time.monotonic() + 10
    while paid(url) - before < expected and time.monotonic() < deadline:
        time.sleep(0.05)
    return paid(url) - before
