"""What patterns put on single fields. What follows from it for others: see ``hiding.py``."""

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
from handler.compiler.problems import At, Problems, some
from handler.policy import HIDDEN, Mask

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
) -> dict[str, Mask] | None:
    """The coordinates that visibility patterns hide, as masks that never hold; ``None`` after reporting a bad one.

    Patterns match whole names, and the last match wins. Fields of root types are hidden unless a pattern exposes
    them; fields of other types are visible unless one hides them. ``Query`` and ``Mutation`` match the root types,
    whatever these are called.

    Source: IBM API Connect for GraphQL, "directive @tool", ``graphql``.
    """
    rules = [rule for pattern in patterns if (rule := _compile(pattern, at, problems))]
    if len(rules) < len(patterns):
        return None
    roots = _usual_root_names(schema)
    own: dict[str, Mask] = {}
    shown_again: list[str] = []
    for type_ in types_with_fields(schema):
        names = {type_.name, roots.get(type_.name, type_.name)}
        of_type = [rule for rule in rules if any(map(rule.types, names))]
        for field in type_.fields:
            matching = [rule.expose for rule in of_type if rule.fields(field)] or [type_.name not in roots]
            if not matching[-1]:
                own[f"{type_.name}.{field}"] = HIDDEN
            elif False in matching:
                shown_again.append(f"{type_.name}.{field}")
    if shown_again:
        problems.warn(at, f"the last match wins: a pattern exposes {some(shown_again)}, which an earlier one hides")
    return own


def fold_types(schema: GraphQLSchema, masks: Mapping[str, Mask]) -> dict[str, Mask]:
    """The same with one entry for a type all of whose fields are hidden: a schema has hundreds of mutations."""
    folded = dict(masks)
    for type_ in types_with_fields(schema):
        coordinates = [f"{type_.name}.{name}" for name in type_.fields]
        if all(masks.get(coordinate) == HIDDEN for coordinate in coordinates):
            for coordinate in coordinates:
                del folded[coordinate]
            folded[type_.name] = HIDDEN
    return dict(sorted(folded.items()))


def _usual_root_names(schema: GraphQLSchema) -> dict[str, str]:
    """Root type -> what patterns may call it beside its name."""
    roots = {"Query": schema.query_type, "Mutation": schema.mutation_type, "Subscription": schema.subscription_type}
    return {root.name: name for name, root in roots.items() if root}


def fields_of(schema: GraphQLSchema) -> Iterator[tuple[FieldsType, str, GraphQLField]]:
    """Every field of every object type and interface, but for introspection's own."""
    for type_ in types_with_fields(schema):
        for name, field in type_.fields.items():
            yield type_, name, field


def types_with_fields(schema: GraphQLSchema) -> Iterator[FieldsType]:
    """Every object type and interface, but for introspection's own."""
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
