"""The classes of callers who reach a coordinate alike, each with a witness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from handler.commands.local.callers import KEY, NOBODY, read_caller
from handler.commands.reach.claims import ClaimValues
from handler.commands.reach.entrances import Entrance
from handler.commands.reach.reach import Passage, Reach, Visitor
from handler.policy.evaluation import OPEN, OWN_TOKEN, Mask
from handler.server.auth.principal import Principal

UNNAMED = "token"
"""The label of witnesses that nobody has named: bearers of a token with some claims."""

MAX_CLASSES = 64
"""Combinations of conditions that are looked at, for each of which views of the schema are built."""

SAMPLE_OF_TYPE: Mapping[str, Any] = {"integer": 1, "number": 1.5, "boolean": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerClass:
    """Callers who reach a coordinate alike.

    The first of ``witnesses`` stands for all: anonymous, the holder of an API key, or the bearer of a token with some
    claims.
    """

    witnesses: tuple[Visitor, ...]
    passages: tuple[Passage, ...]  # through the entrances that lead to the coordinate for anybody

    @property
    def ways(self) -> list[Passage]:
        """The open ones among the passages."""
        return [each for each in self.passages if each.is_open]


def find_classes(reach: Reach, coordinate: str) -> tuple[list[CallerClass], bool]:
    """Return the classes of callers, and whether all combinations of conditions were looked at.

    Anonymous callers come first, then each API key, then tokens by their claims.
    """
    entrances = [
        entrance for entrance in reach.entrances if entrance.kind == "code" or reach.names(entrance, coordinate)
    ]
    known = [read_caller(NOBODY), *(read_caller(f"{KEY}{key.name}") for key in reach.compiled.bundle.identity.api_keys)]
    found = [_class_of(reach, coordinate, entrances, reach.visitor(each)) for each in known]
    tokens, complete = _tokens(reach, coordinate, entrances)
    groups: dict[tuple[tuple[str, str, str], ...], list[CallerClass]] = {}
    for visitor in tokens:
        made = _class_of(reach, coordinate, entrances, visitor)
        groups.setdefault(tuple((each.entrance.name, each.verdict, each.note) for each in made.passages), []).append(
            made
        )
    return [*found, *map(_joined, groups.values())], complete


def _class_of(reach: Reach, coordinate: str, entrances: list[Entrance], visitor: Visitor) -> CallerClass:
    passages = tuple(reach.passage(entrance, coordinate, visitor) for entrance in entrances)
    return CallerClass(witnesses=(visitor,), passages=passages)


def _joined(alike: list[CallerClass]) -> CallerClass:
    """Join classes that reach the coordinate alike. Claims that contain those of another witness add nothing."""
    kept: list[Visitor] = []
    for each in alike:
        claims = (each.witnesses[0].principal.claims or {}).items()
        if not any(all(item in claims for item in (other.principal.claims or {}).items()) for other in kept):
            kept.append(each.witnesses[0])
    return CallerClass(witnesses=tuple(kept), passages=alike[0].passages)


def _tokens(reach: Reach, coordinate: str, entrances: list[Entrance]) -> tuple[list[Visitor], bool]:
    """Return bearers of tokens, one for each combination of what decides about the entrances."""
    conditions = leaves(reach, frozenset(each for entrance in entrances for each in _conditions_of(reach, entrance)))
    claims, complete = _claim_values(reach, entrances, conditions).claims()
    if not complete:
        own = leaves(reach, _own_conditions(reach, coordinate, entrances))
        claims, _ = _claim_values(reach, entrances, own).claims()
    found: dict[object, Visitor] = {}
    for each in claims:
        visitor = reach.visitor_of(Principal(kind="token", name=UNNAMED, claims=each), UNNAMED)
        facts = [
            (visitor.evaluation.meets(frozenset({number})), visitor.evaluation.may_ever_meet(frozenset({number})))
            for number in sorted(conditions)
        ]
        standings = [
            reach.standing(entrance, visitor, counted=False)
            for entrance in entrances
            if entrance.fixed or entrance.kind == "code"
        ]
        scopes = visitor.principal.scopes
        found.setdefault((tuple(facts), tuple(standings), scopes), visitor)
        if len(found) > MAX_CLASSES:
            return list(found.values())[:MAX_CLASSES], False
    return list(found.values()), complete


def _claim_values(reach: Reach, entrances: list[Entrance], conditions: Mask) -> ClaimValues:
    values = ClaimValues()
    for number in sorted(conditions):
        values.add_predicate(reach.compiled.bundle.conditions[number])
    for entrance in entrances:
        scopes = (
            entrance.tool.options.scopes if entrance.tool else entrance.persisted.scopes if entrance.persisted else ()
        )
        if scopes:
            values.add(("scope",), " ".join(scopes))
        fixed = entrance.fixed
        for binding in fixed.bindings if fixed else ():
            if fixed and binding.source == "claim":
                schema = fixed.bound.get("properties", {}).get(binding.variable, {})
                values.add((binding.name,), _sample(schema))
    return values


def _sample(schema: Mapping[str, Any]) -> Any:
    types = schema.get("type", "string")
    names = [types] if isinstance(types, str) else types
    return next((SAMPLE_OF_TYPE[name] for name in names if name in SAMPLE_OF_TYPE), "x")


def _conditions_of(reach: Reach, entrance: Entrance) -> Iterator[int]:
    """Yield the conditions that decide about an entrance and what is behind it."""
    if entrance.fixed is not None:
        yield from entrance.fixed.mask | entrance.fixed.conditions
    elif entrance.takes_documents:
        yield from (entrance.view_of or reach.compiled.bundle.graphql).conditions
    else:
        yield from getattr(entrance.tool, "mask", OPEN) | reach.compiled.bundle.graphql.conditions


def _own_conditions(reach: Reach, coordinate: str, entrances: list[Entrance]) -> Mask:
    """Return the conditions on the coordinate itself and on operations, for schemas with too many conditions."""
    owner = coordinate.partition(".")[0]
    guards = reach.compiled.bundle.guards
    masks = [entrance.fixed.mask for entrance in entrances if entrance.fixed]
    return OPEN.union(guards.get(coordinate, OPEN), guards.get(owner, OPEN), *masks)


def leaves(reach: Reach, mask: Mask) -> Mask:
    """Return the conditions on claims and variables that a mask's conditions are made of."""
    conditions = reach.compiled.bundle.conditions
    found: set[int] = set()
    waiting = list(mask)
    seen = set(waiting)
    while waiting:
        number = waiting.pop()
        alternatives = conditions[number].get("any")
        if alternatives is None:
            if number and conditions[number] != OWN_TOKEN:
                found.add(number)
            continue
        new = {each for ways in alternatives for each in ways} - seen
        seen |= new
        waiting += new
    return frozenset(found)
