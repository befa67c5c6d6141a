"""JSON Schemas of scalars: a table of well-known ones, and the author's own of ``scalars:`` in ``config.yaml``.

A GraphQL schema has only a scalar's name. If servers disagree about a scalar, the stricter form is advertised and
every form is accepted, because the API validates the value again.

Source: GraphQL specification, section 3.5 (Scalars); AWS AppSync's, Hasura's, GraphQL-Java's, Hot Chocolate's and
graphql-scalars' references.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from graphql import GraphQLScalarType, GraphQLSchema, is_specified_scalar_type

from handler.compiler.problems import Problems
from handler.compiler.schema.name_patterns import compile_linear
from handler.compiler.source.yaml_section import Section
from handler.errors.authoring import PatternRefused
from handler.strict_json import JSONObject
from handler.text.sentences import did_you_mean

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
FLOAT_MAX = sys.float_info.max

ANYTHING: JSONObject = {"type": ["string", "number", "boolean", "object", "array"]}
"""The enforced schema of any JSON value except ``null``."""

_ANY_MEMBER: JSONObject = {
    "anyOf": [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "object", "additionalProperties": True},
    ]
}
NULL: JSONObject = {"type": "null"}
ANY_ARRAY: JSONObject = {"type": "array", "items": {"anyOf": [*_ANY_MEMBER["anyOf"], NULL]}}
ANY_OBJECT: JSONObject = {"type": "object", "additionalProperties": True}
ANY_VALUE: JSONObject = {"anyOf": [*_ANY_MEMBER["anyOf"], ANY_ARRAY]}
"""The advertised schema of any value. Vendors reject a whole request for one parameter without a type, an array
without items, or a list of types; they take an object without declared members for an empty one. Arrays in arrays are
left out: they need a recursive reference, which some vendors reject too. Integers come before numbers: clients that
take the first type that fits would read 9007199254740993 as a number, and change it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """The schemas of one scalar's values except ``null``."""

    advertised: JSONObject
    enforced: JSONObject
    note: str = ""  # for the description


def _alike(schema: JSONObject, note: str = "") -> Scalar:
    return Scalar(advertised=schema, enforced=schema, note=note)


BUILT_IN: Mapping[str, Scalar] = {
    "Int": Scalar(advertised={"type": "integer"}, enforced={"type": "integer", "minimum": INT_MIN, "maximum": INT_MAX}),
    "Float": Scalar(
        advertised={"type": "number"},
        enforced={"type": "number", "minimum": -FLOAT_MAX, "maximum": FLOAT_MAX},
    ),
    "String": _alike({"type": "string"}),
    "Boolean": _alike({"type": "boolean"}),
    "ID": Scalar(advertised={"type": "string"}, enforced={"type": ["string", "integer"]}),
}

UNKNOWN = Scalar(advertised=ANY_VALUE, enforced=ANYTHING, note="any JSON value")

