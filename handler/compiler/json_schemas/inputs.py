"""The inputs of an operation without those that are hidden from all callers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNonNull,
    GraphQLSchema,
    VariableDefinitionNode,
    VariableNode,
    get_named_type,
    type_from_ast,
)

from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.operations.used_coordinates import typed_nodes
from handler.policy.evaluation import OPEN, Mask, hidden_from_everybody


class Inputs:
    """The variables of one operation, their types, and the usable members of the input objects and enums below them.

    ``mask`` is the operation's: every caller with variables meets it. ``access/propagation.py`` hides a type
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
        self._guards = guards
        self._mask = mask
        nodes = [*operation.filled_by_model, *operation.bound]
        self.types: dict[str, Any] = {node.variable.name.value: type_from_ast(schema, node.type) for node in nodes}
        self._members: dict[str, tuple[str, ...]] = {}
        for type_ in self.defined:
            is_enum = isinstance(type_, GraphQLEnumType)
            members = type_.values if is_enum else type_.fields
            self._members[type_.name] = tuple(
                member
                for member in members
                if not hidden(f"{type_.name}.{member}")
                and (is_enum or get_named_type(members[member].type).name not in left_out)
            )
        self.never_null = _never_null(operation, schema)
        self.bound = operation.bound
        self.filled_by_model: list[VariableDefinitionNode] = []
        for node in operation.filled_by_model:
            type_name = get_named_type(self.types[node.variable.name.value]).name
            if not hidden(type_name) and type_name not in left_out:
                self.filled_by_model.append(node)

    @property
    def defined(self) -> list[Any]:
        """The input objects and enums in or below the types."""
        return _types_below(self.types.values(), lambda type_: type_.fields)

    def fields(self, type_: GraphQLInputObjectType) -> dict[str, GraphQLInputField]:
        """Return the usable fields."""
        return {name: type_.fields[name] for name in self._members[type_.name]}

    def values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the usable values."""
        return {name: type_.values[name] for name in self._members[type_.name]}

    def guards(self, type_: GraphQLInputObjectType | GraphQLEnumType) -> dict[str, Mask]:
        """Return member -> conditions beyond the operation's mask, for members that need any."""
        masks = {
            name: self._guards.get(f"{type_.name}.{name}", OPEN) - self._mask for name in self._members[type_.name]
        }
        return {name: mask for name, mask in masks.items() if mask}

    def open_values(self, type_: GraphQLEnumType) -> dict[str, GraphQLEnumValue]:
        """Return the values that every caller of the operation can give."""
        guarded = self.guards(type_)
        return {name: value for name, value in self.values(type_).items() if name not in guarded}

    def enums(self) -> list[GraphQLEnumType]:
        """Return the enums in the types of variables that a model fills."""
        types = [self.types[node.variable.name.value] for node in self.filled_by_model]
        return [type_ for type_ in _types_below(types, self.fields) if isinstance(type_, GraphQLEnumType)]


def _never_null(operation: AuthorOperation, schema: GraphQLSchema) -> frozenset[str]:
    """Return the variables in places where GraphQL rejects ``null``, also nullable ones that have a default.

    Source: GraphQL specification, section 5.8.5 (All Variable Usages Are Allowed).
    """
    names = {
        node.name.value
        for node, types in typed_nodes(operation.document, schema)
        if isinstance(node, VariableNode) and isinstance(types.get_input_type(), GraphQLNonNull)
    }
    return frozenset(names) - operation.optional_conditions


def _types_below(
    types: Iterable[Any], fields_of: Callable[[GraphQLInputObjectType], Mapping[str, GraphQLInputField]]
) -> list[Any]:
    """Return the input objects and enums in or below some types."""
    below: dict[str, Any] = {}
    waiting = list(types)
    while waiting:
        type_ = get_named_type(waiting.pop())
        if isinstance(type_, GraphQLInputObjectType | GraphQLEnumType) and type_.name not in below:
            below[type_.name] = type_
            if isinstance(type_, GraphQLInputObjectType):
                waiting += [field.type for field in fields_of(type_).values()]
    return list(below.values())
