"""The embedded metric format as CloudWatch documents it, as a JSON schema and the rules that a schema cannot say.

Source: the Amazon CloudWatch guide, "Specification: Embedded metric format"; the API reference of CloudWatch,
``Dimension`` and ``MetricDatum``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

MAX_LINE_BYTES = 256_000
MAX_METRICS, MAX_DIMENSIONS, MAX_VALUES = 100, 30, 100
OLDEST_S, NEWEST_S = 14 * 86_400, 2 * 3_600
UNITS = (
    *("Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes"),
    *("Bits", "Kilobits", "Megabits", "Gigabits", "Terabits", "Percent", "Count", "None"),
    *(f"{each}/Second" for each in ("Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits", "Count")),
)

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["_aws"],
    "properties": {
        "_aws": {
            "type": "object",
            "required": ["Timestamp", "CloudWatchMetrics"],
            "additionalProperties": False,
            "properties": {
                "Timestamp": {"type": "integer", "minimum": 0},
                "CloudWatchMetrics": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["Namespace", "Dimensions", "Metrics"],
                        "additionalProperties": False,
                        "properties": {
                            "Namespace": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[^:]"},
                            "Dimensions": {
                                "type": "array",
                                "minItems": 1,
                                "uniqueItems": True,
                                "items": {
                                    "type": "array",
                                    "maxItems": MAX_DIMENSIONS,
                                    "uniqueItems": True,
                                    "items": {"type": "string", "pattern": r"^[!-9;-~][ -~]{0,249}$"},
                                },
                            },
                            "Metrics": {
                                "type": "array",
                                "minItems": 1,
                                "maxItems": MAX_METRICS,
                                "items": {
                                    "type": "object",
                                    "required": ["Name"],
                                    "additionalProperties": False,
                                    "properties": {
                                        "Name": {"type": "string", "minLength": 1, "maxLength": 255},
                                        "Unit": {"enum": UNITS},
                                        "StorageResolution": {"enum": [1, 60]},
                                    },
                                },
                            },
                        },
                    },
                },
            },
        }
    },
}
_VALIDATOR = Draft202012Validator(SCHEMA)


def metrics_in(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], list[float]]:
    """The metrics that CloudWatch makes of a line: values by name and dimensions. Without ``_aws`` there are none.

    Fails if the line is not one that CloudWatch reads whole.
    """
    line = json.loads(text, parse_constant=_refuse)
    if "_aws" not in line:
        return {}
    assert "\n" not in text.removesuffix("\n")
    assert len(text.encode()) <= MAX_LINE_BYTES
    _VALIDATOR.validate(line)
    assert -OLDEST_S < line["_aws"]["Timestamp"] / 1e3 - time.time() < NEWEST_S
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[float]] = {}
    for name, dimensions in _told(line):
        assert (name, dimensions) not in found, "the metric is told twice"
        found[name, dimensions] = _values(line[name])
    return found


def _told(line: Mapping[str, Any]) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    for directive in line["_aws"]["CloudWatchMetrics"]:
        for dimensions in directive["Dimensions"]:
            pairs = tuple((name, _dimension(line[name])) for name in dimensions)
            for metric in directive["Metrics"]:
                yield metric["Name"], pairs


def _dimension(value: Any) -> str:
    """A value of a dimension: ASCII with something to see, no control characters, no colon in front."""
    assert isinstance(value, str)
    assert 0 < len(value) <= 1024
    assert value.isascii()
    assert value.isprintable()
    assert value.strip()
    assert not value.startswith(":")
    return value


def _values(value: Any) -> list[float]:
    values = value if isinstance(value, list) else [value]
    assert 0 < len(values) <= MAX_VALUES
    for each in values:
        assert type(each) in (int, float)
        assert abs(each) < 2.0**360
    return [float(each) for each in values]


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")
