"""Request headers by name, and ``Mcp-Param`` headers, which repeat arguments in the body.

Source: MCP 2026-07-28, basic/transports/streamable-http ("Value Encoding", "Server Validation").
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

from handler.list_entries import mirrored_in

_PLAIN = re.compile(r"[\t -~]*")
_BEGIN, _END = "=?base64?", "?="
_NUMBER = r"-?(\d{1,400})(\.\d{1,400})?"


def folded(headers: Headers) -> dict[str, str]:
    """Return headers by lower-case name. Repeated headers are joined to one value, as in API Gateway."""
    values: dict[str, str] = {}
    for name, value in headers.items():
        values[name] = f"{values[name]}, {value}" if name in values else value
    return values


CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that may be forwarded or bound to variables: all except credentials, even if configured."""
    return {name: value for name, value in headers.items() if name not in CREDENTIALS}


def decoded(value: str) -> str | None:
    """Decode a header's value; ``None`` if it is not valid.

    Text that is not plain ASCII travels as ``=?base64?…?=``, in canonical base64.
    """
    text = value.strip(" \t")
    if not _PLAIN.fullmatch(text):
        return None
    if not (text.startswith(_BEGIN) and text.endswith(_END)):
        return text
    encoded = text.removeprefix(_BEGIN).removesuffix(_END)
    try:
        raw = base64.b64decode(encoded, validate=True)
        return raw.decode() if base64.b64encode(raw).decode() == encoded else None
    except ValueError:
        return None


def find_mismatch(schema: Mapping[str, Any], arguments: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """Return how the ``Mcp-Param`` headers of a call differ from its arguments; empty string if they match.

    ``headers`` are ``folded``. An argument that is absent or null has no header. A value of a type that does not fit
    into a header has none either: the schema check reports such a value.
    """
    for parameter in mirrored_in(schema):
        name = f"mcp-param-{parameter.name.lower()}"
        value, header = parameter.value_in(arguments), headers.get(name)
        if not isinstance(value, str | int | float):
            if header is not None:
                return f"{name} has no argument that it repeats"
        elif header is None:
            return f"{name} is missing"
        elif not _says(decoded(header), value):
            return f"{name} differs from the body"
    return ""


def _says(text: str | None, value: str | float) -> bool:
    if text is None or isinstance(value, str):
        return text == value
    if isinstance(value, bool):
        return text == str(value).lower()
    number = re.fullmatch(_NUMBER, text)
    if number is None:
        return False
    # Large integers are not exact as floats.
    return value == (float(text) if number[2] and number[2].strip(".0") else int(text.partition(".")[0]))
