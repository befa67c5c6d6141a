"""Validation against a JSON Schema (2020-12). Nothing outside the schema is ever read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from handler.json_schema.fast_path import QuickCheck, takes_any
from handler.json_schema.formats import matches, refuse_bad_pattern
from handler.json_schema.json_bounds import count_values
from handler.json_schema.messages import sentences
from handler.json_schema.rules import Formats, TooMuchWork, Validation, validator_class
from handler.strict_json import JSONObject
from handler.text.sentences import pointer_of

MAX_VIOLATIONS = 50
MAX_PLACES = 10

MIN_STEPS = 12_000
STEPS_PER_VALUE = 2
"""Comparisons of parts of a value with parts of a schema, unless they surely fit. In types that refer to themselves in
several branches, the ways to read a value double with each of its levels."""

TOO_MUCH = "/: too complicated to be judged, because it could be read in too many ways: send less at once"


class Checker:
    """One schema, prepared for checking values. ``formats``: true to check formats, or further checks by format.

    ``of_graphql``: the compiler made the schema from GraphQL types, whose patterns are not enforced.
    """

    def __init__(self, schema: JSONObject, *, formats: Formats = True, of_graphql: bool = False) -> None:
        self._schema = schema
        self._make = validator_class(formats)
        self._formats = formats
        self._of_graphql = of_graphql
        # References inside an embedded resource are not relative to the root.
        self._is_one_resource = not any("$id" in part for part in islice(_objects(self._schema), 1, None))

    def violations(self, value: Any) -> list[str]:
        """Return the violations (JSON pointer, expected, actual). After 50, the last says that there are more."""
        found: list[str] = []
        try:
            for error in self._misfits(value):
                found += sentences(error, of_graphql=self._of_graphql)
                if len(found) > MAX_VIOLATIONS:
                    return [*found[:MAX_VIOLATIONS], "and more"]
        except TooMuchWork:
            return [*found, "and more"] if found else [TOO_MUCH]
        return found

    def places(self, value: Any) -> list[str]:
        """Return the first places of violations with the violated rules, without anything of the value."""
        try:
            errors = list(islice(self._misfits(value), MAX_PLACES))
        except TooMuchWork:
            return [TOO_MUCH]
        return [f"{pointer_of(error.absolute_path)}: {error.validator}" for error in errors]

    def misfits(self, values: Mapping[str, Any]) -> list[str]:
        """Return the names among ``values`` that do not fit."""
        return [str(error.absolute_path[0]) for error in self._misfits(values) if error.absolute_path]

    def _misfits(self, value: Any) -> Iterator[ValidationError]:
        own = self._formats if isinstance(self._formats, Mapping) else {}
        patterns = takes_any if self._of_graphql else matches
        quick = QuickCheck(self._schema, doubtful_formats=own, patterns=patterns) if self._is_one_resource else None
        steps = max(MIN_STEPS, STEPS_PER_VALUE * count_values(value))
        validator = self._make(self._schema, registry=Registry(), format_checker=Validation(quick, max_steps=steps))
        yield from validator.iter_errors(value)


def refuse_bad_schema(schema: JSONObject) -> None:
    """Check a schema that an author wrote.

    Raises:
        ValueError: the schema is not valid JSON Schema 2020-12, refers to another document or to nothing, or has a
            pattern that is not valid or needs backtracking.
    """
    for part in _objects(schema):
        names = part.get("patternProperties", {})
        for pattern in [part.get("pattern"), *(names if isinstance(names, dict) else ())]:
            if isinstance(pattern, str):
                refuse_bad_pattern(pattern)
    keywords = {keyword for part in _objects(schema) for keyword in part}
    if {"patternProperties", "unevaluatedProperties"} <= keywords:  # jsonschema would run the patterns by ``re``
        raise ValueError("unevaluatedProperties is not supported beside patternProperties: use additionalProperties")
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))  # patterns are checked above
    except SchemaError as exc:
        raise ValueError(f"{pointer_of(exc.absolute_path)}: {exc.message}") from exc
    known = {each["$id"] for each in _objects(schema) if isinstance(each.get("$id"), str)}
    for part in _objects(schema):
        reference = part.get("$ref", "#")
        if isinstance(reference, str) and "://" in reference and reference.partition("#")[0] not in known:
            raise ValueError(f"{reference} is another document, and none is ever fetched")
    resource = DRAFT202012.create_resource(schema)
    _refuse_dangling(resource, Registry().resolver_with_root(resource))


def _refuse_dangling(resource: Resource[Any], resolver: Any) -> None:
    for keyword in ("$ref", "$dynamicRef"):
        reference = resource.contents.get(keyword) if isinstance(resource.contents, dict) else None
        try:
            if isinstance(reference, str):
                resolver.lookup(reference)
        except (Unresolvable, ValueError) as exc:
            raise ValueError(f"{keyword}: {reference!r} names nothing in the schema") from exc
    for part in resource.subresources():
        _refuse_dangling(part, resolver.in_subresource(part))


def _objects(schema: Any) -> Iterator[JSONObject]:
    if isinstance(schema, dict):
        yield schema
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        yield from _objects(part)
