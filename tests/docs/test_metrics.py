"""Names of metrics in the templates and in the documents, held against those that the function emits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.server.log import DIMENSIONS, ENDPOINT, FUNCTION, METRICS, NAMESPACE, OF_VERSION, VERSION
from tests.conftest import ROOT
from tests.docs.reference import codes, page, table
from tests.infra.cloudformation import read_template

TEMPLATES = sorted(["template.yaml", *(f"infra/{path.name}" for path in Path(ROOT, "infra").glob("*.yaml"))])
OBSERVABILITY = "infra/observability.yaml"
EMITTED = {each.name for each in METRICS}
BY_ENDPOINT = {each.name for each in METRICS if each.by_endpoint}
PAGE = page("numbers")
SEARCH = rf"SEARCH\('\{{{NAMESPACE},([a-z,]+)\}} MetricName=\W*(\w+)"
"""Metrics by a search, as of dashboards. Source: the CloudWatch guide, "Search expression syntax"."""

SELECT = rf'SELECT \w+\((\w+)\) FROM SCHEMA\("{NAMESPACE}", ([a-z", ]+)\)'
"""Metrics by a query, as of alarms. Source: the CloudWatch guide, "Metrics Insights query components and syntax"."""


def named_in(template: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each metric in our namespace that a template names, with the names of its dimensions."""
    yield from _named(read_template(template))


def _named(value: Any) -> Iterator[tuple[str, frozenset[str]]]:
    match value:
        case {"Namespace": namespace, "MetricName": name} if namespace == NAMESPACE:
            yield name, frozenset(each["Name"] for each in value.get("Dimensions", []))
        case [str(namespace), str(name), *rest] if namespace == NAMESPACE:
            yield name, frozenset([each for each in rest if isinstance(each, str)][::2])
        case dict() | list():
            for each in value.values() if isinstance(value, dict) else value:
                yield from _named(each)
        case str() if value.startswith(("{\n", '{"')):
            # A template puts a part of the alarms in. No value of JSON begins with "$".
            yield from _named(json.loads(re.sub(r"^\s*\$\{\w+\}$", "", value, flags=re.MULTILINE)))
        case str():
            yield from ((name, frozenset(named.split(","))) for named, name in re.findall(SEARCH, value))
            yield from ((name, frozenset(re.findall(r"\w+", named))) for name, named in re.findall(SELECT, value))


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_metric_that_a_template_names_is_emitted_with_its_dimensions(template: str) -> None:
    for name, dimensions in named_in(template):
        assert name in EMITTED
        assert dimensions in ({FUNCTION}, {FUNCTION, ENDPOINT}, {FUNCTION, VERSION})
        assert ENDPOINT not in dimensions or name in BY_ENDPOINT
        assert VERSION not in dimensions or name in OF_VERSION


@pytest.mark.skipif(not Path(ROOT, OBSERVABILITY).exists(), reason="the stack has no template of alarms")
def test_every_metric_and_dimension_that_is_emitted_is_shown_by_the_dashboard_or_an_alarm() -> None:
    named = list(named_in(OBSERVABILITY))
    released = {name for name, dimensions in named_in("template.yaml") if VERSION in dimensions}

    assert {name for name, _ in named} == EMITTED
    assert set().union(*(dimensions for _, dimensions in named)) == set(DIMENSIONS) - {VERSION}
    assert released == OF_VERSION


# The page


def test_metrics_of_the_page_are_those_that_are_emitted() -> None:
    rows = table(PAGE.section("## Metrics"), "metric", "unit", "also by endpoint", "counts")

    assert {codes(row[0])[0]: (row[1], row[2]) for row in rows} == {
        each.name: (each.unit, "yes" if each.by_endpoint else "") for each in METRICS
    }


def test_number_of_metrics_of_the_page_is_that_of_the_module() -> None:
    (told,) = re.findall(r"(\d+) metrics for the function, (\d+) for each endpoint", PAGE.text.replace("\n", " "))

    assert tuple(map(int, told)) == (len(METRICS), len(BY_ENDPOINT))
