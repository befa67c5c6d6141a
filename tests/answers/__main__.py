"""``python -m tests.answers --cases N --seed S``: cut random answers to a limit, and print how they were cut.

Ends with 1 if one of them is wrong, or the cuts of small answers keep less than 95 % of what the best cuts keep. With
``--write``, the result goes to ``RESULT.md``, too.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.answers.cases import CORPORA, corpus, own
from tests.answers.run import LEAST_SHARE, Tally, kept_share, run_cases

RESULT = Path(__file__).parent / "RESULT.md"
SMALL = 1_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.answers")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    started = time.monotonic()
    tally = run_cases([own(), *map(corpus, CORPORA)], options.cases, seed=options.seed)
    small = min(SMALL, options.cases)
    share = kept_share(small, seed=options.seed)
    sys.stdout.write("".join(f"{each}\n" for each in tally.faults[:20]))
    text = _result(tally, share, small, f"--cases {options.cases} --seed {options.seed}")
    sys.stdout.write(f"{text}{time.monotonic() - started:.0f} s\n")
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    return 1 if tally.faults or share < LEAST_SHARE else 0


def _result(tally: Tally, share: float, small: int, options: str) -> str:
    rows = "".join(f"| {kind} | {count:,} |\n" for kind, count in sorted(tally.counts.items()))
    return (
        f"# What random answers are cut to\n\n`python -m tests.answers {options}`:\n\n"
        f"{sum(tally.counts.values()):,} answers, {len(tally.faults)} faults. Each cut answer is within its limit, "
        "valid against the\nadvertised output schema, cut alike twice, and cut only where its notes say so.\n\n"
        f"| Answer | Count |\n| --- | --- |\n{rows}\n"
        f"Of {small:,} small answers, the cuts keep {share:.1%} of the rows that the best cuts keep.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
