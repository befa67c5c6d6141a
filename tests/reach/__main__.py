"""``python -m tests.reach --cases N --seed S``: hold the answers of ``stile explain`` against the enforced view.

Ends with 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.reach.cases import run_cases

CASES_OF_AN_ENDPOINT = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reach")
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--seed", default="reach")
    options = parser.parse_args()
    started = time.monotonic()
    tally = run_cases(options.cases, endpoints=max(options.cases // CASES_OF_AN_ENDPOINT, 1), seed=options.seed)
    sys.stdout.write("\n\n".join([*map(str, tally.faults), f"{tally}. In {time.monotonic() - started:.0f} s\n"]))
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
