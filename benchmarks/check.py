"""What `stile check` costs on GitHub's schema, the largest that the tests have.

python -m benchmarks.check --rounds 9
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.report import page, show_round, write_page
from benchmarks.runner import Case, measure
from tests.corpora.attempts import attempt, copy_without
from tests.corpora.downloads import FetchError
from tests.corpora.fetch import fetch

CORPUS = "github-named"

FLOOR = "`python -c pass`"
PARSE = "the SDL parsed by graphql-core alone"
CHECK = "`stile check`"

PARSING = "import sys, pathlib, graphql; graphql.parse(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))"


def cases(folder: Path) -> list[Case]:
    """The processes that are compared, on one endpoint folder."""
    return [
        Case(name=FLOOR, command=(sys.executable, "-c", "pass")),
        Case(name=PARSE, command=(sys.executable, "-c", PARSING, str(folder / "index.graphql"))),
        Case(name=CHECK, command=(sys.executable, "-m", "handler", "check", str(folder))),
    ]


def main() -> int:
    """Measure, and write ``benchmarks/results/check.md``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    rounds = parser.parse_args().rounds
    try:
        fetched = fetch(CORPUS, print)
    except FetchError as exc:
        sys.exit(f"{CORPUS} cannot be fetched: {exc}")
    with tempfile.TemporaryDirectory() as work:
        folder = copy_without(attempt(fetched).refused, fetched, Path(work))
        summaries = measure(cases(folder), rounds=rounds, on_round=partial(show_round, rounds=rounds))
    title = "`stile check` on GitHub's schema"
    write_page("check", page(title, summaries, floor=FLOOR, rounds=rounds, packages=("graphql-core",)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
