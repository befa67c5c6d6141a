"""The project's own workflow on GitHub, its issue forms and its hooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PINNED = re.compile(r"uses: ([\w/-]+)@([0-9a-f]{40}) # v[\d.]+")


def test_workflow_runs_all_checks_with_the_right_to_read_alone() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))

    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert "permissions" not in job
    assert job["steps"][-1]["run"] == ".ci/run"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_workflow_pins_the_actions_that_the_template_of_users_pins() -> None:
    text = WORKFLOW.read_text("utf-8")
    known = set(PINNED.findall((ROOT / "infra" / "new" / "workflow.yml").read_text("utf-8")))

    assert text.count("uses: ") == len(PINNED.findall(text)) == 1
    assert known.issuperset(PINNED.findall(text))


def test_hooks_run_programs_of_the_environment() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)

    assert lint is not None
    programs = {line.strip().removeprefix("$(VENV)/bin/").split()[0] for line in lint[1].splitlines()}
    assert {hook["entry"].removeprefix(".venv/bin/").split()[0] for hook in hooks} == programs


@pytest.mark.parametrize("form", [each for each in FORMS if each.name != "config.yml"], ids=lambda form: form.name)
def test_forms_have_fields_with_labels(form: Path) -> None:
    content = yaml.safe_load(form.read_text("utf-8"))

    fields = [each for each in content["body"] if each["type"] != "markdown"]
    assert content["name"]
    assert content["description"]
    assert len({each["id"] for each in fields}) == len(fields) > 0
    assert all(each["attributes"]["label"] for each in fields)
