"""Thousands of endpoints behind one function: what the first request to each costs, and what stays in memory.

python -m benchmarks.endpoints --endpoints 5000
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mangum import Mangum

from benchmarks.call import cpu_us
from benchmarks.container import RESIDENT, memory_bytes
from benchmarks.functions.cases import event_of, sized_endpoint
from benchmarks.report import MB, machine, write_page
from benchmarks.upstream import answering_upstream
from benchmarks.warm import Calls, quantiles_us, warm_calls
from handler.bundle.stored import bundle_key, index_key, write_bundle
from handler.compiler.compile import Compiled
from handler.http.addresses import AddressRules
from handler.http.client import HttpClient
from handler.server.app import create_app
from handler.server.asgi import content_negotiation as media_types
from handler.server.auth.tokens import TokenVerifier
from handler.server.context import Services
from handler.server.endpoints.registry import CachePolicy, Endpoints
from handler.storage.location import open_storage
from handler.storage.storage import Storage
from tests.support.objects import Objects, running_objects

CACHE_BYTES = 64 * 1_048_576
MORE_BYTES = 40 * 1_048_576
"""What the process may take above the cache's bound, and above what it took when nothing was loaded."""

WARM_CALLS = 3_000
TOOLS = 20

WARM = """\
Warm calls of the last endpoint, in turns to functions in processes of their own under AWS's runtime client, by what
each was asked for before; CPU is what the process computed for a call, in which others on the machine play less of a
part."""


class Served:
    """The function in this process, over a storage."""

    def __init__(self, storage: Storage, http: HttpClient, keeping: CachePolicy) -> None:
        self.troubles: list[str] = []
        self.endpoints = Endpoints(
            storage, keeping=keeping, on_trouble=lambda name, exc: self.troubles.append(f"{name}: {exc}")
        )
        services = Services(endpoints=self.endpoints, http=http, tokens=TokenVerifier(http, secrets={}))
        app = create_app(services, write_line=_raise_failures)
        self._handler = Mangum(app, lifespan="off", text_mime_types=[*media_types.TEXTS])

    def call(self, event: Any) -> None:
        """Send an event, whose answer has to be a result."""
        cpu_us(self._handler, event)


def _raise_failures(facts: Mapping[str, Any], *, failure: BaseException | None) -> None:
    if failure:
        raise RuntimeError(f"{facts}") from failure


@contextmanager
def served(objects: Objects, keeping: CachePolicy) -> Iterator[Served]:
    """The function, with a loop to run on and connections of its own."""
    http = HttpClient(AddressRules(local=True))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield Served(open_storage(objects.location, http=http, environ=objects.environ()), http, keeping)
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        http.close()


def publish(objects: Objects, made: Compiled, name: str) -> None:
    """The endpoint under another name."""
    objects.write(index_key(made.bundle.endpoint, made.bundle.index), made.index)
    objects.write(bundle_key(name), write_bundle(dataclasses.replace(made.bundle, endpoint=name)))


def event_for(name: str, method: str = "tools/list") -> Any:
    """A list of the tools, or a call of the first one."""
    params = {} if method == "tools/list" else {"name": "thing-0", "arguments": {"id": "1"}}
    return json.loads(event_of(name, method, params))


def warm_rows(warm: Mapping[str, Calls]) -> str:
    """The table of warm calls."""
    rows = "".join(
        f"| {name} | {' | '.join(f'{us:.0f}' for each in (c.clock_us, c.cpu_us) for us in quantiles_us(each))} |\n"
        for name, c in warm.items()
    )
    return (
        "| warm call | median, µs | p99, µs | CPU, median, µs | CPU, p99, µs |\n"
        f"| --- | ---: | ---: | ---: | ---: |\n{rows}"
    )


def main() -> int:
    """Measure, and write ``benchmarks/results/endpoints.md``. 1: more requests or more memory than there may be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endpoints")
    parser.add_argument("--endpoints", type=int, default=5000, metavar="N")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = [f"many/e{number}" for number in range(given.endpoints)]
    keeping = CachePolicy(max_bytes=CACHE_BYTES, refresh_s=86_400, max_stale_s=86_400)
    with tempfile.TemporaryDirectory() as work, answering_upstream() as url, running_objects() as objects:
        made = sized_endpoint(Path(work), url, TOOLS)
        for name in names:
            publish(objects, made, name)
        with served(objects, keeping) as function:
            function.call(event_for(names[0]))
            before, asked = memory_bytes("self", RESIDENT), 1
            for name in names[1:]:
                objects.forget_requests()  # this process would keep them all
                function.call(event_for(name))
                asked += objects.requests
            after, held = memory_bytes("self", RESIDENT), function.endpoints.count
        warm = warm_calls(objects, names, cache_mb=CACHE_BYTES // 1_048_576, calls=WARM_CALLS)
    bundle_bytes = len(objects.bodies[bundle_key(names[0])])
    rows = (
        f"| requests to S3 for the first request of each | {asked / len(names):.2f} |\n"
        f"| bundle, KB | {bundle_bytes / 1e3:.1f} |\n"
        f"| endpoints held in the end, of {CACHE_BYTES / MB:.0f} MB | {held} |\n"
        f"| memory before, MB | {before / MB:.0f} |\n| memory after all, MB | {after / MB:.0f} |\n"
    )
    text = (
        f"# {len(names)} endpoints\n\n`make endpoints`: one process, a bucket on loopback, endpoints of {TOOLS} "
        f"prescribed tools, each asked for\nonce. {machine(('starlette',))}\n\n| what | |\n| --- | ---: |\n{rows}\n"
        f"{WARM}\n\n{warm_rows(warm)}"
    )
    if given.write:
        write_page("endpoints", text)
    else:
        sys.stdout.write(text)
    return int(asked != len(names) or after - before > CACHE_BYTES + MORE_BYTES)


if __name__ == "__main__":
    sys.exit(main())
