"""A fast check that a value certainly fits a schema. jsonschema, slower to load than a call takes, decides the rest.

The results agree with ``json_schema.checker.Checker``. An unknown keyword counts as a doubt, and so does a value that
does not fit: the checker reports the violations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sized
from types import NoneType
from typing import Any

from handler.json_schema.formats import FORMATS, matches

MAX_STEPS = 200
"""Nested schemas, each of which takes two calls of Python's stack."""

REFERENCE = "#/$defs/"

NOTHING_ASKED: Mapping[str, Any] = {}

Judge = Callable[[Any, Any, "_Place"], bool]
Patterns = Callable[[str, str], bool]
"""A function that judges a text by a pattern."""


def takes_any(_pattern: str, _text: str) -> bool:
    """Enforce no pattern."""
    return True


class QuickCheck:
    """Checks of parts of one value by parts of one schema, each made once. Both must live as long as this object.

    Texts of ``doubtful_formats`` are doubts. ``patterns`` judges texts by patterns.
    """

    def __init__(
        self, root: Mapping[str, Any], *, doubtful_formats: Container[str] = (), patterns: Patterns = matches
    ) -> None:
        self.definitions = root.get("$defs", NOTHING_ASKED)
        self.doubtful_formats = doubtful_formats
        self.patterns = patterns
        self.results: dict[tuple[int, int], bool] = {}  # by the identities of a list or object and a schema

    def surely_fits(self, value: Any, schema: Any) -> bool:
        """Return whether a part of the value certainly fits a part of the schema; it may fit all the same if false."""
        return _fits(value, schema, _Place(NOTHING_ASKED, self, MAX_STEPS))

    def differs(self, value: Any, schema: Any) -> bool:
        """Return whether an object is certainly of another kind: it has a text where the schema lists other values."""
        if isinstance(schema, dict) and "$ref" in schema:
            schema = self.definitions.get(schema["$ref"].removeprefix(REFERENCE))
        if not isinstance(schema, dict) or not isinstance(value, dict):
            return False
        rules = schema.get("properties", NOTHING_ASKED)
        for name, text in value.items():
            rule = rules.get(name)
            if (
                isinstance(text, str)
                and isinstance(rule, dict)
                and text not in rule.get("enum", (rule.get("const", text),))
            ):
                return True
        return False


class _Place:
    """The context of a rule: its schema, the known results, and the nesting that is left."""

    __slots__ = ("check", "schema", "steps")

    def __init__(self, schema: Mapping[str, Any], check: QuickCheck, steps: int) -> None:
        self.schema = schema
        self.check = check
        self.steps = steps


def _fits(value: Any, schema: Any, above: _Place) -> bool:
    if not isinstance(schema, dict) or not above.steps:
        return False
    if not isinstance(value, (dict, list)):
        return _fits_all(value, schema, above)
    results, key = above.check.results, (id(value), id(schema))
    result = results.get(key)
    if result is None:
        result = results[key] = _fits_all(value, schema, above)
    return result


def _fits_all(value: Any, schema: Mapping[str, Any], above: _Place) -> bool:
    place = _Place(schema, above.check, above.steps - 1)
    for keyword, rule in schema.items():
        judge = _JUDGES.get(keyword)
        if judge is None or not judge(value, rule, place):
            return False
    return True


def _type(value: Any, rule: Any, _: _Place) -> bool:
    names = TYPES.get(type(value), ())
    if type(value) is float and value.is_integer():  # JSON has one kind of numbers
        names = TYPES[int]
    return rule in names if isinstance(rule, str) else any(name in rule for name in names)


def _properties(value: Any, rule: Any, place: _Place) -> bool:
    if isinstance(value, dict):
        for name, each in value.items():
            if name in rule and not _fits(each, rule[name], place):
                return False
    return True


def _additional_properties(value: Any, rule: Any, place: _Place) -> bool:
    if isinstance(value, dict):
        properties = place.schema.get("properties", NOTHING_ASKED)
        for name, each in value.items():
            if name not in properties and (rule is False or not _fits(each, rule, place)):
                return False
    return True


