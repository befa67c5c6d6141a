"""One request to the function, in a process of its own, as Lambda would make it of a cold container.

    python -m benchmarks.call BUNDLES REQUEST.json [--warm N]

REQUEST.json has the path and the JSON-RPC message. With ``--warm``, more calls are timed, N each, and a JSON line tells
their medians in milliseconds: of the same call, of calls whose query has another text each time, and of the upstream
alone, which has to be at the URL that REQUEST.json names.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent


CONTEXT: Any = SimpleNamespace(aws_request_id="0", function_name="stile", memory_limit_in_mb=1769)
"""What Lambda hands over beside the event."""


def main() -> int:
    """Send the request. 1: the answer is no result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.call")
    parser.add_argument("bundles")
    parser.add_argument("request", type=Path)
    parser.add_argument("--warm", type=int, default=0)
    given = parser.parse_args()
    request = json.loads(given.request.read_text(encoding="utf-8"))
    os.environ.update(
        STILE_BUNDLES=given.bundles,
        STILE_ALLOW_LOCAL_UPSTREAMS="true",
        POWERTOOLS_LOG_LEVEL="CRITICAL",
        AWS_LAMBDA_FUNCTION_NAME="stile",
    )
    event = _event(request["path"], request["message"])

    from handler.lambda_function import handler

    def call() -> Any:
        return handler(event, CONTEXT)

    result = json.loads(call()["body"]).get("result") or {"isError": True}
    if result.get("isError"):
        sys.stderr.write(f"{result}\n")
        return 1
    if given.warm:
        upstream = _upstream_alone(request["upstream"])
        medians = {
            "same_ms": _median_ms(call, given.warm),
            "other_ms": _median_ms(lambda: _call_anew(call, event, request["message"]), given.warm),
            "upstream_ms": _median_ms(upstream, given.warm),
        }
        sys.stdout.write(json.dumps(medians) + "\n")
    return 0


def _event(path: str, message: Any) -> Any:
    event = json.loads((ROOT / "events" / "tools-call-graphql.json").read_text(encoding="utf-8"))
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["headers"] |= {"mcp-method": message["method"], "mcp-name": message["params"].get("name", "")}
    event["body"] = json.dumps(message)
    return event


def _call_anew(call: Callable[[], Any], event: Any, message: Any) -> None:
    """With a comment more in its query, which makes another text of it that touches the same."""
    message["params"]["arguments"]["query"] += "#"
    event["body"] = json.dumps(message)
    call()


def _upstream_alone(url: str) -> Callable[[], Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)

    def ask() -> Any:
        connection.request("POST", parts.path, body=b'{"query": "{ __typename }"}')
        return connection.getresponse().read()

    return ask


def _median_ms(call: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter_ns()
        call()
        taken.append((time.perf_counter_ns() - started) / 1e6)
    return statistics.median(taken)


if __name__ == "__main__":
    sys.exit(main())
