"""``python -m tests.fuzz --cases N --seed S``: send requests with something wrong, and print what was answered.

Ends with 1 where an answer was none that may be. With ``--write``, the result goes to ``RESULT.md``, too.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

from tests.fuzz.run import Tally, run_cases

RESULT = Path(__file__).parent / "RESULT.md"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    logging.disable()  # what a tool of the fixture raises is told there
    started = time.monotonic()
    tally = run_cases(options.cases, seed=options.seed)
    for number, wrong in [*tally.wrong.items()][:20]:
        sys.stdout.write(f"case {number}: {wrong}\n")
    sys.stdout.write(f"{tally}, in {time.monotonic() - started:.0f} s\n")
    if options.write:
        RESULT.write_text(_result(tally, f"--cases {options.cases} --seed {options.seed}"), encoding="utf-8")
    return 1 if tally.wrong else 0


def _result(tally: Tally, options: str) -> str:
    rows = "".join(f"| {kind} | {count:,} |\n" for kind, count in sorted(tally.kinds.items()))
    return (
        f"# What requests with something wrong are answered\n\n`python -m tests.fuzz {options}`:\n\n"
        f"{tally.cases:,} requests, {len(tally.wrong)} answers that may not be.\n\n"
        f"| Status, error code or kind | Answers |\n| --- | --- |\n{rows}"
    )


if __name__ == "__main__":
    sys.exit(main())
