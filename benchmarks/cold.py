"""Cold starts and warm calls of the built function, of the least that a function can be, and of Starlette with Mangum.

    python -m benchmarks.cold --artifact FOLDER --python PYTHON --rounds 9

FOLDER is what ``make build-StileFunction`` made for this machine, PYTHON one of the runtime's version that has AWS's
runtime client. Ends with 1 where a ratio is above its gate. ``--slack 1.25`` widens the gates and takes processor time
in place of the clock, for a few rounds on a machine that others use.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.chart import bars
from benchmarks.container import ColdStart, Container, Function
from benchmarks.functions.cases import FLOOR, Made, make_functions
from benchmarks.report import MB, RESULTS, machine, show_round, write_page
from benchmarks.requests import answering_upstream
from tests.support.moto import running_moto

WARM_CALLS = 300
WARM_ROUNDS = 3
ZIP_GATE_BYTES = 3_500_000


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
                    taken = [container.call() for _ in range(WARM_CALLS)]
                    warm[function.name].append(statistics.median(taken) * 1e6)
    return {name: Measured(starts=starts[name], warm_us=warm[name]) for name in starts}


def zip_bytes(artifact: Path) -> int:
    """How large the folder is as Lambda takes it."""
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(artifact.rglob("*")):
                archive.write(path, path.relative_to(artifact))
        return file.tell()


def faults(
    made: Iterable[Made], measured: Mapping[str, Measured], size: int, *, slack: float, processor: bool
) -> list[str]:
    """What is above its gate, in sentences."""
    floor = measured[FLOOR]
    found = []
    for each in made:
        mine = measured[each.function.name]
        judged = (
            ("cold start", mine.start_ms(processor=processor) / floor.start_ms(processor=processor), each.cold, "x"),
            ("peak memory", mine.peak_bytes / floor.peak_bytes, each.memory, "x"),
            ("warm call", mine.call_us - floor.call_us, each.warm_us, " µs over the floor"),
        )
        for what, value, gate, unit in judged:
            if gate is not None and value > gate * slack:
                found.append(f"{each.function.name}: {what} {value:.2f}{unit}, the gate is {gate * slack:.2f}")
    if size > ZIP_GATE_BYTES:
        found.append(f"the zip has {size} bytes, the gate is {ZIP_GATE_BYTES}")
    return found


def text_of(made: Sequence[Made], measured: Mapping[str, Measured], size: int, *, rounds: int) -> str:
    """The page."""
    floor = measured[FLOOR]
    rows = "\n".join(_row(each, measured[each.function.name], floor) for each in made)
    return (
        "# Cold starts and warm calls\n\n"
        f"`make bench ROUNDS={rounds}`: processes under AWS's runtime client, in alternating rounds, medians. A cold\n"
        "start goes from the start of the process until its first answer is read; a warm call from the event to the\n"
        "answer, the emulated Runtime API included, and is told over the floor's. The upstream and S3 (moto) are on\n"
        f"loopback. {machine(('mangum', 'starlette', 'graphql-core'))}\n\n"
        "| function | cold, ms | x floor | gate | CPU, x floor | peak MB | x floor | warm, µs over floor | gate |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        f"{rows}\n\nThe zip that is deployed has {size / MB:.2f} MB (gate {ZIP_GATE_BYTES / MB:.1f}).\n\n"
        "![cold starts](cold.svg)\n"
    )


def _row(made: Made, mine: Measured, floor: Measured) -> str:
    wall, processor = mine.start_ms(processor=False), mine.start_ms(processor=True)
    cells = (
        made.function.name,
        f"{wall:.0f}",
        f"{wall / floor.start_ms(processor=False):.1f}",
        f"{made.cold:.1f}" if made.cold else "",
        f"{processor / floor.start_ms(processor=True):.1f}",
        f"{mine.peak_bytes / MB:.1f}",
        f"{mine.peak_bytes / floor.peak_bytes:.1f}",
        f"{mine.call_us - floor.call_us:.0f}",
        f"{made.warm_us:.0f}" if made.warm_us else "",
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measure, write ``benchmarks/results/cold.md`` and a chart, and judge. 1: something is above its gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold")
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--slack", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work, answering_upstream() as url, running_moto() as moto:
        made = make_functions(
            given.artifact.resolve(), given.python.absolute(), work=Path(work), upstream=url, moto=moto
        )
        functions = [each.function for each in made]
        measured = measure(functions, rounds=given.rounds, on_round=partial(show_round, rounds=given.rounds))
    size = zip_bytes(given.artifact)
    found = faults(made, measured, size, slack=given.slack, processor=given.slack > 1)
    if given.slack == 1:
        RESULTS.mkdir(exist_ok=True)
        ratios = {
            name: one.start_ms(processor=False) / measured[FLOOR].start_ms(processor=False)
            for name, one in measured.items()
        }
        (RESULTS / "cold.svg").write_text(bars("Cold start, times an empty function's", ratios), encoding="utf-8")
        write_page("cold", text_of(made, measured, size, rounds=given.rounds))
    else:
        sys.stdout.write(text_of(made, measured, size, rounds=given.rounds))
    sys.stdout.writelines(f"above its gate: {fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
