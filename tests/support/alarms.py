"""CloudWatch as far as the stacks use it: metrics from lines of the log, metric math, Metrics Insights and alarms.

An alarm is judged once a minute over the minutes before, as CloudWatch does with periods below an hour. That CloudWatch
judges longer periods less often only makes an alarm later.

Source: the Amazon CloudWatch guide, "Alarm evaluation", "Configuring how CloudWatch alarms treat missing data", "Using
math expressions with CloudWatch metrics", "Metrics Insights query components and syntax" and "Filter pattern syntax".
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.emf import metrics_in

MINUTE_S = 60

MORE_PERIODS = 2
"""Periods that CloudWatch reads beside those that it judges: 2 for 3 in the example of the guide."""

Series = tuple[str, str, tuple[tuple[str, str], ...]]
"""A metric: its namespace, its name and its dimensions, sorted."""

OPERATORS: Mapping[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
}
QUERY = re.compile(
    r"SELECT (?P<function>AVG|COUNT|MAX|MIN|SUM)\((?P<name>\w+)\) "
    r'FROM SCHEMA\("(?P<namespace>\w+)", (?P<dimensions>"\w+"(?:, "\w+")*)\) '
    r"WHERE \"(?P<label>\w+)\" = '(?P<value>[^']+)' GROUP BY \"(?P<group>\w+)\" ORDER BY (?P=function)\(\) DESC"
)
STATISTICS = {"AVG": "Average", "COUNT": "SampleCount", "MAX": "Maximum", "MIN": "Minimum", "SUM": "Sum"}


@dataclass
class CloudWatch:
    """What was put, by the second."""

    series: dict[Series, list[tuple[float, float]]] = field(default_factory=dict)
    known_until: float = math.inf  # later values have not arrived when an alarm is judged

    def put(self, namespace: str, name: str, dimensions: Mapping[str, str], value: float, *, at: float) -> None:
        """Take one value of a metric."""
        self.series.setdefault((namespace, name, tuple(sorted(dimensions.items()))), []).append((at, value))

    def read(self, line: str, *, at: float) -> None:
        """Take a line of a log group, whose metrics count for the second ``at``."""
        for (name, dimensions), values in metrics_in(line).items():
            for value in values:
                self.put("Stile", name, dict(dimensions), value, at=at)

    def filtered(self, line: Mapping[str, str], filters: Mapping[str, Any], *, at: float) -> None:
        """Take a line of a log group with metric filters, as CloudFormation has them."""
        for each in filters.values():
            ((name, value),) = re.findall(r'\{ \$\.(\w+) = "(\w+)" \}', each["FilterPattern"])
            for made in each["MetricTransformations"] if line[name] == value else ():
                self.put(made["MetricNamespace"], made["MetricName"], {}, float(made["MetricValue"]), at=at)

    def moments(self) -> list[float]:
        return [at for points in self.series.values() for at, _ in points]

    def ringing(
        self, alarms: Mapping[str, Mapping[str, Any]], *, since: float = 0, delay_s: float = 0
    ) -> dict[str, set[str]]:
        """The alarms in the state ALARM at some time ``since``, with contributors; none for an alarm of one metric.

        ``delay_s`` is the time that values take to arrive.
        """
        first, last = max(since, min(self.moments())), max(self.moments())
        found: dict[str, set[str]] = {}
        for minute in range(math.floor(first / MINUTE_S), math.ceil(last / MINUTE_S) + 2):
            self.known_until = minute * MINUTE_S - delay_s
            for name, alarm in alarms.items():
                for contributor in self._breaching(alarm, end=minute * MINUTE_S):
                    found.setdefault(name, set()).add(contributor)
        return {name: contributors - {""} for name, contributors in found.items()}

    def _breaching(self, alarm: Mapping[str, Any], *, end: float) -> Iterator[str]:
        assert alarm["TreatMissingData"] == "notBreaching"
        require_accepted(alarm)
        period = int(alarm.get("Period") or _period(alarm["Metrics"]))
        count = int(alarm["EvaluationPeriods"])
        needed = int(alarm.get("DatapointsToAlarm", count))
        is_breaching = COMPARISONS[alarm["ComparisonOperator"]]
        found: dict[str, list[bool]] = {}  # of each period with a value, the youngest first
        for number in range(count + MORE_PERIODS):
            until = end - number * period
            for contributor, value in self._values(alarm, start=until - period, end=until).items():
                found.setdefault(contributor, []).append(is_breaching(value, float(alarm["Threshold"])))
        yield from (contributor for contributor, breaches in found.items() if sum(breaches[:count]) >= needed)

    def _values(self, alarm: Mapping[str, Any], *, start: float, end: float) -> dict[str, float]:
        """The value of each contributor in one period. A missing value is left out."""
        if "Metrics" not in alarm:
            statistic = alarm.get("Statistic") or alarm["ExtendedStatistic"]
            value = self._statistic(_series_of(alarm), statistic, start=start, end=end)
            return {} if value is None else {"": value}
        names: dict[str, float | None] = {}
        for each in alarm["Metrics"]:
            if query := QUERY.fullmatch(each.get("Expression", "").strip()):
                assert len(alarm["Metrics"]) == 1
                return self._queried(query, start=start, end=end)
            if "MetricStat" in each:
                assert each["ReturnData"] in (False, "false")
                stat = each["MetricStat"]
                names[each["Id"]] = self._statistic(_series_of(stat["Metric"]), stat["Stat"], start=start, end=end)
        (expression,) = [each["Expression"] for each in alarm["Metrics"] if "Expression" in each]
        exist = {
            each["Id"]: _series_of(each["MetricStat"]["Metric"]) in self.series
            for each in alarm["Metrics"]
            if "MetricStat" in each
        }
        value = computed(ast.parse(expression, mode="eval").body, names, exist=exist)
        return {} if value is None else {"": value}

    def _statistic(self, series: Series, statistic: str, *, start: float, end: float) -> float | None:
        values = sorted(value for at, value in self.series.get(series, ()) if start <= at < min(end, self.known_until))
        if not values:
            return None
        if statistic.startswith("p"):
            return values[min(len(values) - 1, math.ceil(len(values) * float(statistic[1:]) / 100) - 1)]
        found = {"Sum": sum(values), "Maximum": values[-1], "Minimum": values[0], "SampleCount": len(values)}
        return sum(values) / len(values) if statistic == "Average" else float(found[statistic])

    def _queried(self, query: re.Match[str], *, start: float, end: float) -> dict[str, float]:
        dimensions = set(re.findall(r"\w+", query["dimensions"]))
        found = {}
        for series in self.series:
            namespace, name, pairs = series
            labels = dict(pairs)
            if (namespace, name, set(labels)) != (query["namespace"], query["name"], dimensions):
                continue
            if labels[query["label"]] == query["value"]:
                found[labels[query["group"]]] = self._statistic(
                    series, STATISTICS[query["function"]], start=start, end=end
                )
        return {group: value for group, value in found.items() if value is not None}


def computed(node: ast.AST, values: Mapping[str, float | None], *, exist: Mapping[str, bool]) -> float | None:
    """The value of an expression of metric math in one period; ``None`` if it is missing.

    ``FILL`` fills a gap of a metric that exists. Of a metric that never had a value there is nothing to fill.
    """
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.Call(func=ast.Name(id="FILL"), args=[ast.Name(id=name), filling]):
            value = values[name]
            return computed(filling, values, exist=exist) if value is None and exist[name] else value
        case ast.Call(func=ast.Name(id="IF"), args=[condition, then, otherwise]):
            holds = computed(condition, values, exist=exist)
            return None if holds is None else computed(then if holds else otherwise, values, exist=exist)
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            one, other = computed(left, values, exist=exist), computed(right, values, exist=exist)
            if one is None or other is None or (isinstance(op, ast.Div) and other == 0):
                return None
            return float(OPERATORS[type(op)](one, other))
    raise AssertionError(f"metric math that is not simulated: {ast.unparse(node)}")


def require_accepted(alarm: Mapping[str, Any]) -> None:
    """Fail for an alarm that CloudWatch does not take, or does not judge as it is written.

    Source: the CloudWatch API, ``PutMetricAlarm`` and ``MetricDataQuery``; the guide, "Limits" of alarms.
    """
    metrics = alarm.get("Metrics", [])
    period, count = int(alarm.get("Period") or _period(metrics)), int(alarm["EvaluationPeriods"])
    assert period % 60 == 0
    assert period * count <= (86_400 if period < 3_600 else 7 * 86_400), "looks too far back"
    assert 1 <= int(alarm.get("DatapointsToAlarm", count)) <= count, "needs more periods than it judges"
    assert 0 < len(alarm["AlarmDescription"]) <= 1_024
    if not metrics:
        return
    ids = [each["Id"] for each in metrics]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]\w{0,254}", each) for each in ids)
    assert sum(each.get("ReturnData", True) in (True, "true") for each in metrics) == 1, "returns no series, or several"
    assert sum("MetricStat" in each for each in metrics) <= 10, "has more than 10 metrics"
    for expression in [each["Expression"] for each in metrics if "Expression" in each]:
        assert len(expression) <= 2_048
        assert "SEARCH(" not in expression, "returns what no alarm takes"
        assert "SELECT " not in expression or period * count <= 3 * 3_600, "a query sees three hours"


def _series_of(metric: Mapping[str, Any]) -> Series:
    dimensions = {each["Name"]: each["Value"] for each in metric.get("Dimensions", [])}
    return metric["Namespace"], metric["MetricName"], tuple(sorted(dimensions.items()))


def _period(metrics: list[Mapping[str, Any]]) -> int:
    """The period of an alarm on several metrics, which is one."""
    holders = [each.get("MetricStat", each) for each in metrics]
    (period,) = {int(each["Period"]) for each in holders if "Period" in each}
    return period
