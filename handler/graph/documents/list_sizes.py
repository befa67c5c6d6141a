"""Sizes of lists, from a request and its schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphql import (
    FieldNode,
    FloatValueNode,
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    parse_const_value,
)

from handler.cold.records import record
from handler.errors.calls import DocumentRefused
from handler.graph.documents.locations import fault_at, name_of
from handler.graph.index import SchemaIndex
from handler.graph.index_types import Field, InputValue, ListSize, named
from handler.graph.view import View

SIZE_ARGUMENTS = ("first", "last", "limit")
"""Arguments that set a page's size on a field without ``@listSize``."""

KEYS_ARGUMENT = "ids"
"""The argument with one key for each item of the list."""

MOST = 10**12
"""Upper bound of sizes: larger numbers need no distinction, and some have thousands of digits."""

UNDECLARED = ListSize()


@record(frozen=True, slots=True)
class Said:
    """The sizes set for the lists of one field: ``asked`` by arguments, ``assumed`` by the schema's author.

    ``fields`` name the lists below that the sizes are for; none: the field's own list, or else all lists right below.
    """

    asked: int | None
    assumed: int | None
    fields: tuple[str, ...]

    @property
    def size(self) -> int | None:
        """The size that is asked for, or else assumed; ``None`` if there is neither."""
        return self.asked if self.asked is not None else self.assumed

    @property
    def is_empty(self) -> bool:
        """True if nothing is set."""
        return self.size is None and not self.fields


def said_of(node: FieldNode, view: View, type_name: str, variables: Mapping[str, Any]) -> Said:
    """Return the sizes that a request and the schema set for the lists of a visible field.

    Hidden arguments have their defaults.

    Raises:
        DocumentRefused: the schema requires exactly one slicing argument, and another number is given.

    Source: "The GraphQL Cost Directives Specification" (IBM), "@listSize".
    """
    field = view.index[type_name].fields[node.name.value]
    declared = field.size or UNDECLARED
    given = {each.name.value: each.value for each in node.arguments or () if not _is_absent(each.value, variables)}
    reader = _Reader(field, view.index, given, variables)
    values = {path: reader.value_at(path) for path in declared.slicing or _usual(field)}
    if declared.one_required:
        arguments = view.arguments(type_name, node.name.value)
        _require_one(node, values, visible=[path for path in values if _argument(path) in arguments])
    sizes = [_size(value.value) for value in values.values()]
    asked = max((size for size in sizes if size is not None), default=declared.default)
    return Said(asked, declared.assumed, declared.fields)


def _usual(field: Field) -> list[str]:
    return [
        name
        for name, argument in field.arguments.items()
        if name in SIZE_ARGUMENTS or (name == KEYS_ARGUMENT and argument.type.startswith("["))
    ]


def _is_absent(node: ValueNode, variables: Mapping[str, Any]) -> bool:
    """Tell if an argument or input field counts as absent.

    Source: GraphQL specification, 3.10 (Input Objects) and 6.4.1 (Coercing Field Arguments).
    """
    return isinstance(node, VariableNode) and node.name.value not in variables


def _argument(path: str) -> str:
    return path.partition(".")[0]


@record(frozen=True, slots=True)
class _Value:
    """The value of an argument or of a path below it. ``asked``: set by the request, not by the schema's default."""

    value: Any
    asked: bool


class _Reader:
    """Reads the values of one field's arguments as the API will, defaults included."""

    def __init__(
        self, field: Field, index: SchemaIndex, given: Mapping[str, ValueNode], variables: Mapping[str, Any]
    ) -> None:
        self._field = field
        self._index = index
        self._given = given
        self._variables = variables

    def value_at(self, path: str) -> _Value:
        """Return the value at a path. Source for absent ones: GraphQL specification, 3.10, "Input Coercion"."""
        name, *below = path.split(".")
        argument = self._field.arguments.get(name)
        if argument is None:
            return _Value(None, asked=False)
        given = name in self._given
        value = _plain(self._given[name], self._variables) if given else _default_of(argument)
        default, type_name = None, named(argument.type)
        for key in below:
            input_field = self._inputs(type_name).get(key)
            default = _default_of(input_field)
            value = value.get(key, default) if isinstance(value, Mapping) else None
            type_name = named(input_field.type) if input_field else ""
        # GraphQL coerces one value to a list of it.
        listed = value is not None and argument.type.startswith("[") and not isinstance(value, list)
        # Coerced variables hold defaults already, so an input field's default counts as such wherever it comes from.
        by_default = default is not None and _size(value) == _size(default)
        return _Value([value] if listed else value, asked=given and not by_default)

    def _inputs(self, type_name: str) -> Mapping[str, InputValue]:
        return self._index[type_name].inputs if type_name in self._index else {}


def _default_of(declared: InputValue | None) -> Any:
    if declared is None or not declared.default:
        return None
    return _plain(parse_const_value(declared.default, no_location=True), {})


def _require_one(node: FieldNode, values: Mapping[str, _Value], *, visible: Sequence[str]) -> None:
    said = [value for value in values.values() if value.value is not None]
    if visible and (not said or sum(value.asked for value in said) > 1):
        raise DocumentRefused(fault_at(node, f"{name_of(node)} needs exactly one of {', '.join(visible)}"))


def _plain(node: ValueNode | None, variables: Mapping[str, Any]) -> Any:
    """Return a literal as a Python value, numbers as text; ``None`` for other literals."""
    match node:
        case VariableNode():
            return variables.get(node.name.value)
        case IntValueNode() | FloatValueNode() | StringValueNode():
            return node.value
        case ListValueNode():
            return [_plain(value, variables) for value in node.values]
        case ObjectValueNode():
            return {
                field.name.value: _plain(field.value, variables)
                for field in node.fields
                if not _is_absent(field.value, variables)
            }
        case _:
            return None


def _size(value: Any) -> int | None:
    """Return a page size, from a number, numeric text or the length of a list; ``None`` unless it is 1 or more."""
    if isinstance(value, list):
        return max(len(value), 1)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = min(value if isinstance(value, int) else float(value), MOST)
    except ValueError:
        return None
    return int(number) if number >= 1 else None
