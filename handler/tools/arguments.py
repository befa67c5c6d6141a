"""The input side of a tool: the schema that is listed, and a call's arguments as the function takes them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from handler.bundle import JSONObject
from handler.errors import InvalidArguments
from handler.json_bounds import excess_of
from handler.json_schema import Checker
from handler.json_shape import parse_json
from handler.tools.context import Context
from handler.tools.option_checks import read_schema
from handler.tools.options import Options
from handler.tools.parameters import Signature
from handler.tools.place import Place
from handler.tools.schemas import ArgumentsModel, Misfits, ValueType

Fill = tuple[Sequence[Any], Mapping[str, Any]]
"""What a function is called with: by position and by name."""


class Arguments(Protocol):
    """One form of a tool's arguments."""

    @property
    def schema(self) -> JSONObject:
        """The input schema of the list entry."""
        ...

    def check(self, arguments: JSONObject, ctx: Context) -> JSONObject:
        """The arguments, found to fit, with what a client wrote as text repaired.

        Raises:
            Misfits: they do not fit.
        """
        ...

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        """Checked arguments as the function takes them.

        Raises:
            Misfits: its types refuse them.
        """
        ...

    def as_they_are(self, arguments: JSONObject, ctx: Context) -> Fill:
        """Arguments that the author's validator judged instead, without any cast."""
        ...


class TypedArguments:
    """Arguments that become a function's parameters."""

    def __init__(self, signature: Signature, options: Options, place: Place) -> None:
        self._signature = signature
        self._options = options
        self._place = place

    @functools.cached_property
    def _model(self) -> ArgumentsModel:
        return ArgumentsModel(self._signature.parameters, self._place)

    @functools.cached_property
    def schema(self) -> JSONObject:
        closed = {"additionalProperties": False} if self._options.extra == "forbid" else {}
        schema = {**self._model.schema(), **closed}
        properties = {name: _without_misfit(each, schema) for name, each in schema["properties"].items()}
        return {**schema, "properties": properties}

    @functools.cached_property
    def _checker(self) -> Checker:
        return Checker(self.schema, formats=self._options.formats)

    def check(self, arguments: JSONObject, ctx: Context) -> JSONObject:
        meant = arguments if self._options.strict else unstringified(arguments, self.schema)
        _refuse(self._checker, meant, ctx)
        return meant

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return (), {**self._model.cast(arguments), **self._context(ctx)}

    def as_they_are(self, arguments: JSONObject, ctx: Context) -> Fill:
        declared = self._model.declared()
        given = {declared[name].name: value for name, value in arguments.items() if name in declared}
        return (), {**given, **self._context(ctx)}

    def _context(self, ctx: Context) -> dict[str, Context]:
        return {self._signature.context: ctx} if self._signature.context else {}


class SchemaArguments:
    """Arguments with a schema of the author's: the function takes them as they were sent, or as an instance."""

    def __init__(self, takes: Sequence[str], options: Options, place: Place) -> None:
        self._takes = takes
        self._options = options
        self._place = place
        given = options.input_schema
        self._written = read_schema(given, "input_schema", place) if isinstance(given, str | Mapping) else None

    @functools.cached_property
    def _type(self) -> ValueType | None:
        if self._written is not None:
            return None
        return ValueType(self._options.input_schema, "input_schema", self._place)

    @functools.cached_property
    def schema(self) -> JSONObject:
        schema = self._written if self._type is None else self._type.schema("validation")
        if schema is None or schema.get("type") != "object":
            self._place.refuse("input_schema: expected a type with fields")
        return schema

    @functools.cached_property
    def _checker(self) -> Checker:
        return Checker(self.schema, formats=self._options.formats)

    def check(self, arguments: JSONObject, ctx: Context) -> JSONObject:
        meant = arguments if self._type is None or self._options.strict else unstringified(arguments, self.schema)
        _refuse(self._checker, meant, ctx)
        return meant

    def cast(self, arguments: JSONObject, ctx: Context) -> Fill:
        return self._filled(arguments if self._type is None else self._type.cast(arguments), ctx)

    def as_they_are(self, arguments: JSONObject, ctx: Context) -> Fill:
        return self._filled(arguments, ctx)

    def _filled(self, arguments: Any, ctx: Context) -> Fill:
        return [arguments if each == "arguments" else ctx for each in self._takes], {}


def invalid_arguments(tool: str, exc: Misfits) -> InvalidArguments:
    """The error to raise for arguments that do not fit."""
    return InvalidArguments(tool, exc.sentences)


def _refuse(checker: Checker, arguments: JSONObject, ctx: Context) -> None:
    if excess := excess_of(arguments, max_values=ctx.max_values):  # after texts in them were read as JSON
        raise Misfits([excess])
    if found := checker.violations(arguments):
        raise Misfits(found)


def _without_misfit(parameter: JSONObject, schema: JSONObject) -> JSONObject:
    """A parameter's schema without a default that it refuses, as in ``name: str = None``; it holds all the same."""
    alone = {**parameter, "$defs": schema.get("$defs", {})}
    if "default" not in parameter or not Checker(alone, formats=False).violations(parameter["default"]):
        return parameter
    return {key: value for key, value in parameter.items() if key != "default"}


def unstringified(arguments: JSONObject, schema: JSONObject) -> JSONObject:
    """The arguments, with JSON in a text read where no text is wanted: some clients send ``"7"`` for 7."""
    wanted = {name: _types(each, schema) for name, each in schema.get("properties", {}).items()}
    return {name: _read(value, wanted.get(name, ANYTHING)) for name, value in arguments.items()}


ANYTHING = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})

JSON_TYPES: Mapping[type, Sequence[str]] = {
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number", "integer"),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}


def _read(value: Any, wanted: frozenset[str]) -> Any:
    if not isinstance(value, str) or "string" in wanted:
        return value
    try:
        meant = parse_json(value.encode())
    except ValueError:
        return value
    return meant if wanted.intersection(JSON_TYPES.get(type(meant), ())) else value


def _types(schema: Any, root: JSONObject, *, depth: int = 8) -> frozenset[str]:
    """The types that a schema may take; all of them where it does not say."""
    match schema:
        case {"type": str(name)}:
            return frozenset({name})
        case {"type": list(names)}:
            return frozenset(names)
        case {"anyOf": list(branches)} | {"oneOf": list(branches)} if depth:
            return frozenset().union(*(_types(each, root, depth=depth - 1) for each in branches))
        case {"$ref": str(reference)} if depth and reference.startswith("#/$defs/"):
            definition = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
            return _types(definition, root, depth=depth - 1)
    return ANYTHING
