"""The suite's scenarios of the Skills extension, which no revision requires."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.fixture import WAYS
from tests.conformance.suite import PACKAGE, REQUIRED, is_installed, judge_scenario
from tests.support.require import requires

SCENARIOS = {"sep-2640-skills-enumeration": 30, "sep-2640-skills-manifest": 6, "sep-2640-skills-directory": 1}
"""Each with the checks that pass at least. Directories need not be read, because each entry has all files."""


@pytest.fixture(scope="module", params=WAYS)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    requires("node", is_installed(), "`make conformance` installs the MCP conformance suite, and Node.js for Linux")
    with WAYS[request.param]() as served:
        yield served


@pytest.mark.parametrize("revision", REQUIRED)
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_of_skills_passes(url: str, name: str, revision: str, tmp_path: Path) -> None:
    verdict = judge_scenario(url, name, revision, tmp_path)

    assert verdict.complaints == ()
    assert verdict.checks["SUCCESS"] >= SCENARIOS[name]


def test_suite_has_no_other_scenario_of_skills() -> None:
    requires("node", is_installed(), "`make conformance` installs the MCP conformance suite")
    code = (PACKAGE / "dist" / "index.js").read_text("utf-8")

    assert {name for name in SCENARIOS if f"`{name}`" in code} == {*SCENARIOS}
    assert code.count("=`sep-2640-skills-") == len(SCENARIOS)
