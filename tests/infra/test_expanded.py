"""The template as SAM reads it: the routes of `sam local start-api`, and what CloudFormation gets of the transform."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.infra.cloudformation import ROOT, read_template
from tests.support.require import requires

PROGRAM = """
import json
from samcli.lib.providers.api_provider import ApiProvider
from samcli.lib.providers.sam_function_provider import SamFunctionProvider
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider
from samcli.yamlhelper import yaml_parse
from samtranslator.translator.transform import transform

class Policies:
    def load(self):
        return {}

read = {}
for architecture in ("arm64", "x86_64"):
    stacks, _ = SamLocalStackProvider.get_stacks("template.yaml", parameter_overrides={"Architecture": architecture})
    (function,) = SamFunctionProvider(stacks).get_all()
    read[architecture] = function.architectures
routes = [[route.function_name, route.path, route.payload_format_version] for route in ApiProvider(stacks).api.routes]
template = yaml_parse(open("template.yaml", encoding="utf-8").read())
template["Resources"]["StileFunction"]["Properties"]["CodeUri"] = "s3://bucket/key"
template["Resources"]["Storage"]["Properties"]["TemplateURL"] = "https://bucket.s3.amazonaws.com/key"
made = transform(template, {}, Policies())
parts = {"resources": made["Resources"], "rules": list(made["Rules"]), "conditions": list(made["Conditions"])}
print(json.dumps({"architectures": read, "routes": routes, **parts}))
"""


@pytest.fixture(scope="module")
def expanded() -> Any:
    python = ROOT / ".venv-sam" / "bin" / "python"
    requires("sam", python.exists(), "`make sam-setup` installs it")
    done = subprocess.run(
        [str(python), "-c", PROGRAM],
        cwd=ROOT,
        env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "SAM_CLI_TELEMETRY": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_local_api_leads_every_request_to_the_function(expanded: Any) -> None:
    assert expanded["routes"] == [["StileFunction", "$default", "2.0"]]


def test_the_function_is_for_the_architecture_that_is_said(expanded: Any) -> None:
    assert expanded["architectures"] == {"arm64": ["arm64"], "x86_64": ["x86_64"]}


def test_the_api_has_one_route_that_asks_for_no_authorization(expanded: Any) -> None:
    body = expanded["resources"]["HttpApi"]["Properties"]["Body"]
    (route,) = body["paths"]["$default"].values()

    assert list(body["paths"]) == ["$default"]
    assert route["isDefaultRoute"] is True
    assert "security" not in route
    assert "security" not in body
    assert "components" not in body


def test_sam_adds_the_stage_and_nothing_else(expanded: Any) -> None:
    kinds = {name: resource["Type"] for name, resource in expanded["resources"].items()}
    added = {kinds[name] for name in kinds.keys() - read_template("template.yaml")["Resources"].keys()}

    assert added == {"AWS::ApiGatewayV2::Stage"}


def test_rules_and_conditions_reach_cloudformation(expanded: Any) -> None:
    template = read_template("template.yaml")

    assert expanded["rules"] == list(template["Rules"])
    assert set(expanded["conditions"]) == set(template["Conditions"])
