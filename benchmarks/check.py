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
CHECK = "`stile check`"
PUBLISH = "`stile publish`, to a folder"

PARSING = "import sys, pathlib, graphql; graphql.parse(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))"


def cases(folder: Path, bundles: Path) -> list[Case]:
    """The processes that are compared, on one endpoint folder. The last one stores all again each time."""
    stile = (sys.executable, "-m", "handler")
    return [
        Case(name=FLOOR, command=(sys.executable, "-c", "pass")),
        Case(name=PARSE, command=(sys.executable, "-c", PARSING, str(folder / "index.graphql"))),
        Case(name=CHECK, command=(*stile, "check", str(folder))),
        Case(name=PUBLISH, command=(*stile, "publish", "--create", "--force", str(folder), str(bundles))),
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
        # What may be published has an upstream that the function may ask; nobody asks it here.
        config = CONFIG.replace("http://127.0.0.1:9/", "https://api.example.com/")
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        compared = cases(folder, Path(work) / "bundles")
        summaries = measure(compared, rounds=rounds, on_round=partial(show_round, rounds=rounds))
    title = "`stile check` and `stile publish` on GitHub's schema"
    write_page("check", page(title, summaries, floor=FLOOR, rounds=rounds, packages=("graphql-core",)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
