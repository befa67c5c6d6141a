"""What patterns put on single fields. What follows from it for others: see ``access/propagation.py``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import re2  # linear in time, whatever the author writes
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_introspection_type,
)

from handler.compiler.problems import At, Problems, some
from handler.compiler.schema.directives import VisibilityPattern
from handler.compiler.schema.executable_directives import executable_directives
from handler.policy.evaluation import HIDDEN, Mask

Matcher = Callable[[str], object]
"""A full match of a name, or ``None``."""

FieldsType = GraphQLObjectType | GraphQLInterfaceType

ROOTS = ("Query", "Mutation", "Subscription")

FEDERATION_FIELDS = ("_service", "_entities")
"""Fields of the query type that Apollo Federation adds: one tells the API's whole schema, one returns any entity."""

DIRECTIVES = "@"
"""The type that patterns take directives for fields of: no type of a schema can be called that."""

MAX_PATTERN_MEMORY = 1_000_000


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Rule:
    """A visibility pattern, ready to match. Equal is only the same one."""

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
    """The coordinates that visibility patterns hide, as masks that never hold; ``None`` after reporting a bad one.

    Patterns match whole names, and the last match wins. Fields of root types are hidden unless a pattern exposes
    them; fields of other types are visible unless one hides them. ``Query`` and ``Mutation`` match the root types,
    whatever these are called. Federation's fields are exposed only by a pattern that names them literally: ``.*`` was
    not meant for them. The API's directives for requests are matched as fields of a type called ``@``, and are visible
    unless a pattern hides them. Of fields that are not ``within`` the given coordinates nothing is said.

    Source: IBM API Connect for GraphQL, "directive @tool", ``graphql``, and "directive @sdl", ``visibility``.
    """
    rules = [rule for pattern in patterns if (rule := _compile(pattern, problems))]
    if len(rules) < len(patterns):
        return None
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
    decisions.warn(rules, roots.values(), problems)
    return dict.fromkeys(decisions.hidden, HIDDEN)


class _Decisions:
    """What rules say of fields, and which of them say anything."""

    def __init__(self) -> None:
        self.hidden: list[str] = []
        self._matching: set[_Rule] = set()
        self._shown_again: dict[_Rule, list[str]] = {}

    def take(self, coordinate: str, matching: Sequence[_Rule], *, otherwise: bool) -> None:
        """Let the last rule that matches decide, and without any take the default."""
        self._matching.update(matching)
        if not (matching[-1].expose if matching else otherwise):
            self.hidden.append(coordinate)
        elif not all(rule.expose for rule in matching):
            self._shown_again.setdefault(matching[-1], []).append(coordinate)

    def warn(self, rules: Iterable[_Rule], roots: Collection[str], problems: Problems) -> None:
        """Warn of rules that undo earlier ones, and of those that match nothing."""
        for rule, shown in self._shown_again.items():
            problems.warn(
                rule.at,
                f"the last match wins: this exposes {some(shown)}, which a pattern before it hides",
                code="overridden-pattern",
                about=shown,
            )
        for rule in rules:
            # Patterns for all root types are written by tools too, whether or not a schema has them.
            if rule not in self._matching and not any(rule.types(name) for name in ROOTS if name not in roots):
                problems.warn(rule.at, f"this pattern matches no field: {rule.text}", code="unmatched-pattern")


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
    types = (schema.query_type, schema.mutation_type, schema.subscription_type)
    return {root.name: name for name, root in zip(ROOTS, types, strict=True) if root}


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
        problems.add(at, f'the pattern "{expression:.60}" is no regular expression: {reason}', code="invalid-pattern")
        return None
    return matcher
