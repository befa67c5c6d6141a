"""``python -m tests.work --cases N --seed S``: search for requests that cost too much, and print the ten worst.

Ends with 1 where one costs more than it may. With ``--write``, the result goes to ``RESULT.md``, too.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.work.families import FAMILIES
from tests.work.measure import bench
from tests.work.search import MAX_BYTES, MAX_CPU_S, Tally, search

RESULT = Path(__file__).parent / "RESULT.md"
TOLD = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.work")
    parser.add_argument("--cases", type=int, default=8_000)
    parser.add_argument("--seed", default="work")
    parser.add_argument("--families", nargs="*", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    logging.disable()  # what a tool of the fixture raises is told there
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, bench(Path(folder)) as bench_:
        tally = search(bench_, [FAMILIES[name] for name in options.families], cases=options.cases, seed=options.seed)
    for found in tally.worst[:TOLD]:
        sys.stdout.write(f"{'TOO MUCH: ' if found.is_wrong else ''}{found}\n")
    sys.stdout.write(
        f"{tally.cases:,} requests in {time.monotonic() - started:.0f} s, {len(tally.wrong)} cost too much\n"
    )
    if options.write:
        families = "" if len(options.families) == len(FAMILIES) else f" --families {' '.join(options.families)}"
        command = f"--cases {options.cases} --seed {options.seed}{families}"
        RESULT.write_text(_result(tally, command), encoding="utf-8")
    return 1 if tally.wrong else 0


def _result(tally: Tally, options: str) -> str:
    rows = "".join(
        f"| {found.shape} | {found.size:,} | {found.cost.cpu_s:.2f} | {found.cost.peak_bytes / 1e6:.0f} |\n"
        for found in tally.worst[:TOLD]
    )
    return (
        f"# What requests cost\n\n`python -m tests.work {options}`:\n\n"
        f"{tally.cases:,} requests under 1 MiB, {len(tally.wrong)} that cost more than {MAX_CPU_S:g} s of processor "
        f"time or {MAX_BYTES / 1e6:g} MB. The ten worst:\n\n"
        f"| Shape | Bytes | Seconds | MB |\n| --- | ---: | ---: | ---: |\n{rows}"
    )


if __name__ == "__main__":
    sys.exit(main())
