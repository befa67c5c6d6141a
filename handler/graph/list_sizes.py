"""How many items a list has, as far as a request or its schema says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from handler.graph.index import Field, ListSize
from handler.graph.places import fault_at, name_of
from handler.graph.view import View

SIZE_ARGUMENTS = ("first", "last", "limit")
"""What gives a page's size where no ``@listSize`` says what does."""

KEYS_ARGUMENT = "ids"
"""A list of as many items is asked for by them."""

MOST = 10**12
"""As much as any: numbers above it are not worth being told apart, and some have thousands of digits."""

UNDECLARED = ListSize()


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of the lists of one field. ``asked`` is by arguments, ``assumed`` by the schema's author.

    ``fields`` name the lists below that are meant; none: the field's own list, or else all lists right below it.
    """

    asked: int | None
    assumed: int | None
    fields: tuple[str, ...]


def said_of(node: FieldNode, view: View, type_name: str, variables: Mapping[str, Any]) -> Said:
    """What a request and the schema say of the lists of a visible field. Hidden arguments say their defaults.

    Raises:
        DocumentRefused: other than one slicing argument is given, where the schema requires one.

    Source: "The GraphQL Cost Directives Specification" (IBM), "@listSize".
    """
    field = view.index[type_name].fields[node.name.value]
    declared = field.size or UNDECLARED
    given = {each.name.value: each.value for each in node.arguments or () if not _is_absent(each.value, variables)}
    values = {path: _value_at(path, field, given, variables) for path in declared.slicing or _usual(field)}
    if declared.one_required:
        visible = view.arguments(type_name, node.name.value)
        _require_one(node, values, given=given, named=[path for path in values if _argument(path) in visible])
    sizes = [_size(value) for value in values.values()]
    asked = max((size for size in sizes if size is not None), default=declared.default)
    return Said(asked, declared.assumed, declared.fields)


def _usual(field: Field) -> list[str]:
    return [
        name
        for name, argument in field.arguments.items()
        if name in SIZE_ARGUMENTS or (name == KEYS_ARGUMENT and argument.type.startswith("["))
    ]


def _is_absent(node: ValueNode, variables: Mapping[str, Any]) -> bool:
    """Whether an argument is as good as not given. Source: GraphQL specification, 6.4.1 (Coercing Field Arguments)."""
    return isinstance(node, VariableNode) and node.name.value not in variables


def _argument(path: str) -> str:
    return path.partition(".")[0]


def _value_at(path: str, field: Field, given: Mapping[str, ValueNode], variables: Mapping[str, Any]) -> Any:
    """What an argument, or what stands below it, is given or by default."""
    name, *below = path.split(".")
    argument = field.arguments.get(name)
    if argument is None or (name not in given and not argument.default):
        return None
    node = given[name] if name in given else parse_const_value(argument.default, no_location=True)
    value = _plain(node, variables)
    for key in below:
        value = value.get(key) if isinstance(value, Mapping) else None
    # One value stands for a list of it.
    return [value] if value is not None and argument.type.startswith("[") and not isinstance(value, list) else value


def _require_one(
    node: FieldNode, values: Mapping[str, Any], *, given: Mapping[str, ValueNode], named: Sequence[str]
) -> None:
    said = [path for path, value in values.items() if value is not None]
    if named and (not said or sum(_argument(path) in given for path in said) > 1):
        raise DocumentRefused(fault_at(node, f"{name_of(node)} needs exactly one of {', '.join(named)}"))


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
            return {field.name.value: _plain(field.value, variables) for field in node.fields}
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