LEAF = Scalar(
    advertised={"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]},
    enforced=ANYTHING,
    note="a text or number",
)
"""An unknown scalar whose name says that it is not an object. If an object is among the choices, some clients accept
nothing else.
"""

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_LEAF_WORDS = """
amount code color colour currency cursor date datetime day decimal double email float hash html id int integer ip locale
long markdown money month number numeric phone price short slug string text time timestamp timezone uri url uuid year
"""
LEAF_WORDS = frozenset(_LEAF_WORDS.split())
"""Last words, in lower case, of names of scalars that hold one text or number: ``UnixTimestamp``."""

TEXT: JSONObject = {"type": "string"}
DATE = Scalar(advertised={"type": "string", "format": "date"}, enforced={"type": "string", "format": "any-date"})
DATE_TIME = _alike({"type": "string", "format": "date-time"})
TIME = Scalar(
    advertised=TEXT,
    enforced={"type": "string", "format": "any-time"},
    note="a time of day, as 09:30:00Z, in some APIs with its date, as 2026-01-31T09:30:00Z",
)
URL = Scalar(advertised={"type": "string", "format": "uri"}, enforced={"type": "string", "format": "any-uri"})
# JavaScript rounds JSON numbers of this size, so texts come first.
BIG_INTEGER = Scalar(
    advertised={"anyOf": [{"type": "string"}, {"type": "integer"}]},
    enforced={"type": ["integer", "string"], "format": "whole-number"},
    note="a whole number of any size, written as text",
)
LONG = Scalar(advertised={"type": "integer"}, enforced={"type": ["integer", "string"], "format": "whole-number"})
DECIMAL = Scalar(advertised={"type": "number"}, enforced={"type": ["number", "string"], "format": "decimal-number"})

_NAMES: Sequence[tuple[Scalar, str]] = (
    (DATE, "date"),
    (_alike({"type": "string", "format": "date"}), "awsdate iso8601date localdate"),
    (DATE_TIME, "awsdatetime datetime datetimeiso datetimeoffset instant iso8601datetime offsetdatetime timestamptz"),
    (TIME, "time"),
    (_alike({"type": "string", "format": "time"}), "awstime timetz"),
    # Not RFC 3339 formats: those need an offset.
    (_alike(TEXT, "a date and time without an offset, as 2026-01-31T09:30:00"), "localdatetime"),
    (_alike(TEXT, "a time of day without an offset, as 09:30:00"), "localtime"),
    (_alike({"type": "integer"}, "seconds since 1970-01-01T00:00:00Z"), "awstimestamp"),
    (_alike(TEXT, "a duration, as PT1H30M"), "iso8601duration"),
    (BIG_INTEGER, "bigint biginteger"),
    (LONG, "int64 long"),
    (DECIMAL, "bigdecimal decimal numeric"),
    (_alike({"type": "number", "minimum": 0}), "nonnegativefloat"),
    (_alike({"type": "integer", "minimum": 0}), "nonnegativeint"),
    (_alike({"type": "number", "exclusiveMinimum": 0}), "positivefloat"),
    (_alike({"type": "integer", "exclusiveMinimum": 0}), "positiveint"),
    (_alike({"type": "string", "minLength": 1}), "nonemptystring"),
    (_alike({"type": "string", "format": "email"}), "awsemail email emailaddress"),
    (_alike(TEXT, "a phone number, as +14155550123"), "awsphone phonenumber"),
    (_alike(TEXT, "an IPv4 or IPv6 address"), "awsipaddress ipaddress"),
    (URL, "awsurl uri url"),
    (_alike({"type": "string", "format": "uuid"}), "guid uuid"),
    (UNKNOWN, "json jsonb"),
    (_alike(TEXT, "JSON, written as text"), "awsjson jsonstring"),
    (Scalar(advertised=ANY_OBJECT, enforced={"type": "object"}), "jsonobject"),
)
KNOWN: Mapping[str, Scalar] = {name: scalar for scalar, names in _NAMES for name in names.split()}
"""Keys are names in lower case without ``_``: ``DateTime``, ``Datetime`` and ``date_time`` share one."""


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


def scalar_of(type_: GraphQLScalarType, own: Mapping[str, Scalar]) -> Scalar:
    """Return the schemas of a scalar by the first of: the author, the specification, the table, ``LEAF``, ``UNKNOWN``.

    A scalar that its schema describes may have its own format, so the table's are advertised and not enforced.
    """
    scalar = own.get(type_.name) or BUILT_IN.get(type_.name)
    if scalar:
        return scalar
    is_leaf = any(word.lower() in LEAF_WORDS for word in WORD.findall(type_.name)[-1:])
    scalar = KNOWN.get(type_.name.lower().replace("_", "")) or (LEAF if is_leaf else UNKNOWN)
    if type_.description or type_.specified_by_url:
        return replace(scalar, enforced={key: rule for key, rule in scalar.enforced.items() if key != "format"})
    return scalar


def scalar_note(type_: GraphQLScalarType, own: Mapping[str, Scalar]) -> str:
    """Return the note on a scalar for a description; empty string if the schema says all."""
    note = scalar_of(type_, own).note
    link = f"see {type_.specified_by_url}" if type_.specified_by_url else ""
    text = ", ".join(part for part in (note, link) if part)
    return f"{type_.name}: {text}." if text else ""


def read_scalars(section: Section, schema: GraphQLSchema, problems: Problems) -> dict[str, Scalar]:
    """Read ``scalars:`` of ``config.yaml``, by name."""
    custom = [
        name
        for name, type_ in schema.type_map.items()
        if isinstance(type_, GraphQLScalarType) and not is_specified_scalar_type(type_)
    ]
    for name in section:
        if name not in custom:
            fault = "is built in" if name in BUILT_IN else "is not a scalar of the schema"
            sentence = f'scalars: "{name}" {fault}{did_you_mean(name, custom)}'
            problems.add(section.key_place(name), sentence, code="unknown-scalar")
    return {name: _read_scalar(section.section(name), problems) for name in section}


def _read_scalar(section: Section, problems: Problems) -> Scalar:
    if "type" not in section:
        for key in section:
            section.refuse(key, "a type beside it")
        return Scalar(advertised=ANY_VALUE, enforced=ANYTHING)
    kind = section.choice("type", default="string")
    for key in (*TEXT_KEYWORDS, *NUMBER_KEYWORDS):
        if key in section and key not in KEYWORDS_OF.get(kind, ()):
            kinds = " or ".join(name for name, keywords in KEYWORDS_OF.items() if key in keywords)
            section.refuse(key, f"the type {kinds} beside it")
    schema: JSONObject = {"type": kind, **dict(_keywords(section))}
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


def _keywords(section: Section) -> Iterator[tuple[str, object]]:
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
    for key in NUMBER_KEYWORDS:
        if key in section:
            value = section.number(key)
            yield key, int(value) if value.is_integer() else value


def _refuse_empty_ranges(section: Section, schema: JSONObject) -> None:
    """Report bounds without a value between them."""
    for low, high in RANGES:
        if low not in schema or high not in schema:
            continue
        exclusive = "exclusive" in low + high
        if schema[low] > schema[high] or (exclusive and schema[low] == schema[high]):
            section.refuse(high, f"more than {low}" if exclusive else f"no less than {low}")
        elif schema["type"] == "integer":
            least = floor(schema[low]) + 1 if low == "exclusiveMinimum" else ceil(schema[low])
            most = ceil(schema[high]) - 1 if high == "exclusiveMaximum" else floor(schema[high])
            if least > most:
                section.refuse(high, f"a whole number between {low} and it")


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
