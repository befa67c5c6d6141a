"""graphql-core's types, made from a view's slices one by one, without printing and parsing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from graphql import (
    DEFAULT_DEPRECATION_REASON,
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
    StringValueNode,
    parse_const_value,
    specified_scalar_types,
)

from handler.graph.index import Directive, Field, InputValue, TypeSlice
from handler.graph.view import View

FieldsOf = Callable[[str], Mapping[str, Mapping[str, InputValue]]]
"""The fields that a type is made with, and the arguments of each."""

TypeNamed = Callable[[str], GraphQLNamedType]


class InputTypes:
    """Input objects, enums and scalars of a view. They are whole, so all schemas of the view share them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._made: dict[str, GraphQLNamedType] = {}

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> GraphQLNamedType:
        if name in specified_scalar_types:
            return specified_scalar_types[name]
        entry, members = self._view.index[name], self._view.members[name]
        description = text_of(entry.description)
        match entry.kind:
            case "input":
                return GraphQLInputObjectType(
                    name,
                    lambda: {member: self._field(entry.inputs[member]) for member in members},
                    description=description,
                    is_one_of="@oneOf" in entry.directives,
                )
            case "enum":
                values = {member: _enum_value(member, *entry.values[member]) for member in members}
                return GraphQLEnumType(name, values, description=description)
            case _:
                return GraphQLScalarType(
                    name, description=description, specified_by_url=_argument_of(entry.directives, "url")
                )

    def _field(self, value: InputValue) -> GraphQLInputField:
        return GraphQLInputField(
            _wrapped(value.type, self),
            default=_default(value),
            description=text_of(value.description),
            deprecation_reason=_deprecation(value.directives),
        )


class OutputTypes:
    """Objects, interfaces and unions of a view with some of their fields: types of one schema."""

    def __init__(self, view: View, inputs: InputTypes, fields_of: FieldsOf) -> None:
        self._view = view
        self._inputs = inputs
        self._fields_of = fields_of
        self._made: dict[str, GraphQLNamedType] = {}

    def __call__(self, name: str) -> GraphQLNamedType:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> GraphQLNamedType:
        kind = self._view.index.kind(name)
        if kind not in ("object", "interface", "union"):
            return self._inputs(name)
        entry = self._view.index[name]
        description = text_of(entry.description)
        if kind == "union":
            members = self._view.members[name]
            return GraphQLUnionType(name, lambda: self._all(members), description=description)
        made = GraphQLObjectType if kind == "object" else GraphQLInterfaceType
        return made(
            name,
            lambda: self._fields(name, entry),
            interfaces=lambda: self._all(
                interface for interface in entry.interfaces if interface in self._view.members
            ),
            description=description,
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
            description=text_of(field.description),
            deprecation_reason=_deprecation(field.directives),
        )


def make_directive(name: str, directive: Directive, inputs: InputTypes) -> GraphQLDirective:
    """A directive that a request may carry, with the input types of the view."""
    return GraphQLDirective(
        name,
        [DirectiveLocation[location] for location in directive.on],
        {argument: _argument(value, inputs) for argument, value in directive.arguments.items()},
        is_repeatable=directive.repeatable,
        description=text_of(directive.description),
    )


def text_of(printed: str) -> str | None:
    """The text of a description as the index has it.

    Nearly all are block strings as graphql-core prints them, and these need no parser.
    """
    if not printed:
        return None
    body = printed[3:-3]
    if not printed.startswith('"""') or "\\" in body or "\r" in body:
        return cast("StringValueNode", parse_const_value(printed, no_location=True)).value
    # A printed block string has no common indentation; a line of its own is only there for the quotes.
    return body.removeprefix("\n").removesuffix("\n")


def _wrapped(type_text: str, type_named: TypeNamed) -> Any:
    if type_text.endswith("!"):
        return GraphQLNonNull(_wrapped(type_text[:-1], type_named))
    if type_text.startswith("["):
        return GraphQLList(_wrapped(type_text[1:-1], type_named))
    return type_named(type_text)


def _argument(value: InputValue, inputs: InputTypes) -> GraphQLArgument:
    return GraphQLArgument(
        _wrapped(value.type, inputs),
        default=_default(value),
        description=text_of(value.description),
        deprecation_reason=_deprecation(value.directives),
    )


def _enum_value(name: str, description: str, directives: str) -> GraphQLEnumValue:
    return GraphQLEnumValue(name, description=text_of(description), deprecation_reason=_deprecation(directives))


def _default(value: InputValue) -> GraphQLDefaultInput | None:
    return GraphQLDefaultInput(literal=parse_const_value(value.default, no_location=True)) if value.default else None


def _deprecation(directives: str) -> str | None:
    if "@deprecated" not in directives:
        return None
    return _argument_of(directives, "reason") or (DEFAULT_DEPRECATION_REASON if "(" not in directives else "")


def _argument_of(directives: str, name: str) -> str | None:
    """The text that a printed directive has as its only argument."""
    _, found, literal = directives.partition(f"({name}: ")
    if not found:
        return None
    return cast("StringValueNode", parse_const_value(literal.removesuffix(")"), no_location=True)).value
