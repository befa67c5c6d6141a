"""The page for Terraform and other tools has what the templates make, value by value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.docs.pages import blocks, read, section
from tests.infra.cloudformation import read_template
from tests.infra.stack import Stack, statements

PAGE = "docs/deploy-elsewhere.md"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"
STACK = Stack(
    "template.yaml",
    {"SecretsPrefix": "stile"},
    attributes={
        "Storage.Outputs.BucketName": "BUCKET",
        "Storage.Outputs.BucketArn": "arn:aws:s3:::BUCKET",
        "LogKey": f"{SECRET}stile-log-key-a1b2c3",
        "StateKey": f"{SECRET}stile-state-key-d4e5f6",
        "FunctionLog.Arn": "arn:aws:logs:eu-central-1:123456789012:log-group:/aws/lambda/stile:*",
        "HttpApi": "a1b2c3d4e5",
    },
)
ALARMS = Stack("infra/observability.yaml", {"Metrics": "endpoint", "FunctionName": "stile", "ApiId": "a1b2c3d4e5"})
SIGNS = {"GreaterThanThreshold": ">", "GreaterThanOrEqualToThreshold": ">="}


def json_of(heading: str) -> Any:
    (found,) = [block.text for block in blocks(section(read(PAGE), heading)) if block.language == "json"]
    return json.loads(found)


def row(name: str, alarm: Mapping[str, Any]) -> str:
    """An alarm as the page shows it."""
    queries = alarm.get("Metrics", [])
    measured = [each["MetricStat"] for each in queries if "MetricStat" in each]
    metrics = [each["Metric"] for each in measured] or [each for each in [alarm] if "MetricName" in each]
    shown = ", ".join(f"`{each['Namespace']}` `{each['MetricName']}`" for each in metrics)
    expressions = [f"`{each['Expression']}`" for each in queries if "Expression" in each]
    (value,) = expressions or [alarm.get("Statistic") or alarm["ExtendedStatistic"]]
    (period,) = {each["Period"] for each in [*queries, *measured, alarm] if "Period" in each}
    count = alarm["EvaluationPeriods"]
    rings = f"{SIGNS[alarm['ComparisonOperator']]} {alarm['Threshold']}"
    periods = f"{alarm.get('DatapointsToAlarm', count)} of {count} of {period} s"
    return f"| {name.removesuffix('Alarm')} | {shown or 'in the expression'} | {value} | {rings} | {periods} |"


def test_environment_of_the_page_is_that_of_the_template() -> None:
    variables = STACK.properties("StileFunction")["Environment"]["Variables"]

    assert json_of("Environment") == {"Variables": {name: str(value) for name, value in variables.items()}}


def test_permissions_of_the_page_are_those_of_the_template() -> None:
    assert json_of("Permissions") == {"Version": "2012-10-17", "Statement": statements(STACK, "StileRole")}


def test_function_of_the_page_is_that_of_the_template() -> None:
    function = STACK.properties("StileFunction")
    text = section(read(PAGE), "The function")

    for name in ("Handler", "Runtime", "Timeout", "MemorySize"):
        assert f"| `{name}` | `{function[name]}` |" in text
    parameters = read_template("template.yaml")["Parameters"]
    assert f"{parameters['ThrottleRate']['Default']} requests per second" in read(PAGE)
    assert f"{parameters['ThrottleBurst']['Default']} at once" in read(PAGE)
    assert f"as built: `{parameters['Architecture']['Default']}`" in text


def test_tags_of_the_page_are_those_of_the_template() -> None:
    tags = {each["Key"]: each["Value"] for each in Stack("infra/storage.yaml").properties("BundleBucket")["Tags"]}
    text = " ".join(section(read(PAGE), "The function").split())

    assert list(tags) == ["stile:extras", "stile:code-modules", "stile:bundle-format"]
    assert f"`stile:extras` and `stile:code-modules` (names separated by spaces), and `{[*tags][2]}` (`2`)" in text
    assert tags["stile:bundle-format"] == "2"


def test_alarms_of_the_page_are_those_of_the_template() -> None:
    rows = [line for line in section(read(PAGE), "Alarms").splitlines() if line.startswith("| ")][1:]

    assert [each for each in rows if not each.startswith("| ---")] == [
        row(name, alarm) for name, alarm in ALARMS.of_type("AWS::CloudWatch::Alarm").items()
    ]


def test_what_the_page_says_of_all_alarms_holds() -> None:
    alarms = ALARMS.of_type("AWS::CloudWatch::Alarm")
    queries = [
        each["MetricStat"]["Metric"]
        for alarm in alarms.values()
        for each in alarm.get("Metrics", [])
        if "MetricStat" in each
    ]
    metrics = [*queries, *(alarm for alarm in alarms.values() if "MetricName" in alarm)]
    dimensions = {(each["Namespace"], *(one["Name"] for one in each.get("Dimensions", []))) for each in metrics}

    assert {alarm["TreatMissingData"] for alarm in alarms.values()} == {"notBreaching"}
    assert dimensions == {
        ("Stile", "function"),
        ("AWS/Lambda", "FunctionName"),
        ("AWS/Lambda",),
        ("AWS/ApiGateway", "ApiId"),
        ("Stile/a1b2c3d4e5",),
    }
    assert [
        each["MetricName"] for each in metrics if each["Namespace"] == "AWS/Lambda" and not each.get("Dimensions")
    ] == ["ConcurrentExecutions"]
