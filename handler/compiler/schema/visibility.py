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
from handler.text.sentences import cut, nearest, some

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
    has_slips = decisions.report_unmatched(problems)
    return None if has_slips and decisions.exposes_nothing else dict.fromkeys(decisions.hidden, HIDDEN)


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
        """True if all fields of a tool's root types are hidden."""
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


MAX_TOLD = 10
"""Alternatives of one expression that get a message of their own."""

MAX_NAME_CHARS = 200_000
"""Characters of names in which a suggestion is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternScope:
    """The names that patterns can match."""

    schema: GraphQLSchema
    fields: Mapping[str, Collection[str]]  # of each type that has some, by all names of the type
    absent: Collection[str]  # usual names of root types that the schema lacks


@dataclass(slots=True)
class Matched:
    """The names in the coordinates that one pattern matches."""

    types: set[str] = with_default(default_factory=set)
    fields: set[str] = with_default(default_factory=set)

    def add(self, types: Iterable[str], field_name: str) -> None:
        """Add a coordinate, with all names of its type."""
        self.types.update(types)
        self.fields.add(field_name)


def report_unmatched(
    pattern: VisibilityPattern, matched: Matched, *, scope: PatternScope, exposes_nothing: bool, problems: Problems
) -> bool:
    """Report the alternatives of a pattern that match nothing, and return whether there is one.

    They are errors if the pattern hides, or if it is of a tool that exposes nothing.
    """
    slips = False
    try:
        for slip in _slips(pattern, matched, scope):
            slips = True
            if not pattern.expose:
                problems.add(pattern.at, slip.sentence, code="matches-nothing")
            elif exposes_nothing:
                problems.add(pattern.at, slip.sentence, code="nothing-exposed")
            else:
                problems.warn(pattern.at, slip.sentence, code="unmatched-pattern", about=[slip.text])
        for slip in _idle_types(pattern, matched, scope):
            problems.warn(pattern.at, slip.sentence, code="unmatched-pattern", about=[slip.text])
    except PatternRefused as exc:
        if not pattern.expose:
            sentence = f'the pattern types "{cut(pattern.types)}", fields "{cut(pattern.fields)}": {exc}'
            problems.add(pattern.at, sentence, code="invalid-pattern")
    return slips


@dataclass(frozen=True, slots=True)
class _Slip:
    """An alternative that matches nothing, as written, and the sentence about it."""

    text: str
    sentence: str


def _slips(pattern: VisibilityPattern, matched: Matched, scope: PatternScope) -> Iterator[_Slip]:
    """Yield each alternative that no name in the scope takes."""
    so = "so it exposes nothing" if pattern.expose else "so it hides nothing"
    is_type = matcher_of(pattern.types)
    types = [name for name in scope.fields if is_type(name)]
    # Generated patterns name all root types, also those that the schema lacks.
    absent = [name for name in scope.absent if is_type(name)]
    lost = untaken(pattern.types, {*types, *absent})
    for each, subject in _subjects(lost, "types", pattern.types):
        remedy = _type_meant(letters_of(each), types, scope)
        yield _Slip(each.text, f"{subject} matches no type with fields, {so}; {remedy}")
    fields = {name: None for type_ in types for name in scope.fields[type_]}
    lost = untaken(pattern.fields, matched.fields) if types else iter(())
    for each, subject in _subjects(lost, "fields", pattern.fields):
        remedy = _meant(letters_of(each), fields, matched.fields)
        yield _Slip(each.text, f"{subject} matches no field of {some(types)}, {so}; {remedy}")


def _idle_types(pattern: VisibilityPattern, matched: Matched, scope: PatternScope) -> Iterator[_Slip]:
    """Yield each alternative that matches types, none of whose fields matches."""
    if not matched.types:
        return
    is_type = matcher_of(pattern.types)
    absent = {name for name in scope.absent if is_type(name)}
    lost = {each.pattern for each in untaken(pattern.types, {name for name in scope.fields if is_type(name)} | absent)}
    idle = (each for each in untaken(pattern.types, matched.types | absent) if each.pattern not in lost)
    for each, subject in _subjects(idle, "types", pattern.types):
        yield _Slip(each.text, f'{subject} matches types, but fields "{cut(pattern.fields)}" matches no field of these')


def _subjects(alternatives: Iterable[Alternative], argument: str, expression: str) -> Iterator[tuple[Alternative, str]]:
    """Yield each alternative with the beginning of a sentence; one for all others after ``MAX_TOLD``."""
    listed = list(alternatives)
    whole = f'{argument} "{cut(expression)}"'
    for each in listed[:MAX_TOLD]:
        yield each, whole if each.is_whole else f'"{cut(each.text)}" in {whole}'
    if len(listed) > MAX_TOLD:
        yield listed[MAX_TOLD], f"each of {len(listed) - MAX_TOLD} more alternatives in {whole}"


def _type_meant(letters: str, taken: Collection[str], scope: PatternScope) -> str:
    type_ = scope.schema.type_map.get(letters)
    other_kind = rule_for_other_kind(scope.schema, letters)
    if other_kind:
        return other_kind
    if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType) and letters not in scope.fields:
        return f"{letters} is not defined in the included files"
    return _meant(letters, scope.fields, taken)


def _meant(letters: str, known: Collection[str], taken: Collection[str]) -> str:
    """Return a remedy: a near name that the pattern does not match yet, or else any near name."""
    for names in ([name for name in known if name not in taken], list(known)):
        meant = nearest(letters, names, most_chars=MAX_NAME_CHARS) if letters else None
        if meant:
            return f"did you mean {meant}?"
    return "correct or remove it"
