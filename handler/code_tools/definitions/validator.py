"""The validator of a tool's arguments, for authors who dispatch calls by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from handler.code_tools.functions.option_checks import check_options, read_schema
from handler.code_tools.functions.source_location import SourceLocation
from handler.errors.calls import InvalidArguments
from handler.json_schema.checker import TOO_MUCH, Checker, refuse_bad_schema
from handler.json_schema.json_bounds import excess_of
from handler.json_schema.rules import Formats
from handler.strict_json import JSONObject


class SchemaValidator:
    """A JSON Schema (2020-12), as a mapping or JSON text, that checks values as tools check their arguments.

    ``formats``: true if formats of texts are checked, or a mapping of names to functions that check further formats.

    Raises:
        ToolDefinitionError: the schema is not valid, refers to another document, or has a pattern not valid in Python.
    """

    def __init__(self, schema: Mapping[str, Any] | str, *, formats: Formats = True) -> None:
        frame = sys._getframe(1)  # noqa: SLF001 - the only way to the author's line
        place = SourceLocation(label="SchemaValidator", file=frame.f_code.co_filename, line=frame.f_lineno)
        check_options({"formats": formats}, ("formats",), place)
        self.schema: JSONObject = read_schema(schema, "schema", place)
        try:
            refuse_bad_schema(self.schema)
        except (ValueError, RecursionError) as exc:
            place.refuse(f"schema: {exc}", cause=exc)
        self._checker = Checker(self.schema, formats=formats)

    def violations(self, value: Any) -> list[str]:
        """Return sentences with JSON pointers on each violation, 50 at most and "and more"; empty if the value fits."""
        if excess := excess_of(value, max_values=math.inf):
            return [excess]
        try:
            return self._checker.violations(value)
        except RecursionError:
            return [TOO_MUCH]
        except (TypeError, ValueError) as exc:  # sets, dates and the like
            return [f"/: expected JSON: {exc}"]

    def validate(self, arguments: JSONObject, *, tool: str) -> JSONObject:
        """Return the arguments of a call of ``tool`` as they are, if they fit.

        Raises:
            InvalidArguments: the arguments do not fit. Uncaught, it is the tool's result, with the violations.
        """
        if found := self.violations(arguments):
            raise InvalidArguments(tool, found)
        return arguments
