"""The coordinates that a difference of rules can reach, if there are too many combinations of conditions to try.

A coordinate that callers see in both versions whatever conditions hold cannot differ, and passes no difference on.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from handler.audience.condition_bits import alternatives_of
from handler.graph.index import SchemaIndex
from handler.graph.index_types import named
from handler.policy.evaluation import OPEN, Mask
from handler.policy.predicates import Predicate

Guards = tuple[Mapping[str, Mask], ...]


def differing_guards(before: tuple[Guards, Sequence[Predicate]], after: tuple[Guards, Sequence[Predicate]]) -> set[str]:
    """Return the coordinates that two versions guard by other conditions."""
    old, new = (_written(*each) for each in (before, after))
    return {each for each in {**old, **new} if old.get(each) != new.get(each)}


def _written(tables: Guards, conditions: Sequence[Predicate]) -> dict[str, str]:
    known: dict[Mask, Any] = {}
    found: dict[str, str] = {}
    for coordinate in dict.fromkeys(each for table in tables for each in table):
        mask = OPEN.union(*(table.get(coordinate, OPEN) for table in tables))
        if mask not in known:
            known[mask] = json.dumps(_plain(mask, conditions, frozenset()), sort_keys=True)
        found[coordinate] = known[mask]
    return found


def _plain(mask: Iterable[int], conditions: Sequence[Predicate], inside: frozenset[int]) -> list[Any]:
    found = []
    for number in mask:
        alternatives = alternatives_of(conditions, number)
        if alternatives is None:
            found.append(json.dumps(conditions[number], sort_keys=True))
        elif number in inside:
            found.append("*")
        else:
            ways = [_plain(way, conditions, inside | {number}) for way in alternatives]
            found.append(json.dumps(sorted(json.dumps(way) for way in ways)))
    return sorted(found)


def following(index: SchemaIndex, changed: Collection[str], among: Collection[str]) -> set[str]:
    """Return the coordinates to which a change can spread through others that are all ``among`` some."""
    found: set[str] = set()
    waiting = list(changed)
    seen = set(waiting)
    while waiting:
        coordinate = waiting.pop()
        if coordinate in among:
            found.add(coordinate)
        elif coordinate not in changed:
            continue
        new = {each for each in _next(index, coordinate) if each not in seen}
        seen |= new
        waiting += new
    return found


def _next(index: SchemaIndex, coordinate: str) -> Iterator[str]:
    """Yield the coordinates that may be lost or gained with one."""
    if coordinate.startswith("@"):
        name = coordinate.removeprefix("@").partition("(")[0]
        known = index.directives.get(name)
        for each, value in known.arguments.items() if known else ():
            yield f"@{name}({each}:)"
            yield named(value.type)
        yield f"@{name}"
        return
    owner, _, rest = coordinate.partition(".")
    member = rest.partition("(")[0]
    if owner not in index:
        return
    yield owner
    if not member:
        yield from (f"{owner}.{each}" for each in index.members(owner))
        yield from (*index.interfaces(owner), *index.implementers.get(owner, ()))
        yield from (each for user in index.users.get(owner, ()) for each in _naming(index, user, owner))
        return
    yield f"{owner}.{member}"
    yield from (f"{each}.{rest}" for each in index.interfaces(owner))
    for name, of_argument, target in index.references(owner):
        if name == member:
            yield target
            if of_argument:
                yield f"{owner}.{member}({of_argument}:)"


def _naming(index: SchemaIndex, user: str, target: str) -> Iterator[str]:
    for member, argument, type_ in index.references(user):
        if type_ == target:
            yield f"{user}.{member}({argument}:)" if argument else f"{user}.{member}"
