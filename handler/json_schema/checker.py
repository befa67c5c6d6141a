"""Validation against a JSON Schema (2020-12). Nothing outside the schema is ever read."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from handler.json_schema.fast_path import QuickCheck, takes_any
from handler.json_schema.formats import FORMATS, MAX_MATCHED_CHARS, matches, refuse_bad_pattern
from handler.json_schema.json_bounds import count_values
from handler.strict_json import JSONObject, objects_in
from handler.text.sentences import below, cut_text, nearest, pointer_of, some

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
        self._is_one_resource = not any("$id" in part for part in islice(objects_in(self._schema), 1, None))

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
    for part in objects_in(schema):
        names = part.get("patternProperties", {})
        for pattern in [part.get("pattern"), *(names if isinstance(names, dict) else ())]:
            if isinstance(pattern, str):
                refuse_bad_pattern(pattern)
    keywords = {keyword for part in objects_in(schema) for keyword in part}
    if {"patternProperties", "unevaluatedProperties"} <= keywords:  # jsonschema would run the patterns by ``re``
        raise ValueError("unevaluatedProperties is not supported beside patternProperties: use additionalProperties")
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))  # patterns are checked above
    except SchemaError as exc:
        raise ValueError(f"{pointer_of(exc.absolute_path)}: {exc.message}") from exc
    ids = {each["$id"] for each in objects_in(schema) if isinstance(each.get("$id"), str)}
    for part in objects_in(schema):
        reference = part.get("$ref", "#")
        if isinstance(reference, str) and "://" in reference and reference.partition("#")[0] not in ids:
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
    others = list(_undeclared(value, schema))
    if rule is False:
        if others:
            yield ValidationError("additionalProperties")
        return
    for name in others:
        yield from validator.descend(value[name], rule, path=name)


def _undeclared(value: JSONObject, schema: JSONObject) -> Iterator[str]:
    """Return the names of members that neither ``properties`` nor ``patternProperties`` declare."""
    names, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return (name for name in value if name not in names and not any(matches(each, name) for each in patterns))


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
    """Yield the misfits of a branch that messages need: those to be reported, and the one that shows another kind."""
    for count, each in enumerate(misfits):
        is_other = is_other_kind(each, depth=len(each.path))
        if is_other or count <= MAX_VIOLATIONS:
            yield each
        if is_other:
            return


MAX_SHOWN_NAMES = 30
MAX_COMPARED_CHARS = 12_000
"""Characters of an unknown name times known names: this many take 10 ms, and an error has 50 names."""
ANY_TYPE = {"string", "number", "boolean", "object", "array"}
"""All types except ``null``."""

# jsonschema types its errors' attributes as Any, so the functions below do, too.


def sentences(error: Any, *, of_graphql: bool = False) -> list[str]:
    """Describe a violation that jsonschema found. ``of_graphql``: the compiler made the schema from GraphQL types."""
    pointer = pointer_of(error.absolute_path)
    match error.validator:
        case "required":  # jsonschema reports each missing name as an error of its own
            missing = [name for name in error.validator_value if error.message.startswith(f"{name!r} ")]
            if missing:
                return [f"{below(pointer, name)}: required, but missing" for name in missing]
        case "additionalProperties" if error.validator_value is False:
            names = _properties(error)
            unknown = islice(_undeclared(error.instance, error.schema), MAX_VIOLATIONS + 1)
            if lines := [f"{below(pointer, name)}: unknown name{_hint(name, names)}" for name in unknown]:
                return lines
        case "anyOf" | "oneOf" if error.context:
            return _of_any(error)
        case "minProperties" | "maxProperties" if (
            error.schema.get("minProperties") == error.schema.get("maxProperties") == 1
        ):
            expected = some(_properties(error), most=MAX_SHOWN_NAMES)
            members = some([cut_text(name) for name in error.instance], most=MAX_SHOWN_NAMES) or "none"
            return [f"{pointer}: expected exactly one of {expected}, got {members}"]
    listed = LISTED.get(error.validator, "") if of_graphql and _stands_for_a_list(error) else ""
    return [f"{pointer}: expected {listed}{_expected(error)}, got {_shown(error.instance)}"]


def _of_any(error: Any) -> list[str]:
    """Describe the violations of the one branch that the value was meant for, or else all expectations."""

    def is_other(violation: Any) -> bool:
        return is_other_kind(violation, depth=len(violation.absolute_path) - len(error.absolute_path))

    branches = [list(group) for _, group in groupby(error.context, key=lambda each: each.schema_path[0])]
    own = [branch for branch in branches if not any(map(is_other, branch))]
    if len(own) == 1:
        return [sentence for violation in own[0] for sentence in sentences(violation)]
    kinds = [next(filter(is_other, branch), branch[0]) for branch in branches]
    at = kinds[0] if len({tuple(each.absolute_path) for each in kinds}) == 1 else error
    expected = dict.fromkeys(map(_expected, kinds))
    return [f"{pointer_of(at.absolute_path)}: expected {' or '.join(expected)}, got {_shown(at.instance)}"]


def is_other_kind(violation: Any, *, depth: int) -> bool:
    """Return whether a value was hardly meant for a branch: its type is another, or the constant that shows its kind.

    ``depth``: levels of the violation below the value of the branch.
    """
    return (violation.validator in ("type", "enum") and depth == 0) or (violation.validator == "const" and depth <= 1)


def _expected(error: Any) -> str:
    say = EXPECTED.get(error.validator)
    return say(error) if say else f"{error.validator} {cut_text(json.dumps(error.validator_value))}"


def _expected_types(error: Any) -> str:
    types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return "a value" if set(types) == ANY_TYPE else " or ".join(types)


def _expected_values(error: Any) -> str:
    """Return the first values, with a hint at the nearest one if there are more."""
    values = some([cut_text(json.dumps(value)) for value in error.validator_value], most=MAX_SHOWN_NAMES)
    names = [str(value) for value in error.validator_value if value is not None]
    near = None
    if isinstance(error.instance, str) and len(names) > MAX_SHOWN_NAMES:
        near = nearest(error.instance, names, most_chars=MAX_COMPARED_CHARS)
    return f"one of {values}" if near is None else f"one of {values} (did you mean {json.dumps(near)}?)"


def _expected_format(error: Any) -> str:
    name = error.validator_value
    return FORMATS[name].expected if name in FORMATS else f"a text of the format {name}"


def _expected_match(error: Any) -> str:
    is_long = len(error.instance) > MAX_MATCHED_CHARS
    return f"a length of at most {MAX_MATCHED_CHARS}" if is_long else f"a text that matches {error.validator_value}"


def _members(error: Any) -> str:
    return some(_properties(error), most=MAX_SHOWN_NAMES) or "any members"


def _properties(error: Any) -> list[str]:
    return list(error.schema.get("properties", {}))


EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": _expected_types,
    "enum": _expected_values,
    "const": lambda error: cut_text(json.dumps(error.validator_value)),
    "format": _expected_format,
    "pattern": _expected_match,
    "minimum": lambda error: f"at least {error.validator_value}",
    "maximum": lambda error: f"at most {error.validator_value}",
    "exclusiveMinimum": lambda error: f"more than {error.validator_value}",
    "exclusiveMaximum": lambda error: f"less than {error.validator_value}",
    "multipleOf": lambda error: f"a multiple of {error.validator_value}",
    "minLength": lambda error: f"a length of at least {error.validator_value}",
    "maxLength": lambda error: f"a length of at most {error.validator_value}",
    "minItems": lambda error: f"at least {error.validator_value} items",
    "maxItems": lambda error: f"at most {error.validator_value} items",
    "uniqueItems": lambda _: "no item twice",
    "minProperties": lambda error: f"at least {error.validator_value} of {_members(error)}",
    "maxProperties": lambda error: f"at most {error.validator_value} of {_members(error)}",
}
"""The expectation to report, by the violated keyword."""

LISTED: Mapping[str, str] = {"type": "array or ", "enum": "an array or "}
"""Text before the expectation if a list fits, too: GraphQL accepts a list's only item for the list."""


def _stands_for_a_list(error: Any) -> bool:
    """Return whether the value was judged as the single item that may stand for a list."""
    *above, _ = error.absolute_schema_path
    while above and above[-1] == "then":  # for a reference that null may replace
        above.pop()
    return bool(above) and above[-1] == "else"


def _hint(name: str, names: Sequence[str]) -> str:
    near = nearest(name, names, most_chars=MAX_COMPARED_CHARS)
    return f"; known here: {some(names, most=MAX_SHOWN_NAMES) or 'none'}" if near is None else f"; did you mean {near}?"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case dict():
            return "object"
        case list():
            return "array"
        case str():
            return f"string {cut_text(json.dumps(cut_text(value), ensure_ascii=False))}"
        case bool():
            return f"boolean {json.dumps(value)}"
        case int():
            return f"integer {cut_text(str(value))}"
    return f"number {cut_text(json.dumps(value))}"
