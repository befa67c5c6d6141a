"""What the stack's parameters make of it, alone and together, and what CloudFormation refuses."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.infra.cloudformation import read_template
from tests.infra.stack import Stack, statements

KEY = "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-4000-8000-000000000000"
VPC = {"SubnetIds": "subnet-0a1b2c3d,subnet-0123456789abcdef0", "SecurityGroupIds": "sg-0a1b2c3d"}
NETWORK = {
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
}


def stack_of(**parameters: Any) -> Stack:
    return Stack("template.yaml", parameters)


def statement(stack: Stack, sid: str) -> dict[str, Any]:
    (found,) = [each for each in statements(stack, "StileRole") if each["Sid"] == sid]
    return found


def test_nothing_is_optional_that_is_there_unless_told() -> None:
    stack = stack_of()
    function = stack.properties("StileFunction")

    assert sorted(stack.resources) == [
        "AccessLog",
        "FunctionLog",
        "GatewayThrottles",
        "HttpApi",
        "LogKey",
        "StateKey",
        "StileFunction",
        "StileFunctionAnyRequestPermission",
        "StileRole",
        "Storage",
    ]
    optional = {"ReservedConcurrentExecutions", "SnapStart", "VpcConfig", "KmsKeyArn"}
    assert not optional & set(function)
    assert (function["Tracing"], stack.properties("HttpApi")["DisableExecuteApiEndpoint"]) == ("PassThrough", False)
    assert [each["Sid"] for each in statements(stack, "StileRole")] == [
        "ReadBundles",
        "TellMissingFromForbidden",
        "ReadKeys",
        "WriteLog",
    ]
    assert (stack.broken_rules, stack.refused) == ([], [])


def test_in_a_vpc_lambda_may_join_the_network_and_the_functions_code_may_not() -> None:
    stack = stack_of(**VPC)

    assert stack.properties("StileFunction")["VpcConfig"] == {name: ids.split(",") for name, ids in VPC.items()}
    joins, stays = statement(stack, "JoinTheNetwork"), statement(stack, "StayOutOfTheNetwork")
    assert (joins["Effect"], set(joins["Action"])) == ("Allow", NETWORK)
    assert (stays["Effect"], set(stays["Action"])) == ("Deny", NETWORK)
    assert stays["Condition"] == {"ArnEquals": {"lambda:SourceFunctionArn": "StileFunction.Arn"}}
    inline = [policy["PolicyName"] for policy in stack.properties("StileRole")["Policies"]]
    assert "network" in inline  # Lambda refuses to make the function before the role has it


def test_a_key_encrypts_all_that_the_stack_makes_and_the_role_may_use_it() -> None:
    stack = stack_of(KmsKeyArn=KEY)

    assert stack.properties("StileFunction")["KmsKeyArn"] == KEY
    for name in ("FunctionLog", "AccessLog", "LogKey", "StateKey"):
        assert stack.properties(name)["KmsKeyId"] == KEY, name
    assert stack.properties("Storage")["Parameters"]["KmsKeyArn"] == KEY
    assert statement(stack, "UseKey") == {
        "Sid": "UseKey",
        "Effect": "Allow",
        "Action": "kms:Decrypt",
        "Resource": KEY,
    }


def test_tracing_gives_the_rights_of_it() -> None:
    stack = stack_of(Tracing="Active")

    assert stack.properties("StileFunction")["Tracing"] == "Active"
    assert statement(stack, "SendTraces")["Action"] == ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [({}, None), ({"ReservedConcurrency": "0"}, "0"), ({"ReservedConcurrency": "25"}, "25")],
)
def test_instances_are_reserved_if_a_number_is_given(parameters: dict[str, str], expected: str | None) -> None:
    assert stack_of(**parameters).properties("StileFunction").get("ReservedConcurrentExecutions") == expected


def test_the_api_is_throttled_as_told_and_closes_its_own_domain_if_told() -> None:
    api = stack_of(ThrottleRate=5, ThrottleBurst=9, DefaultEndpoint="off").properties("HttpApi")

    assert api["DefaultRouteSettings"] == {"ThrottlingRateLimit": "5", "ThrottlingBurstLimit": "9"}
    assert api["DisableExecuteApiEndpoint"] is True


# Releases


def test_a_release_is_a_version_by_its_name_and_an_alias_that_the_api_asks() -> None:
    stack = stack_of(Release="a1b2c3")

    version, alias = stack.properties("ReleaseVersion"), stack.properties("ReleaseAlias")
    assert version == {"FunctionName": "StileFunction", "Description": "a1b2c3"}
    assert (alias["Name"], alias["FunctionVersion"]) == ("live", "ReleaseVersion.Version")
    assert "a1b2c3" in stack.properties("StileFunction")["Description"]  # else Lambda would make no version of it
    body = json.dumps(stack.properties("HttpApi")["DefinitionBody"])
    assert re.findall(r"functions/(\w+)/invocations", body) == ["ReleaseAlias"]
    assert stack.properties("StileFunctionAnyRequestPermission")["FunctionName"] == "ReleaseAlias"
    assert stack.outputs["FunctionArn"] == "ReleaseAlias"


def test_versions_stay_as_ways_back() -> None:
    version = read_template("template.yaml")["Resources"]["ReleaseVersion"]

    assert (version["DeletionPolicy"], version["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_alias_moves_in_steps_and_back_when_an_alarm_rings() -> None:
    stack = stack_of(Release="two", Canary="Linear10PercentEvery1Minute")
    group = stack.properties("ReleaseGroup")
    moved = stack.resources["ReleaseAlias"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]

    assert moved == {"ApplicationName": "ReleaseApplication", "DeploymentGroupName": "ReleaseGroup"}
    assert group["DeploymentConfigName"] == "CodeDeployDefault.LambdaLinear10PercentEvery1Minute"
    assert group["AutoRollbackConfiguration"]["Enabled"] is True
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    alarms = stack.of_type("AWS::CloudWatch::Alarm")
    assert {each["Name"] for each in group["AlarmConfiguration"]["Alarms"]} == set(alarms)
    assert group["AlarmConfiguration"]["Enabled"] is True
    live = {"Name": "Resource", "Value": "StileFunction:live"}
    assert live in alarms["ReleaseErrors"]["Dimensions"]
    new = "ReleaseVersion.Version"  # and not the one before, which serves most requests of a canary
    assert {"Name": "ExecutedVersion", "Value": new} in alarms["ReleaseErrors"]["Dimensions"]
    assert {"Name": "version", "Value": new} in alarms["ReleaseFailures"]["Dimensions"]


@pytest.mark.parametrize(
    ("requests", "unserved", "ended", "rings"),
    [
        (5, 5, 0, True),  # a release that finds no bundles
        (0, 0, 5, True),  # each request kills its instance, so no line is written
        (3, 2, 2, True),
        (4, 4, 0, False),  # too few to tell
        (100, 30, 0, False),  # some names are made up
        (100, 0, 0, False),
        (0, 0, 0, False),
    ],
)
def test_the_alias_moves_back_if_half_of_the_requests_are_not_served(
    requests: int, unserved: int, ended: int, rings: bool
) -> None:
    alarm = stack_of(Release="two").of_type("AWS::CloudWatch::Alarm")["ReleaseUnserved"]
    (share,) = [each for each in alarm["Metrics"] if each.get("ReturnData", True)]
    metrics = {each["Id"]: each["MetricStat"] for each in alarm["Metrics"] if "MetricStat" in each}
    functions = {"FILL": lambda value, _: value}
    values = {"requests": requests, "unserved": unserved, "ended": ended}

    condition, value = re.findall(r"^IF\((.*), (100 .*), 0\)$", share["Expression"])[0]
    percent = eval(value, functions, values) if eval(condition, functions, values) else 0

    assert metrics.keys() == values.keys()
    assert (metrics["requests"]["Stat"], metrics["unserved"]["Stat"], metrics["ended"]["Stat"]) == (
        *("SampleCount", "Sum", "Sum"),
    )
    for each in metrics.values():
        assert "ReleaseVersion.Version" in [one["Value"] for one in each["Metric"]["Dimensions"]]
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (percent >= int(alarm["Threshold"])) is rings


def test_a_release_has_instances_that_are_kept_started_or_a_snapshot() -> None:
    kept = stack_of(Release="a", ProvisionedConcurrency=3)
    shot = stack_of(Release="a", SnapStart="on")

    assert kept.properties("ReleaseAlias")["ProvisionedConcurrencyConfig"] == {"ProvisionedConcurrentExecutions": "3"}
    assert "SnapStart" not in kept.properties("StileFunction")
    assert shot.properties("StileFunction")["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert "ProvisionedConcurrencyConfig" not in shot.properties("ReleaseAlias")
    assert (kept.broken_rules, shot.broken_rules) == ([], [])


# What is refused


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"SubnetIds": VPC["SubnetIds"]}, "SubnetIds and SecurityGroupIds are both given, or neither."),
        ({"SecurityGroupIds": VPC["SecurityGroupIds"]}, "SubnetIds and SecurityGroupIds are both given, or neither."),
        ({"ProvisionedConcurrency": 1}, "ProvisionedConcurrency needs Release"),
        ({"SnapStart": "on"}, "SnapStart needs Release"),
        ({"Release": "a", "SnapStart": "on", "ProvisionedConcurrency": 1}, "exclude each other"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused_with_a_sentence(parameters: dict[str, Any], told: str) -> None:
    (sentence,) = stack_of(**parameters).broken_rules

    assert told in sentence


@pytest.mark.parametrize("parameters", [VPC, {"Release": "a"}, {"ProvisionedConcurrency": 0, "SnapStart": "off"}])
def test_parameters_that_go_together_break_no_rule(parameters: dict[str, Any]) -> None:
    assert stack_of(**parameters).broken_rules == []


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("KmsKeyArn", "alias/stile"),
        ("KmsKeyArn", "*"),
        ("KmsKeyArn", KEY.replace("key/", "alias/")),
        ("KmsKeyArn", KEY[:-1] + "*"),
        ("KmsKeyArn", KEY.replace("123456789012", "*")),
        ("SubnetIds", "subnet-*"),
        ("SubnetIds", "subnet-0a1b2c3d,sg-0a1b2c3d"),
        ("SubnetIds", "subnet-0a1b2c3d, subnet-0a1b2c3e"),
        ("SecurityGroupIds", "default"),
        ("Release", "two words"),
        ("Release", "${AWS::AccountId}"),
        ("Release", "a" * 65),
        ("ReservedConcurrency", "-1"),
        ("ReservedConcurrency", "05"),
        ("ProvisionedConcurrency", "-1"),
        ("ThrottleRate", "0"),
        ("SnapStart", "PublishedVersions"),
        ("Canary", "CodeDeployDefault.LambdaAllAtOnce"),
        ("Tracing", "active"),
        ("DefaultEndpoint", "true"),
    ],
)
def test_a_value_that_is_not_valid_is_refused(parameter: str, value: str) -> None:
    assert stack_of(**{parameter: value}).refused == [parameter]


def test_every_group_of_the_console_has_its_parameters_once() -> None:
    template = read_template("template.yaml")
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [name for group in groups for name in group["Parameters"]]

    assert len(grouped) == len(set(grouped))
    assert set(grouped) == set(template["Parameters"])
