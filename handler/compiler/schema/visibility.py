"""Fields that visibility patterns hide. ``access/propagation.py`` hides further coordinates as a consequence.

A misspelt name in a pattern that hides leaves a field open, so each alternative of such a pattern has to match. An
alternative of ``types`` matches a type that has fields. An alternative of ``fields`` matches a field of at least one
of the matching types. Other patterns do not count: an alternative matches a field that another pattern hides or
exposes, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as with_default

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    is_introspection_type,
)

from handler.compiler.problems import Problems
from handler.compiler.schema.coordinates import rule_for_other_kind
from handler.compiler.schema.directives import VisibilityPattern, executable_directives
from handler.compiler.schema.name_patterns import Alternative, Matcher, letters_of, matcher_of, untaken
from handler.errors.authoring import PatternRefused
from handler.policy.evaluation import HIDDEN, Mask
from handler.text.sentences import cut_text, nearest, some

FieldsType = GraphQLObjectType | GraphQLInterfaceType

ROOTS = ("Query", "Mutation", "Subscription")

FEDERATION_FIELDS = ("_service", "_entities")
"""Fields that Apollo Federation adds to the query type: one returns the whole schema, one returns any entity."""

DIRECTIVES = "@"
"""The type whose fields, for patterns, are the directives. No type of a schema can have this name."""


@dataclass(eq=False, slots=True, kw_only=True)
class _Rule:
    """A compiled visibility pattern, and the names in the coordinates that it matches. It equals only itself."""

    pattern: VisibilityPattern
    is_type: Matcher
    is_field: Matcher
    words: frozenset[str]  # in the pattern for fields
    types: set[str] = with_default(default_factory=set)  # with all names of each type
    fields: set[str] = with_default(default_factory=set)


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
    exposes_nothing = within is None and not decisions.is_exposing
    misses = decisions.report(problems, exposes_nothing=exposes_nothing)
    return None if misses and exposes_nothing else dict.fromkeys(decisions.hidden, HIDDEN)


class _Decisions:
    """The hidden coordinates, and the names that each rule matched."""

    def __init__(self, schema: GraphQLSchema, rules: Sequence[_Rule], *, within: Container[str] | None) -> None:
        self.hidden: list[str] = []
        self.is_exposing = False  # a field of a root type is visible
        self._schema = schema
        self._rules = rules
        types = zip(ROOTS, (schema.query_type, schema.mutation_type, schema.subscription_type), strict=True)
        # Root type -> the usual name, which patterns may use, too, unless a type has that name.
        self._roots = {root.name: root.name if name in schema.type_map else name for name, root in types if root}
        self._fields: dict[str, list[str]] = {}  # name of a type -> the fields that rules are about
        self._shown_again: dict[_Rule, list[str]] = {}
        for type_ in types_with_fields(schema):
            fields = [name for name in type_.fields if within is None or f"{type_.name}.{name}" in within]
            names = (type_.name, self._roots.get(type_.name, type_.name))
            self._decide(f"{type_.name}.", names, fields, otherwise=type_.name not in self._roots)
        # The names of root types and directives that the schema lacks: generated patterns have them.
        self._absent = [name for name in ROOTS if name not in {*self._roots.values(), *schema.type_map}]
        if within is None:
            directives = [directive.name for directive in executable_directives(schema)]
            self._decide(DIRECTIVES, (DIRECTIVES,), directives, otherwise=True)
            self._absent += [] if directives else [DIRECTIVES]

    def _decide(self, prefix: str, names: Sequence[str], fields: list[str], *, otherwise: bool) -> None:
        """Apply the last matching rule to each field of a type; without one ``otherwise``, true for visible."""
        of_type = [rule for rule in self._rules if any(map(rule.is_type, names))]
        self._fields |= dict.fromkeys(names, fields) if fields else {}
        query = self._schema.query_type
        guarded = FEDERATION_FIELDS if query and prefix == f"{query.name}." else ()
        for field in fields:
            matching = [rule for rule in of_type if rule.is_field(field)]
            if field in guarded:
                matching = [rule for rule in matching if not rule.pattern.expose or field in rule.words]
            for rule in matching:
                rule.types.update(names)
                rule.fields.add(field)
            if not (matching[-1].pattern.expose if matching else otherwise):
                self.hidden.append(f"{prefix}{field}")
                continue
            self.is_exposing |= prefix[:-1] in self._roots
            if not all(rule.pattern.expose for rule in matching):
                self._shown_again.setdefault(matching[-1], []).append(f"{prefix}{field}")

    def report(self, problems: Problems, *, exposes_nothing: bool) -> bool:
        """Report rules that override others or match nothing. Return whether one that exposes matches nothing.

        An alternative without matches is an error if its pattern hides, or if it is of a tool that exposes nothing.
        """
        for rule, coordinates in self._shown_again.items():
            sentence = f"the last match wins: this exposes {some(coordinates)}, which an earlier pattern hides"
            problems.warn(rule.pattern.at, sentence, code="overridden-pattern", about=coordinates)
        misses = False
        for rule in self._rules:
            pattern = rule.pattern
            code = "nothing-exposed" if exposes_nothing else "unmatched-pattern"
            try:
                for text, sentence in self._slips(rule):
                    misses |= pattern.expose
                    if pattern.expose and not exposes_nothing:
                        problems.warn(pattern.at, sentence, code=code, about=[text])
                    else:
                        problems.add(pattern.at, sentence, code=code if pattern.expose else "matches-nothing")
                for text, sentence in self._idle_types(rule):
                    problems.warn(pattern.at, sentence, code="unmatched-pattern", about=[text])
            except PatternRefused as exc:
                if not pattern.expose:
                    sentence = (
                        f'the pattern types "{cut_text(pattern.types)}", fields "{cut_text(pattern.fields)}": {exc}'
                    )
                    problems.add(pattern.at, sentence, code="invalid-pattern")
        return misses

    def _slips(self, rule: _Rule) -> Iterator[tuple[str, str]]:
        """Yield each alternative that no name takes, with a sentence."""
        pattern = rule.pattern
        so = "so it exposes nothing" if pattern.expose else "so it hides nothing"
        types = [name for name in self._fields if rule.is_type(name)]
        absent = filter(rule.is_type, self._absent)
        for slip, subject in _subjects(untaken(pattern.types, {*types, *absent}), "types", pattern.types):
            remedy = self._type_meant(letters_of(slip), types)
            yield slip.text, f"{subject} matches no type with fields, {so}; {remedy}"
        fields = {name: None for type_ in types for name in self._fields[type_]}
        untaken_fields = untaken(pattern.fields, rule.fields) if types else ()
        for slip, subject in _subjects(untaken_fields, "fields", pattern.fields):
            yield (
                slip.text,
                f"{subject} matches no field of {some(types)}, {so}; {_meant(letters_of(slip), fields, rule.fields)}",
            )

    def _idle_types(self, rule: _Rule) -> Iterator[tuple[str, str]]:
        """Yield each alternative that matches types, none of whose fields matches, with a sentence."""
        if not rule.types:
            return
        expression = rule.pattern.types
        names = set(filter(rule.is_type, (*self._fields, *self._absent)))
        slips = {slip.pattern for slip in untaken(expression, names)}
        idle = untaken(expression, rule.types | names.intersection(self._absent))
        for each, subject in _subjects((each for each in idle if each.pattern not in slips), "types", expression):
            fields = cut_text(rule.pattern.fields)
            yield each.text, f'{subject} matches types, but fields "{fields}" matches no field of these'

    def _type_meant(self, letters: str, matches: Collection[str]) -> str:
        if other_kind := rule_for_other_kind(self._schema, letters):
            return other_kind
        if isinstance(self._schema.type_map.get(letters), FieldsType) and letters not in self._fields:
            return f"{letters} is not defined in the included files"
        return _meant(letters, self._fields, matches)


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


def schema_fields(schema: GraphQLSchema) -> Iterator[tuple[FieldsType, str, GraphQLField]]:
    """Yield the fields of all object types and interfaces except introspection types."""
    for type_ in types_with_fields(schema):
        for name, field in type_.fields.items():
            yield type_, name, field


def types_with_fields(schema: GraphQLSchema) -> Iterator[FieldsType]:
    """Yield all object types and interfaces except introspection types."""
    for type_ in schema.type_map.values():
        if isinstance(type_, FieldsType) and not is_introspection_type(type_):
            yield type_


def _compile(pattern: VisibilityPattern, problems: Problems) -> _Rule | None:
    matchers = []
    for argument, expression in (("types", pattern.types), ("fields", pattern.fields)):
        try:
            matchers.append(matcher_of(expression))
        except PatternRefused as exc:
            sentence = f'the pattern {argument} "{cut_text(expression)}" is not a regular expression: {exc}'
            problems.add(pattern.at, sentence, code="invalid-pattern")
    if len(matchers) < 2:
        return None
    words = frozenset(re.findall(r"\w+", pattern.fields))
    return _Rule(pattern=pattern, is_type=matchers[0], is_field=matchers[1], words=words)


MAX_LISTED = 10
"""Alternatives of one expression that get a message of their own."""

MAX_NAME_CHARS = 200_000
"""Characters of names in which a suggestion is searched."""


def _subjects(alternatives: Iterable[Alternative], argument: str, expression: str) -> Iterator[tuple[Alternative, str]]:
    """Yield each alternative with the beginning of a sentence; one for all others after ``MAX_LISTED``."""
    listed = list(alternatives)
    whole = f'{argument} "{cut_text(expression)}"'
    for each in listed[:MAX_LISTED]:
        yield each, whole if each.is_whole else f'"{cut_text(each.text)}" in {whole}'
    if len(listed) > MAX_LISTED:
        yield listed[MAX_LISTED], f"each of {len(listed) - MAX_LISTED} more alternatives in {whole}"


def _meant(letters: str, known: Collection[str], matches: Collection[str]) -> str:
    """Return a remedy: a near name that the pattern does not match yet, or else any near name."""
    for names in ([name for name in known if name not in matches], list(known)):
        name = nearest(letters, names, most_chars=MAX_NAME_CHARS) if letters else None
        if name:
            return f"did you mean {name}?"
    return "correct or remove it"
