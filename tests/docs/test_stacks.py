"""The page of stacks: its commands name templates and parameters that are there, with values that they take."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from handler.compiler.config.table import UPSTREAM
from tests.conftest import ROOT
from tests.docs.reference import first_codes, page, table
from tests.infra.cloudformation import read_template
from tests.infra.stack import Stack
from tests.infra.test_build_settings import settings

STACKS = page("stacks")


def commands() -> Iterator[list[str]]:
    """The words of each command of the page, without its continued lines."""
    for block in STACKS.blocks:
        if block.kind == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                yield shlex.split(re.sub(r"\$\([^)]*\)", "a1b2c3d", line))


def option(words: list[str], name: str) -> str:
    return words[words.index(name) + 1]


def overrides(words: list[str]) -> dict[str, str]:
    given = words[words.index("--parameter-overrides") + 1 :]
    return dict(each.split("=", 1) for each in given)


DEPLOYS = [words for words in commands() if words[:3] == ["aws", "cloudformation", "deploy"]]


def test_every_template_of_the_page_is_there_and_shown() -> None:
    told = re.findall(r"\[`(infra/\w+\.yaml)`\]", STACKS.text)
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "infra").glob("*.yaml")}

    assert set(told) == there - {"infra/storage.yaml"}
    assert {option(words, "--template-file") for words in DEPLOYS} == set(told)


@pytest.mark.parametrize("words", DEPLOYS, ids=lambda words: option(words, "--stack-name"))
def test_a_command_has_every_parameter_that_its_template_needs_and_values_that_it_takes(words: list[str]) -> None:
    name = option(words, "--template-file")
    parameters = read_template(name)["Parameters"]

    stack = Stack(name, overrides(words))

    assert {each for each, declared in parameters.items() if "Default" not in declared} <= set(overrides(words))
    assert (stack.refused, stack.broken_rules) == ([], [])
    makes_rights = any(each["Type"].startswith("AWS::IAM::") for each in stack.resources.values())
    assert ("CAPABILITY_IAM" in words) is makes_rights


def test_a_release_of_the_page_is_one_of_the_template() -> None:
    (words,) = [words for words in commands() if words[:2] == ["sam", "deploy"] and "--parameter-overrides" in words]

    stack = Stack("template.yaml", overrides(words))

    assert (stack.refused, stack.broken_rules) == ([], [])
    assert "ReleaseAlias" in stack.resources


def test_both_stages_of_the_page_are_built_once_and_deployed_as_the_template_takes_them(tmp_path: Path) -> None:
    (block,) = [block.text for block in STACKS.blocks if block.kind == "toml"]
    config = (ROOT / "samconfig.toml").read_text("utf-8") + block
    prod = tomllib.loads(config)["prod"]
    given = prod["global"]["parameters"]["parameter_overrides"]
    texts = {name: ",".join(value) if isinstance(value, list) else value for name, value in given.items()}

    stack = Stack("template.yaml", texts)

    assert (stack.refused, stack.broken_rules) == ([], [])
    assert settings(tmp_path, config) == settings(tmp_path, (ROOT / "samconfig.toml").read_text("utf-8"))
    assert prod["deploy"]["parameters"].keys() >= tomllib.loads(config)["default"]["deploy"]["parameters"].keys()
    stages = [option(words, "--config-env") for words in commands() if "--config-env" in words]
    assert set(stages) == {"prod"}


def test_alarms_of_the_page_are_those_of_the_template_with_its_defaults() -> None:
    rows = table(STACKS.text, "alarm", "default")
    sections = {
        each["AlarmDescription"].rpartition("#alarm-")[2].replace("-", " ")
        for each in Stack("infra/observability.yaml").of_type("AWS::CloudWatch::Alarm").values()
    }
    defaults = {
        name: each.get("Default") for name, each in read_template("infra/observability.yaml")["Parameters"].items()
    }

    assert len(rows) == len(sections)
    told = " ".join(row[1] for row in rows)
    assert f"over {int(defaults['DurationMs']) // 1000} seconds" in told
    assert told.count(f"more than {defaults['UpstreamFailuresInFiveMinutes']} in five minutes, and over") == 4
    assert told.count(f"over {defaults['FailureShare']} percent of the") == 2
    assert told.count(f"over {defaults['ApiErrorShare']} percent of the calls") == 2
    assert f"more than {defaults['DriftInAnHour']} calls in an hour" in told
    refused = (defaults["CallersRefusedInFiveMinutes"], defaults["CallersRefusedShare"])
    assert "more than {} in five minutes, and over {} percent of the requests".format(*refused) in told
    assert f"over {defaults['ConcurrentExecutions']} instances" in told
    assert f"over {defaults['BundleAgeSeconds']} seconds" in told
    assert f"{defaults['MemoryPercent']} percent" in told
    assert (defaults["ErrorsInFiveMinutes"], defaults["ThrottlesInFiveMinutes"]) == (0, 0)


def test_parameters_and_outputs_that_the_page_names_are_in_a_template() -> None:
    templates = [
        read_template(path) for path in ("template.yaml", *first_codes(table(STACKS.text, "template", "adds")))
    ]
    known = {name for each in templates for part in ("Parameters", "Outputs", "Resources") for name in each[part]}
    named = set(re.findall(r"`([A-Z][a-z]+[A-Z]\w+)`", STACKS.text))

    assert {"ReservedConcurrency", "TrustAuthorizer"} <= named
    assert named <= known


def test_instances_that_an_api_can_hold_leave_half_of_the_usual_quota_and_the_rows_are_counted_right() -> None:
    head = ("quota of the account", "`ThrottleRate`", "`ThrottleBurst`", "`upstream.timeout_s`", "the most instances")
    rows = [[int(cell.split(" (")[0].replace(",", "")) for cell in row] for row in table(STACKS.text, *head)]
    timeout_s = UPSTREAM["timeout_s"].default
    defaults = {
        tuple(int(read_template(template)["Parameters"][name]["Default"]) for name in ("ThrottleRate", "ThrottleBurst"))
        for template in ("template.yaml", "infra/iam_door.yaml")
    }

    ((rate, burst),) = defaults
    assert burst + rate * timeout_s < 1_000 / 2
    assert [1_000, rate, burst, timeout_s, burst + rate * timeout_s] in rows
    for quota, *row, most in rows:
        assert row[1] + row[0] * row[2] == most < quota
    assert f"{burst} + {rate} x {timeout_s} s = {burst + rate * timeout_s}" in STACKS.text
