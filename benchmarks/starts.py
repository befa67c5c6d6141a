"""Functions measured side by side: their cold starts, their warm calls, their size."""

from __future__ import annotations

import statistics
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.container import ColdStart, Container, Function

WARM_CALLS = 300
WARM_S = 3.0
"""No more calls than that, and none after so many seconds of them."""
WARM_ROUNDS = 3

IN_RUNTIME = ("boto3", "botocore")
"""Source: AWS Lambda developer guide, "Runtime-included SDK versions"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One function's starts, and the medians of its warm calls, a process each, in microseconds."""

    starts: Sequence[ColdStart]
    warm_us: Sequence[float]

    def start_ms(self, *, processor: bool) -> float:
        return statistics.median(start.cpu_ms if processor else start.total_ms for start in self.starts)

    @property
    def peak_bytes(self) -> float:
        return statistics.median(start.peak_bytes for start in self.starts)

    @property
    def call_us(self) -> float:
        return statistics.median(self.warm_us)


def measure(functions: Sequence[Function], *, rounds: int, on_round: Callable[[int], None]) -> dict[str, Measured]:
    """Start every function once a round, every other round in reverse; one round before them is thrown away."""
    starts: dict[str, list[ColdStart]] = {each.name: [] for each in functions}
    warm: dict[str, list[float]] = {each.name: [] for each in functions}
    for number in range(rounds + 1):
        on_round(number)
        for function in functions if number % 2 == 0 else reversed(functions):
            with Container(function) as container:
                start = container.start()
                if number:
                    starts[function.name].append(start)
                if 0 < number <= WARM_ROUNDS:
                    warm[function.name].append(statistics.median(_warm_s(container)) * 1e6)
    return {name: Measured(starts=starts[name], warm_us=warm[name]) for name in starts}


def _warm_s(container: Container) -> list[float]:
    taken = [container.call()]
    while len(taken) < WARM_CALLS and sum(taken) < WARM_S:
        taken.append(container.call())
    return taken


def zip_bytes(artifact: Path) -> int:
    """How large the folder is as Lambda takes it, without what is there already."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(artifact.rglob("*")):
                name = path.relative_to(artifact)
                if name.parts[0] not in IN_RUNTIME:
                    archive.write(path, name)
        return file.tell()
