"""What the suite found, as RESULT.md has it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tests.conformance.fixture import WAYS, served_jobs
from tests.conformance.suite import (
    EXTENSIONS,
    LEFT_OUT,
    OTHERS,
    PACKAGE,
    REQUIRED,
    TASKS,
    Scenario,
    Verdict,
    judge,
    judge_scenario,
    scenarios_of_suite,
)

RESULT = Path(__file__).with_name("RESULT.md")


def judge_all(way: str) -> dict[str, Verdict]:
    """Run the suite at each revision against the application as it is served in one of ``WAYS``."""
    with WAYS[way]() as url, served_jobs(way) as jobs:
        return {revision: _judged(url, revision, jobs) for revision in REQUIRED}


def report(verdicts: Mapping[str, Verdict]) -> str:
    """The same for people."""
    return "\n".join(_lines(verdicts)) + "\n"


def _judged(url: str, revision: str, jobs: str) -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        verdict = judge(url, revision, Path(folder, "required"))
        extensions = [
            judge_scenario(jobs if name in TASKS else url, name, revision, Path(folder, name))
            for name in EXTENSIONS[revision]
        ]
    return replace(verdict, extensions=tuple(extensions))


def _lines(verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    yield f"# The official MCP conformance suite, {version}"
    yield ""
    yield "`make conformance` checks this page, and `.venv/bin/python -m tests.conformance --write` writes it."
    yield ""
    yield "The suite finds the same in two ways: over HTTP, with tools in Python, and by events of API Gateway,"
    yield "where operations of a GraphQL API take the place of the tools `test_simple_text` and `test_error_handling`."
    yield "The tools for tasks start jobs of an API in both ways."
    yield ""
    yield "Scenarios that a revision requires, and how many passed without a failure or a warning. Why others did not,"
    yield "the baselines say."
    yield ""
    yield "| revision | passed | not passed |"
    yield "| --- | --- | --- |"
    for revision, verdict in verdicts.items():
        failed = ", ".join(each.name for each in verdict.required if not each.passed) or "none"
        yield f"| {revision} | {verdict.passed} of {len(verdict.required)} | {failed} |"
    yield ""
    yield "Their checks, and those of scenarios that came later and are not required. Two of the latter judge sessions,"
    yield "which Stile does not have: `server-session-lifecycle` and `server-sse-polling`."
    for revision, verdict in verdicts.items():
        yield ""
        yield f"| {revision} | required | passed | failed | warned of | skipped |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for each in verdict.scenarios:
            yield f"| {each.name} | {'yes' if each.required else 'no'} | {_counts(each)} |"
    yield ""
    yield "## Extensions"
    yield ""
    yield "No revision requires extensions. The checks of the scenarios of [skills](../../docs/skills.md) and of"
    yield "[tasks](../../docs/reference/directives.md#mcptask). The suite skips checks of what the revision"
    yield "does not have, and of the reading of directories, which is optional and not offered:"
    for revision, verdict in verdicts.items():
        yield ""
        yield f"| {revision} | passed | failed | warned of | skipped |"
        yield "| --- | --- | --- | --- | --- |"
        yield from (f"| {each.name} | {_counts(each)} |" for each in verdict.extensions)
    yield ""
    yield "## Left out"
    yield ""
    yield "Scenarios of the suite that are not run. A test fails if the suite has one that is neither run nor listed."
    yield ""
    yield "| scenario | reason |"
    yield "| --- | --- |"
    yield from (f"| {name} | {reason} |" for name, reason in LEFT_OUT.items())
    groups = scenarios_of_suite()
    yield from (f"| {', '.join(groups[title])} | {reason} |" for title, reason in OTHERS.items())


def _counts(scenario: Scenario) -> str:
    return " | ".join(str(scenario.checks.get(status, 0)) for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED"))
