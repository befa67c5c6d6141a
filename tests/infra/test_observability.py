"""The alarms and the dashboard: names are those that the function emits, and the runbook has the sections."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from handler.server.log import ENDPOINT, FUNCTION, METRICS, NAMESPACE, VERSION
from tests.docs.test_links import anchors
from tests.infra.cloudformation import ROOT
from tests.infra.stack import Stack

RUNBOOK = ROOT / "docs" / "operate" / "runbook.md"
NAMES = {"FunctionName": "stile-StileFunction-a1", "ApiId": "a1b2c3d4e5"}
TOPIC = "arn:aws:sns:eu-central-1:123456789012:on-call"
OF_AWS = {
    "AWS/Lambda": ("FunctionName", {"Errors", "Throttles", "Invocations", "ConcurrentExecutions"}),
    "AWS/ApiGateway": ("ApiId", {"Count", "4xx", "5xx"}),
}
"""The namespaces of AWS -> their dimension here, and the metrics that AWS documents and we use."""


GATEWAY = f"Stile/{NAMES['ApiId']}"
"""The namespace in which a filter of the access log counts."""


def stack_of(**parameters: str) -> Stack:
    return Stack("infra/observability.yaml", {**NAMES, **parameters})


def alarms() -> dict[str, dict[str, Any]]:
    return stack_of().of_type("AWS::CloudWatch::Alarm")


def widgets() -> list[dict[str, Any]]:
    (dashboard,) = stack_of().of_type("AWS::CloudWatch::Dashboard").values()
    found: list[dict[str, Any]] = json.loads(dashboard["DashboardBody"])["widgets"]
    return found


def shown() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each metric of the dashboard: its namespace, its name and its dimensions."""
    for widget in widgets():
        for metric in widget["properties"].get("metrics", []):
            texts = [each for each in metric if isinstance(each, str)]
            if texts:
                namespace, name, *pairs = texts
                yield namespace, name, dict(zip(pairs[::2], pairs[1::2], strict=True))


