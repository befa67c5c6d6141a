"""What `stile check` and `stile publish` cost on GitHub's schema, the largest that the tests have.

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
from tests.corpora.fetch import CONFIG, fetch

CORPUS = "github-named"

FLOOR = "`python -c pass`"
PARSE = "the SDL parsed by graphql-core alone"
CHECK = "`stile check`, the first time"
AGAIN = "`stile check`, the schema as before"
PUBLISH = "`stile publish`, to a folder"

GATE = 2.2
"""Of a check with a schema that was read before, to parsing the schema with graphql-core."""

PARSING = "import sys, pathlib, graphql; graphql.parse(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))"


def cases(folder: Path, bundles: Path) -> list[Case]:
    """The processes that are compared, on one endpoint folder. The last one stores all again each time."""
    stile = (sys.executable, "-m", "handler")
    return [
        Case(name=FLOOR, command=(sys.executable, "-c", "pass")),
        Case(name=PARSE, command=(sys.executable, "-c", PARSING, str(folder / "index.graphql"))),
        Case(name=CHECK, command=("/usr/bin/env", "CI=1", *stile, "check", str(folder))),  # nothing is kept in CI
        Case(name=AGAIN, command=(*stile, "check", str(folder))),
        Case(name=PUBLISH, command=(*stile, "publish", "--create", "--force", str(folder), str(bundles))),
    ]


def main() -> int:
    """Measure, write ``benchmarks/results/check.md``, and return 1 above the gate."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.check")
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    rounds = parser.parse_args().rounds
    try:
        fetched = fetch(CORPUS, print)
    except FetchError as exc:
        sys.exit(f"{CORPUS} cannot be fetched: {exc}")
    with tempfile.TemporaryDirectory() as work:
        folder = copy_without(attempt(fetched).refused, fetched, Path(work))
        # What may be published has an upstream that the function may ask; nobody asks it here.
        config = CONFIG.replace("http://127.0.0.1:9/", "https://api.example.com/")
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        compared = cases(folder, Path(work) / "bundles")
        summaries = measure(compared, rounds=rounds, on_round=partial(show_round, rounds=rounds))
    title = "`stile check` and `stile publish` on GitHub's schema"
    write_page("check", page(title, summaries, floor=FLOOR, rounds=rounds, packages=("graphql-core",)))
    ratio = summaries[AGAIN].wall_ms / summaries[PARSE].wall_ms
    sys.stdout.write(f"{AGAIN}: {ratio:.2f} times parsing, the gate is {GATE}.\n")
    return 1 if ratio > GATE else 0


if __name__ == "__main__":
    sys.exit(main())
