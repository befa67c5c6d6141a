"""``python -m tests.changes --cases N --seed S``: hold differences of reach against the enforced view.

Ends with 1 where a difference is missing, or is told and not there.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress

from tests.changes.cases import ChangeTally, run_cases

CASES_OF_AN_ENDPOINT = 25


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.changes")
    parser.add_argument("--cases", type=int, default=5_000)
    parser.add_argument("--seed", default="changes")
    options = parser.parse_args()
    started = time.monotonic()
    tally = ChangeTally()
    with suppress(KeyboardInterrupt):  # a run that is ended early tells how far it came
        endpoints = max(options.cases // CASES_OF_AN_ENDPOINT, 1)
        run_cases(options.cases, endpoints=endpoints, seed=options.seed, tally=tally)
    sys.stdout.write("\n\n".join([*tally.faults, f"{tally}. In {time.monotonic() - started:.0f} s\n"]))
    return 1 if tally.faults or tally.cases < options.cases else 0


if __name__ == "__main__":
    sys.exit(main())
