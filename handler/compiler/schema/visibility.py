"""Fields that visibility patterns hide. ``access/propagation.py`` hides further coordinates as a consequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import re2  # linear in time for every pattern
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_introspection_type,
)

from handler.compiler.problems import At, Problems
from handler.compiler.schema.directives import VisibilityPattern
from handler.compiler.schema.executable_directives import executable_directives
from handler.policy.evaluation import HIDDEN, Mask
from handler.sentences import cut, some

Matcher = Callable[[str], object]
"""A function that returns the full match of a name, or ``None``."""

FieldsType = GraphQLObjectType | GraphQLInterfaceType

ROOTS = ("Query", "Mutation", "Subscription")

FEDERATION_FIELDS = ("_service", "_entities")
"""Fields that Apollo Federation adds to the query type: one returns the whole schema, one returns any entity."""

DIRECTIVES = "@"
"""The type whose fields, for patterns, are the directives. No type of a schema can have this name."""

MAX_PATTERN_MEMORY = 1_000_000


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Rule:
    """A compiled visibility pattern. It equals only itself."""

    at: At
    types: Matcher
    fields: Matcher
    expose: bool
    names: frozenset[str]  # the words in the pattern for fields
    text: str


def hidden_by_patterns(
    schema: GraphQLSchema,
    patterns: Sequence[VisibilityPattern],
    problems: Problems,
    *,
    within: Container[str] | None = None,
) -> dict[str, Mask] | None:
    """Return the coordinates that visibility patterns hide -> ``HIDDEN``; ``None`` after reporting an invalid pattern.

    Patterns match whole names, and the last match wins. Fields of root types are hidden unless a pattern exposes
    them; fields of other types are visible unless a pattern hides them. ``Query``, ``Mutation`` and ``Subscription``
    also match root types with other names. Only a pattern that names Federation's fields literally exposes them:
    ``.*`` does not. Executable directives of the API match as fields of a type ``@``, and are visible unless a pattern
    hides them. If ``within`` is given, the patterns apply to its fields only, and not to directives.

    Source: IBM API Connect for GraphQL, "directive @tool", ``graphql``, and "directive @sdl", ``visibility``.
    """
    rules = [rule for pattern in patterns if (rule := _compile(pattern, problems))]
    if len(rules) < len(patterns):
        return None
    decisions = _decide(schema, rules, within=within)
    decisions.warn(rules, _usual_root_names(schema).values(), problems)
    return dict.fromkeys(decisions.hidden, HIDDEN)


def _decide(schema: GraphQLSchema, rules: Sequence[_Rule], *, within: Container[str] | None) -> _Decisions:
    roots = _usual_root_names(schema)
    decisions = _Decisions()
    for type_ in types_with_fields(schema):
        names = {type_.name, roots.get(type_.name, type_.name)}
        of_type = [rule for rule in rules if any(map(rule.types, names))]
        for field in type_.fields:
            if within is None or f"{type_.name}.{field}" in within:
                matching = [rule for rule in of_type if rule.fields(field) and _is_meant(rule, type_, field, schema)]
                decisions.take(f"{type_.name}.{field}", matching, otherwise=type_.name not in roots)
    for directive in executable_directives(schema) if within is None else ():
        matching = [rule for rule in rules if rule.types(DIRECTIVES) and rule.fields(directive.name)]
        decisions.take(f"@{directive.name}", matching, otherwise=True)
    return decisions


class _Decisions:
    """Collector of hidden coordinates and of the rules that matched."""

    def __init__(self) -> None:
        self.hidden: list[str] = []
        self._matching: set[_Rule] = set()
        self._shown_again: dict[_Rule, list[str]] = {}

    def take(self, coordinate: str, matching: Sequence[_Rule], *, otherwise: bool) -> None:
        """Apply the last matching rule; without one ``otherwise``, true for visible."""
        self._matching.update(matching)
        if not (matching[-1].expose if matching else otherwise):
            self.hidden.append(coordinate)
        elif not all(rule.expose for rule in matching):
            self._shown_again.setdefault(matching[-1], []).append(coordinate)

    def warn(self, rules: Iterable[_Rule], roots: Collection[str], problems: Problems) -> None:
        """Warn of rules that override earlier ones or match nothing."""
        for rule, shown in self._shown_again.items():
            problems.warn(
                rule.at,
                f"the last match wins: this exposes {some(shown)}, which an earlier pattern hides",
                code="overridden-pattern",
                about=shown,
            )
        for rule in rules:
            # Generated patterns name all root types, also those that the schema lacks.
            if rule not in self._matching and not any(rule.types(name) for name in ROOTS if name not in roots):
                problems.warn(rule.at, f"this pattern matches no field: {rule.text}", code="unmatched-pattern")


def fold_types(schema: GraphQLSchema, masks: Mapping[str, Mask]) -> dict[str, Mask]:
    """Replace the entries of a type's fields by one if all are hidden: a schema has hundreds of mutations."""
    folded = dict(masks)
    for type_ in types_with_fields(schema):
        coordinates = [f"{type_.name}.{name}" for name in type_.fields]
        if all(masks.get(coordinate) == HIDDEN for coordinate in coordinates):
            for coordinate in coordinates:
                del folded[coordinate]
            folded[type_.name] = HIDDEN
    return dict(sorted(folded.items()))


def _usual_root_names(schema: GraphQLSchema) -> dict[str, str]:
    """Return root type -> the usual name, which patterns may use too."""
    types = (schema.query_type, schema.mutation_type, schema.subscription_type)
    return {root.name: name for name, root in zip(ROOTS, types, strict=True) if root}


def fields_of(schema: GraphQLSchema) -> Iterator[tuple[FieldsType, str, GraphQLField]]:
    """Yield the fields of all object types and interfaces except introspection types."""
    for type_ in types_with_fields(schema):
        for name, field in type_.fields.items():
            yield type_, name, field


def types_with_fields(schema: GraphQLSchema) -> Iterator[FieldsType]:
    """Yield all object types and interfaces except introspection types."""
    for type_ in schema.type_map.values():
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType) and not is_introspection_type(type_):
            yield type_


def _compile(pattern: VisibilityPattern, problems: Problems) -> _Rule | None:
    types = _matcher(pattern.types, pattern.at, problems)
    fields = _matcher(pattern.fields, pattern.at, problems)
    text = f'types "{pattern.types:.60}", fields "{pattern.fields:.60}"'
    names = frozenset(re.findall(r"\w+", pattern.fields))
    return (
        _Rule(at=pattern.at, types=types, fields=fields, expose=pattern.expose, names=names, text=text)
        if types and fields
        else None
    )


def _is_meant(rule: _Rule, type_: FieldsType, field: str, schema: GraphQLSchema) -> bool:
    return type_ is not schema.query_type or field not in FEDERATION_FIELDS or not rule.expose or field in rule.names


def _matcher(expression: str, at: At, problems: Problems) -> Matcher | None:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PATTERN_MEMORY
    try:
        matcher: Matcher = re2.compile(expression, options).fullmatch
    except re2.error as exc:
        reason = exc.args[0].decode() if isinstance(exc.args[0], bytes) else exc.args[0]
        why = reason.removesuffix(f": {expression}")
        problems.add(at, f'the pattern "{cut(expression)}" is not a regular expression: {why}', code="invalid-pattern")
        return None
    return matcher
