"""Fields that visibility patterns hide. ``access/propagation.py`` hides further coordinates as a consequence."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_introspection_type,
)

from handler.compiler.problems import Problems
from handler.compiler.schema.directives import VisibilityPattern
from handler.compiler.schema.executable_directives import executable_directives
from handler.compiler.schema.name_patterns import Matcher, matcher_of
from handler.compiler.schema.unmatched_patterns import Matched, PatternScope, report_unmatched
from handler.errors.authoring import PatternRefused
from handler.policy.evaluation import HIDDEN, Mask
from handler.text.sentences import cut, some

FieldsType = GraphQLObjectType | GraphQLInterfaceType

ROOTS = ("Query", "Mutation", "Subscription")

FEDERATION_FIELDS = ("_service", "_entities")
"""Fields that Apollo Federation adds to the query type: one returns the whole schema, one returns any entity."""

DIRECTIVES = "@"
"""The type whose fields, for patterns, are the directives. No type of a schema can have this name."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Rule:
    """A compiled visibility pattern. It equals only itself."""

    pattern: VisibilityPattern
    types: Matcher
    fields: Matcher
    names: frozenset[str]  # the words in the pattern for fields


def hidden_by_patterns(
    schema: GraphQLSchema,
    patterns: Sequence[VisibilityPattern],
    problems: Problems,
    *,
    within: Container[str] | None = None,
) -> dict[str, Mask] | None:
    """Return the coordinates that visibility patterns hide -> ``HIDDEN``; ``None`` after reporting unusable patterns.

    Patterns are unusable if one is not a regular expression, or if a misspelt name leaves a tool nothing to expose.

    Patterns match whole names, and the last match wins. Fields of root types are hidden unless a pattern exposes
    them; fields of other types are visible unless a pattern hides them. ``Query``, ``Mutation`` and ``Subscription``
    also match root types with other names, unless a type has that name itself. Only a pattern that names Federation's
    fields literally exposes them: ``.*`` does not. Executable directives of the API match as fields of a type ``@``,
    and are visible unless a pattern hides them. If ``within`` is given, the patterns apply to its fields only, and not
    to directives.

    Source: IBM API Connect for GraphQL, "directive @tool", ``graphql``, and "directive @sdl", ``visibility``.
    """
    rules = [rule for pattern in patterns if (rule := _compile(pattern, problems))]
    if len(rules) < len(patterns):
        return None
    decisions = _Decisions(schema, rules, within=within)
    decisions.report_overridden(problems)
    told = decisions.report_unmatched(problems)
    return None if told and decisions.exposes_nothing else dict.fromkeys(decisions.hidden, HIDDEN)


class _Decisions:
    """The hidden coordinates, and the names that each rule matched."""

    def __init__(self, schema: GraphQLSchema, rules: Sequence[_Rule], *, within: Container[str] | None) -> None:
        self.hidden: list[str] = []
        self._schema = schema
        self._roots = _usual_root_names(schema)
        self._within = within
        self._matched = {rule: Matched() for rule in rules}
        self._fields: dict[str, list[str]] = {}  # name of a type -> the fields that rules are about
        self._shown_again: dict[_Rule, list[str]] = {}
        self._exposed = False  # if a field of a root type is visible
        for type_ in types_with_fields(schema):
            self._decide_type(type_)
        if within is None:
            self._decide_directives()

    def report_overridden(self, problems: Problems) -> None:
        """Warn of rules that override earlier ones."""
        for rule, shown in self._shown_again.items():
            problems.warn(
                rule.pattern.at,
                f"the last match wins: this exposes {some(shown)}, which an earlier pattern hides",
                code="overridden-pattern",
                about=shown,
            )

    @property
    def exposes_nothing(self) -> bool:
        """Tell if all fields of a tool's root types are hidden."""
        return self._within is None and not self._exposed

    def report_unmatched(self, problems: Problems) -> bool:
        """Report what rules do not match, and tell if a rule that exposes has a slip."""
        absent = [name for name in ROOTS if name not in {*self._roots.values(), *self._schema.type_map}]
        absent += [DIRECTIVES] if self._within is None and DIRECTIVES not in self._fields else []
        scope = PatternScope(schema=self._schema, fields=self._fields, absent=absent)
        told = False
        for rule, matched in self._matched.items():
            slips = report_unmatched(
                rule.pattern, matched, scope=scope, exposes_nothing=self.exposes_nothing, problems=problems
            )
            told |= slips and rule.pattern.expose
        return told

    def _decide_type(self, type_: FieldsType) -> None:
        names = (type_.name, self._roots.get(type_.name, type_.name))
        of_type = [rule for rule in self._matched if any(map(rule.types, names))]
        within = self._within
        fields = [name for name in type_.fields if within is None or f"{type_.name}.{name}" in within]
        if fields:
            self._fields |= dict.fromkeys(names, fields)
        for field in fields:
            matching = [rule for rule in of_type if rule.fields(field) and _is_meant(rule, type_, field, self._schema)]
            for rule in matching:
                self._matched[rule].add(names, field)
            self._take(f"{type_.name}.{field}", matching, otherwise=type_.name not in self._roots)

    def _decide_directives(self) -> None:
        of_type = [rule for rule in self._matched if rule.types(DIRECTIVES)]
        directives = [directive.name for directive in executable_directives(self._schema)]
        self._fields |= {DIRECTIVES: directives} if directives else {}
        for name in directives:
            matching = [rule for rule in of_type if rule.fields(name)]
            for rule in matching:
                self._matched[rule].add((DIRECTIVES,), name)
            self._take(f"@{name}", matching, otherwise=True)

    def _take(self, coordinate: str, matching: Sequence[_Rule], *, otherwise: bool) -> None:
        """Apply the last matching rule; without one ``otherwise``, true for visible."""
        if not (matching[-1].pattern.expose if matching else otherwise):
            self.hidden.append(coordinate)
            return
        self._exposed |= coordinate.partition(".")[0] in self._roots
        if not all(rule.pattern.expose for rule in matching):
            self._shown_again.setdefault(matching[-1], []).append(coordinate)


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
    """Return root type -> the usual name, which patterns may use too, unless a type has that name."""
    types = (schema.query_type, schema.mutation_type, schema.subscription_type)
    roots = {name: root for name, root in zip(ROOTS, types, strict=True) if root}
    return {root.name: root.name if name in schema.type_map else name for name, root in roots.items()}


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
    matchers = []
    for argument, expression in (("types", pattern.types), ("fields", pattern.fields)):
        try:
            matchers.append(matcher_of(expression))
        except PatternRefused as exc:
            sentence = f'the pattern {argument} "{cut(expression)}" is not a regular expression: {exc}'
            problems.add(pattern.at, sentence, code="invalid-pattern")
    if len(matchers) < 2:
        return None
    types, fields = matchers
    return _Rule(pattern=pattern, types=types, fields=fields, names=frozenset(re.findall(r"\w+", pattern.fields)))


def _is_meant(rule: _Rule, type_: FieldsType, field: str, schema: GraphQLSchema) -> bool:
    return (
        type_ is not schema.query_type
        or field not in FEDERATION_FIELDS
        or not rule.pattern.expose
        or field in rule.names
    )
