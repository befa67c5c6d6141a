"""Warm calls of functions that hold one endpoint and thousands, in turns: what holding many costs each call."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.container import Container, Function
from benchmarks.functions.cases import ANSWERED, HANDLER, event_of
from benchmarks.runner import ROOT
from tests.support.objects import Objects

ONE, ALL, UNCOLLECTED = "after one endpoint", "after all", "after all, garbage collection off"

CALL = ("tools/call", {"name": "thing-0", "arguments": {"id": "1"}})


def warm_us(objects: Objects, names: Sequence[str], *, cache_mb: int, calls: int) -> Mapping[str, list[float]]:
    """The microseconds of calls to the last endpoint, by what the function was asked for before.

    Each is a process of its own under AWS's runtime client. They take turns, so that what else the machine does
    meets all of them alike.
    """
    environ = {
        **objects.environ(),
        "PYTHONPATH": str(ROOT),
        "STILE_BUNDLES": objects.location,
        "STILE_ALLOW_LOCAL_UPSTREAMS": "true",
        "STILE_CACHE_MB": str(cache_mb),
        "STILE_REFRESH_S": "3600",
        "STILE_MAX_STALE_S": "3600",
    }
    event = event_of(names[-1], *CALL)
    taken: dict[str, list[float]] = {ONE: [], ALL: [], UNCOLLECTED: []}
    with ExitStack() as stack:
        containers = {}
        for name in taken:
            handler = "benchmarks.functions.uncollected.handler" if name == UNCOLLECTED else HANDLER
            function = Function(
                name=name,
                python=Path(sys.executable),
                folder=ROOT,
                handler=handler,
                event=event,
                expects=ANSWERED,
                environ=environ,
            )
            containers[name] = stack.enter_context(Container(function))
            containers[name].start()
        for other in names[:-1]:
            objects.forget_requests()
            for name in (ALL, UNCOLLECTED):
                containers[name].call(event_of(other, *CALL))
        for container in containers.values():
            container.call()
        for number in range(calls):
            for name in taken if number % 2 else reversed(taken):
                taken[name].append(containers[name].call() * 1e6)
    return taken


def quantiles_us(taken: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]
