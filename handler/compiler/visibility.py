"""What patterns and policies put on single fields, and what follows from it for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import re2
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_introspection_type,
)

from handler.compiler.directives import VisibilityPattern
from handler.compiler.problems import At, Problems
from handler.policy import HIDDEN, OPEN, Mask

Matcher = Callable[[str], object]
"""A full match of a name, or ``None``."""

FieldsType = GraphQLObjectType | GraphQLInterfaceType

MAX_PATTERN_MEMORY = 1_000_000


class _Rule(NamedTuple):
    types: Matcher
    fields: Matcher
    expose: bool


def hidden_by_patterns(
    schema: GraphQLSchema, patterns: Sequence[VisibilityPattern], *, at: At, problems: Problems
) -> dict[str, Mask]:
    """The coordinates that visibility patterns hide, as masks that never hold.

    Patterns match whole names, and the last match wins. Fields of root types are hidden unless a pattern exposes
    them; fields of other types are visible unless one hides them.

    Source: IBM API Connect for GraphQL, "directive @tool", ``graphql``.
    """
    rules = [rule for pattern in patterns if (rule := _compile(pattern, at, problems))]
    roots = {schema.query_type, schema.mutation_type, schema.subscription_type}
    own: dict[str, Mask] = {}
    for type_, name, _ in fields_of(schema):
        matching = (rule.expose for rule in reversed(rules) if rule.types(type_.name) and rule.fields(name))
        if not next(matching, type_ not in roots):
            own[f"{type_.name}.{name}"] = HIDDEN
    return spread_over_interfaces(schema, own)


def spread_over_interfaces(schema: GraphQLSchema, own: Mapping[str, Mask]) -> dict[str, Mask]:
    """Add to each field's own mask what its interfaces and implementers bring.

    Down: an implementer's field takes the masks of the interface fields it fills. Up, once: an interface field takes
    what its implementers' fields have by now, because selecting it selects them. What comes up does not go down
    again, else hiding one type's ``id`` would hide it on every type that has one.
    """
    down = {
        f"{type_.name}.{name}": own.get(f"{type_.name}.{name}", OPEN).union(
            *(own.get(f"{interface.name}.{name}", OPEN) for interface in type_.interfaces)
        )
        for type_, name, _ in fields_of(schema)
    }
    up = dict(down)
    for type_, name, _ in fields_of(schema):
        for interface in type_.interfaces:
            coordinate = f"{interface.name}.{name}"
            if coordinate in up:
                up[coordinate] |= down[f"{type_.name}.{name}"]
    return {coordinate: mask for coordinate, mask in sorted(up.items()) if mask}


def fold_types(schema: GraphQLSchema, masks: Mapping[str, Mask]) -> dict[str, Mask]:
    """The same with one entry for a type all of whose fields are hidden: a schema has hundreds of mutations."""
    folded = dict(masks)
    for type_ in _types_with_fields(schema):
        coordinates = [f"{type_.name}.{name}" for name in type_.fields]
        if all(masks.get(coordinate) == HIDDEN for coordinate in coordinates):
            for coordinate in coordinates:
                del folded[coordinate]
            folded[type_.name] = HIDDEN
    return dict(sorted(folded.items()))


def fields_of(schema: GraphQLSchema) -> Iterator[tuple[FieldsType, str, GraphQLField]]:
    """Every field of every object type and interface, but for introspection's own."""
    for type_ in _types_with_fields(schema):
        for name, field in type_.fields.items():
            yield type_, name, field


def _types_with_fields(schema: GraphQLSchema) -> Iterator[FieldsType]:
    for type_ in schema.type_map.values():
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType) and not is_introspection_type(type_):
            yield type_


def _compile(pattern: VisibilityPattern, at: At, problems: Problems) -> _Rule | None:
    types = _matcher(pattern.types, at, problems)
    fields = _matcher(pattern.fields, at, problems)
    return _Rule(types, fields, pattern.expose) if types and fields else None


def _matcher(expression: str, at: At, problems: Problems) -> Matcher | None:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_MEMORY
    try:
        matcher: Matcher = re2.compile(expression, options).fullmatch
    except re2.error as exc:
        reason = exc.args[0].decode() if isinstance(exc.args[0], bytes) else exc.args[0]
        problems.add(at, f'the pattern "{expression:.60}" is no regular expression: {reason}')
        return None
    return matcher
