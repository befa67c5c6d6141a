from __future__ import annotations

import base64
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.judge import Wrong, judge
from tests.fuzz.mutations import Case, make_case, seeds
from tests.support.every_method import every_endpoint, running_every
from tests.support.function import Context, Function
from tests.support.raw_http import Peer, answer, running_server

DATA = b'{"data": {"customer": {"name": "Ada", "email": "a@example.com"}, "placeOrder": {"id": "o1"}}}'


@dataclass
class Tally:
    """What came of the cases. ``wrong``: number of a case -> what may not be."""

    cases: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: dict[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(self.kinds.items(), key=lambda one: -one[1]))
        return f"{self.cases:,} cases, {len(self.wrong)} answers that may not be ({kinds})"


def run_cases(cases: int, *, seed: int) -> Tally:
    """Send as many requests to the function, and judge each answer. The same seed makes the same requests."""
    tally, valid = Tally(), seeds()
    with _served() as function:
        for number in range(cases):
            case = make_case(random.Random(f"{seed}/{number}"), valid)
            tally.cases += 1
            try:
                response = function.handler(event_of(case), Context())
                tally.kinds[judge(case, response)] += 1
                _refuse_failures(function)
            except Exception as exc:  # noqa: BLE001 - what a Lambda function raises is a 502
                tally.wrong[number] = f"{type(exc).__name__}: {exc}\n  {case!r:.2000}"
            function.lines.clear()
    return tally


def event_of(case: Case) -> dict[str, Any]:
    """The event that API Gateway would make of it (payload format 2.0): any body, headers once each, in lower case."""
    headers: dict[str, str] = {}
    for name, value in case.headers.items():
        headers[name.lower()] = f"{headers[name.lower()]},{value}" if name.lower() in headers else value
    try:
        body, is_binary = case.body.decode(), False
    except UnicodeDecodeError:
        body, is_binary = base64.b64encode(case.body).decode(), True
    domain = "abc123.execute-api.us-east-1.amazonaws.com"
    http = {"method": case.verb, "path": case.path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": case.path,
        "rawQueryString": "",
        "headers": {"host": domain, **headers},
        "requestContext": {"domainName": domain, "http": http, "stage": "$default"},
        "body": body,
        "isBase64Encoded": is_binary,
    }


@contextmanager
def _served() -> Iterator[Function]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(_answers) as server,
        running_every(every_endpoint(Path(folder), server.url)) as function,
    ):
        yield function


def _answers(peer: Peer) -> None:
    while peer.read_request():
        peer.send(answer(DATA, content_type="application/json"))


def _refuse_failures(function: Function) -> None:
    lines = function.lines
    if len(lines) != 1:
        raise Wrong(f"{len(lines)} lines in the log")
    if lines[0]["failure"] is not None:
        raise Wrong(f"unforeseen: {lines[0]['failure']!r}")