def _items(value: Any, rule: Any, place: _Place) -> bool:
    if isinstance(value, list):
        first = len(place.schema.get("prefixItems", ()))
        for item in value[first:] if first else value:
            if not _fits(item, rule, place):
                return False
    return True


def _prefix_items(value: Any, rule: Any, place: _Place) -> bool:
    if isinstance(value, list):
        for item, schema in zip(value, rule, strict=False):
            if not _fits(item, schema, place):
                return False
    return True


def _unique_items(value: Any, rule: Any, _: _Place) -> bool:
    # Texts alone: numbers of several types may be equal in JSON, and objects are not hashable.
    is_bare = rule is not True or not isinstance(value, list)
    return is_bare or (all(type(item) is str for item in value) and len(set(value)) == len(value))


def _any_of(value: Any, rule: Any, place: _Place) -> bool:
    for schema in rule:  # noqa: SIM110 - a generator would take one more call of the stack
        if not place.check.differs(value, schema) and _fits(value, schema, place):
            return True
    return False


def _one_of(value: Any, rule: Any, place: _Place) -> bool:
    branches = [schema for schema in rule if not place.check.differs(value, schema)]
    return len(branches) == 1 and _fits(value, branches[0], place)


def _ref(value: Any, rule: Any, place: _Place) -> bool:
    name = rule.removeprefix(REFERENCE)
    return name != rule and _fits(value, place.check.definitions.get(name), place)


def _if(value: Any, rule: Any, place: _Place) -> bool:
    # The compiler's two forms: one item may stand for a list of it, and null for a referenced definition.
    if rule == {"type": "array"}:
        if isinstance(value, str) and value.lstrip().startswith("["):
            return False  # it may be the JSON of a list
        holds = isinstance(value, list)
    elif rule == {"not": {"type": "null"}}:
        holds = value is not None
    else:
        return False
    return _fits(value, place.schema.get("then" if holds else "else", NOTHING_ASKED), place)


def _format(value: Any, rule: Any, place: _Place) -> bool:
    if not isinstance(value, str):
        return True
    return rule not in place.check.doubtful_formats and (rule not in FORMATS or FORMATS[rule].fits(value))


def _number(judge: Callable[[Any, Any], bool]) -> Judge:
    return lambda value, rule, _: type(value) not in (int, float) or judge(value, rule)


def _length(kind: type[Sized], judge: Callable[[Any, Any], bool]) -> Judge:
    return lambda value, rule, _: not isinstance(value, kind) or judge(len(value), rule)


TYPES: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    dict: ("object",),
    list: ("array",),
    NoneType: ("null",),
}
"""Type of a JSON value in Python -> its names in schemas."""

_JUDGES: Mapping[str, Judge] = {
    "type": _type,
    # Numbers and booleans may be equal in Python and not in JSON.
    "enum": lambda value, rule, _: (value is None or isinstance(value, str)) and value in rule,
    "const": lambda value, rule, _: isinstance(value, str) and value == rule,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "required": lambda value, rule, _: not isinstance(value, dict) or all(name in value for name in rule),
    "items": _items,
    "prefixItems": _prefix_items,
    "uniqueItems": _unique_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "$ref": _ref,
    "if": _if,
    "format": _format,
    "pattern": lambda value, rule, place: not isinstance(value, str) or place.check.patterns(rule, value),
    "minimum": _number(operator.ge),
    "maximum": _number(operator.le),
    "exclusiveMinimum": _number(operator.gt),
    "exclusiveMaximum": _number(operator.lt),
    "multipleOf": lambda value, rule, _: type(value) is type(rule) is int and value % rule == 0,
    "minLength": _length(str, operator.ge),
    "maxLength": _length(str, operator.le),
    "minItems": _length(list, operator.ge),
    "maxItems": _length(list, operator.le),
    "minProperties": _length(dict, operator.ge),
    "maxProperties": _length(dict, operator.le),
    # "then" and "else" are judged with "if", and without effect alone.
    **dict.fromkeys(("then", "else", "$defs", "$comment", "title", "description"), lambda *_: True),
    **dict.fromkeys(("default", "examples", "deprecated", "discriminator"), lambda *_: True),
}
