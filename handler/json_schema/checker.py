"""Validation against a JSON Schema (2020-12). Nothing outside the schema is ever read."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from handler.json_schema.fast_path import QuickCheck, takes_any
from handler.json_schema.formats import FORMATS, matches, refuse_bad_pattern
from handler.json_schema.json_bounds import count_values
from handler.json_schema.messages import is_other_kind, sentences
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
        self._make = _standard_class(formats) if isinstance(formats, bool) else _validator_class(formats)
        self._formats = formats
        self._of_graphql = of_graphql
        # References inside an embedded resource are not relative to the root.
        self._is_one_resource = not any("$id" in part for part in islice(_objects(self._schema), 1, None))

    def violations(self, value: Any) -> list[str]:
        """Return the violations (JSON pointer, expected, actual). After 50, the last says that there are more."""
        violations: list[str] = []
        try:
            for error in self._misfits(value):
                violations += sentences(error, of_graphql=self._of_graphql)
                if len(violations) > MAX_VIOLATIONS:
                    return [*violations[:MAX_VIOLATIONS], "and more"]
        except TooMuchWork:
            return [*violations, "and more"] if violations else [TOO_MUCH]
        return violations

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


MAX_KEPT = 51
"""Misfits to keep for one branch of ``anyOf``; more are not reported."""

Formats = bool | Mapping[str, Callable[[str], bool]]


class TooMuchWork(Exception):
    """A validation that used all its steps."""


class Validation:
    """The validation of one value by one schema. jsonschema passes it from rule to rule, as its format checker."""

    def __init__(self, quick: QuickCheck | None, *, max_steps: int) -> None:
        self.quick = quick
        self.patterns = quick.patterns if quick else matches
        self._steps_left = max_steps

    def candidates(self, value: Any, schemas: Sequence[Any]) -> list[int]:
        """Return the places of the alternatives that a part of the value may fit; all places if it surely fits none."""
        places = range(len(schemas))
        return [each for each in places if not (self.quick and self.quick.differs(value, schemas[each]))] or [*places]

    def step(self) -> None:
        """Count one comparison of a part of the value with a part of the schema.

        Raises:
            TooMuchWork: no step is left.
        """
        self._steps_left -= 1
        if self._steps_left < 0:
            raise TooMuchWork


def _validator_class(formats: Formats) -> Any:
    """Return jsonschema's validator class with these rules. jsonschema checks no format and bounds no pattern."""
    own = formats if isinstance(formats, Mapping) else {}

    def check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
        fits = own.get(name) or (FORMATS[name].fits if name in FORMATS and formats is not False else None)
        if fits and isinstance(text, str) and not fits(text):  # other formats only annotate
            yield ValidationError("format")

    rules = {
        "format": check_format,
        "pattern": _pattern,
        "enum": _enum,
        "uniqueItems": _unique_items,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "anyOf": _any_of,
        "oneOf": _one_of,
    }
    cls: Any = extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]
    descend, evolve = cls.descend, cls.evolve

    def passing_over(self: Any, instance: Any, schema: Any, *args: Any, **places: Any) -> Iterator[ValidationError]:
        """Skip parts of a value that surely fit."""
        validation: Validation = self.format_checker
        if validation.quick and validation.quick.surely_fits(instance, schema):
            return iter(())
        validation.step()
        errors: Iterator[ValidationError] = descend(self, instance, schema, *args, **places)
        return errors

    def keeping_rules(self: Any, **changes: Any) -> Any:
        """Keep these rules when jsonschema continues with a part of the schema, even if the part names a dialect."""
        schema = changes.get("schema")
        if isinstance(schema, dict) and "$schema" in schema:
            changes["schema"] = {keyword: rule for keyword, rule in schema.items() if keyword != "$schema"}
        return evolve(self, **changes)

    cls.descend, cls.evolve = passing_over, keeping_rules
    return cls


_standard_class = functools.cache(_validator_class)
"""The class with all formats, and that with none."""


def _pattern(validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(text, str) and not validator.format_checker.patterns(pattern, text):
        yield ValidationError("pattern")


def _pattern_properties(validator: Any, rules: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    for pattern, rule in rules.items() if isinstance(value, dict) else ():
        for name in value:
            if matches(pattern, name):
                yield from validator.descend(value[name], rule, path=name, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    others = [name for name in value if name not in properties and not any(matches(each, name) for each in patterns)]
    if rule is False:
        if others:
            yield ValidationError("additionalProperties")
        return
    for name in others:
        yield from validator.descend(value[name], rule, path=name)


def _enum(_validator: Any, values: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    listed = value in values  # in Python, 1 == True
    if not isinstance(value, str) and listed:
        listed = _canonical(value) in {_canonical(each) for each in values if each == value}
    if not listed:
        yield ValidationError("enum")


def _unique_items(_validator: Any, unique: Any, items: Any, _schema: Any) -> Iterator[ValidationError]:
    if unique and isinstance(items, list) and len(set(map(_canonical, items))) < len(items):
        yield ValidationError("uniqueItems")


def _canonical(value: Any) -> str:
    """Return a text that two values share if they are equal in JSON Schema: 1 and 1.0, but not 1 and true."""
    return json.dumps(_with_whole_numbers(value), sort_keys=True)


def _with_whole_numbers(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case dict():
            return {name: _with_whole_numbers(each) for name, each in value.items()}
        case list():
            return list(map(_with_whole_numbers, value))
    return value


def _any_of(validator: Any, branches: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    misfits, _ = _try(validator, branches, value)
    if misfits is not None:
        yield ValidationError("anyOf", context=misfits)


def _one_of(validator: Any, branches: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    misfits, untried = _try(validator, branches, value)
    if misfits is not None:
        yield ValidationError("oneOf", context=misfits)
    elif any(next(validator.descend(value, branches[place]), None) is None for place in untried):
        yield ValidationError("oneOf")


def _try(validator: Any, branches: Sequence[Any], value: Any) -> tuple[list[ValidationError] | None, list[int]]:
    """Return the misfits of all branches; or ``None`` if the value fits one, and the places of later branches."""
    misfits: list[ValidationError] = []
    places = validator.format_checker.candidates(value, branches)
    for number, place in enumerate(places, 1):
        of_branch = list(_reported(validator.descend(value, branches[place], schema_path=place)))
        if not of_branch:
            return None, places[number:]
        misfits += of_branch
    return misfits, []


def _reported(misfits: Iterator[ValidationError]) -> Iterator[ValidationError]:
    """Yield the misfits of a branch that messages need: the first ones, and the one that shows another kind."""
    for count, each in enumerate(misfits):
        is_other = is_other_kind(each, depth=len(each.path))
        if is_other or count < MAX_KEPT:
            yield each
        if is_other:
            return
