"""Report visibility patterns, and alternatives in them, that match nothing.

A misspelt name in a pattern that hides leaves a field open, so each alternative of such a pattern has to match. An
alternative of ``types`` matches a type that has fields. An alternative of ``fields`` matches a field of at least one
of the matching types. Other patterns do not count: an alternative matches a field that another pattern hides or
exposes, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLSchema

from handler.compiler.problems import Problems
from handler.compiler.schema.alternatives import Alternative
from handler.compiler.schema.coordinates import rule_for_other_kind
from handler.compiler.schema.directives import VisibilityPattern
from handler.compiler.schema.name_patterns import letters_of, matcher_of, untaken
from handler.errors.authoring import PatternRefused
from handler.text.sentences import cut, nearest, some

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

    types: set[str] = field(default_factory=set)
    fields: set[str] = field(default_factory=set)

    def add(self, types: Iterable[str], field_name: str) -> None:
        """Add a coordinate, with all names of its type."""
        self.types.update(types)
        self.fields.add(field_name)


def report_unmatched(
    pattern: VisibilityPattern, matched: Matched, *, scope: PatternScope, exposes_nothing: bool, problems: Problems
) -> bool:
    """Report the alternatives of a pattern that match nothing, and tell if there is one.

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
        meant = _type_meant(letters_of(each), types, scope)
        yield _Slip(each.text, f"{subject} matches no type with fields, {so}; {meant}")
    fields = {name: None for type_ in types for name in scope.fields[type_]}
    lost = untaken(pattern.fields, matched.fields) if types else iter(())
    for each, subject in _subjects(lost, "fields", pattern.fields):
        meant = _meant(letters_of(each), fields, matched.fields)
        yield _Slip(each.text, f"{subject} matches no field of {some(types)}, {so}; {meant}")


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
    found = list(alternatives)
    whole = f'{argument} "{cut(expression)}"'
    for each in found[:MAX_TOLD]:
        yield each, whole if each.is_whole else f'"{cut(each.text)}" in {whole}'
    if len(found) > MAX_TOLD:
        yield found[MAX_TOLD], f"each of {len(found) - MAX_TOLD} more alternatives in {whole}"


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
