"""``python -m tests.compiler.advertised --cases N``: hold shortened schemas of arguments against what calls may send.

Random endpoints, and the operations of corpora that are fetched, each at several sizes. Ends with 1 if a schema is
wrong.
"""

from __future__ import annotations

import argparse
import sys

from tests.compiler.advertised.cases import BUDGETS, try_corpus, try_random
from tests.compiler.advertised.judged import Found
from tests.corpora.fetch import is_fetched

CORPORA = (
    *("vendure-admin", "github-named", "shopify-storefront", "shopify-customer-account"),
    *("dagster-named", "ghstack-named"),
)

SHOWN = 20


def main() -> int:
    """Run the search, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.compiler.advertised")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--sizes", type=int, default=len(BUDGETS), help="of each operation of a corpus")
    parser.add_argument("--seed", default="advertised")
    options = parser.parse_args()
    found = Found()
    try_random(options.cases, seed=options.seed, found=found)
    _say(f"random: {found}")
    for corpus in filter(is_fetched, CORPORA):
        of_corpus = Found(faults=found.faults)
        budgets = BUDGETS[: options.sizes]
        shares = {str(budget): try_corpus(corpus, budget, seed=options.seed, found=of_corpus) for budget in budgets}
        _say(f"{corpus}: {of_corpus}")
        _say("  share of the whole list: " + ", ".join(f"{budget} {share:.0%}" for budget, share in shares.items()))
    _say(*found.faults[:SHOWN], f"{len(found.faults)} faults")
    return 1 if found.faults else 0


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
