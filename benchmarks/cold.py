"""Cold starts and warm calls of the built function, of the least that a function can be, and of Starlette with Mangum.

    python -m benchmarks.cold --artifact FOLDER --coded FOLDER --hello FOLDER --python PYTHON --rounds 9

The folders are what ``make artifact`` made for this machine, the second one with tools in Python; PYTHON is
one of the runtime's version that has AWS's runtime client. ``--peers`` names the folder of the packages that are
measured too, and then the results are written. Ends with 1 where a ratio of the function's is above its gate.
``--slack 2`` widens the gates and takes processor time in place of the clock, for a few rounds on a machine that
others use.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.chart import bars
from benchmarks.cold_peers import NOTE, Compared, ours, table_of, try_peers
from benchmarks.functions.cases import FLOOR, LEAST_WARM, Builds, Made, running_functions
from benchmarks.functions.peer_cases import running_peers
from benchmarks.report import MB, RESULTS, machine, show_round, write_page
from benchmarks.starts import Measured, measure, zip_bytes

ZIP_GATE_BYTES = 3_300_000


def faults(
    made: Iterable[Made], measured: Mapping[str, Measured], size: int, *, slack: float, processor: bool
) -> list[str]:
    """What is above its gate, in sentences."""
    floor, least_us = measured[FLOOR], least_warm_us(measured)
    found = []
    for each in made:
        mine = measured[each.function.name]
        judged = (
            (
                "cold start",
                _ratio(mine, floor, processor=processor),
                None if each.cold_cpu and processor else each.cold,
                "x",
            ),
            ("processor time of a cold start", _ratio(mine, floor, processor=True), each.cold_cpu, "x"),
            ("peak memory", mine.peak_bytes / floor.peak_bytes, each.memory, "x"),
            ("warm call", (mine.call_us - floor.call_us) / least_us, each.warm, "x of the least"),
        )
        for what, value, gate, unit in judged:
            if gate is not None and value > gate * slack:
                found.append(f"{each.function.name}: {what} {value:.2f}{unit}, the gate is {gate * slack:.2f}")
    if size > ZIP_GATE_BYTES:
        found.append(f"the zip has {size} bytes, the gate is {ZIP_GATE_BYTES}")
    return found


def _ratio(mine: Measured, floor: Measured, *, processor: bool) -> float:
    return mine.start_ms(processor=processor) / floor.start_ms(processor=processor)


def least_warm_us(measured: Mapping[str, Measured]) -> float:
    """What a warm call that asks an API takes at least, over the floor."""
    return sum(measured[name].call_us - measured[FLOOR].call_us for name in LEAST_WARM)


def text_of(made: Sequence[Made], measured: Mapping[str, Measured], size: int, *, rounds: int, python: Path) -> str:
    """The page."""
    floor, least_us = measured[FLOOR], least_warm_us(measured)
    rows = "\n".join(_row(each, measured[each.function.name], floor, least_us=least_us) for each in made)
    return (
        "# Cold starts and warm calls\n\n"
        f"`make bench ROUNDS={rounds}`: processes under AWS's runtime client, in alternating rounds, medians. A cold\n"
        "start goes from the start of the process until its first answer is read; a warm call from the event to the\n"
        "answer, the emulated Runtime API included, and is told over the floor's. The upstream and S3 (moto) are on\n"
        "loopback, in processes of their own, behind TLS unless a row says otherwise. To ask that upstream\n"
        "without TLS and to go through Starlette and Mangum is the least that a warm call takes,\n"
        f"{least_us:.0f} µs over the floor here, so it is told in times of that, too. Gates fail the run.\n"
        "Goals are of processor time (CPU).\n"
        f"{machine(('mangum', 'starlette', 'graphql-core'), python=python)}\n\n"
        "| function | cold, ms | x floor | gate | CPU, x floor | gate | goal | peak MB | x floor "
        "| warm, µs over floor | x least | gate |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        f"{rows}\n\nThe zip that is deployed has {size / MB:.2f} MB (gate {ZIP_GATE_BYTES / MB:.1f}).\n\n"
        "![cold starts](cold.svg)\n"
    )


def _row(made: Made, mine: Measured, floor: Measured, *, least_us: float) -> str:
    wall, processor = mine.start_ms(processor=False), mine.start_ms(processor=True)
    cells = (
        made.function.name,
        f"{wall:.0f}",
        f"{wall / floor.start_ms(processor=False):.1f}",
        f"{made.cold:.1f}" if made.cold else "",
        f"{processor / floor.start_ms(processor=True):.1f}",
        f"{made.cold_cpu:.1f}" if made.cold_cpu else "",
        f"{made.goal:.1f}" if made.goal else "",
        f"{mine.peak_bytes / MB:.1f}",
        f"{mine.peak_bytes / floor.peak_bytes:.1f}",
        f"{mine.call_us - floor.call_us:.0f}",
        f"{(mine.call_us - floor.call_us) / least_us:.1f}",
        f"{made.warm:.1f}" if made.warm else "",
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measure, judge, and with peers write the results. 1: something is above its gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold")
    parser.add_argument("--artifact", type=Path, required=True)
    parser.add_argument("--coded", type=Path, required=True)
    parser.add_argument("--hello", type=Path, required=True)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--slack", type=float, default=1.0)
    given = parser.parse_args()
    builds = Builds(
        artifact=given.artifact.resolve(),
        coded=given.coded.resolve(),
        hello=given.hello.resolve(),
        python=given.python.absolute(),
    )
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = stack.enter_context(running_functions(builds, work=work))
        peers = stack.enter_context(running_peers(given.peers.resolve(), builds.python)) if given.peers else []
        compared = try_peers(peers)
        started = {row.name for row in compared if not row.trouble}
        functions = [each.function for each in made]
        functions += [each for peer in peers if peer.name in started for each in (peer.listing, peer.calling)]
        measured = measure(functions, rounds=given.rounds, on_round=partial(show_round, rounds=given.rounds))
    size = zip_bytes(builds.artifact)
    found = faults(made, measured, size, slack=given.slack, processor=given.slack > 1)
    text = text_of(made, measured, size, rounds=given.rounds, python=builds.python)
    if given.peers:
        rows = [*ours(builds), *compared]
        (RESULTS / "cold.svg").write_text(chart_of(rows, measured), encoding="utf-8")
        write_page("cold", f"{text}\n## Beside other packages\n\n{NOTE}\n\n{table_of(rows, measured)}")
    else:
        sys.stdout.write(text)
    sys.stdout.writelines(f"above its gate: {fault}\n" for fault in found)
    return 1 if found else 0


def chart_of(rows: Iterable[Compared], measured: Mapping[str, Measured]) -> str:
    """Cold starts to the first answer of a tool, those of the peers that start among them."""
    floor = measured[FLOOR].start_ms(processor=False)
    ratios = {row.name: measured[row.calling].start_ms(processor=False) / floor for row in rows if not row.trouble}
    return bars("Cold start to the first tools/call, times an empty function's", {FLOOR: 1.0, **ratios})


if __name__ == "__main__":
    sys.exit(main())
