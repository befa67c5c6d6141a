"""The differences of what classes of callers reach: coordinates and tools, gained and lost."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from handler.audience.caller_classes import EVERYBODY, CallerClasses
from handler.audience.condition_bits import alternatives_of
from handler.audience.reasons import Reasons
from handler.audience.ways import Published, ViewCache, Way, Ways, traits_of
from handler.commands.changes.change import Change
from handler.commands.changes.document_types import document_type_changes
from handler.commands.changes.settings_changes import contents_of
from handler.graph.index import SchemaIndex, named
from handler.graph.view import leads
from handler.policy.evaluation import OPEN, Mask
from handler.policy.predicates import Predicate

FIXED = ("prescribed", "persisted")
FREE = ("graphql", "route")
"""Kinds of ways whose callers write the documents, and so give all arguments that they see."""


class _Group(NamedTuple):
    """Coordinates differ alike if all of this is equal."""

    code: str
    bits: int
    ways: tuple[str, ...]
    rules: tuple[str, ...]
    further: bool  # callers who gain them had another way, and callers who lose them keep one
    for_everybody: bool


class ReachChanges:
    """The differences of reach between two versions. ``renamed``: old name of a tool -> its new name."""

    def __init__(self, before: Published, after: Published, *, renamed: Mapping[str, str], most_classes: int) -> None:
        traits = (*traits_of(before), *traits_of(after))
        self.classes = CallerClasses(before.bundle, after.bundle, traits, most=most_classes)
        cache: ViewCache = {}
        sides = [Ways(version, self.classes, side, cache=cache) for side, version in enumerate((before, after))]
        self._versions = (before, after)
        self._bits = [side.bits for side in sides]
        self._real = self.classes.real
        self._ways = [{way.name: way for way in side.all()} for side in sides]
        self._ways[0] = {renamed.get(name, name): way for name, way in self._ways[0].items()}
        self._reasons = Reasons((before, after), self.classes)

    def changes(self) -> Iterator[Change]:
        """Yield the differences, coordinates that callers gain first."""
        found = list(self._of_coordinates())
        for name in [name for name in self._ways[1] if name in self._ways[0]]:
            found += self._of_tool(self._ways[0][name], self._ways[1][name])
        for name, way in self._ways[1].items():
            if name not in self._ways[0] and way.open & EVERYBODY:
                found.append(
                    self._tool_change("tool-opened", way.open & self._real, "may be used", name, gained=way.open)
                )
        found += self._of_roots()
        if not self.classes.complete:
            found += self._unknown()
        yield from found
        yield from self._of_documents()
        if found and not self.classes.complete:
            sentence = _TOO_MANY.format(compared=self.classes.real.bit_count())
            yield Change(code="too-many-classes", about="access", sentence=sentence)

    def opens_to_everybody(self, change: Change) -> bool:
        """Return whether a difference that is not of reach opens something to callers without a credential."""
        if change.code == "tool-listed":
            return any(way.open & EVERYBODY for name, way in self._ways[1].items() if name == change.about)
        if change.code not in ("content-added", "content-opened"):
            return change.code == "anonymous-admitted"
        contents = [(bits, contents_of(bits.bundle).get(change.about)) for bits in self._bits]
        was, now = (bool(each and bits.surely(each.mask) & EVERYBODY) for bits, each in contents)
        return now and not was

    def _of_roots(self) -> Iterator[Change]:
        """Yield the root types that the schema before lacks, and that somebody reaches."""
        old, new = (version.index.roots if version.index else {} for version in self._versions)
        reached = _overall(self._ways[1].values())
        for kind in [kind for kind in new if kind not in old]:
            bits = self._real & reduce(or_, (reached[each] for each in reached if each.startswith(f"{new[kind]}.")), 0)
            who = self.classes.sentence(bits, gained=True)
            if bits:
                yield Change(
                    code="root-opened",
                    about=new[kind],
                    sentence=f"the {kind} type {new[kind]} is new, for {who}; keys without claims skip policies",
                    callers=self.classes.words(bits),
                    for_everybody=bool(bits & EVERYBODY),
                )

    def _of_documents(self) -> Iterator[Change]:
        """Yield the differences of types, for ways in both versions whose readers know only the schema."""
        both = [each for name, each in self._ways[1].items() if name in self._ways[0] and self._has_readers(each)]
        seen = dict.fromkeys(coordinate for way in both for coordinate in way.seen)
        before, after = (version.index for version in self._versions)
        if self._versions[0].bundle.index != self._versions[1].bundle.index:
            yield from document_type_changes(before, after, seen=seen, ways=tuple(way.name for way in both))

    def _has_readers(self, way: Way) -> bool:
        """Return whether a way's results have the schema's types, and no output schema that is compared for itself."""
        entries = [tool.entry for version in self._versions for tool in version.bundle.tools if tool.name == way.name]
        fixed = way.kind == "prescribed" and all("outputSchema" in each for each in entries)
        return bool(way.seen) and way.kind != "code" and not fixed

    def _unknown(self) -> Iterator[Change]:
        """Yield the coordinates that may differ for a combination of conditions that was not tried."""
        found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name in {**self._ways[0], **self._ways[1]}:
            old, new = (ways.get(name, _NO_WAY) for ways in self._ways)
            for coordinate in self._open_questions(name, old, new):
                rules = self._reasons.conditions(coordinate, (old, new))
                found.setdefault(rules, []).append((coordinate, name))
        for rules, pairs in found.items():
            ways = tuple(dict.fromkeys(name for _, name in pairs))
            coordinates = tuple(dict.fromkeys(coordinate for coordinate, _ in pairs))
            yield Change(
                code="reach-unknown",
                about=", ".join(ways),
                sentence=f"perhaps newly or no longer reachable through {', '.join(ways)}: {_counted(coordinates)}",
                coordinates=coordinates,
                ways=ways,
                rules=rules,
            )

    def _open_questions(self, name: str, old: Way, new: Way) -> list[str]:
        """Return the coordinates that some rule closes in a version, and that a changed guard can lead to."""
        meets, lacks = self.classes.extreme(meets=True), self.classes.extreme(meets=False)
        gained, lost = (
            {coordinate for coordinate, each, _ in self._of_way(name) if each == code}
            for code in ("reach-gained", "reach-lost")
        )
        both = gained & lost  # others may also differ the other way
        if _NO_WAY in (old, new):
            return sorted({each for each, bits in {**old.seen, **new.seen}.items() if bits & meets} - both)
        changed = differing_guards(
            *(_guards(version, way) for version, way in zip(self._versions, (old, new), strict=True))
        )
        if new.kind in FIXED:
            differ = self._reasons.condition(old, 0) != self._reasons.condition(new, 1)
            return sorted({*old.seen, *new.seen} - both) if differ else []
        among = {
            coordinate
            for coordinate in {**old.seen, **new.seen}
            if (old.seen.get(coordinate, 0) | new.seen.get(coordinate, 0)) & meets
            and not old.seen.get(coordinate, 0) & new.seen.get(coordinate, 0) & lacks
        }
        indexes = [version.index for version in self._versions]
        if not among or indexes[0] is None or indexes[1] is None:
            return []
        if self._versions[0].bundle.index != self._versions[1].bundle.index:
            return sorted(among - both)
        return sorted(following(indexes[1], changed, among) - both)

    def _of_coordinates(self) -> Iterator[Change]:
        found: dict[_Group, list[str]] = {}
        before, after = (_overall(ways.values()) for ways in self._ways)
        free = _overall(way for way in self._ways[0].values() if way.kind in FREE)
        by_part: dict[tuple[str, str, int, bool], list[str]] = {}
        for name in {**self._ways[0], **self._ways[1]}:
            for coordinate, code, bits in self._of_way(name):
                kept = (before if code == "reach-gained" else after).get(coordinate, 0)
                for part, further in ((bits & ~kept, False), (bits & kept, True)):
                    if part:
                        by_part.setdefault((coordinate, code, part, further), []).append(name)
        for (coordinate, code, bits, further), names in by_part.items():
            rules = self._reasons.of(
                coordinate,
                bits,
                gained=code == "reach-gained",
                ways=[(self._ways[0].get(name), self._ways[1].get(name)) for name in names],
            )
            is_open = code == "reach-gained" and bool(bits & EVERYBODY & ~free.get(coordinate, 0))
            found.setdefault(_Group(code, bits, tuple(names), rules, further, is_open), []).append(coordinate)
        for group, coordinates in sorted(_merged(found).items(), key=lambda each: (each[0].code, each[0].further)):
            yield self._change(group, coordinates)

    def _of_way(self, name: str) -> Iterator[tuple[str, str, int]]:
        """Yield each coordinate that differs through one way, with its code and the classes."""
        old, new = self._ways[0].get(name), self._ways[1].get(name)
        seen = old.seen if old else {}, new.seen if new else {}
        for coordinate in {**seen[0], **seen[1]}:
            was, now = seen[0].get(coordinate, 0) & self._real, seen[1].get(coordinate, 0) & self._real
            if was != now:
                if now & ~was:
                    yield coordinate, "reach-gained", now & ~was
                if was & ~now:
                    bits = was & ~now
                    less = bits & new.open if new and new.kind in FIXED else 0
                    if less:
                        yield coordinate, "reads-less", less
                    if bits & ~less:
                        yield coordinate, "reach-lost", bits & ~less
        for label, was, now in _of_names(old, new, self._real):
            if now & ~was:
                yield label, "reach-gained", now & ~was
            if was & ~now:
                yield label, "reach-lost", was & ~now

    def _change(self, group: _Group, coordinates: list[str]) -> Change:
        who = self.classes.sentence(group.bits, gained=group.code == "reach-gained")
        through = ", ".join(group.ways)
        words = _WORDS[group.code, group.further].format(through)
        return Change(
            code=group.code,
            about=through,
            sentence=f"{words}: {_counted(coordinates)}, for {who}",
            coordinates=tuple(coordinates),
            callers=self.classes.words(group.bits),
            ways=group.ways,
            rules=group.rules,
            for_everybody=group.for_everybody,
        )

    def _of_tool(self, old: Way, new: Way) -> Iterator[Change]:
        """Yield the differences of who may use a tool or route, for which values of variables."""
        gained, lost = new.open & ~old.open & self._real, old.open & ~new.open & self._real
        for code, bits, verb in (("tool-opened", gained, "may be"), ("tool-closed", lost, "may no longer be")):
            if bits:
                yield self._tool_change(code, bits, f"{verb} used", new.name, gained=gained & bits)
        both = old.open & new.open & self._real
        depends = both & ~(old.sure & new.sure)
        words = self._reasons.condition(old, 0), self._reasons.condition(new, 1)
        if depends and (old.sure & both != new.sure & both or words[0] != words[1]):
            sentence = f"asks for other values of variables or claims ({words[1]}; before: {words[0]}) if used"
            yield self._tool_change("tool-condition", depends, sentence, new.name, gained=depends & ~old.sure)

    def _tool_change(self, code: str, bits: int, words: str, name: str, *, gained: int) -> Change:
        return Change(
            code=code,
            about=name,
            sentence=f"{name} {words} by {self.classes.sentence(bits, gained=bool(gained & EVERYBODY))}",
            callers=self.classes.words(bits),
            ways=(name,),
            for_everybody=bool(gained & EVERYBODY),
        )


_WORDS: Mapping[tuple[str, bool], str] = {
    ("reach-gained", False): "newly reachable through {}",
    ("reach-gained", True): "reachable by a further way, {}",
    ("reach-lost", False): "no longer reachable through {}",
    ("reach-lost", True): "reachable only by other ways than {}",
    ("reads-less", False): "no longer read by {}",
    ("reads-less", True): "no longer read by {}, and reachable by another way",
}
"""Code, and true if callers have or keep another way -> the beginning of the sentence."""

_NO_WAY = Way(name="", kind="", open=0, sure=0)

_TOO_MANY = (
    "too many combinations of conditions: {compared:,} classes of callers were compared, and coordinates that only "
    "others may gain or lose are listed as reach-unknown, by rule"
)


def _guards(version: Published, way: Way) -> tuple[tuple[Mapping[str, Mask], ...], Sequence[Predicate]]:
    bundle = version.bundle
    of_way = (way.view_of or bundle.graphql).guards
    whole = dict.fromkeys(
        list(version.index.roots.values()) if version.index else [],
        way.mask | (way.view_of.mask if way.view_of else OPEN),
    )
    return (bundle.guards, of_way, whole), bundle.conditions


def _counted(coordinates: Sequence[str]) -> str:
    more = len(coordinates) - 1
    return f"{coordinates[0]} and {more:,} more" if more else coordinates[0]


def _merged(found: Mapping[_Group, list[str]]) -> dict[_Group, list[str]]:
    """Add coordinates without a rule of their own to the first ones that differ alike and have a rule."""
    merged = {group: list(coordinates) for group, coordinates in found.items() if group.rules}
    for group, coordinates in found.items():
        if not group.rules:
            known = (each for each in merged if each._replace(rules=()) == group)
            merged.setdefault(next(known, group), []).extend(coordinates)
    return merged


def _overall(ways: Iterable[Way]) -> dict[str, int]:
    """Return coordinate -> the classes that reach it through any way."""
    found: dict[str, int] = {}
    for way in ways:
        for coordinate, bits in way.seen.items():
            found[coordinate] = found.get(coordinate, 0) | bits
    return found


def _of_names(old: Way | None, new: Way | None, real: int) -> Iterator[tuple[str, int, int]]:
    """Yield the names of arguments and values that callers of both versions see otherwise, and new ones."""
    if old is None or new is None:
        return
    both = old.open & new.open & real
    for label, seen in new.names.items():
        was, now = old.names.get(label, 0) & both, seen & both
        if was != now:
            yield label, was, now


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
        for user in index.users.get(owner, ()):
            yield from (path[-1] for type_, path in leads(index, user) if type_ == owner)
        return
    yield f"{owner}.{member}"
    yield from (f"{each}.{rest}" for each in index.interfaces(owner))
    for name, of_argument, target in index.references(owner):
        if name == member:
            yield target
            if of_argument:
                yield f"{owner}.{member}({of_argument}:)"
