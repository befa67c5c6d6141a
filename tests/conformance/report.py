"""What the suite found, as RESULT.md has it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conformance.fixture import WAYS
from tests.conformance.suite import PACKAGE, REQUIRED, Scenario, Verdict, judge

RESULT = Path(__file__).with_name("RESULT.md")


def judge_all(way: str) -> dict[str, Verdict]:
    """Run the suite at each revision against the application as it is served in one of ``WAYS``."""
    with WAYS[way]() as url:
        return {revision: _judged(url, revision) for revision in REQUIRED}


def report(verdicts: Mapping[str, Verdict]) -> str:
    """The same for people."""
    return "\n".join(_lines(verdicts)) + "\n"


def _judged(url: str, revision: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        return judge(url, revision, Path(folder))


def _lines(verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    yield f"# The official MCP conformance suite, {version}"
    yield ""
    yield "`make conformance` checks this page, and `.venv/bin/python -m tests.conformance --write` writes it."
    yield ""
    yield "The suite finds the same in two ways: over HTTP, with tools in Python, and by events of API Gateway,"
    yield "where operations of a GraphQL API take the place of the tools `test_simple_text` and `test_error_handling`."
    yield ""
    yield "Scenarios that a revision requires, and how many passed without a failure or a warning. Why others did not,"
    yield "the baselines say. The extension `tasks` is not implemented. Its scenarios, and those of other extensions,"
    yield "are left out here."
    yield ""
    yield "| revision | passed | not passed |"
    yield "| --- | --- | --- |"
    for revision, verdict in verdicts.items():
        failed = ", ".join(each.name for each in verdict.required if not each.passed) or "none"
        yield f"| {revision} | {verdict.passed} of {len(verdict.required)} | {failed} |"
    yield ""
    yield "Their checks, and those of scenarios that came later and are not required:"
    for revision, verdict in verdicts.items():
        yield ""
        yield f"| {revision} | required | passed | failed | warned of | skipped |"
        yield "| --- | --- | --- | --- | --- | --- |"
        yield from map(_row, verdict.scenarios)


def _row(scenario: Scenario) -> str:
    counts = [str(scenario.checks.get(status, 0)) for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")]
    return f"| {scenario.name} | {'yes' if scenario.required else 'no'} | {' | '.join(counts)} |"
