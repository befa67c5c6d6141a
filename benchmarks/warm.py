"""Warm calls of functions that hold one endpoint and thousands, in turns: what holding many costs each call."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.container import Container, Function
from benchmarks.functions.cases import ANSWERED, HANDLER, event_of
from benchmarks.runner import ROOT
from tests.support.objects import Objects

ONE, ALL, UNCOLLECTED = "after one endpoint", "after all", "after all, garbage collection off"

CALL = ("tools/call", {"name": "thing-0", "arguments": {"id": "1"}})


@dataclass(frozen=True, slots=True)
class Calls:
    """The microseconds of one function's calls: by the clock, and those that its process computed."""

    clock_us: list[float] = field(default_factory=list)
    cpu_us: list[float] = field(default_factory=list)

    def add(self, container: Container) -> None:
        before_ms = container.cpu_ms()
        self.clock_us.append(container.call() * 1e6)
        self.cpu_us.append((container.cpu_ms() - before_ms) * 1e3)


def warm_calls(objects: Objects, names: Sequence[str], *, cache_mb: int, calls: int) -> Mapping[str, Calls]:
    """Calls of the last endpoint's tool, by what the function was asked for before.

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
    taken = {name: Calls() for name in (ONE, ALL, UNCOLLECTED)}
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
                taken[name].add(containers[name])
    return taken


def quantiles_us(taken: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]
