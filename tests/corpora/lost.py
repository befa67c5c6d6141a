"""What is lost with hidden coordinates: the oracle of ``views.py``. It shares no code with the product."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLDirective,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLSchema,
    get_named_type,
    is_abstract_type,
    is_input_object_type,
    is_interface_type,
    is_object_type,
    is_required_argument,
    is_required_input_field,
    is_specified_directive,
)

from tests.corpora.touched import named_by


def with_what_is_lost(schema: GraphQLSchema, hidden: Collection[str], *, by_name: bool = True) -> set[str]:
    """``hidden`` with what cannot be used without it, and ``by_name`` the inputs that look up or compare by it.

    - A type cannot be used without any of its members. An input that is gone takes along what takes it, if the API
      would apply a default that names something gone.
    - An input of a field looks up or compares by a hidden field if the letters of that stand in its name, and the field
      returns the type of that, a list or page of it, or an interface or union that it may stand for. A directive may
      change any answer, so the letters of a hidden field of any type are enough in the name of its input.
    """
    gone = set(hidden)
    defaults = list(_with_defaults(schema))
    while True:
        more = {name for name, type_ in schema.type_map.items() if _has_nothing_left(type_, gone)}
        more |= {coordinate for coordinate, field in _fields(schema) if _is_lost(coordinate, field, gone)}
        more |= {_above(coordinate, each) for coordinate in gone for each in _interfaces(schema, coordinate)}
        more |= {coordinate for coordinate, _ in _fields(schema) if _fills_any(schema, coordinate, gone)}
        more |= {place for place, directive in _directives(schema) if _lacks_argument(place, directive.args, gone)}
        more |= {_taker(each) for each, own, named in defaults if gone & {each, own} and gone & named}
        more |= set(_telling(schema, gone)) if by_name else set()
        if more <= gone:
            return gone
        gone |= more


def _fields(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLField]]:
    for name, type_ in schema.type_map.items():
        if (is_object_type(type_) or is_interface_type(type_)) and not name.startswith("__"):
            yield from ((f"{name}.{each}", field) for each, field in type_.fields.items())


def _directives(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLDirective]]:
    yield from ((f"@{each.name}", each) for each in schema.directives if not is_specified_directive(each))


def _with_defaults(schema: GraphQLSchema) -> Iterator[tuple[str, str, set[str]]]:
    """The coordinate of each input, its type, and what its default names."""
    taking: list[tuple[str, GraphQLField | GraphQLDirective]] = [*_fields(schema), *_directives(schema)]
    for place, each in taking:
        yield from (_with_default(f"{place}({name}:)", value) for name, value in each.args.items())
    for type_ in schema.type_map.values():
        inputs = type_.fields if isinstance(type_, GraphQLInputObjectType) else {}
        yield from (_with_default(f"{type_.name}.{name}", value) for name, value in inputs.items())


def _with_default(coordinate: str, value: GraphQLArgument | GraphQLInputField) -> tuple[str, str, set[str]]:
    node = value.ast_node.default_value if value.ast_node else None
    return coordinate, get_named_type(value.type).name, set(named_by(value.type, node)) if node else set()


def _taker(coordinate: str) -> str:
    """The field or directive of an argument, or the type of an input field."""
    place, argument, _ = coordinate.partition("(")
    return place if argument else coordinate.partition(".")[0]


def _has_nothing_left(type_: Any, gone: Collection[str]) -> bool:
    members = [*getattr(type_, "fields", ()), *getattr(type_, "values", ())]
    if is_input_object_type(type_):
        required = (name for name, field in type_.fields.items() if is_required_input_field(field))
        if any(f"{type_.name}.{name}" in gone for name in required):
            return True
    return bool(members) and all(f"{type_.name}.{name}" in gone for name in members)


def _is_lost(coordinate: str, field: GraphQLField, gone: Collection[str]) -> bool:
    return get_named_type(field.type).name in gone or _lacks_argument(coordinate, field.args, gone)


def _lacks_argument(coordinate: str, arguments: Mapping[str, GraphQLArgument], gone: Collection[str]) -> bool:
    required = [name for name, argument in arguments.items() if is_required_argument(argument)]
    return any(f"{coordinate}({name}:)" in gone for name in required)


def _interfaces(schema: GraphQLSchema, coordinate: str) -> list[Any]:
    owner, _, member = coordinate.partition(".")
    found = getattr(schema.type_map.get(owner), "interfaces", ())
    return [each for each in found if member.partition("(")[0] in each.fields]


def _fills_any(schema: GraphQLSchema, coordinate: str, gone: Collection[str]) -> bool:
    return any(_above(coordinate, each) in gone for each in _interfaces(schema, coordinate))


def _above(coordinate: str, interface: Any) -> str:
    return f"{interface.name}.{coordinate.partition('.')[2]}"


def _telling(schema: GraphQLSchema, gone: Collection[str]) -> Iterator[str]:
    secrets: dict[str, set[str]] = {}
    for coordinate, _ in _fields(schema):
        owner, _, name = coordinate.partition(".")
        if coordinate in gone and owner not in _roots(schema):
            secrets.setdefault(owner, set()).add(_letters(name))
    for coordinate, field in _fields(schema):
        rows = _rows(schema, get_named_type(field.type))
        names = set().union(*(secrets.get(row, set()) for row in rows))
        yield from _naming(names, coordinate, field.args)
    for place, directive in _directives(schema):
        yield from _naming(set().union(*secrets.values()), place, directive.args)


def _naming(names: Collection[str], coordinate: str, arguments: Mapping[str, GraphQLArgument]) -> Iterator[str]:
    """The inputs in whose names the letters of one of ``names`` stand."""
    for asked in _inputs(coordinate, arguments) if names else ():
        last = _letters(asked.removesuffix(":)").replace("(", ".").split(".")[-1])
        if any(name in last for name in names):
            yield asked


def _roots(schema: GraphQLSchema) -> set[str]:
    """The names of the root types, whose fields hold nothing to be asked for."""
    return {root.name for root in (schema.query_type, schema.mutation_type, schema.subscription_type) if root}


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _rows(schema: GraphQLSchema, type_: Any) -> set[str]:
    """A type, those on a page of it, and all that may stand for them."""
    found = {type_}
    for name in ("nodes", "items", "edges"):
        held = getattr(type_, "fields", {}).get(name)
        found |= {get_named_type(held.type)} if held else set()
    found |= {get_named_type(each.fields["node"].type) for each in list(found) if "node" in getattr(each, "fields", {})}
    below = {one for each in found if is_abstract_type(each) for one in schema.get_possible_types(each)}
    return {each.name for each in found | below}


def _inputs(coordinate: str, arguments: Mapping[str, GraphQLArgument]) -> Iterator[str]:
    """The arguments of a field or directive, and all inputs below them."""
    yield from (f"{coordinate}({name}:)" for name in arguments)
    seen = {get_named_type(argument.type) for argument in arguments.values()}
    waiting = list(seen)
    while waiting:
        type_: Any = waiting.pop()
        yield from (f"{type_.name}.{name}" for name in [*getattr(type_, "fields", ()), *getattr(type_, "values", ())])
        new = {get_named_type(each.type) for each in getattr(type_, "fields", {}).values()} - seen
        seen |= new
        waiting += new
