"""Read ``scalars:`` of ``config.yaml``: the author's own schemas of custom scalars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import ceil, floor

from graphql import GraphQLScalarType, GraphQLSchema, is_specified_scalar_type

from handler.compiler.json_schemas.scalars import ANY_ARRAY, ANY_OBJECT, ANY_VALUE, ANYTHING, BUILT_IN, Scalar
from handler.compiler.problems import Problems
from handler.compiler.schema.name_patterns import compile_linear
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import PatternRefused
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

TEXT_KEYWORDS = ("format", "pattern", "minLength", "maxLength", "enum")
NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
RANGES = (
    ("minLength", "maxLength"),
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
KEYWORDS_OF: Mapping[str, tuple[str, ...]] = {
    "string": TEXT_KEYWORDS,
    "integer": NUMBER_KEYWORDS,
    "number": NUMBER_KEYWORDS,
}

MAX_PATTERN_CHARS = 200
_ESCAPE = r"\\(?:[dDwWsSbBnrtfv^$\\.*+?()\[\]{}|/]|x[0-9A-Fa-f]{2})"
_TOKEN = re.compile(
    rf"{_ESCAPE}"
    rf"|\[\^?(?:{_ESCAPE}|\\-|[^\\\[\]])+\]"
    r"|(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?![*+?{])"
    r"|\((?:\?:)?(?!\?)"
    r"|[^\\\[\]{}(*+?]",
    re.DOTALL,
)
"""One token of the syntax that the languages of clients share."""


def read_scalars(section: Section, schema: GraphQLSchema, problems: Problems) -> dict[str, Scalar]:
    """Read ``scalars:`` of ``config.yaml``, by name."""
    custom = [
        name
        for name, type_ in schema.type_map.items()
        if isinstance(type_, GraphQLScalarType) and not is_specified_scalar_type(type_)
    ]
    found: dict[str, Scalar] = {}
    for name in section.keys():  # noqa: SIM118 - a Section is not a dict
        if name not in custom:
            what = "is built in" if name in BUILT_IN else "is not a scalar of the schema"
            problems.add(
                section.key_place(name), f'scalars: "{name}" {what}{did_you_mean(name, custom)}', code="unknown-scalar"
            )
        found[name] = _read_scalar(section.section(name), problems)
    return found


def _read_scalar(section: Section, problems: Problems) -> Scalar:
    if "type" not in section:
        for key in section.keys():  # noqa: SIM118 - a Section is not a dict
            section.refuse(key, "a type beside it")
        return Scalar(advertised=ANY_VALUE, enforced=ANYTHING)
    kind = section.choice("type", default="string")
    for key in (*TEXT_KEYWORDS, *NUMBER_KEYWORDS):
        if key in section and key not in KEYWORDS_OF.get(kind, ()):
            kinds = " or ".join(name for name, keywords in KEYWORDS_OF.items() if key in keywords)
            section.refuse(key, f"the type {kinds} beside it")
    schema: JSONObject = {"type": kind, **dict(_text_keywords(section)), **dict(_number_keywords(section))}
    _refuse_empty_ranges(section, schema)
    enforced = {key: value for key, value in schema.items() if key != "type" or "enum" not in schema}
    if "pattern" in section:
        del enforced["pattern"]  # clients read it; the API judges
        pattern = section.text("pattern")
        try:
            _refuse_unreadable(pattern)
        except PatternRefused as exc:
            problems.add(section.place("pattern"), f'the pattern "{pattern:.60}": {exc}', code="invalid-pattern")
    return Scalar(advertised={"array": ANY_ARRAY, "object": ANY_OBJECT}.get(kind, schema), enforced=enforced)


def _refuse_empty_ranges(section: Section, schema: JSONObject) -> None:
    """Report bounds without a value between them."""
    for low, high in RANGES:
        if low not in schema or high not in schema:
            continue
        exclusive = "exclusive" in low + high
        if schema[low] > schema[high] or (exclusive and schema[low] == schema[high]):
            section.refuse(high, f"more than {low}" if exclusive else f"no less than {low}")
        elif schema["type"] == "integer" and not _has_integer(schema, low, high):
            section.refuse(high, f"a whole number between {low} and it")


def _has_integer(schema: JSONObject, low: str, high: str) -> bool:
    least: int = floor(schema[low]) + 1 if low == "exclusiveMinimum" else ceil(schema[low])
    most: int = ceil(schema[high]) - 1 if high == "exclusiveMaximum" else floor(schema[high])
    return least <= most


def _text_keywords(section: Section) -> Iterator[tuple[str, object]]:
    if "format" in section:
        yield "format", section.choice("format", default="date")
    if "pattern" in section:
        yield "pattern", section.text("pattern")
    for key in ("minLength", "maxLength"):
        if key in section:
            yield key, section.integer(key)
    if "enum" in section:
        values = [text for text, _ in section.texts("enum")]
        if not values:
            section.refuse("enum", "a list of texts")
        yield "enum", values


def _number_keywords(section: Section) -> Iterator[tuple[str, object]]:
    for key in NUMBER_KEYWORDS:
        if key in section:
            value = section.number(key)
            yield key, int(value) if value.is_integer() else value


def _refuse_unreadable(pattern: str) -> None:
    """Refuse a pattern that a client could not read, which would lose the tool or the whole list by it."""
    if not 0 < len(pattern) <= MAX_PATTERN_CHARS:
        raise PatternRefused(f"expected 1 to {MAX_PATTERN_CHARS} characters")
    at = 0
    while token := _TOKEN.match(pattern, at):
        at = token.end()
    if at < len(pattern):
        raise PatternRefused(
            f"not every client reads {pattern[at : at + 10]!r} alike: expected groups as (…) or (?:…), "
            r"and of escapes \d \w \s \b \n \r \t \f \v \xHH and those of special characters"
        )
    compile_linear(pattern)
