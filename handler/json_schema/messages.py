"""Messages for values that do not fit a schema: place, expectation, actual value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

from handler.json_schema.formats import FORMATS, MAX_MATCHED_CHARS, matches
from handler.text.sentences import below, cut, nearest, pointer_of, some

MAX_UNKNOWN = 51
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
            known, patterns = _properties(error), error.schema.get("patternProperties", {})
            unknown = (n for n in error.instance if n not in known and not any(matches(each, n) for each in patterns))
            if lines := [f"{below(pointer, n)}: unknown name{_hint(n, known)}" for n in islice(unknown, MAX_UNKNOWN)]:
                return lines
        case "anyOf" | "oneOf" if error.context:
            return _of_any(error)
        case "minProperties" | "maxProperties" if (
            error.schema.get("minProperties") == error.schema.get("maxProperties") == 1
        ):
            expected = some(_properties(error), most=MAX_SHOWN_NAMES)
            names = some([cut(name) for name in error.instance], most=MAX_SHOWN_NAMES) or "none"
            return [f"{pointer}: expected exactly one of {expected}, got {names}"]
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
    return say(error) if say else f"{error.validator} {cut(json.dumps(error.validator_value))}"


def _type(error: Any) -> str:
    types = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    return "a value" if set(types) == ANY_TYPE else " or ".join(types)


def _enum(error: Any) -> str:
    """Return the first values, with a hint at the nearest one if there are more."""
    values = some([cut(json.dumps(value)) for value in error.validator_value], most=MAX_SHOWN_NAMES)
    names = [str(value) for value in error.validator_value if value is not None]
    near = None
    if isinstance(error.instance, str) and len(names) > MAX_SHOWN_NAMES:
        near = nearest(error.instance, names, most_chars=MAX_COMPARED_CHARS)
    return f"one of {values}" if near is None else f"one of {values} (did you mean {json.dumps(near)}?)"


def _format(error: Any) -> str:
    name = error.validator_value
    return FORMATS[name].expected if name in FORMATS else f"a text of the format {name}"


def _pattern(error: Any) -> str:
    is_long = len(error.instance) > MAX_MATCHED_CHARS
    return f"a length of at most {MAX_MATCHED_CHARS}" if is_long else f"a text that matches {error.validator_value}"


def _members(error: Any) -> str:
    return some(_properties(error), most=MAX_SHOWN_NAMES) or "any members"


def _properties(error: Any) -> list[str]:
    return list(error.schema.get("properties", {}))


EXPECTED: Mapping[str, Callable[[Any], str]] = {
    "type": _type,
    "enum": _enum,
    "const": lambda error: cut(json.dumps(error.validator_value)),
    "format": _format,
    "pattern": _pattern,
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
            return f"string {cut(json.dumps(cut(value), ensure_ascii=False))}"
        case bool():
            return f"boolean {json.dumps(value)}"
        case int():
            return f"integer {cut(str(value))}"
    return f"number {cut(json.dumps(value))}"
