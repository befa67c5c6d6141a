"""JSON Schemas of type hints, and values of these types, by pydantic, which loads when it is needed."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from handler.code_tools.boundary import AuthorFailed, authors_code
from handler.code_tools.field import pydantic_field
from handler.code_tools.plain_types import fits_json
from handler.code_tools.signature import NO_DEFAULT, Parameter
from handler.code_tools.source_location import SourceLocation
from handler.json_schema.fast_path import REFERENCE
from handler.strict_json import JSONObject
from handler.text.sentences import pointer_of

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter


MISSING = (
    "tools in Python need pydantic, which is missing: install the wheel of Stile with its packages, or run "
    "`make setup` in a clone"
)
FIELD = "stile_argument_"
"""The model's names for parameters, because pydantic refuses names such as ``schema`` and ``_id``."""


class Misfits(Exception):
    """Values do not fit their JSON Schema, their types, or the bounds: sentences with JSON pointers."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = tuple(sentences)


class ArgumentsModel:
    """The parameters of a function as one pydantic model: the schema and values of its arguments."""

    def __init__(self, parameters: Sequence[Parameter], place: SourceLocation) -> None:
        self._parameters = parameters
        self._place = place

    def schema(self) -> JSONObject:
        """Return the JSON Schema of the arguments.

        Raises:
            ToolDefinitionError: a type that JSON Schema cannot describe.
        """
        _refuse_backtracking(self._model.__pydantic_core_schema__, self._place)
        try:
            schema = _schema_of(self._model.model_json_schema, "validation")
        except ValueError as exc:
            for each in self._parameters:
                ValueType(each.hint, each.name, self._place).schema("validation")
            self._place.refuse(_first_line(exc), cause=exc)
        return arguments_schema(schema, self.declared())

    def cast(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments to the parameters' types and add defaults; undeclared names are dropped.

        Raises:
            Misfits: a value that its type refuses.
        """
        values = _validated(self._model.model_validate, arguments)
        return {parameter.name: getattr(values, f"{FIELD}{at}") for at, parameter in enumerate(self._parameters)}

    def declared(self) -> dict[str, Parameter]:
        """Return the parameters by the names of arguments."""
        fields = self._model.model_fields.values()
        return {field.alias or "": parameter for field, parameter in zip(fields, self._parameters, strict=True)}

    @functools.cached_property
    def _model(self) -> type[BaseModel]:
        pydantic = _import_pydantic(self._place)
        names = {f"{FIELD}{at}": parameter.name for at, parameter in enumerate(self._parameters)}
        # Dataclasses among the parameters get this configuration too, and their fields keep their names.
        config = pydantic.ConfigDict(alias_generator=lambda name: names.get(name, name))
        fields: dict[str, Any] = {
            name: (each.hint, ... if each.default is NO_DEFAULT else pydantic_field(each.default))
            for name, each in zip(names, self._parameters, strict=True)
        }
        try:
            with authors_code():  # types may run any code
                model: type[BaseModel] = pydantic.create_model("Arguments", __config__=config, **fields)
        except AuthorFailed as exc:
            for each in self._parameters:
                _ = ValueType(each.hint, each.name, self._place).adapter
            self._place.refuse(_first_line(exc.error), cause=exc.error)
        return model


class ValueType:
    """One type: its JSON Schema, and the conversion of its values from and to JSON."""

    def __init__(self, hint: Any, label: str, place: SourceLocation) -> None:
        self._hint = hint
        self._label = f"{label}: expected a type that JSON Schema can describe"
        self._place = place

    def schema(self, mode: str) -> JSONObject:
        """Return the schema of values that are received (``validation``) or sent (``serialization``).

        Raises:
            ToolDefinitionError: a type that JSON Schema cannot describe.
        """
        if mode == "validation":
            _refuse_backtracking(self.adapter.core_schema, self._place)
        try:
            return tidy_schema(_schema_of(self.adapter.json_schema, mode))
        except ValueError as exc:
            self._place.refuse(f"{self._label}: {_first_line(exc)}", cause=exc)

    def cast(self, value: Any) -> Any:
        """Convert JSON to a value of the type.

        Raises:
            Misfits: the type refuses the value.
        """
        return _validated(self.adapter.validate_python, value)

    def to_json(self, value: Any) -> Any:
        """Convert a value to JSON. A value of another type is written by its own type, for the schema check to find."""
        return self.adapter.dump_python(value, mode="json", by_alias=True, warnings=False)

    @functools.cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """The adapter of pydantic.

        Raises:
            ToolDefinitionError: pydantic does not take the type.
        """
        pydantic = _import_pydantic(self._place)
        try:
            with authors_code():  # a type may run any code
                adapter: TypeAdapter[Any] = pydantic.TypeAdapter(self._hint)
        except AuthorFailed as exc:
            self._place.refuse(f"{self._label}, got {self._hint!r}: {_first_line(exc.error)}", cause=exc.error)
        return adapter


