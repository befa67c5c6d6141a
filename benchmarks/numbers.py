"""The price of metrics in the log: processor time of a warm call, and bytes of its line.

    python -m benchmarks.numbers --calls 3000

Two handlers in one process, with metrics and without, answer the same call in turns: what else the machine does meets
both alike. Ends with 1 if a call with metrics takes over 30 µs more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.functions.cases import event_of, sized_endpoint
from benchmarks.upstream import answering_upstream
from handler.aws.sigv4 import CredentialSource
from handler.http.client import HttpClient
from handler.server.function import build_handler
from handler.settings import read_settings
from handler.storage.local import FolderStorage
from handler.storage.location import open_storage

GATE_US = 30.0

CALL = ("tools/call", {"name": "thing-0", "arguments": {"id": "1"}})

Handler = Callable[[Any, Any], Any]


class Context:
    """As much of Lambda's context as a request asks for."""

    aws_request_id = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"

    def get_remaining_time_in_millis(self) -> int:
        """Return the time that the function has left."""
        return 29_000


def made_handler(location: str, **environ: str) -> tuple[Handler, io.StringIO]:
    """Return the function's handler with this environment, and its log."""
    given = {
        "STILE_BUNDLES": location,
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        "STILE_REFRESH_S": "3600",
        "STILE_MAX_STALE_S": "3600",
        "AWS_LAMBDA_FUNCTION_NAME": "shop-mcp-StileFunction-1A2B3C4D5E6F",
        "POWERTOOLS_SERVICE_NAME": f"stile-{len(environ)}",  # each logger has its own stream
        **environ,
    }
    settings = read_settings(given)
    http = HttpClient(settings.addresses)
    credentials = CredentialSource(given, http=http)
    storage = open_storage(location, http=http, environ=given, credentials=credentials)
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        return build_handler(settings, given, http=http, storage=storage, credentials=credentials), log


def cpu_us(handler: Handler, event: Mapping[str, Any]) -> float:
    """Return the processor time of one call in microseconds."""
    started = time.process_time_ns()
    answer = handler(event, Context())
    taken = time.process_time_ns() - started
    if answer["statusCode"] != 200 or '"content":' not in answer["body"]:
        raise SystemExit(f"the function answered {answer}")
    return taken / 1e3


def measured(handlers: Mapping[str, Handler], event: Mapping[str, Any], *, calls: int) -> Mapping[str, list[float]]:
    """Return the microseconds of calls, of all handlers in turns."""
    taken: dict[str, list[float]] = {name: [] for name in handlers}
    for number in range(calls):
        for name in list(handlers)[:: 1 if number % 2 else -1]:
            taken[name].append(cpu_us(handlers[name], event))
    return taken


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3_000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder, answering_upstream() as upstream:
        storage = FolderStorage(Path(folder, "bundles"))
        for key, content in sized_endpoint(Path(folder), upstream, 1).objects():
            storage.write(key, content)
        made = {"off": made_handler(storage.location, STILE_METRICS="off"), "on": made_handler(storage.location)}
        event = json.loads(event_of("size/t1", *CALL))
        handlers = {name: handler for name, (handler, _) in made.items()}
        measured(handlers, event, calls=100)
        taken = measured(handlers, event, calls=calls)
    sizes = {name: len(log.getvalue().splitlines()[-1].encode()) + 1 for name, (_, log) in made.items()}
    off_us, on_us = (statistics.median(taken[name]) for name in ("off", "on"))
    more_us = statistics.median(a - b for a, b in zip(taken["on"], taken["off"], strict=True))
    print(f"a call: {off_us:.0f} µs without metrics, {on_us:.0f} with ({on_us / off_us:.3f} x)")
    print(f"pair by pair: {more_us:+.1f} µs, the gate is {GATE_US:g}")
    print(f"its line: {sizes['off']} bytes without metrics, {sizes['on']} with")
    return int(more_us > GATE_US)


if __name__ == "__main__":
    asyncio.set_event_loop(asyncio.new_event_loop())
    sys.exit(main())