def watched() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Each metric of an alarm, of this template and of the function's own stack."""
    for each in [
        *alarms().values(),
        *Stack("template.yaml", {"Release": "a"}).of_type("AWS::CloudWatch::Alarm").values(),
    ]:
        for metric in metrics_of(each):
            yield metric["Namespace"], metric["MetricName"], {one["Name"]: one["Value"] for one in metric["Dimensions"]}


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """The metrics of an alarm, of one or of several in an expression."""
    stats = [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return [{"Dimensions": [], **each} for each in stats or ([alarm] if "MetricName" in alarm else [])]


def test_metrics_of_the_dashboard_are_all_that_the_function_emits() -> None:
    ours = {name for namespace, name, _ in shown() if namespace == NAMESPACE}

    assert ours == {each.name for each in METRICS}


def test_metrics_of_alarms_are_emitted_or_those_of_aws() -> None:
    for namespace, name, dimensions in [*watched(), *shown()]:
        if namespace == NAMESPACE:
            assert name in {each.name for each in METRICS}
            assert set(dimensions) - {VERSION} == {FUNCTION}
        elif namespace == GATEWAY:
            assert (name, dimensions) == ("gateway_throttles", {})
        else:
            dimension, names = OF_AWS[namespace]
            assert name in names
            of_account = not dimensions and name == "ConcurrentExecutions"
            assert of_account or set(dimensions) - {"Resource", "ExecutedVersion"} == {dimension}


def test_dimensions_are_those_of_the_named_function_and_api() -> None:
    values = {value for _, _, dimensions in shown() for value in dimensions.values()}
    metrics = [metric for alarm in alarms().values() for metric in metrics_of(alarm)]
    values |= {each["Value"] for metric in metrics for each in metric["Dimensions"]}

    assert values == set(NAMES.values())


def test_the_search_by_endpoint_has_the_names_of_a_metric_of_endpoints() -> None:
    (text,) = [
        metric[0]["expression"]
        for widget in widgets()
        for metric in widget["properties"].get("metrics", [])
        if isinstance(metric[0], dict)
    ]
    ((names, metric, function),) = re.findall(r"""\{([\w,]+)\} MetricName="(\w+)" function="([^"]+)\"""", text)

    assert names.split(",") == [NAMESPACE, FUNCTION, ENDPOINT]
    assert metric in {each.name for each in METRICS if each.by_endpoint}
    assert function == NAMES["FunctionName"]


def test_there_is_an_alarm_on_each_thing_that_goes_wrong() -> None:
    watched = [metrics_of(alarm)[0] for alarm in alarms().values()]
    assert {(each["Namespace"], each["MetricName"]) for each in watched} == {
        ("AWS/Lambda", "Errors"),
        (NAMESPACE, "errors"),
        ("AWS/Lambda", "Throttles"),
        ("AWS/Lambda", "ConcurrentExecutions"),
        ("AWS/ApiGateway", "5xx"),
        (GATEWAY, "gateway_throttles"),
        *((NAMESPACE, name) for name in ("upstream_failures", "api_errors", "upstream_limits", "schema_drift")),
        *((NAMESPACE, name) for name in ("callers_refused", "duration_ms", "bundle_age_s", "memory_percent")),
        (NAMESPACE, "endpoints_missing"),
    }
    assert alarms()["DurationAlarm"]["ExtendedStatistic"] == "p99"
    assert alarms()["BundleAgeAlarm"]["Statistic"] == "Maximum"
    assert all(each["TreatMissingData"] == "notBreaching" for each in alarms().values())  # nobody calls at night


def test_the_dashboard_shows_every_alarm() -> None:
    (listed,) = [widget["properties"]["alarms"] for widget in widgets() if widget["type"] == "alarm"]

    assert {arn.removesuffix(".Arn") for arn in listed} == set(alarms())


@pytest.mark.parametrize("metrics", ["function", "endpoint", "on", "off"])
def test_alarm_of_endpoints_is_there_and_on_the_dashboard_if_endpoints_have_metrics(metrics: str) -> None:
    stack = stack_of(Metrics=metrics)
    (dashboard,) = stack.of_type("AWS::CloudWatch::Dashboard").values()
    listed = json.loads(dashboard["DashboardBody"])["widgets"][0]["properties"]["alarms"]

    assert ("EndpointDownAlarm" in stack.resources) is ("EndpointDownAlarm.Arn" in listed)
    assert ("EndpointDownAlarm" in stack.resources) is (metrics in ("endpoint", "on"))
    assert set(stack.resources) - {"Dashboard"} == {arn.removesuffix(".Arn") for arn in listed}


def test_filter_of_the_access_log_counts_into_the_namespace_of_the_alarm() -> None:
    stack = Stack("template.yaml", attributes={"HttpApi": NAMES["ApiId"]})
    (made,) = stack.properties("GatewayThrottles")["MetricTransformations"]
    (metric, _) = metrics_of(alarms()["GatewayThrottlesAlarm"])

    assert (made["MetricNamespace"], made["MetricName"]) == (metric["Namespace"], metric["MetricName"])
    assert "DefaultValue" not in made  # which would cost a metric without one request that was throttled
    log_format = stack.properties("HttpApi")["AccessLogSettings"]["Format"]
    assert '"status":"$context.status"' in log_format  # which the filter reads as a text


def test_widgets_of_the_dashboard_do_not_overlap() -> None:
    cells = [
        (x, y)
        for each in widgets()
        for x in range(each["x"], each["x"] + each["width"])
        for y in range(each["y"], each["y"] + each["height"])
    ]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_an_old_bundle_is_an_alarm_after_requests_would_wait_for_a_new_one() -> None:
    stale = Stack("template.yaml").resolved({"Ref": "MaxStaleSeconds"})

    assert int(alarms()["BundleAgeAlarm"]["Threshold"]) > int(stale)


def sections() -> set[str]:
    """The sections of the runbook that descriptions of alarms end in."""
    return {each["AlarmDescription"].rpartition("#")[2] for each in alarms().values()}


def test_each_alarm_ends_in_a_section_of_the_runbook() -> None:
    page = RUNBOOK.relative_to(ROOT).as_posix()

    assert {each["AlarmDescription"].split()[-1].partition("#")[0] for each in alarms().values()} == {page}
    assert sections() == {
        "alarm-errors",
        "alarm-throttles",
        "alarm-missing-endpoints",
        "alarm-duration",
        "alarm-upstream-failures",
        *("alarm-api-errors", "alarm-upstream-limits", "alarm-schema-drift", "alarm-callers-refused"),
        *("alarm-gateway", "alarm-concurrency"),
        "alarm-bundle-age",
        "alarm-memory",
    }


@pytest.mark.skipif(not RUNBOOK.exists(), reason="there is no docs/operate/runbook.md yet")
def test_sections_of_alarms_are_headings_of_the_runbook_and_the_other_way_round() -> None:
    assert {each for each in anchors(RUNBOOK.read_text("utf-8")) if each.startswith("alarm-")} == sections()


def test_a_team_names_the_place_of_its_own_runbook() -> None:
    alarm = stack_of(Runbook="https://wiki.example.com/stile").properties("ThrottlesAlarm")

    assert alarm["AlarmDescription"].endswith(" https://wiki.example.com/stile#alarm-throttles")


@pytest.mark.parametrize(
    ("parameters", "topic"),
    [({}, None), ({"TopicArn": TOPIC}, TOPIC), ({"Email": "ops@example.com"}, "Topic")],
)
def test_alarms_tell_the_topic_that_is_named_or_made_or_none(parameters: dict[str, str], topic: str | None) -> None:
    stack = stack_of(**parameters)

    for name, alarm in stack.of_type("AWS::CloudWatch::Alarm").items():
        for actions in ("AlarmActions", "OKActions"):
            assert alarm.get(actions) == ([topic] if topic else None), name
    assert ("Topic" in stack.resources) is (topic == "Topic")
    assert stack.outputs.get("TopicArn") == topic


def test_two_topics_are_refused() -> None:
    assert stack_of(TopicArn=TOPIC, Email="ops@example.com").broken_rules


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("Runbook", 'a"b'), ("Runbook", "a#b"), ("FunctionName", 'a", "b'), ("Email", "ops"), ("TopicArn", "on-call")],
)
def test_a_value_that_would_leave_its_place_is_refused(parameter: str, value: str) -> None:
    assert stack_of(**{parameter: value}).refused == [parameter]
