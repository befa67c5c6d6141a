"""How many items a list has, as far as a request or its schema says."""

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

from handler.errors import DocumentRefused
from handler.graph.documents.locations import fault_at, name_of
from handler.graph.index import Field, InputValue, ListSize, SchemaIndex, named
from handler.graph.view import View
from handler.records import record

SIZE_ARGUMENTS = ("first", "last", "limit")
"""What gives a page's size where no ``@listSize`` says what does."""

KEYS_ARGUMENT = "ids"
"""A list of as many items is asked for by them."""

MOST = 10**12
"""As much as any: numbers above it are not worth being told apart, and some have thousands of digits."""

UNDECLARED = ListSize()


@record(frozen=True, slots=True)
class Said:
    """What is said of the lists of one field. ``asked`` is by arguments, ``assumed`` by the schema's author.

    ``fields`` name the lists below that are meant; none: the field's own list, or else all lists right below it.
    """

    asked: int | None
    assumed: int | None
    fields: tuple[str, ...]

    @property
    def size(self) -> int | None:
        """What is asked for, or else assumed."""
        return self.asked if self.asked is not None else self.assumed

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self.size is None and not self.fields


def said_of(node: FieldNode, view: View, type_name: str, variables: Mapping[str, Any]) -> Said:
    """What a request and the schema say of the lists of a visible field. Hidden arguments say their defaults.

    Raises:
        DocumentRefused: other than one slicing argument is given, where the schema requires one.

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
    """Whether an argument or input field is as good as not given.

    Source: GraphQL specification, 3.10 (Input Objects) and 6.4.1 (Coercing Field Arguments).
    """
    return isinstance(node, VariableNode) and node.name.value not in variables


def _argument(path: str) -> str:
    return path.partition(".")[0]


@record(frozen=True, slots=True)
class _Value:
    """What an argument, or what stands below it, comes to. ``asked``: by the request, not by the schema's default."""

    value: Any
    asked: bool


class _Reader:
    """Reads what the arguments of one field come to, defaults included, as the API will."""

    def __init__(
        self, field: Field, index: SchemaIndex, given: Mapping[str, ValueNode], variables: Mapping[str, Any]
    ) -> None:
        self._field = field
        self._index = index
        self._given = given
        self._variables = variables

    def value_at(self, path: str) -> _Value:
        """Source: GraphQL specification, 3.10 (Input Objects), "Input Coercion", for what is absent."""
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
        # One value stands for a list of it.
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
    """A literal as Python's values, numbers as their text; nothing for other values."""
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
    """A page size: a number, which may be a text, or the length of a list; what is no number above 0 says nothing."""
    if isinstance(value, list):
        return max(len(value), 1)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = min(value if isinstance(value, int) else float(value), MOST)
    except ValueError:
        return None
    return int(number) if number >= 1 else None
