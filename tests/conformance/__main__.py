"""``python -m tests.conformance``: run the official suite, and print what passed; ``--write``: into RESULT.md too.

Ends with 1 unless all required scenarios passed but those of the baseline.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conformance.fixture import served_fixture
from tests.conformance.suite import PACKAGE, REQUIRED, Scenario, Verdict, is_installed, judge

RESULT = Path(__file__).with_name("RESULT.md")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not is_installed():
        sys.stderr.write("The suite needs Node.js and its packages: `make conformance` installs them.\n")
        return 1
    with served_fixture() as url:
        verdicts = {revision: _judged(url, revision) for revision in REQUIRED}
    text = "\n".join(_lines(verdicts)) + "\n"
    sys.stdout.write(text)
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    return 0 if all(verdict.code == 0 for verdict in verdicts.values()) else 1


def _judged(url: str, revision: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        return judge(url, revision, Path(folder))


def _lines(verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    yield f"# MCP conformance suite {version}"
    yield ""
    yield "Written by `make conformance`. The required scenarios that passed, without a failure or a warning:"
    yield ""
    yield "| revision | passed | not passed |"
    yield "| --- | --- | --- |"
    for revision, verdict in verdicts.items():
        failed = ", ".join(each.name for each in verdict.required if not each.passed) or "none"
        yield f"| {revision} | {verdict.passed} of {len(verdict.required)} | {failed} |"
    yield ""
    yield "Checks by scenario; those without a mark are not required:"
    for revision, verdict in verdicts.items():
        yield ""
        yield f"| {revision} | required | passed | failed | warned of | skipped |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield from map(_row, verdict.scenarios)


def _row(scenario: Scenario) -> str:
    counts = [str(scenario.checks.get(status, 0)) for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")]
    return f"| {scenario.name} | {'x' if scenario.required else ''} | {' | '.join(counts)} |"


if __name__ == "__main__":
    sys.exit(main())
