"""Measure commands as whole processes, in alternating rounds.

A machine that is shared drifts. What is compared runs in turns, forwards and backwards, and is told as a ratio to a
process of the same rounds; seconds are those of one machine on one day.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAUNCH = Path(__file__).resolve().parent / "launch.py"


class BenchmarkFailed(Exception):
    """A command that is measured ended with a mistake, so its time means nothing."""

    def __init__(self, command: Sequence[str], code: int, output: str) -> None:
        super().__init__(f"{' '.join(command)} ended with {code}: {output.strip()}")
        self.command = tuple(command)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One run, from its start to its end. ``cpu_ms`` is processor time."""

    wall_ms: float
    cpu_ms: float
    peak_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run, and its goals: processor time in seconds or in times of another case, and peak memory in megabytes."""

    name: str
    run: Callable[[], Sample]
    goal_s: float | None = None
    goal_times: float | None = None
    goal_mb: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Sample):
    """The medians of a case, and the median absolute deviation of its processor time."""

    deviation_ms: float


def run_once(command: Sequence[str]) -> Sample:
    """Run a command, whose first word is the path of a program, in the project's folder, its output thrown away.

    Raises:
        BenchmarkFailed: it ended with another code than 0.
    """
    launch = [sys.executable, "-I", "-S", str(LAUNCH), *command]
    done = subprocess.run(launch, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    took_ns, computed_ns, peak_bytes, code = map(int, done.stdout.split())
    if code:
        raise BenchmarkFailed(command, code, done.stderr)
    return Sample(wall_ms=took_ns / 1e6, cpu_ms=computed_ns / 1e6, peak_bytes=peak_bytes)


def measure(
    cases: Sequence[Case], *, rounds: int, on_round: Callable[[int], None] = lambda _: None
) -> dict[str, Summary]:
    """Run every case once a round, every other round in reverse; one round before them is thrown away."""
    samples: dict[str, list[Sample]] = {case.name: [] for case in cases}
    for number in range(rounds + 1):
        on_round(number)
        for case in cases if number % 2 == 0 else reversed(cases):
            sample = case.run()
            if number:
                samples[case.name].append(sample)
    return {name: summarize(taken) for name, taken in samples.items()}


def summarize(samples: Sequence[Sample]) -> Summary:
    """The medians of some runs."""
    median_ms = statistics.median(sample.cpu_ms for sample in samples)
    return Summary(
        wall_ms=statistics.median(sample.wall_ms for sample in samples),
        cpu_ms=median_ms,
        deviation_ms=statistics.median(abs(sample.cpu_ms - median_ms) for sample in samples),
        peak_bytes=statistics.median(sample.peak_bytes for sample in samples),
    )


def environment() -> Mapping[str, str]:
    """This process's, without what would change how Python starts, and with the project to import."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE", "STILE_"))}
    return {**kept, "PYTHONPATH": str(ROOT)}
