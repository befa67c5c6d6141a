"""The writer of HTTP requests held against http.client, which writes the same, and h11, which reads it back."""

from __future__ import annotations

import re
import socket
from http.client import HTTPConnection, HTTPException

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.http.connections import encoded_name, host_field, request_head
from tests.support.examples import examples

WRITTEN = settings(max_examples=examples(150), derandomize=True, deadline=None, database=None)

NAMES = st.sampled_from(
    ["Host", "host", "accept-encoding", "Content-Length", "transfer-encoding", "X-A", "x-a", "authorization", "a b", ""]
) | st.text(st.characters(max_codepoint=300), max_size=5)
VALUES = st.text(st.characters(max_codepoint=300), max_size=12) | st.sampled_from(
    ["a\r\n b", "a\nb", "a\0b", " a ", ""]
)
METHODS = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "post", "HEAD", "G T", "A\n", ""])
PATHS = st.sampled_from(["/", "/a?b=c", "/a b", "/\x7f", "/é", "", "/a/../b", "*"]) | st.text(max_size=6)
BODIES = st.none() | st.binary(max_size=5)


class Sink:
    """A socket that keeps what is sent."""

    def __init__(self) -> None:
        self.sent = b""

    def sendall(self, sent: bytes) -> None:
        self.sent += sent


def written_there(method: str, path: str, headers: dict[str, str], body: bytes | None) -> bytes | None:
    """Return the bytes of http.client; ``None`` if it refuses the request."""
    connection, sink = HTTPConnection("api.example.com", 8080), Sink()
    connection.sock = sink  # as much of a socket as it needs
    try:
        connection.request(method, path, body=body, headers=headers)
    except (HTTPException, ValueError):
        return None
    return sink.sent


def written_here(method: str, path: str, headers: dict[str, str], body: bytes | None) -> bytes | None:
    try:
        head = request_head(
            method, path, host=host_field("api.example.com", 8080, default_port=80), headers=headers, body=body
        )
    except ValueError:
        return None
    return head + (body or b"")


@WRITTEN
@given(METHODS, PATHS, st.dictionaries(NAMES, VALUES, max_size=4), BODIES)
def test_what_is_sent_is_what_http_client_sends_and_what_h11_reads(
    method: str, path: str, headers: dict[str, str], body: bytes | None
) -> None:
    sent, there = written_here(method, path, headers, body), written_there(method, path, headers, body)

    if sent is None:
        assert there is None or stricter_here(method, path, headers)
        return
    assert sent == there
    if len({name.lower() for name in headers}) < len(headers) or {"content-length", "transfer-encoding"} & {
        name.lower() for name in headers
    }:
        return  # the length is the caller's
    server = h11.Connection(h11.SERVER, max_incomplete_event_size=2**20)
    server.receive_data(sent)
    read = server.next_event()
    assert isinstance(read, h11.Request)
    assert (read.method, read.target) == (method.encode(), path.encode())
    found = {name.decode(): value.decode("latin-1") for name, value in read.headers}
    assert found.items() >= {name.lower(): value.strip(" \t") for name, value in headers.items()}.items()
    data = server.next_event()
    assert bytes(data.data) == body if body else isinstance(data, h11.EndOfMessage)  # type: ignore[union-attr]


def stricter_here(method: str, path: str, headers: dict[str, str]) -> bool:
    """Tell if a request has what http.client sends, and no server has to take: RFC 9110, sections 5.1, 5.5 and 9.1."""
    token = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
    return (
        not token.fullmatch(method)
        or not path
        or any(not token.fullmatch(name) or re.search(r"[\0\r\n]", value) for name, value in headers.items())
    )


@pytest.mark.parametrize("default", [80, 443])
@pytest.mark.parametrize("port", [80, 443, 8080])
@pytest.mark.parametrize("host", ["a.example", "127.0.0.1", "::1", "fe80::1%eth0", "bücher.example"])
def test_host_is_that_of_http_client(host: str, port: int, default: int) -> None:
    connection, sink = HTTPConnection(host, port), Sink()
    connection.default_port = default
    connection.sock = sink
    connection.request("GET", "/")

    found = re.search(rb"\r\nHost: (.*?)\r\n", sink.sent)
    assert found
    if "%" not in host:  # Python 3.11 does not take the zone away
        assert host_field(host, port, default_port=default).encode() == found[1]
    assert "%" not in host_field(host, port, default_port=default)


@WRITTEN
@given(st.lists(st.sampled_from([*"aZ0-_.:%é", "x" * 62]), max_size=8).map("".join))
def test_names_reach_the_resolver_as_the_codec_of_international_names_encodes_them(host: str) -> None:
    encoded = encoded_name(host)

    if isinstance(encoded, bytes):
        assert encoded == host.encode("idna")
    else:  # Python encodes it, or refuses it
        assert not host.isascii() or re.search(r"^$|^\.|\.\.|[^.]{64}", host) or host == "."


def test_name_that_cannot_be_a_name_is_refused_as_before() -> None:
    for host in ("a..b", "x" * 64, ".a"):
        with pytest.raises((UnicodeError, socket.gaierror)):
            socket.getaddrinfo(encoded_name(host), 80)
