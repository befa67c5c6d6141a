"""The validator of defaults: formats and patterns are asserted, and undeclared properties are invalid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from handler.compiler.schema.name_patterns import is_found
from handler.json_schema.formats import FORMATS

_TIME = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"

STRICT_FORMATS = {
    "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "date-time": rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt]{_TIME}",
    "time": _TIME,
    "uuid": r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
}
"""Forms stricter than those of ``json_schema/formats.py``: clients that assert formats accept only these.

Source: RFC 3339, section 5.6; RFC 9562, section 4.
"""


def _check_format(_validator: Any, name: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    form, strict = FORMATS.get(name), STRICT_FORMATS.get(name, ".*")
    if isinstance(text, str) and ((form and not form.fits(text)) or not re.fullmatch(strict, text, re.DOTALL)):
        yield ValidationError("format")


def _check_pattern(_validator: Any, pattern: Any, text: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(text, str) and not is_found(pattern, text):
        yield ValidationError("pattern")


def _check_properties(validator: Any, properties: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, dict) and not value.keys() <= properties.keys():
        yield ValidationError("additionalProperties")
    yield from Draft202012Validator.VALIDATORS["properties"](validator, properties, value, schema)


StrictValidator: Any = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"format": _check_format, "pattern": _check_pattern, "properties": _check_properties}
)
