"""Subsegments of AWS X-Ray for the HTTP exchanges of a sampled invocation. Imported only for such an invocation.

Each exchange is one datagram to the daemon that runs beside the function. A missing daemon costs nothing.

Source: the AWS X-Ray guide, "AWS X-Ray segment documents" and "Sending segment documents to the X-Ray daemon".
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from handler.http.client import HttpRequest, HttpResponse

HEADER = b'{"format": "json", "version": 1}\n'

MAX_NAME_CHARS = 200
MAX_URL_CHARS = 2_000
"""A datagram has room for 64 KB."""

TOO_MANY_REQUESTS = 429

_ROOT = re.compile(r"1-[0-9a-f]{8}-[0-9a-f]{24}")
_PARENT = re.compile(r"[0-9a-f]{16}")
_NOT_IN_A_NAME = re.compile(r"[^\w\s.:/%&#=+\\\-@]")


class Daemon(NamedTuple):
    """The address of X-Ray's daemon."""

    host: str  # an IP address: resolving a name could take its time
    port: int


class Subsegments:
    """An observer that sends a subsegment for each exchange. ``trace_id`` and ``parent_id``: of the invocation."""

    def __init__(self, daemon: Daemon, *, trace_id: str, parent_id: str) -> None:
        self._daemon = daemon
        self._trace_id = trace_id
        self._parent_id = parent_id

    @contextmanager
    def __call__(self, request: HttpRequest) -> Iterator[list[HttpResponse]]:
        """Send the subsegment of an exchange at its end. The body adds the response if there is one."""
        answers: list[HttpResponse] = []
        started = time.time()
        try:
            yield answers
        finally:
            with suppress(OSError, ValueError):  # no daemon; a URL that is not valid, which the client refuses
                exchange = {
                    "id": os.urandom(8).hex(),
                    "trace_id": self._trace_id,
                    "parent_id": self._parent_id,
                    "type": "subsegment",
                    "namespace": "remote",
                    "start_time": started,
                    "end_time": max(started, time.time()),
                    **described(request, answers[0] if answers else None),
                }
                family = socket.AF_INET6 if ":" in self._daemon.host else socket.AF_INET
                with socket.socket(family, socket.SOCK_DGRAM) as sender:
                    sender.settimeout(0)
                    sender.sendto(HEADER + json.dumps(exchange, separators=(",", ":")).encode(), self._daemon)


def subsegments_of(environ: Mapping[str, str]) -> Subsegments | None:
    """Return the observer for the invocation that the environment names; ``None`` if it is not sampled."""
    trace = dict(part.strip().partition("=")[::2] for part in environ.get("_X_AMZN_TRACE_ID", "").split(";"))
    root, parent = trace.get("Root", ""), trace.get("Parent", "")
    daemon = daemon_in(environ.get("AWS_XRAY_DAEMON_ADDRESS", ""))
    if trace.get("Sampled") != "1" or not _ROOT.fullmatch(root) or not _PARENT.fullmatch(parent) or daemon is None:
        return None
    return Subsegments(daemon, trace_id=root, parent_id=parent)


def daemon_in(text: str) -> Daemon | None:
    """Read the daemon's address, as ``169.254.79.129:2000`` or ``tcp:… udp:…``; ``None`` if it is not valid."""
    parts = text.split()
    of_udp = [part.removeprefix("udp:") for part in parts if part.startswith("udp:")]
    plain = [part for part in parts if not part.startswith(("tcp:", "udp:"))]
    host, _, port = (of_udp or plain or [""])[0].rpartition(":")
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
        number = int(port)
    except ValueError:
        return None
    return Daemon(str(address), number) if 0 < number < 65_536 else None


def described(request: HttpRequest, answer: HttpResponse | None) -> dict[str, Any]:
    """Return the members on an exchange: without its query string, its credentials, and the claims of its caller."""
    parts = urlsplit(request.told_url or request.url)
    place = parts.netloc.rpartition("@")[2]
    url = f"{parts.scheme}://{place}{parts.path}"[:MAX_URL_CHARS]
    name = _NOT_IN_A_NAME.sub("_", parts.hostname or "unknown")[:MAX_NAME_CHARS]
    http: dict[str, Any] = {"request": {"method": request.method, "url": url}}
    if answer is None:
        return {"name": name, "http": http, "fault": True}
    http["response"] = {"status": answer.status, "content_length": len(answer.body)}
    flags = {"throttle": answer.status == TOO_MANY_REQUESTS, "error": 400 <= answer.status < 500}
    flags["fault"] = answer.status >= 500
    return {"name": name, "http": http, **{flag: True for flag, is_set in flags.items() if is_set}}
