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
from functools import partial
from pathlib import Path

from benchmarks.call import Handler, cpu_us, in_turns
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


def made_handler(location: str, **environ: str) -> tuple[Handler, io.StringIO]:
    """Return the function's handler with this environment, and its log."""
    given = {
        "STILE_BUNDLES": location,
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        "STILE_REFRESH_S": "3600",
        "STILE_MAX_STALE_S": "3600",
        "AWS_LAMBDA_FUNCTION_NAME": "shop-mcp-StileFunction-1A2B3C4D5E6F",
        "POWERTOOLS_SERVICE_NAME": f"stile-{environ.get('STILE_METRICS')}",  # each logger has its own stream
        **environ,
    }
    settings = read_settings(given)
    http = HttpClient(settings.addresses)
    credentials = CredentialSource(given, http=http)
    storage = open_storage(location, http=http, environ=given, credentials=credentials)
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        return build_handler(settings, given, http=http, storage=storage, credentials=credentials), log


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3_000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder, answering_upstream() as upstream:
        storage = FolderStorage(Path(folder, "bundles"))
        for key, content in sized_endpoint(Path(folder), upstream, 1).objects():
            storage.write(key, content)
        modes = {"off": "off", "on": "endpoint"}
        made = {name: made_handler(storage.location, STILE_METRICS=mode) for name, mode in modes.items()}
        event = json.loads(event_of("size/t1", *CALL))
        handlers = {name: partial(cpu_us, handler, event) for name, (handler, _) in made.items()}
        in_turns(handlers, rounds=100)
        taken = in_turns(handlers, rounds=calls)
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