def to_json(value: Any) -> Any:
    """Convert any value to JSON. pydantic loads only if the value is not JSON yet.

    Raises:
        ValueError: the value cannot be JSON.
    """
    if fits_json(value):
        return value
    from pydantic_core import to_jsonable_python

    converted = to_jsonable_python(value, by_alias=True)
    if not fits_json(converted):
        raise ValueError("JSON cannot hold a number that is not finite")
    return converted


def _import_pydantic(place: SourceLocation) -> Any:
    try:
        return import_module("pydantic")
    except ModuleNotFoundError as exc:
        place.refuse(MISSING, cause=exc)


def _schema_of(make: Callable[..., Any], mode: str) -> JSONObject:
    """Return pydantic's schema.

    Raises:
        ValueError: a type without a schema.
    """
    from pydantic.errors import PydanticUserError

    try:
        return dict(make(mode=mode, schema_generator=_generator()))
    except PydanticUserError as exc:
        raise ValueError(str(exc)) from exc


def _refuse_backtracking(schema: Any, place: SourceLocation, *, engine: str = "") -> None:
    """Refuse a pattern that pydantic would run by Python's ``re``, which may take very long on a caller's text."""
    match schema:
        case {"type": "str", "pattern": pattern} if engine == "python-re" or not isinstance(pattern, str):
            text = getattr(pattern, "pattern", pattern)
            place.refuse(f"pattern {text}: expected a text, and no regex_engine, because re may take very long")
        case dict():
            engine = (schema.get("config") or {}).get("regex_engine", engine)
            for part in schema.values():
                _refuse_backtracking(part, place, engine=engine)
        case list() | tuple():
            for part in schema:
                _refuse_backtracking(part, place, engine=engine)


def _first_line(exc: BaseException) -> str:
    """Return the sentence of an error of pydantic's; of a pattern that cannot be compiled, it is the last line."""
    lines = str(exc).splitlines() or [""]
    return lines[-1 if type(exc).__name__ == "SchemaError" else 0].strip().removeprefix("error: ")


@functools.cache
def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        """A generator without titles of fields, which repeat their names, and without defaults that are not JSON."""

        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - declared so above

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - declared so above
            return False

        def enum_schema(self, schema: Any) -> JSONObject:
            if not schema["members"]:
                raise ValueError(f"the enum {schema['cls'].__name__} has no values")
            listed = super().enum_schema(schema)
            values = listed.get("enum", [])
            # A member's second name repeats its value.
            unique = [each for at, each in enumerate(values) if each not in values[:at]]
            return {**listed, "enum": unique} if values else listed

    return Untitled


def _validated(validate: Callable[[Any], Any], value: Any) -> Any:
    from pydantic import ValidationError

    from handler.json_schema.checker import MAX_VIOLATIONS

    try:
        return validate(value)
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_context=False, include_input=False)
        sentences = [f"{pointer_of(error['loc'])}: {error['msg']}" for error in errors[:MAX_VIOLATIONS]]
        raise Misfits([*sentences, *(["and more"] if len(errors) > MAX_VIOLATIONS else [])]) from exc


def arguments_schema(schema: JSONObject, parameters: Mapping[str, Parameter]) -> JSONObject:
    """Return the tidied schema of a function's arguments, described as its docstring describes the parameters."""
    for name, parameter in parameters.items():
        if parameter.description and name in schema["properties"]:
            schema["properties"][name].setdefault("description", parameter.description)
    return tidy_schema({"properties": {}, **schema})


def tidy_schema(schema: JSONObject) -> JSONObject:
    """Remove titles that are class names, inline enums, and replace a ``$ref`` at the root by its definition."""
    definitions = {f"{REFERENCE}{name}": _untitled(each, name) for name, each in schema.pop("$defs", {}).items()}
    schema = _untitled(schema, "")
    enums = {reference: each for reference, each in definitions.items() if "enum" in each or "const" in each}
    if root := schema.pop("$ref", ""):  # a recursive type
        schema = {**definitions[root], **schema}
    others = {
        reference.removeprefix(REFERENCE): _in_place(each, enums)
        for reference, each in definitions.items()
        if reference not in enums
    }
    return {**_in_place(schema, enums), **({"$defs": others} if others else {})}


def _untitled(definition: JSONObject, name: str) -> JSONObject:
    title = re.sub(r"\W", "_", str(definition.get("title", "")))
    is_class_name = not name or name == title or name.endswith(f"__{title}")
    return {key: value for key, value in definition.items() if not (key == "title" and is_class_name)}


def _in_place(schema: Any, enums: Mapping[str, JSONObject]) -> Any:
    match schema:
        case {"$ref": str(reference)} if reference in enums:
            return {**enums[reference], **{key: value for key, value in schema.items() if key != "$ref"}}
        case dict():
            return {key: _in_place(value, enums) for key, value in schema.items()}
        case list():
            return [_in_place(each, enums) for each in schema]
    return schema
