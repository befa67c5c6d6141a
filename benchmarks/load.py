"""Call one tool many times at a URL, and tell how long the answers took and how they ended.

python -m benchmarks.load URL --tool NAME --arguments '{"id": 1}' --calls 200 --at-once 8

Ends with 1 if a call got no result. Headers come from the environment: -H 'X-API-Key: $STILE_KEY'.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import urllib3

REVISION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "stile-load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
RESULT = "result"
TIMEOUT_S = 60


@dataclass(frozen=True)
class Ended:
    """How one call ended, and when."""

    outcome: str
    took_s: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Call, and print quantiles and outcomes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("url", help="of an endpoint, as https://…/shop/orders/mcp")
    parser.add_argument("--tool", required=True)
    parser.add_argument("--arguments", type=json.loads, default={})
    parser.add_argument("-H", "--header", action="append", default=[], metavar="'NAME: VALUE'")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=8)
    options = parser.parse_args(arguments)
    headers = dict(os.path.expandvars(each).split(": ", 1) for each in options.header)
    message = message_of(options.tool, options.arguments)
    pool = urllib3.PoolManager(maxsize=options.at_once, retries=False, timeout=TIMEOUT_S)
    started = time.monotonic()
    with pool, ThreadPoolExecutor(options.at_once) as threads:
        told = {**headers_of(options.tool), **headers}
        ended = list(threads.map(lambda _: call(pool, options.url, message, told), range(options.calls)))
    sys.stdout.write(report(ended, time.monotonic() - started))
    return int(any(each.outcome != RESULT for each in ended))


def message_of(tool: str, arguments: Mapping[str, Any]) -> bytes:
    """Return the body of a call."""
    params = {"_meta": META, "name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def headers_of(tool: str) -> dict[str, str]:
    """Return the headers that MCP asks for."""
    known = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    return {**known, "mcp-protocol-version": REVISION, "mcp-method": "tools/call", "mcp-name": tool}


def call(pool: urllib3.PoolManager, url: str, body: bytes, headers: Mapping[str, str]) -> Ended:
    """Send one call."""
    started = time.perf_counter()
    try:
        answer = pool.request("POST", url, body=body, headers=headers)
        outcome = outcome_of(answer.status, answer.data)
    except urllib3.exceptions.HTTPError as exc:
        outcome = f"no answer: {type(exc).__name__}"
    return Ended(outcome, time.perf_counter() - started)


def outcome_of(status: int, body: bytes) -> str:
    """Return a word for an answer: ``result``, the error of the tool or of the protocol, or the status."""
    if status != 200:
        return f"status {status}"
    try:
        answer = json.loads(body)
        if "error" in answer:
            return f"error {answer['error'].get('code')}"
        return "isError" if answer["result"].get("isError") else RESULT
    except (ValueError, KeyError, AttributeError, TypeError):
        return "not an answer of MCP"


def report(ended: Sequence[Ended], took_s: float) -> str:
    """Return what came of the calls as lines."""
    ms = [each.took_s * 1_000 for each in ended]
    cut = statistics.quantiles(ms, n=100, method="inclusive") if len(ms) > 1 else ms * 99
    lines = [
        f"{len(ended)} calls in {took_s:.1f} s, {len(ended) / took_s:.0f} a second",
        f"ms: median {cut[49]:.1f}, p95 {cut[94]:.1f}, p99 {cut[98]:.1f}, most {max(ms):.1f}",
    ]
    outcomes = Counter(each.outcome for each in ended)
    return "\n".join([*lines, *(f"{count}  {outcome}" for outcome, count in outcomes.most_common())]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
