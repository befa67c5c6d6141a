"""Many warm calls over many endpoints while they are published anew: no error, and no growth of memory.

python -m benchmarks.soak --calls 200000
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.container import RESIDENT, memory_bytes
from benchmarks.endpoints import event_for, publish, served
from benchmarks.functions.cases import sized_endpoint
from benchmarks.report import MB, machine, write_page
from benchmarks.upstream import answering_upstream
from handler.server.endpoints.registry import CachePolicy
from tests.support.objects import running_objects

ENDPOINTS = 200
PUBLISH_EVERY = 50
"""Calls between two publishes, each of another endpoint, with a tool more or less."""

MAX_GROWTH = 0.05
WHOLE = 200_000

KEEPING = CachePolicy(refresh_s=0.5, max_stale_s=2.0)


def main() -> int:
    """Call, and write ``benchmarks/results/soak.md`` if it was the whole of it. 1: memory grew, or storage failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--calls", type=int, default=WHOLE, metavar="N")
    calls = parser.parse_args().calls
    names = [f"many/e{number}" for number in range(ENDPOINTS)]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work, answering_upstream() as url, running_objects() as objects:
        larger = sized_endpoint(Path(work), url, 20)
        smaller = dataclasses.replace(larger, bundle=dataclasses.replace(larger.bundle, tools=larger.bundle.tools[:19]))
        for name in names:
            publish(objects, larger, name)
        with served(objects, KEEPING) as function:
            resident: list[int] = []
            for number in range(calls):
                name = names[number * 7 % ENDPOINTS]
                function.call(event_for(name, "tools/call" if number % 4 else "tools/list"))
                if number % PUBLISH_EVERY == 0:
                    place, fewer = publication(number // PUBLISH_EVERY)
                    publish(objects, smaller if fewer else larger, names[place])
                    objects.forget_requests()
                if (number + 1) % (calls // 10) == 0:
                    gc.collect()
                    resident.append(memory_bytes("self", RESIDENT))
        troubles = function.troubles
    growth = max(resident) / resident[0] - 1
    text = (
        f"# {calls} calls\n\n`make soak`: {ENDPOINTS} endpoints, one of them published anew every {PUBLISH_EVERY} "
        f"calls, in one process that\nasks a bucket on loopback after {KEEPING.refresh_s:g} s. "
        f"{machine(('starlette',))}\n\n"
        f"No call failed, {len(troubles)} questions to storage did; {time.monotonic() - started:.0f} s. "
        f"Memory after each tenth, MB: {', '.join(f'{each / MB:.1f}' for each in resident)}; the most is "
        f"{growth:+.1%} of the first.\n"
    )
    if calls >= WHOLE:
        write_page("soak", text)
    else:
        sys.stdout.write(text)
    return int(growth > MAX_GROWTH or bool(troubles))


def publication(number: int) -> tuple[int, bool]:
    """Of which endpoint a publish is, and whether it has a tool less than the one before, or one more."""
    turn, place = divmod(number, ENDPOINTS)
    return place, turn % 2 == 0


if __name__ == "__main__":
    sys.exit(main())
