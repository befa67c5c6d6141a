"""Convert YAML to JSON values by the rules of YAML 1.2: ``5`` is a number, ``"5"`` and ``yes`` are texts.

Source: YAML 1.2.2, section 10.3.2 (core schema).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

MAX_VALUES = 1_000
"""The number of values to convert at most: aliases can repeat each other."""

MAX_LEVELS = 16
"""Levels of nested mappings and lists."""

LARGEST_INTEGER = 2**63 - 1
MAX_DIGITS = 64

CONSTANTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}
INTEGERS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"[-+]?([0-9]+)"), 10),
    (re.compile(r"0o([0-7]+)"), 8),
    (re.compile(r"0x([0-9a-fA-F]+)"), 16),
)
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def value_of(node: yaml.Node, *, text_of: Callable[[yaml.ScalarNode], str | None]) -> Any:
    """Convert a node to a JSON value. ``text_of`` returns a scalar's text, or reports a problem and returns ``None``.

    Raises:
        yaml.MarkedYAMLError: too many values or levels, or a number that JSON cannot hold.
    """
    left = MAX_VALUES

    def value(node: yaml.Node, levels: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or levels < 0:
            raise _refusal(node, f"at most {MAX_VALUES} values, nested {MAX_LEVELS} deep")
        match node:
            case yaml.MappingNode():
                return {key.value: value(each, levels - 1) for key, each in node.value}
            case yaml.SequenceNode():
                return [value(each, levels - 1) for each in node.value]
            case yaml.ScalarNode():
                text = text_of(node)
                return _plain(node) if text == node.value and node.style is None else text

    return value(node, MAX_LEVELS)


def _plain(node: yaml.ScalarNode) -> Any:
    """Return the value of a scalar without quotes."""
    text = str(node.value)
    if text in CONSTANTS:
        return CONSTANTS[text]
    for pattern, base in INTEGERS:
        digits = pattern.fullmatch(text)
        if digits:
            number = int(digits[1], base) if len(digits[1]) <= MAX_DIGITS else math.inf
            return _held(node, -number if text.startswith("-") else number)
    if NOT_FINITE.fullmatch(text):
        return _held(node, math.inf)
    return _held(node, float(text)) if FLOAT.fullmatch(text) else text


def _held(node: yaml.Node, number: float) -> float:
    if not math.isfinite(number) or (isinstance(number, int) and abs(number) > LARGEST_INTEGER):
        raise _refusal(node, "a number that JSON can hold")
    return number


def _refusal(node: yaml.Node, expected: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=f"expected {expected}", problem_mark=node.start_mark)
