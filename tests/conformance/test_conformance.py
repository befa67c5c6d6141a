"""The official conformance suite, at the revisions that it has requirements of."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.conformance.fixture import WAYS
from tests.conformance.report import RESULT, judge_all, report
from tests.conformance.suite import (
    LEFT_OUT,
    OTHERS,
    REQUIRED,
    TASKS,
    Verdict,
    baseline_of,
    is_installed,
    judge,
    scenarios_of_suite,
)
from tests.support.require import requires

EXCUSABLE = {
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-sse-multiple-streams",
    "tools-call-elicitation",
    "tools-call-sampling",
    "tools-call-with-logging",
}
"""What may fail at 2025-11-25: without sessions nothing can ask a client, and what is deprecated is not begun."""


@pytest.fixture(scope="module", params=WAYS)
def verdicts(request: pytest.FixtureRequest) -> dict[str, Verdict]:
    """The suite's verdict at each revision, in each way to serve."""
    requires("node", is_installed(), "`make conformance` installs the MCP conformance suite, and Node.js for Linux")
    return judge_all(request.param)


def excused(revision: str) -> list[str]:
    """The scenarios of a revision's baseline."""
    names: list[str] = yaml.safe_load(baseline_of(revision).read_text("utf-8"))["server"]
    return names


@pytest.mark.parametrize("revision", REQUIRED)
def test_all_required_scenarios_pass_but_those_of_the_baseline(verdicts: dict[str, Verdict], revision: str) -> None:
    verdict = verdicts[revision]

    failed = {each.name: each.complaints for each in verdict.required if not each.passed}
    assert {name: why for name, why in failed.items() if name not in excused(revision)} == {}
    assert verdict.code == 0, verdict.printed
    assert len(verdict.required) == REQUIRED[revision]
    assert verdict.passed == REQUIRED[revision] - len(excused(revision))


@pytest.mark.parametrize("revision", REQUIRED)
def test_scenarios_of_extensions_pass(verdicts: dict[str, Verdict], revision: str) -> None:
    extensions = verdicts[revision].extensions

    assert {each.name: each.complaints for each in extensions if not each.passed} == {}
    assert all(each.checks["SUCCESS"] for each in extensions)
    assert [each.name for each in extensions if each.name in TASKS and each.checks["SKIPPED"]] == []


def test_each_scenario_of_the_suite_is_run_or_left_out_with_a_reason(verdicts: dict[str, Verdict]) -> None:
    groups = scenarios_of_suite()
    run = [each.name for verdict in verdicts.values() for each in (*verdict.scenarios, *verdict.extensions)]

    assert {title for title in groups if title not in OTHERS} == {"Server scenarios"}
    assert {*groups["Server scenarios"]} == {*run, *LEFT_OUT}
    assert not {*run} & {*LEFT_OUT}
    assert all(groups[title] for title in OTHERS)


def test_result_is_what_was_found(verdicts: dict[str, Verdict]) -> None:
    assert report(verdicts) == RESULT.read_text("utf-8")


def test_nothing_is_excused_but_what_cannot_be_without_sessions() -> None:
    assert excused("2026-07-28") == []
    assert set(excused("2025-11-25")) <= EXCUSABLE


@pytest.mark.usefixtures("verdicts")
@pytest.mark.parametrize("way", WAYS)
def test_route_that_speaks_another_protocol_fails(tmp_path: Path, way: str) -> None:
    with WAYS[way]() as url:
        verdict = judge(url.replace("/mcp", "/graphql"), "2026-07-28", tmp_path)

    assert verdict.code == 1
    assert verdict.passed == 0
