"""First answers of the built function: from its start, and restored from a snapshot, with one core and with two.

    python -m benchmarks.restored --artifact FOLDER --python PYTHON --rounds 9

The folder is what ``make artifact`` made for this machine; PYTHON is one of the runtime's version that has AWS's
runtime client. A restore begins where the function has run its hooks before a snapshot. The time that Lambda takes to
load the snapshot's memory is not in it, because only Lambda has that part.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.container import Container, Function
from benchmarks.functions.cases import FLOOR, OUR_CALL, OUR_LIST, Builds, running_functions
from benchmarks.report import machine, write_page
from handler.server.function import SNAP_START

CASES = (FLOOR, OUR_LIST, OUR_CALL, "GraphQL tool call, demo, S3")
START, START_CPU, RESTORE, RESTORE_CPU = "start", "start, CPU", "restore", "restore, CPU"
SNAPSHOT = dict([SNAP_START])
CORES = (1, 2)

Taken = dict[tuple[str, str, int], list[float]]
"""Case, what was measured, cores -> milliseconds."""


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Have processes that start meanwhile run on so many cores."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def measure(functions: Mapping[str, Function], *, rounds: int) -> Taken:
    """Start and restore each function once a round, every other round in reverse; the first round is thrown away."""
    taken: Taken = {}
    for number in range(rounds + 1):
        for name, function in list(functions.items())[:: 1 if number % 2 else -1]:
            for cores in CORES:
                for what, ms in measured_once(function, cores).items():
                    if number:
                        taken.setdefault((name, what, cores), []).append(ms)
    return taken


def measured_once(function: Function, cores: int) -> Mapping[str, float]:
    """Return the milliseconds of one start and of one restore."""
    with on_cores(cores), Container(function) as container:
        start = container.start()
    with on_cores(cores), Container(replace(function, environ={**function.environ, **SNAPSHOT})) as container:
        restored_ms, restored_cpu_ms = container.restore()
    return {START: start.total_ms, START_CPU: start.cpu_ms, RESTORE: restored_ms, RESTORE_CPU: restored_cpu_ms}


def text_of(taken: Taken, names: Sequence[str], *, rounds: int, python: Path) -> str:
    """Return the page."""
    medians = {key: statistics.median(each) for key, each in taken.items()}
    lines = [
        "| function | cores | from its start, ms | CPU, ms | restored, ms | CPU, ms | restored / started |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in names:
        for cores in CORES:
            found = [medians[name, what, cores] for what in (START, START_CPU, RESTORE, RESTORE_CPU)]
            told = " | ".join(f"{ms:.0f}" for ms in found)
            lines.append(f"| {name} | {cores} | {told} | {found[2] / found[0]:.2f} |")
    table = "\n".join(lines)
    return (
        "# First answers after a start and after a restore\n\n"
        f"`make bench-restored ROUNDS={rounds}`: processes under AWS's runtime client, in alternating rounds,\n"
        "medians. The endpoint is preloaded. A restore begins after the hooks before a snapshot, and ends with the\n"
        "first answer. The time that Lambda takes to load the snapshot's memory is not in it. The upstream and S3\n"
        "(moto) are on loopback, in processes of their own.\n"
        f"{machine(('mangum', 'starlette', 'graphql-core'), python=python)}\n\n{table}\n"
    )


def main() -> int:
    """Measure, and write ``benchmarks/results/restored.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.restored")
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--hello", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    artifact = given.artifact.resolve()
    builds = Builds(artifact=artifact, coded=artifact, hello=given.hello.resolve(), python=given.python.absolute())
    with tempfile.TemporaryDirectory() as work, running_functions(builds, work=Path(work)) as functions:
        made = {each.function.name: each.function for each in functions}
        preloaded = {
            name: replace(made[name], environ={**made[name].environ, "STILE_PRELOAD": "api/customers"})
            for name in CASES
        }
        taken = measure(preloaded, rounds=given.rounds)
    text = text_of(taken, CASES, rounds=given.rounds, python=builds.python)
    if given.write:
        write_page("restored", text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
