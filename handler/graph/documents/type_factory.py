"""graphql-core's types, made one by one from a view, with the parts that validation needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from graphql import (
    DirectiveLocation,
    GraphQLArgument,
    GraphQLDefaultInput,
    GraphQLDirective,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLUnionType,
    parse_const_value,
    specified_scalar_types,
)

from handler.graph.index_types import Directive, Field, InputValue, TypeSlice
from handler.graph.view import View

FieldsOf = Callable[[str], Mapping[str, Mapping[str, InputValue]]]
"""Type -> the fields to make it with, and the arguments of each."""

TypeNamed = Callable[[str], GraphQLNamedType]


class _Types(ABC):
    """Types of a view by name, each made once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._made: dict[str, GraphQLNamedType] = {}

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    @abstractmethod
    def _make(self, name: str) -> GraphQLNamedType: ...


class InputTypes(_Types):
    """Input objects, enums and scalars of a view. They are complete, so all schemas of the view share them."""

    def _make(self, name: str) -> GraphQLNamedType:
        if name in specified_scalar_types:
            return specified_scalar_types[name]
        entry, members = self._view.index[name], self._view.members[name]
        match entry.kind:
            case "input":
                return GraphQLInputObjectType(
                    name,
                    lambda: {member: self._field(entry.inputs[member]) for member in members},
                    is_one_of="@oneOf" in entry.directives,
                )
            case "enum":
                return GraphQLEnumType(name, {member: GraphQLEnumValue(member) for member in members})
            case _:
                return GraphQLScalarType(name)

    def _field(self, value: InputValue) -> GraphQLInputField:
        return GraphQLInputField(
            _wrapped(value.type, self),
            default=_default(value),
        )


class OutputTypes(_Types):
    """Objects, interfaces and unions of a view with some of their fields: types of one schema."""

    def __init__(self, view: View, inputs: InputTypes, fields_of: FieldsOf) -> None:
        super().__init__(view)
        self._inputs = inputs
        self._fields_of = fields_of

    def _make(self, name: str) -> GraphQLNamedType:
        kind = self._view.index.kind(name)
        if kind not in ("object", "interface", "union"):
            return self._inputs(name)
        entry = self._view.index[name]
        if kind == "union":
            members = self._view.members[name]
            return GraphQLUnionType(name, lambda: self._all(members))
        made = GraphQLObjectType if kind == "object" else GraphQLInterfaceType
        return made(
            name,
            lambda: self._fields(name, entry),
            interfaces=lambda: self._all(
                interface for interface in entry.interfaces if interface in self._view.members
            ),
        )

    def _all(self, names: Any) -> list[Any]:
        return [self(name) for name in names]

    def _fields(self, name: str, entry: TypeSlice) -> dict[str, GraphQLField]:
        return {
            field_name: self._field(entry.fields[field_name], arguments)
            for field_name, arguments in self._fields_of(name).items()
        }

    def _field(self, field: Field, arguments: Mapping[str, InputValue]) -> GraphQLField:
        return GraphQLField(
            _wrapped(field.type, self),
            {name: _argument(argument, self._inputs) for name, argument in arguments.items()},
        )


def make_directive(name: str, directive: Directive, inputs: InputTypes) -> GraphQLDirective:
    """Return a directive that a request may carry, with the input types of the view."""
    return GraphQLDirective(
        name,
        [DirectiveLocation[location] for location in directive.on],
        {argument: _argument(value, inputs) for argument, value in directive.arguments.items()},
        is_repeatable=directive.repeatable,
    )


def _wrapped(type_text: str, type_named: TypeNamed) -> Any:
    if type_text.endswith("!"):
        return GraphQLNonNull(_wrapped(type_text[:-1], type_named))
    if type_text.startswith("["):
        return GraphQLList(_wrapped(type_text[1:-1], type_named))
    return type_named(type_text)


def _argument(value: InputValue, inputs: InputTypes) -> GraphQLArgument:
    return GraphQLArgument(_wrapped(value.type, inputs), default=_default(value))


def _default(value: InputValue) -> GraphQLDefaultInput | None:
    return GraphQLDefaultInput(literal=parse_const_value(value.default, no_location=True)) if value.default else None
