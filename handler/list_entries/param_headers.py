"""Arguments that clients repeat in HTTP headers, so that proxies can route by them without reading bodies.

A schema marks them with ``x-mcp-header``. Clients drop a tool whose schema uses the mark in a forbidden way.

Source: MCP 2026-07-28, basic/transports/streamable-http ("Custom Headers from Tool Parameters").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handler.cold.records import record

ANNOTATION = "x-mcp-header"
TYPES = ("string", "integer", "boolean")
TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

_VALUES = frozenset({"const", "default", "enum", "examples"})
"""Keywords that hold values, not schemas."""

_NAMED = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties"})
"""Keywords that hold schemas by name."""


@record(frozen=True, slots=True)
class Mirrored:
    """An argument repeated in a header: its name after ``Mcp-Param-``, and the properties that lead to it."""

    name: str
    path: tuple[str, ...]

    def value_in(self, arguments: Any) -> Any:
        """Return the argument's value; ``None`` if the call does not have it."""
        value = arguments
        for key in self.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def mirrored_in(schema: Mapping[str, Any]) -> list[Mirrored]:
    """Return the arguments that an input schema marks.

    Raises:
        ValueError: a mark in a forbidden place or form.
    """
    arguments = [_mirrored(path, each) for path, each in _schemas(schema, ()) if ANNOTATION in each]
    names = [each.name.lower() for each in arguments]
    for each in arguments:
        if names.count(each.name.lower()) > 1:
            raise ValueError(f"{ANNOTATION} {each.name} stands at two properties, in whatever case")
    return arguments


def _mirrored(path: tuple[str, ...] | None, schema: Mapping[str, Any]) -> Mirrored:
    if not path:
        raise ValueError(f"{ANNOTATION} may stand at properties only, which nothing but properties leads to")
    where, name = "/".join(path), schema[ANNOTATION]
    if not isinstance(name, str) or not TOKEN.fullmatch(name):
        raise ValueError(f"{where}: expected {ANNOTATION} to be the end of a header's name, such as Region")
    if schema.get("type") not in TYPES:
        raise ValueError(f"{where}: {ANNOTATION} is for one of the types {', '.join(TYPES)}")
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        raise ValueError(f"{where}: {ANNOTATION} would put a secret where logs and proxies see it")
    return Mirrored(name, path)


def _schemas(schema: Any, path: tuple[str, ...] | None) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, Any]]]:
    """Yield a schema and its subschemas, each with the properties that lead to it; ``None`` if other keywords do."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, Mapping):
            for name, each in value.items():
                yield from _schemas(each, None if path is None else (*path, name))
        elif keyword not in _VALUES:
            for each in _parts(keyword, value):
                yield from _schemas(each, None)


def _parts(keyword: str, value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        return value
    return value.values() if keyword in _NAMED and isinstance(value, Mapping) else [value]
