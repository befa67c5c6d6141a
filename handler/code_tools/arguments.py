"""The input side of a tool: the listed schema, and the conversion of a call's arguments for the function."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.context import Context
from handler.code_tools.options import Options, check_options, parse_schema, read_object_schema
from handler.code_tools.plain_hints import PlainArguments
from handler.code_tools.signature import Signature
from handler.code_tools.source_location import SourceLocation
from handler.code_tools.type_schemas import ArgumentsModel, Misfits, ValueType
from handler.errors.calls import InvalidArguments
from handler.json_schema.deferred_checker import DeferredChecker
from handler.json_schema.input_types import leaves_first
from handler.json_schema.json_bounds import excess_of
from handler.json_schema.sent_arguments import ANY_TYPE, STRUCTURES
from handler.strict_json import JSONObject

if TYPE_CHECKING:
    from handler.json_schema.checker import Formats

Fill = tuple[Sequence[Any], Mapping[str, Any]]
"""The arguments of a Python function: by position and by name."""


class Arguments(Protocol):
    """One form of a tool's arguments."""

    _options: Options
    _kinds: frozenset[str] = ANY_TYPE
    """The types of JSON that are read from texts."""

    @property
    def schema(self) -> JSONObject:
        """The input schema of the list entry."""
        ...

    @functools.cached_property
    def _checker(self) -> DeferredChecker:
        return DeferredChecker(self.schema, formats=self._options.formats)

    def check(self, arguments: JSONObject, ctx: Context) -> JSONObject:
        """Check the arguments and return them, with values that a client wrote as text or ``null`` repaired.

        Raises:
            Misfits: the arguments do not fit.
        """
        if excess := excess_of(arguments, max_values=ctx.max_values):
            raise Misfits([excess])
        if self._options.strict:
            violations = self._checker.violations(arguments)
        else:
            arguments, violations = self._checker.repaired(arguments, max_values=ctx.max_values, kinds=self._kinds)
        if violations:
            raise Misfits(violations)
        return arguments

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        """Convert checked arguments to the function's types.

        Raises:
            Misfits: the types refuse the arguments.
        """
        ...

    def as_they_are(self, arguments: JSONObject, ctx: Context) -> Fill:
        """Return arguments without a cast, for a validator of the author's that replaces the schema."""
        ...

    def plain(self) -> Arguments:
        """Return the arguments with plain types, which pydantic checks only in doubt; these if they have others."""
        return self


class TypedArguments(Arguments):
    """Arguments that become a function's parameters."""

    def __init__(
        self, signature: Signature, options: Options, place: SourceLocation, *, model: ArgumentsModel | None = None
    ) -> None:
        self._signature = signature
        self._options = options
        self._place = place
        self._model = model or ArgumentsModel(signature.parameters, place)

    def plain(self) -> TypedArguments:
        try:
            with authors_code():  # hints may be of any class
                model = PlainArguments(self._signature.parameters, self._place)
        except AuthorFailed:  # a Doubt, mostly
            return self
        return TypedArguments(self._signature, self._options, self._place, model=model)

    @functools.cached_property
    def schema(self) -> JSONObject:
        schema = {**self._model.schema(), **_closed(self._options)}
        properties = {name: _without_misfit(each, schema) for name, each in schema["properties"].items()}
        definitions = {"$defs": leaves_first(schema["$defs"])} if "$defs" in schema else {}
        return {**schema, "properties": properties, **definitions}

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return (), {**self._model.cast(arguments), **self._signature.context_argument(ctx)}

    def as_they_are(self, arguments: JSONObject, ctx: Context) -> Fill:
        declared = self._model.declared()
        values = {declared[name].name: value for name, value in arguments.items() if name in declared}
        return (), {**values, **self._signature.context_argument(ctx)}


class SchemaArguments(Arguments):
    """Arguments with a schema of the author's: the function takes them as sent, or as an instance of the type.

    The empty schema stands for a tool without arguments: the function gets an empty mapping, whatever was sent.
    """

    def __init__(self, takes: Sequence[str], options: Options, place: SourceLocation) -> None:
        self._takes = takes
        self._options = options
        self._place = place
        self._type = ValueType(options.input_schema, "input_schema", place)
        self._written: JSONObject | None = None
        self._takes_none = False
        if isinstance(options.input_schema, str | Mapping):
            self._kinds = STRUCTURES
            self._takes_none = not parse_schema(options.input_schema, "input_schema", place)
            no_arguments: JSONObject = {"type": "object", "properties": {}, **_closed(options)}
            schema = no_arguments if self._takes_none else options.input_schema
            self._written = read_object_schema(schema, "input_schema", place)

    @functools.cached_property
    def schema(self) -> JSONObject:
        schema = self._type.schema("validation") if self._written is None else self._written
        if schema.get("type") != "object":
            self._place.refuse("input_schema: expected a type with fields")
        return schema

    def check(self, arguments: JSONObject, ctx: Context) -> JSONObject:
        fitting = super().check(arguments, ctx)
        return {} if self._takes_none else fitting

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return self.as_they_are(arguments if self._written is not None else self._type.cast(arguments), ctx)

    def as_they_are(self, arguments: Any, ctx: Context) -> Fill:
        return [arguments if each == "arguments" else ctx for each in self._takes], {}


def _closed(options: Options) -> JSONObject:
    return {"additionalProperties": False} if options.extra == "forbid" else {}


def _without_misfit(parameter: JSONObject, schema: JSONObject) -> JSONObject:
    """Drop a default that the parameter's schema refuses, as in ``name: str = None``; the function still applies it."""
    alone = {**parameter, "$defs": schema.get("$defs", {})}
    if "default" not in parameter or not DeferredChecker(alone, formats=False).violations(parameter["default"]):
        return parameter
    return {key: value for key, value in parameter.items() if key != "default"}


class SchemaValidator:
    """A JSON Schema (2020-12), as a mapping or JSON text, that checks values as tools check their arguments.

    ``formats``: true if formats of texts are checked, or a mapping of names to functions that check further formats.

    Raises:
        ToolDefinitionError: the schema is not valid, refers to another document, or has a pattern not valid in Python.
    """

    def __init__(self, schema: Mapping[str, Any] | str, *, formats: Formats = True) -> None:
        from handler.json_schema.checker import Checker, refuse_bad_schema  # loads jsonschema

        frame = sys._getframe(1)  # noqa: SLF001 - the only way to the author's line
        place = SourceLocation(label="SchemaValidator", file=frame.f_code.co_filename, line=frame.f_lineno)
        check_options({"formats": formats}, ("formats",), place)
        self.schema: JSONObject = parse_schema(schema, "schema", place)
        try:
            refuse_bad_schema(self.schema)
        except (ValueError, RecursionError) as exc:
            place.refuse(f"schema: {exc}", cause=exc)
        self._checker = Checker(self.schema, formats=formats)

    def violations(self, value: Any) -> list[str]:
        """Return sentences with JSON pointers on each violation, 50 at most and "and more"; empty if the value fits."""
        from handler.json_schema.checker import TOO_MUCH

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
        if violations := self.violations(arguments):
            raise InvalidArguments(tool, violations)
        return arguments
