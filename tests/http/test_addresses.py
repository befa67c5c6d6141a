"""Where requests may go whose address an author wrote. What is refused has sent nothing."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from handler.compiler.compile import Compiled
from handler.errors.infrastructure import AddressRefused, HttpUnreachable
from handler.http.addresses import STRICT, AddressRules, is_host_pattern
from handler.http.client import HttpClient, HttpRequest
from tests.conftest import ROOT
from tests.support.api import running_api
from tests.support.function import running_function
from tests.support.local import LOCAL
from tests.support.raw_http import RawServer, answer, answering, running_server

PROGRAM = """
import json, socket, sys
from handler.http.addresses import AddressRules
from handler.errors.infrastructure import HttpError
from handler.http.client import HttpClient, HttpRequest

url, port, *answers = sys.argv[1:]
asked = []

def getaddrinfo(host, _, **__):
    address = answers[min(len(asked), len(answers) - 1)]
    asked.append(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return [(family, socket.SOCK_STREAM, 6, "", (each, int(port))) for each in address.split(",")]

socket.getaddrinfo = getaddrinfo
try:
    HttpClient(AddressRules()).send(HttpRequest(method="GET", url=url, timeout_s=5, max_bytes=10))
except HttpError as exc:
    print(json.dumps([type(exc).__name__, exc.reason, len(asked)]))
"""


@pytest.fixture
def server() -> Iterator[RawServer]:
    with running_server(answering(answer(b"{}"))) as running:
        yield running


def get(url: str, **more: Any) -> HttpRequest:
    return HttpRequest(method="GET", url=url, timeout_s=5, max_bytes=1_000, **more)


def refusal(url: str, rules: AddressRules = STRICT) -> AddressRefused:
    with closing(HttpClient(rules)) as client, pytest.raises(AddressRefused) as caught:
        client.send(get(url))
    return caught.value


def resolved(url: str, *addresses: str, port: int = 443) -> tuple[str, str, int]:
    """How a request ends where the resolver answers so: the error, its reason, and how often it was asked."""
    command = [sys.executable, "-c", PROGRAM, url, str(port), *addresses]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    error, reason, asked = json.loads(done.stdout)
    return error, reason, asked


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("8.8.8.8", ""),
        ("10.0.0.7", ""),
        ("172.17.0.1", ""),
        ("192.168.1.1", ""),
        ("100.64.0.1", ""),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("169.254.169.254", "link-local"),
        ("169.254.100.1", "link-local"),
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "unspecified"),
        ("224.0.0.1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("2600:1f18::1", ""),
        ("fd12:3456::1", ""),
        ("::1", "loopback"),
        ("::", "reserved"),
        ("::7f00:1", "reserved"),
        ("fe80::1", "link-local"),
        ("fe80::1%2", "link-local"),
        ("fec0::1", "reserved"),
        ("ff02::1", "multicast"),
        ("fd00:ec2::254", "metadata"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::ffff:8.8.8.8", ""),
        ("::ffff:0:127.0.0.1", "loopback"),
        ("64:ff9b::8.8.8.8", ""),
        ("64:ff9b::127.0.0.1", "loopback"),
        ("64:ff9b::169.254.169.254", "link-local"),
        ("64:ff9b:1::1", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2002:a9fe:a9fe::1", "link-local"),
        ("2002:808:808::1", ""),
        ("2001:0:a9fe:a9fe::", "link-local"),
    ],
)
def test_address_is_judged_by_where_packets_to_it_end_up(address: str, fault: str) -> None:
    assert STRICT.address_fault(address, 443) == fault


def test_only_loopback_is_allowed_beside_these_on_a_machine_of_ones_own() -> None:
    assert LOCAL.address_fault("127.0.0.1", 80) == ""
    assert LOCAL.address_fault("::ffff:127.0.0.1", 80) == ""
    assert LOCAL.address_fault("169.254.169.254", 80) == "link-local"


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("api.internal", True), ("API.internal.", True), ("a.b.corp", True), ("corp", False), ("other.internal", False)],
)
def test_named_hosts_alone_are_asked_without_tls_and_on_loopback(host: str, allowed: bool) -> None:
    rules = AddressRules(http_hosts=("api.internal", "*.corp"))

    assert rules.url_fault("http", host) == ("" if allowed else "https is required")
    assert rules.address_fault("127.0.0.1", 80, host=host) == ("" if allowed else "loopback")
    assert rules.address_fault("169.254.169.254", 80, host=host) == "link-local"


def test_host_without_tls_has_to_be_among_the_hosts_of_the_owner() -> None:
    rules = AddressRules(http_hosts=("api.internal",), hosts=("api.example",))

    assert rules.url_fault("http", "api.internal") == "STILE_UPSTREAM_HOSTS does not name this host"


def test_request_goes_to_loopback_for_a_named_host_alone() -> None:
    with running_api() as api:
        port = api.url.rpartition(":")[2].partition("/")[0]
        request = HttpRequest(method="POST", url=f"http://localhost:{port}/", body=b"{}", timeout_s=5, max_bytes=1_000)
        with closing(HttpClient(AddressRules(http_hosts=("localhost",)))) as client:
            assert client.send(request).status == 200
            with pytest.raises(AddressRefused, match="https is required"):
                client.send(dataclasses.replace(request, url=api.url))

    assert len(api.asked) == 1


@pytest.mark.parametrize("rules", [STRICT, LOCAL])
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_runtime_api_is_never_asked(rules: AddressRules, address: str) -> None:
    named = dataclasses.replace(rules, runtime_api="127.0.0.1:9001")

    assert named.address_fault(address, 9001) == "the Lambda Runtime API"
    assert named.address_fault("8.8.8.8", 9001) == ""


def test_runtime_api_is_never_asked_at_whatever_address_it_is() -> None:
    named = AddressRules(runtime_api="10.1.2.3:9001")

    assert named.address_fault("10.1.2.3", 9001) == "the Lambda Runtime API"
    assert named.address_fault("10.1.2.3", 443) == ""


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("api.example.com", True),
        ("API.Example.com.", True),
        ("a.internal.example.org", True),
        ("a.b.internal.example.org", True),
        ("internal.example.org", False),
        ("evil-internal.example.org", False),
        ("api.example.com.evil.example", False),
        ("other.example.com", False),
    ],
)
def test_hosts_are_those_that_the_owner_names(host: str, allowed: bool) -> None:
    rules = AddressRules(hosts=("api.example.com", "*.internal.example.org"))

    assert (rules.url_fault("https", host) == "") is allowed


@pytest.mark.parametrize(
    ("text", "fits"),
    [("api.example.com", True), ("*.example.com", True), ("localhost", True), ("*", False), ("a..b", False)],
)
def test_pattern_of_a_host_is_a_name_with_perhaps_a_star_before_it(text: str, fits: bool) -> None:
    assert is_host_pattern(text) is fits


def test_http_is_refused_before_anything_is_resolved() -> None:
    error = refusal("http://127.0.0.1:9001/2018-06-01/runtime/invocation/next")

    assert (error.host, error.reason) == ("127.0.0.1", "https is required")
    assert str(error) == "127.0.0.1: https is required"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "0x7f000001", "2130706433", "0177.0.0.1", "127.1", "localhost"]
)
def test_loopback_is_refused_in_every_way_to_write_it(server: RawServer, host: str) -> None:
    error = refusal(f"https://{host}:{server.url.split(':')[2].strip('/')}/")

    assert error.reason == "loopback"
    assert server.accepted == 0


def test_runtime_api_is_refused_where_loopback_is_allowed(server: RawServer) -> None:
    runtime_api = server.url.removeprefix("http://").strip("/")

    error = refusal(server.url, dataclasses.replace(LOCAL, runtime_api=runtime_api))

    assert error.reason == "the Lambda Runtime API"
    assert server.accepted == 0


@pytest.mark.parametrize("user", ["api.example.com@", "api.example.com:443@", "a%40b@"])
def test_user_before_the_host_is_refused_so_that_nobody_takes_it_for_the_host(server: RawServer, user: str) -> None:
    with closing(HttpClient(LOCAL)) as client, pytest.raises(HttpUnreachable, match="malformed URL"):
        client.send(get(server.url.replace("http://", f"http://{user}")))

    assert server.accepted == 0


def test_name_is_judged_by_the_address_that_it_resolves_to() -> None:
    assert resolved("https://api.example.com/", "169.254.169.254") == ("AddressRefused", "link-local", 1)


def test_name_with_one_forbidden_address_is_refused_whatever_the_others_are() -> None:
    assert resolved("https://api.example.com/", "8.8.8.8,127.0.0.1") == ("AddressRefused", "loopback", 1)


def test_name_is_resolved_once_so_no_second_answer_is_connected_to(server: RawServer) -> None:
    """The resolver first gives an address that is allowed (and unreachable), then loopback."""
    port = int(server.url.split(":")[2].strip("/"))

    error, reason, asked = resolved("https://api.example.com/", "2001:db8::1", "127.0.0.1", port=port)

    assert (error, asked) == ("HttpUnreachable", 1), reason
    assert server.accepted == 0


def test_connection_of_the_platforms_own_requests_is_no_way_around(server: RawServer) -> None:
    secure = server.url.replace("http://", "https://")
    with closing(HttpClient(STRICT)) as client:
        assert client.send(get(server.url, guarded=False)).status == 200
        for url in (server.url, secure):
            with pytest.raises(AddressRefused):
                client.send(get(url))

    assert server.accepted == 1


def asking(demo: Compiled, url: str) -> Compiled:
    upstream = dataclasses.replace(demo.bundle.upstream, url=url, headers={"x-api-key": "for the API alone"})
    return dataclasses.replace(demo, bundle=dataclasses.replace(demo.bundle, upstream=upstream))


def test_model_learns_that_the_address_is_wrong_and_not_what_it_is(demo: Compiled, server: RawServer) -> None:
    url = server.url.replace("http://", "https://")
    with running_function(asking(demo, url), development=True, addresses=STRICT) as function:
        answered = function.call("list_orders", {"email": "x@example.com"})

    assert answered.result["isError"] is True
    assert answered.text == (
        "The API is at an address that is not allowed, so nothing was sent. "
        "This tool's maintainer has to change the address."
    )
    assert function.lines[-1]["reason"] == "UpstreamForbidden: loopback"
    assert server.accepted == 0


def test_redirect_is_not_followed_and_no_credential_goes_on(demo: Compiled) -> None:
    with running_server(answering(answer(b"{}"))) as elsewhere:
        redirect = answer(b"", status="307 Temporary Redirect", Location=elsewhere.url)
        with (
            running_server(answering(redirect)) as api,
            running_function(asking(demo, api.url), development=True) as function,
        ):
            answered = function.call("list_orders", {"email": "x@example.com"})

    assert answered.text == (
        "The API answered with a redirect, which is not followed. This tool's maintainer has to fix the problem."
    )
    assert b"for the API alone" in api.requests[0]
    assert elsewhere.accepted == 0
