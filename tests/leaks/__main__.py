"""``python -m tests.leaks --cases N``: search for leaks in many cases, and print what was found.

Ends with 1 where something leaked. With ``--write``, the result goes to ``RESULT.md``, too.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.leaks.cases import Tally, run_cases

RESULT = Path(__file__).parent / "RESULT.md"

CASES_OF_A_SCHEMA = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.leaks")
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", default="leaks")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    tally = run_cases(options.cases, schemas=max(options.cases // CASES_OF_A_SCHEMA, 1), seed=options.seed)
    sys.stdout.write("\n\n".join([*map(str, tally.enforced), f"{tally}, in {time.monotonic() - started:.0f} s\n"]))
    if options.write:
        RESULT.write_text(_result(tally, f"--cases {options.cases} --seed {options.seed}"), encoding="utf-8")
    return 1 if tally.enforced else 0


def _result(tally: Tally, options: str) -> str:
    return f"# What leaks\n\n`python -m tests.leaks {options}`:\n\n{tally}.\n"


if __name__ == "__main__":
    sys.exit(main())
