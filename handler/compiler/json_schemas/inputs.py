"""The inputs of an operation without those that are hidden from all callers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    type_from_ast,
    visit,
)

from handler.compiler.operations.author_operations import AuthorOperation
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody


class Inputs:
    """The variables of one operation, their types, and the usable members of the input objects and enums below them.

    ``mask`` is the operation's: every caller who gives variables meets it. ``access/propagation.py`` hides a type
    without usable members, and its uses. Fields and variables whose type is in ``left_out`` are left out.
    """

    def __init__(
        self,
        operation: AuthorOperation,
        schema: GraphQLSchema,
        guards: Mapping[str, Mask],
        *,
        mask: Mask,
        left_out: Container[str] = (),
    ) -> None:
        hidden = hidden_from_everybody(guards)
        self._left_out = left_out
        self._guards = guards
        self._mask = mask
        nodes = [*operation.filled_by_model, *operation.bound]
        self.types: dict[str, Any] = {_name(node): type_from_ast(schema, node.type) for node in nodes}
        self._members = {
            name: tuple(
                member for member in _members(type_) if not hidden(f"{name}.{member}") and self._is_given(type_, member)
            )
            for name, type_ in _types_below(self.types.values()).items()
        }
        self.never_null = _never_null(operation, schema)
        self.bound = operation.bound
        named = {_name(node): get_named_type(self.types[_name(node)]).name for node in operation.filled_by_model}
        self.filled_by_model = [
            node
            for node in operation.filled_by_model
            if not hidden(named[_name(node)]) and named[_name(node)] not in left_out
        ]

    @property
    def defined(self) -> list[GraphQLInputObjectType | GraphQLEnumType]:
        """The input objects and enums in or below the types."""
        return list(_types_below(self.types.values()).values())

    def fields(self, type_: GraphQLInputObjectType) -> dict[str, GraphQLInputField]:
        """Return the usable fields."""
        return {name: type_.fields[name] for name in self._members[type_.name]}

    def values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the usable values."""
        return {name: type_.values[name] for name in self._members[type_.name]}

    def guards(self, type_: GraphQLInputObjectType | GraphQLEnumType) -> dict[str, Mask]:
        """Return member -> conditions beyond the operation's mask, for members that need any."""
        found = {
            name: self._guards.get(f"{type_.name}.{name}", OPEN) - self._mask for name in self._members[type_.name]
        }
        return {name: mask for name, mask in found.items() if mask}

    def open_values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the values that every caller of the operation can give."""
        guarded = self.guards(type_)
        return {name: value for name, value in self.values(type_).items() if name not in guarded}

    def _is_given(self, type_: GraphQLInputObjectType | GraphQLEnumType, member: str) -> bool:
        return (
            isinstance(type_, GraphQLEnumType) or get_named_type(type_.fields[member].type).name not in self._left_out
        )

    def enums(self) -> list[GraphQLEnumType]:
        """Return the enums in the types of variables that a model fills."""
        types = [self.types[_name(node)] for node in self.filled_by_model]
        below = _types_below(types, self.fields).values()
        return [type_ for type_ in below if isinstance(type_, GraphQLEnumType)]


def _never_null(operation: AuthorOperation, schema: GraphQLSchema) -> frozenset[str]:
    """Return the variables in places where GraphQL rejects ``null``, also nullable ones that have a default.

    Source: GraphQL specification, section 5.8.5 (All Variable Usages Are Allowed).
    """
    types = TypeInfo(schema)
    found = _NonNullPlaces(types)
    visit(operation.document, TypeInfoVisitor(types, found))
    return frozenset(found.names) - operation.optional_conditions


class _NonNullPlaces(Visitor):
    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self._types = types
        self.names: set[str] = set()

    def enter_variable(self, node: VariableNode, *_: object) -> None:
        if isinstance(self._types.get_input_type(), GraphQLNonNull):
            self.names.add(node.name.value)


def _name(node: VariableDefinitionNode) -> str:
    return node.variable.name.value


def _members(type_: GraphQLInputObjectType | GraphQLEnumType) -> Iterable[str]:
    found: Mapping[str, object] = type_.values if isinstance(type_, GraphQLEnumType) else type_.fields
    return found


def _all_fields(type_: GraphQLInputObjectType) -> dict[str, GraphQLInputField]:
    found: dict[str, GraphQLInputField] = type_.fields
    return found


def _types_below(
    types: Iterable[Any], fields: Callable[[GraphQLInputObjectType], dict[str, GraphQLInputField]] = _all_fields
) -> dict[str, Any]:
    """Return the input objects and enums in or below some types, by name."""
    found: dict[str, Any] = {}
    waiting = list(_definable(types))
    while waiting:
        type_ = waiting.pop()
        if type_.name not in found:
            found[type_.name] = type_
            if isinstance(type_, GraphQLInputObjectType):
                waiting.extend(_definable(field.type for field in fields(type_).values()))
    return found


def _definable(types: Iterable[Any]) -> Iterator[Any]:
    for type_ in types:
        named = get_named_type(type_)
        if isinstance(named, GraphQLInputObjectType | GraphQLEnumType):
            yield named
