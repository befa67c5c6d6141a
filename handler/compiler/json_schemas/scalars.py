"""JSON Schemas of scalars: a table of well-known ones, and the look-up that takes the author's first.

A GraphQL schema has only a scalar's name. If servers disagree about a scalar, the stricter form is advertised and
every form is accepted, because the API validates the value again.

Source: GraphQL specification, section 3.5 (Scalars); AWS AppSync's, Hasura's, GraphQL-Java's, Hot Chocolate's and
graphql-scalars' references.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from graphql import GraphQLScalarType

from handler.strict_json import JSONObject

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

TEXT_OR_NUMBER: JSONObject = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]}
LEAF = Scalar(advertised=TEXT_OR_NUMBER, enforced=ANYTHING, note="a text or number")
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
LOCAL_DATE = _alike({"type": "string", "format": "date"})
DATE_TIME = _alike({"type": "string", "format": "date-time"})
TIME = Scalar(
    advertised=TEXT,
    enforced={"type": "string", "format": "any-time"},
    note="a time of day, as 09:30:00Z, in some APIs with its date, as 2026-01-31T09:30:00Z",
)
TIME_OF_DAY = _alike({"type": "string", "format": "time"})
UUID = _alike({"type": "string", "format": "uuid"})
URL = Scalar(advertised={"type": "string", "format": "uri"}, enforced={"type": "string", "format": "any-uri"})
EMAIL = _alike({"type": "string", "format": "email"})
PHONE = _alike(TEXT, "a phone number, as +14155550123")
IP_ADDRESS = _alike(TEXT, "an IPv4 or IPv6 address")
DURATION = _alike(TEXT, "a duration, as PT1H30M")
JSON_TEXT = _alike(TEXT, "JSON, written as text")
OBJECT = Scalar(advertised=ANY_OBJECT, enforced={"type": "object"})
# JavaScript rounds JSON numbers of this size, so texts come first.
BIG_INTEGER = Scalar(
    advertised={"anyOf": [{"type": "string"}, {"type": "integer"}]},
    enforced={"type": ["integer", "string"], "format": "whole-number"},
    note="a whole number of any size, written as text",
)
LONG = Scalar(advertised={"type": "integer"}, enforced={"type": ["integer", "string"], "format": "whole-number"})
DECIMAL = Scalar(advertised={"type": "number"}, enforced={"type": ["number", "string"], "format": "decimal-number"})

KNOWN: Mapping[str, Scalar] = {
    "awsdate": LOCAL_DATE,
    "awsdatetime": DATE_TIME,
    "awsemail": EMAIL,
    "awsipaddress": IP_ADDRESS,
    "awsjson": JSON_TEXT,
    "awsphone": PHONE,
    "awstime": TIME_OF_DAY,
    "awstimestamp": _alike({"type": "integer"}, "seconds since 1970-01-01T00:00:00Z"),
    "awsurl": URL,
    "bigdecimal": DECIMAL,
    "bigint": BIG_INTEGER,
    "biginteger": BIG_INTEGER,
    "date": DATE,
    "datetime": DATE_TIME,
    "datetimeiso": DATE_TIME,
    "datetimeoffset": DATE_TIME,
    "decimal": DECIMAL,
    "email": EMAIL,
    "emailaddress": EMAIL,
    "guid": UUID,
    "instant": DATE_TIME,
    "int64": LONG,
    "ipaddress": IP_ADDRESS,
    "iso8601date": LOCAL_DATE,
    "iso8601datetime": DATE_TIME,
    "iso8601duration": DURATION,
    "json": UNKNOWN,
    "jsonb": UNKNOWN,
    "jsonobject": OBJECT,
    "jsonstring": JSON_TEXT,
    "localdate": LOCAL_DATE,
    # Not RFC 3339 formats: those need an offset.
    "localdatetime": _alike(TEXT, "a date and time without an offset, as 2026-01-31T09:30:00"),
    "localtime": _alike(TEXT, "a time of day without an offset, as 09:30:00"),
    "long": LONG,
    "nonemptystring": _alike({"type": "string", "minLength": 1}),
    "nonnegativefloat": _alike({"type": "number", "minimum": 0}),
    "nonnegativeint": _alike({"type": "integer", "minimum": 0}),
    "numeric": DECIMAL,
    "offsetdatetime": DATE_TIME,
    "phonenumber": PHONE,
    "positivefloat": _alike({"type": "number", "exclusiveMinimum": 0}),
    "positiveint": _alike({"type": "integer", "exclusiveMinimum": 0}),
    "time": TIME,
    "timestamptz": DATE_TIME,
    "timetz": TIME_OF_DAY,
    "uri": URL,
    "url": URL,
    "uuid": UUID,
}
"""Keys are names in lower case without ``_``: ``DateTime``, ``Datetime`` and ``date_time`` share one."""


def scalar_of(type_: GraphQLScalarType, own: Mapping[str, Scalar]) -> Scalar:
    """Return the schemas of a scalar by the first of: the author, the specification, the table, ``LEAF``, ``UNKNOWN``.

    A scalar that its schema describes may have its own format, so the table's are advertised and not enforced.
    """
    found = own.get(type_.name) or BUILT_IN.get(type_.name)
    if found:
        return found
    known = KNOWN.get(type_.name.lower().replace("_", "")) or (LEAF if _ends_as_leaf(type_.name) else UNKNOWN)
    is_described = bool(type_.description or type_.specified_by_url)
    return replace(known, enforced=_without_format(known.enforced)) if is_described else known


def _ends_as_leaf(name: str) -> bool:
    return any(word.lower() in LEAF_WORDS for word in WORD.findall(name)[-1:])


def _without_format(schema: JSONObject) -> JSONObject:
    return {keyword: rule for keyword, rule in schema.items() if keyword != "format"}


def scalar_note(type_: GraphQLScalarType, own: Mapping[str, Scalar]) -> str:
    """Return the note on a scalar for a description; empty string if the schema says all."""
    note = scalar_of(type_, own).note
    link = f"see {type_.specified_by_url}" if type_.specified_by_url else ""
    said = ", ".join(part for part in (note, link) if part)
    return f"{type_.name}: {said}." if said else ""
