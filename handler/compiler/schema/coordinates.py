"""Schema coordinates as authors write them.

Source: GraphQL specification, section 3.14 "Schema Coordinates".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
)

from handler.compiler.schema.directives import executable_directives
from handler.errors.authoring import UnknownCoordinate
from handler.text.sentences import did_you_mean, some

COORDINATE = re.compile(r"(?P<type>\w+)(?:\.(?P<member>\w+)(?:\((?P<argument>\w+):\))?)?", re.ASCII)

OF_DIRECTIVE = re.compile(r"@(?P<name>\w+)(?:\((?P<argument>\w+):\))?", re.ASCII)

FORMS = "Type, Type.field, Type.field(argument:), Input.field, Enum.VALUE, @directive or @directive(argument:)"


def resolve(schema: GraphQLSchema, text: str) -> str:
    """Return the coordinate that an author's text names. ``Query`` and ``Mutation`` mean the root types.

    Raises:
        UnknownCoordinate: the schema does not have the coordinate, or the text is not a coordinate.
    """
    if of_directive := OF_DIRECTIVE.fullmatch(text):
        name, argument = of_directive["name"], of_directive["argument"]
        directives = {directive.name: directive for directive in executable_directives(schema)}
        if name not in directives:
            remedy = did_you_mean(name, directives)
            raise UnknownCoordinate(f'the schema has no directive "@{name}" for requests{remedy}')
        if argument is None:
            return f"@{name}"
        require_name(argument, directives[name].args, "argument", f"@{name}")
        return f"@{name}({argument}:)"
    match = COORDINATE.fullmatch(text)
    if match is None:
        raise UnknownCoordinate(f"not a coordinate: expected {FORMS}")
    type_ = root_or_type(schema, match["type"])
    if type_ is None or type_.name.startswith("__"):
        names = [name for name in schema.type_map if not name.startswith("__")]
        raise UnknownCoordinate(f'the schema has no type "{match["type"]}"{did_you_mean(match["type"], names)}')
    member, argument = match["member"], match["argument"]
    if member is None:
        return type_.name
    require_name(member, members_of(type_), "value" if isinstance(type_, GraphQLEnumType) else "field", type_.name)
    own = f"{type_.name}.{member}"
    if argument is None:
        return own
    require_name(argument, getattr(getattr(type_, "fields", {}).get(member), "args", ()), "argument", own)
    return f"{own}({argument}:)"


def require_name(name: str, known: Collection[str], kind: str, owner: str) -> None:
    """Refuse a name that its owner, a type, field or directive, does not have."""
    if name not in known:
        raise UnknownCoordinate(f'"{owner}" has no {kind} "{name}"{did_you_mean(name, known)}')


def root_or_type(schema: GraphQLSchema, name: str) -> GraphQLNamedType | None:
    """Find a type. ``Query`` and ``Mutation`` also mean root types with other names, if no type has these names."""
    roots = {"Query": schema.query_type, "Mutation": schema.mutation_type}
    return schema.get_type(name) or roots.get(name)


def rule_for_other_kind(schema: GraphQLSchema, name: str) -> str:
    """Return how to guard a type without fields, which policies and patterns cannot; empty string for other names."""
    match schema.type_map.get(name):
        case GraphQLUnionType() as union:
            return f"{name} is a union: name its members, {some([member.name for member in union.types])}"
        case GraphQLInputObjectType():
            return f"{name} is an input type, whose fields access.hide in config.yaml can hide"
        case GraphQLEnumType():
            return f"{name} is an enum, whose values access.hide in config.yaml can hide"
        case GraphQLScalarType():
            return f"{name} is a scalar: name the fields that have it"
    return ""


def with_members(schema: GraphQLSchema, coordinates: Iterable[str]) -> set[str]:
    """Add the members of all types among the coordinates."""
    members = set(coordinates)
    for name in [coordinate for coordinate in members if coordinate in schema.type_map]:
        members |= {f"{name}.{member}" for member in members_of(schema.type_map[name])}
    return members


def members_of(type_: Any) -> Collection[str]:
    """Return the names of a type's fields, input fields or enum values."""
    return [*getattr(type_, "fields", ()), *getattr(type_, "values", ())]
