"""The daemon of AWS X-Ray as functions know it: a UDP socket on loopback. Documents are held against the format.

Source: the AWS X-Ray guide, "AWS X-Ray segment documents" and "Sending segment documents to the X-Ray daemon".
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.secrecy import SESSION, Output

ROOT = "1-5759e988-bd862e3fe1be46a994272793"
PARENT = "53995c3f42cd8ad8"
SAMPLED = f"Root={ROOT};Parent={PARENT};Sampled=1;Lineage=1:a87bd80c:1"
UNSAMPLED = f"Root={ROOT};Parent={PARENT};Sampled=0"
MAX_BYTES = 64_000
NAME = r"^[\w\s.:/%&#=+\\\-@]{1,200}$"

SUBSEGMENT: Mapping[str, Any] = {
    "type": "object",
    "required": ["name", "id", "trace_id", "parent_id", "start_time", "end_time", "type"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": NAME},
        "id": {"type": "string", "pattern": r"^[0-9a-f]{16}$"},
        "trace_id": {"type": "string", "pattern": r"^1-[0-9a-f]{8}-[0-9a-f]{24}$"},
        "parent_id": {"type": "string", "pattern": r"^[0-9a-f]{16}$"},
        "start_time": {"type": "number", "minimum": 1e9},
        "end_time": {"type": "number", "minimum": 1e9},
        "type": {"const": "subsegment"},
        "namespace": {"enum": ["remote", "aws"]},
        "error": {"type": "boolean"},
        "fault": {"type": "boolean"},
        "throttle": {"type": "boolean"},
        "http": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "request": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"method": {"type": "string"}, "url": {"type": "string"}},
                },
                "response": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"status": {"type": "integer"}, "content_length": {"type": "integer"}},
                },
            },
        },
    },
}
_VALIDATOR = Draft202012Validator(SUBSEGMENT)


class Daemon:
    """A daemon that keeps what it gets."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.address = "{}:{}".format(*sock.getsockname()[:2])

    def environ(self, trace: str = SAMPLED) -> dict[str, str]:
        """The variables of an invocation."""
        return {"_X_AMZN_TRACE_ID": trace, "AWS_XRAY_DAEMON_ADDRESS": self.address}

    def documents(self) -> list[dict[str, Any]]:
        """The documents since the last time. Datagrams on loopback are there once they are sent."""
        found = []
        while datagram := self._datagram():
            SESSION.note(Output.HANDLER_LOG, datagram)
            header, _, text = datagram.partition(b"\n")
            assert json.loads(header) == {"format": "json", "version": 1}
            assert len(datagram) <= MAX_BYTES
            document = json.loads(text)
            _VALIDATOR.validate(document)
            assert document["start_time"] <= document["end_time"] <= time.time()
            found.append(document)
        return found

    def _datagram(self) -> bytes:
        try:
            return self._socket.recv(70_000)
        except BlockingIOError:
            return b""


@contextmanager
def running_daemon() -> Iterator[Daemon]:
    """A daemon on a free port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.setblocking(False)
        yield Daemon(sock)
