"""The parameters and the return type of a function as plain types, with the interface of ``type_schemas``.

The schemas are pydantic's, byte for byte: a caller compares their digest with the bundle's before it uses them
(``loading.py``). pydantic judges each value in doubt.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from handler.code_tools.functions.signature import Parameter
from handler.code_tools.functions.source_location import SourceLocation
from handler.code_tools.type_hints.plain_hints import HintReader
from handler.code_tools.type_hints.plain_types import Doubt
from handler.code_tools.type_hints.tidy_schemas import arguments_schema, tidy_schema
from handler.code_tools.type_hints.type_schemas import ArgumentsModel, ValueType
from handler.strict_json import JSONObject

REFERENCE = "#/$defs/"

AS_GIVEN = ("properties", "default")
"""The keywords whose members pydantic leaves in the author's order."""


class PlainArguments:
    """The parameters of a function as plain types.

    Raises:
        Doubt: a parameter is not plain.
    """

    def __init__(self, parameters: Sequence[Parameter], place: SourceLocation) -> None:
        reader = HintReader()
        self._parameters = parameters
        self._members = reader.members(parameters)
        self._definitions = reader.definitions()
        self._place = place

    def schema(self) -> JSONObject:
        """Return the JSON Schema of the arguments."""
        schema = _sorted({**self._members.schema(), **_defs(self._definitions)})
        return arguments_schema(schema, self.declared())

    def cast(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments to the parameters' types and add defaults; undeclared names are dropped.

        Raises:
            Misfits: a value that its type refuses.
        """
        try:
            return self.cast_plainly(arguments)
        except (Doubt, RecursionError):
            return self._exact.cast(arguments)

    def cast_plainly(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Convert arguments as ``cast`` does, without pydantic.

        Raises:
            Doubt: pydantic may refuse or convert a value.
        """
        return self._members.cast(arguments)

    def declared(self) -> dict[str, Parameter]:
        """Return the parameters by the names of arguments."""
        return {each.name: each for each in self._parameters}

    @functools.cached_property
    def _exact(self) -> ArgumentsModel:
        return ArgumentsModel(self._parameters, self._place)


class PlainValue:
    """The type of a return value as a plain type.

    Raises:
        Doubt: the type is not plain.
    """

    def __init__(self, hint: Any, what: str, place: SourceLocation) -> None:
        reader = HintReader()
        self._plain = reader.read(hint)
        if len(root := self._plain.schema()) > 1 and "$ref" in root:
            raise Doubt  # pydantic lists such a class in two ways
        self._definitions = reader.definitions()
        self._make_exact: Callable[[], ValueType] = functools.partial(ValueType, hint, what, place)

    def schema(self, _mode: str) -> JSONObject:
        """Return the schema, which is the same for values that are received or sent."""
        root, definitions = self._plain.schema(), self._definitions
        name = root.get("$ref", "").removeprefix(REFERENCE)
        if name and not _refers_to(name, definitions):  # a class that does not hold itself
            definitions = {each: schema for each, schema in definitions.items() if each != name}
            root = self._definitions[name]
        return tidy_schema(_sorted({**root, **_defs(definitions)}))

    def cast(self, value: Any) -> Any:
        """Convert JSON to a value of the type.

        Raises:
            Misfits: the type refuses the value.
        """
        return self._exact.cast(value)

    def to_json(self, value: Any) -> Any:
        """Convert a value to JSON. A value of another type is written by its own type, for the schema check to find."""
        try:
            return self.to_json_plainly(value)
        except (Doubt, RecursionError):
            return self._exact.to_json(value)

    def to_json_plainly(self, value: Any) -> Any:
        """Convert a value as ``to_json`` does, without pydantic.

        Raises:
            Doubt: the value is not of the type.
        """
        return self._plain.dump(value)

    @functools.cached_property
    def _exact(self) -> ValueType:
        return self._make_exact()


def _defs(definitions: JSONObject) -> JSONObject:
    return {"$defs": definitions} if definitions else {}


def _refers_to(name: str, schema: Any) -> bool:
    match schema:
        case dict():
            return schema.get("$ref") == f"{REFERENCE}{name}" or any(_refers_to(name, each) for each in schema.values())
        case list():
            return any(_refers_to(name, each) for each in schema)
    return False


def _sorted(schema: Any, above: str = "") -> Any:
    """Sort members as pydantic does."""
    match schema:
        case dict():
            names = schema if above in AS_GIVEN else sorted(schema)
            return {name: _sorted(schema[name], name) for name in names}
        case list():
            return [_sorted(each, above) for each in schema]
    return schema
