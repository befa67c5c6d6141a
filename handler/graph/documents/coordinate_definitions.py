"""The definitions that schema coordinates name, in a view and in the schema of introspection itself.

Source: GraphQL specification, section 3.14 (Schema Coordinates).
"""

from __future__ import annotations

import re
from typing import Any

from graphql import GraphQLNamedType, specified_directives

from handler.cold.records import record
from handler.graph.documents.introspection_fields import Carried, Introspected, input_item

NAME = "[_A-Za-z][_0-9A-Za-z]*"
COORDINATE = re.compile(
    rf"@(?P<directive>{NAME})(?:\((?P<taken>{NAME}):\))?"
    rf"|(?P<type>{NAME})(?:\.(?P<member>{NAME})(?:\((?P<argument>{NAME}):\))?)?"
)

ITEMS = {"input": "__InputValue", "enum": "__EnumValue"}
"""Kind of a type -> the introspection type of its members, if they are not fields."""


@record(frozen=True, slots=True)
class Definition:
    """One member of ``__SchemaDefinition``: the name of its introspection type, and the source of the fields below."""

    type: str
    source: Any


def find_definition(shown: Introspected, coordinate: str) -> Definition | None:
    """Return the definition of a coordinate; ``None`` if a view has none, whether or not its schema has one."""
    match = COORDINATE.fullmatch(coordinate)
    if match is None:
        return None
    if match["directive"]:
        return _of_directive(shown, match["directive"], match["taken"])
    found = shown.type_named(match["type"])
    if found is None:
        return None
    if not match["member"]:
        return Definition("__Type", found)
    if isinstance(found, GraphQLNamedType):
        return _of_core(found, match["member"], match["argument"])
    return _of_view(shown, found, match["member"], match["argument"])


def _of_view(shown: Introspected, name: str, member: str, argument: str | None) -> Definition | None:
    item = shown.member(name, member)
    if item is None:
        return None
    if argument is None:
        return Definition(ITEMS.get(shown.kind(name), "__Field"), item)
    value = (item.arguments or {}).get(argument)
    return Definition("__InputValue", input_item(argument, value)) if value else None


def _of_directive(shown: Introspected, name: str, argument: str | None) -> Definition | None:
    own = shown.directives().get(name)
    if own is None:
        return _of_core_directive(name, argument)
    if argument is None:
        return Definition("__Directive", Carried(name, own))
    value = own.arguments.get(argument)
    return Definition("__InputValue", input_item(argument, value)) if value else None


def _of_core_directive(name: str, argument: str | None) -> Definition | None:
    core = next((each for each in specified_directives if each.name == name), None)
    if core is None:
        return None
    return _argument_of_core(core, argument) if argument else Definition("__Directive", core)


def _of_core(type_: GraphQLNamedType, member: str, argument: str | None) -> Definition | None:
    """Return the definition of a member of a type of introspection: graphql-core's form is its name and the member."""
    fields, values = getattr(type_, "fields", {}), getattr(type_, "values", {})
    if member in fields and argument:
        return _argument_of_core(fields[member], argument)
    if member in fields:
        return Definition("__Field", (member, fields[member]))
    return Definition("__EnumValue", (member, values[member])) if member in values and not argument else None


def _argument_of_core(owner: Any, argument: str) -> Definition | None:
    return Definition("__InputValue", (argument, owner.args[argument])) if argument in owner.args else None
