"""The differences of the reach of callers: coordinates and tools, gained and lost, with the rules for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from handler.audience.caller_classes import EVERYBODY, CallerClasses, mask_in_words
from handler.audience.view_paths import parts_of, resolve_in
from handler.audience.ways import Published, ViewCache, Way, Ways, traits_of
from handler.commands.changes.bundle_changes import own_contents_of
from handler.commands.changes.change import Change
from handler.compiler.schema.name_graph import closure
from handler.errors.authoring import UnknownCoordinate
from handler.graph.index import InputValue, SchemaIndex, TypeSlice, named_type
from handler.graph.view import leads
from handler.policy.evaluation import OPEN, Mask, alternatives_of
from handler.policy.predicates import Predicate
from handler.server.auth.principal import Principal
from handler.text.sentences import some

FIXED = ("prescribed", "persisted")
FREE = ("graphql", "route")
"""Kinds of ways whose callers write the documents, and so give all arguments that they see."""

MOST_RULES = 3

NOT_OWN = "no condition of its own"

COST = "it counts differently against max_cost"

WORDS: Mapping[tuple[str, bool], str] = {
    ("reach-gained", False): "newly reachable through {}",
    ("reach-gained", True): "reachable by a further way, {}",
    ("reach-lost", False): "no longer reachable through {}",
    ("reach-lost", True): "reachable only by other ways than {}",
    ("reads-less", False): "no longer read by {}",
    ("reads-less", True): "no longer read by {}, and reachable by another way",
}
"""Code, and true if callers have or keep another way -> the beginning of the sentence."""

NO_WAY = Way(name="", kind="", open=0, sure=0)

TOO_MANY = (
    "too many combinations of conditions: {compared:,} classes of callers were compared, and coordinates that only "
    "others may gain or lose are listed as reach-unknown, by rule"
)


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

    def changes(self) -> Iterator[Change]:
        """Yield the differences, coordinates that callers gain first."""
        changes = list(self._of_coordinates())
        for name in [name for name in self._ways[1] if name in self._ways[0]]:
            changes += self._of_tool(self._ways[0][name], self._ways[1][name])
        for name, way in self._ways[1].items():
            if name not in self._ways[0] and way.open & EVERYBODY:
                bits = way.open & self._real
                changes.append(self._tool_change("tool-opened", bits, "may be used", name, gained=way.open))
        changes += self._of_roots()
        if not self.classes.complete:
            changes += self._unknown()
        yield from changes
        yield from self._of_documents()
        if changes and not self.classes.complete:
            yield Change("too-many-classes", "access", TOO_MANY.format(compared=self.classes.real.bit_count()))

    def opens_to_everybody(self, change: Change) -> bool:
        """Return whether a difference that is not of reach opens something to callers without a credential."""
        if change.code == "tool-listed":
            return any(way.open & EVERYBODY for name, way in self._ways[1].items() if name == change.about)
        if change.code not in ("content-added", "content-opened"):
            return change.code == "anonymous-admitted"
        contents = [(bits, own_contents_of(bits.bundle).get(change.about)) for bits in self._bits]
        was, now = (bool(each and bits.surely(each.mask) & EVERYBODY) for bits, each in contents)
        return now and not was

    def _of_coordinates(self) -> Iterator[Change]:
        """Yield the coordinates that callers gain or lose. Those that differ alike are one difference.

        Coordinates without a rule of their own are added to the first ones that differ alike and have a rule.
        """
        before, after = (_overall(ways.values()) for ways in self._ways)
        free = _overall(way for way in self._ways[0].values() if way.kind in FREE)
        by_part: dict[tuple[str, str, int, bool], list[str]] = {}
        for name in {**self._ways[0], **self._ways[1]}:
            for coordinate, code, bits in self._of_way(name):
                further = (before if code == "reach-gained" else after).get(coordinate, 0)
                for part, is_further in ((bits & ~further, False), (bits & further, True)):
                    if part:
                        by_part.setdefault((coordinate, code, part, is_further), []).append(name)
        groups: dict[_Group, list[str]] = {}
        for (coordinate, code, bits, is_further), names in by_part.items():
            ways = self._ways[0].get(names[0]), self._ways[1].get(names[0])
            rules = self._rules(coordinate, bits, ways, gained=code == "reach-gained")
            is_open = code == "reach-gained" and bool(bits & EVERYBODY & ~free.get(coordinate, 0))
            groups.setdefault(_Group(code, bits, tuple(names), rules, is_further, is_open), []).append(coordinate)
        merged = {group: list(coordinates) for group, coordinates in groups.items() if group.rules}
        for group, coordinates in groups.items():
            if not group.rules:
                alike = (each for each in merged if each._replace(rules=()) == group)
                merged.setdefault(next(alike, group), []).extend(coordinates)
        for group, coordinates in sorted(merged.items(), key=lambda each: (each[0].code, each[0].further)):
            callers = self.classes.sentence(group.bits, gained=group.code == "reach-gained")
            through = ", ".join(group.ways)
            yield Change(
                group.code,
                through,
                f"{WORDS[group.code, group.further].format(through)}: {some(coordinates, most=1)}, for {callers}",
                coordinates=tuple(coordinates),
                callers=self.classes.words(group.bits),
                ways=group.ways,
                rules=group.rules,
                for_everybody=group.for_everybody,
            )

    def _of_way(self, name: str) -> Iterator[tuple[str, str, int]]:
        """Yield each coordinate, argument and value that differs through one way, with its code and the classes."""
        old, new = (ways.get(name) for ways in self._ways)
        seen = old.seen if old else {}, new.seen if new else {}
        for coordinate in {**seen[0], **seen[1]}:
            was, now = (each.get(coordinate, 0) & self._real for each in seen)
            lost = was & ~now
            less = lost & new.open if new and new.kind in FIXED else 0
            for code, bits in (("reach-gained", now & ~was), ("reads-less", less), ("reach-lost", lost & ~less)):
                if bits:
                    yield coordinate, code, bits
        if old is None or new is None:
            return
        # Names that callers of both versions see otherwise, and new ones.
        both = old.open & new.open & self._real
        for label, bits in new.names.items():
            was, now = old.names.get(label, 0) & both, bits & both
            if now & ~was:
                yield label, "reach-gained", now & ~was
            if was & ~now:
                yield label, "reach-lost", was & ~now

    def _of_tool(self, old: Way, new: Way) -> Iterator[Change]:
        """Yield the differences of the callers of a tool or route, for some or all values of variables."""
        gained, lost = new.open & ~old.open & self._real, old.open & ~new.open & self._real
        for code, bits, verb in (("tool-opened", gained, "may be"), ("tool-closed", lost, "may no longer be")):
            if bits:
                yield self._tool_change(code, bits, f"{verb} used", new.name, gained=gained & bits)
        both = old.open & new.open & self._real
        depends = both & ~(old.sure & new.sure)
        words = [self._mask_in_words(way.mask, side) for side, way in enumerate((old, new))]
        if depends and (old.sure & both != new.sure & both or words[0] != words[1]):
            sentence = f"asks for other values of variables or claims ({words[1]}; before: {words[0]}) if used"
            yield self._tool_change("tool-condition", depends, sentence, new.name, gained=depends & ~old.sure)

    def _tool_change(self, code: str, bits: int, words: str, name: str, *, gained: int) -> Change:
        everybody = bool(gained & EVERYBODY)
        sentence = f"{name} {words} by {self.classes.sentence(bits, gained=everybody)}"
        return Change(code, name, sentence, callers=self.classes.words(bits), ways=(name,), for_everybody=everybody)

    def _of_roots(self) -> Iterator[Change]:
        """Yield the root types that the schema before lacks, and that somebody reaches."""
        old, new = (version.index.roots if version.index else {} for version in self._versions)
        reached = _overall(self._ways[1].values())
        for kind in [kind for kind in new if kind not in old]:
            bits = self._real & reduce(or_, (reached[each] for each in reached if each.startswith(f"{new[kind]}.")), 0)
            if bits:
                callers = self.classes.sentence(bits, gained=True)
                yield Change(
                    "root-opened",
                    new[kind],
                    f"the {kind} type {new[kind]} is new, for {callers}; keys without claims skip policies",
                    callers=self.classes.words(bits),
                    for_everybody=bool(bits & EVERYBODY),
                )

    def _unknown(self) -> Iterator[Change]:
        """Yield the coordinates that may differ for a combination of conditions that was not tried."""
        by_rules: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name in {**self._ways[0], **self._ways[1]}:
            old, new = (ways.get(name, NO_WAY) for ways in self._ways)
            for coordinate in self._open_questions(name, old, new):
                conditions = [self._condition_of(coordinate, side, way) for side, way in enumerate((old, new))]
                rules: tuple[str, ...] = (f"before: {conditions[0]}", f"now: {conditions[1]}")
                by_rules.setdefault(rules, []).append((coordinate, name))
        for rules, pairs in by_rules.items():
            ways = tuple(dict.fromkeys(name for _, name in pairs))
            coordinates = tuple(dict.fromkeys(coordinate for coordinate, _ in pairs))
            through = ", ".join(ways)
            sentence = f"perhaps newly or no longer reachable through {through}: {some(coordinates, most=1)}"
            yield Change("reach-unknown", through, sentence, coordinates=coordinates, ways=ways, rules=rules)

    def _open_questions(self, name: str, old: Way, new: Way) -> list[str]:
        """Return the coordinates that some rule closes in a version, and that a changed guard can lead to."""
        meets, lacks = self.classes.extreme(meets=True), self.classes.extreme(meets=False)
        gained, lost = (
            {coordinate for coordinate, each, _ in self._of_way(name) if each == code}
            for code in ("reach-gained", "reach-lost")
        )
        both = gained & lost  # others may also differ the other way
        seen = {each: old.seen.get(each, 0) | new.seen.get(each, 0) for each in {**old.seen, **new.seen}}
        if NO_WAY in (old, new):
            return sorted({each for each, bits in seen.items() if bits & meets} - both)
        if new.kind in FIXED:
            differ = self._mask_in_words(old.mask, 0) != self._mask_in_words(new.mask, 1)
            return sorted(seen.keys() - both) if differ else []
        among = {
            each
            for each, bits in seen.items()
            if bits & meets and not old.seen.get(each, 0) & new.seen.get(each, 0) & lacks
        }
        before, after = self._versions
        if not among or before.index is None or after.index is None:
            return []
        if before.bundle.index != after.bundle.index:
            return sorted(among - both)
        guards = [_guards_in_full(version, way) for version, way in ((before, old), (after, new))]
        changed = {each for each in {**guards[0], **guards[1]} if guards[0].get(each) != guards[1].get(each)}
        return sorted(_following(after.index, changed, among) - both)

    def _rules(
        self, coordinate: str, bits: int, ways: tuple[Way | None, Way | None], *, gained: bool
    ) -> tuple[str, ...]:
        """Return the rule that closes a coordinate in one version, and its condition in the other one.

        Empty for a coordinate without a condition of its own: the way there decides.
        """
        closed, opened = (0, 1) if gained else (1, 0)
        labels = ("before", "now")
        closing = self._closing(coordinate, bits, closed, ways[closed] or ways[opened])
        principal = self._principal(bits, opened)
        skips = principal is not None and principal.unrestricted
        condition = "such callers skip policies" if skips else self._condition_of(coordinate, opened, ways[opened])
        rules = [f"{labels[closed]}: {each}" for each in closing if closing != [NOT_OWN]]
        return (*rules, *([f"{labels[opened]}: {condition}"] if condition != NOT_OWN else []))

    def _principal(self, bits: int, side: int) -> Principal | None:
        """Return the caller of the first of some classes."""
        return self.classes.classes[(bits & -bits).bit_length() - 1].principals[side]

    def _closing(self, coordinate: str, bits: int, side: int, way: Way | None) -> list[str]:
        version, principal = self._versions[side], self._principal(bits, side)
        if principal is None:
            return ["such callers are not admitted"]
        try:
            exists = version.index is not None
            if version.index is not None and not coordinate.startswith(("@", "$")):
                resolve_in(version.index, coordinate)
        except UnknownCoordinate:
            exists = False
        if not exists:
            return ["the schema does not have it"]
        rules = []
        if version.provenance is not None:
            meets = version.endpoint.evaluation_of(principal).meets
            tool = way.view_of.name if way and way.view_of else ""
            for cause in version.provenance.causes(coordinate, meets, tool=tool):
                place = cause.rule.place
                at = f"{version.folder.as_posix()}/{place.file}:{place.line}: " if place else ""
                rules.append(f"{at}{cause.rule.text}")
        return rules[:MOST_RULES] or [self._condition_of(coordinate, side, way)]

    def _condition_of(self, coordinate: str, side: int, way: Way | None) -> str:
        bundle = self._versions[side].bundle
        if way is None:
            return "there is no such tool"
        own: Mask = bundle.guards.get(coordinate, OPEN) | way.mask
        if way.view_of is not None:
            own |= way.view_of.guards.get(coordinate, OPEN) | way.view_of.mask
        elif way.kind == "route":
            own |= bundle.graphql.guards.get(coordinate, OPEN)
        return self._mask_in_words(own, side) if own else NOT_OWN

    def _mask_in_words(self, mask: Mask, side: int) -> str:
        return mask_in_words(mask, self._versions[side].bundle.conditions)

    def _of_documents(self) -> Iterator[Change]:
        """Yield the differences of types, for ways in both versions whose readers know only the schema.

        A tool with an output schema is not among them: the schema is compared for itself. Coordinates that differ by
        the same words are one difference.
        """
        tools = [tool for version in self._versions for tool in version.bundle.tools]
        untyped = {tool.name for tool in tools if "outputSchema" not in tool.entry}
        both = [
            way
            for name, way in self._ways[1].items()
            if name in self._ways[0]
            and way.seen
            and way.kind != "code"
            and (way.kind != "prescribed" or way.name in untyped)
        ]
        ways = tuple(way.name for way in both)
        before, after = (version.index for version in self._versions)
        if before is None or after is None or self._versions[0].bundle.index == self._versions[1].bundle.index:
            return
        about = ", ".join(ways)
        if ways and before.description != after.description:
            yield Change("text-changed", about, "the schema has another description", ways=ways)
        by_words: dict[tuple[str, str], list[str]] = {}
        for coordinate in dict.fromkeys(coordinate for way in both for coordinate in way.seen):
            for difference in _type_differences(coordinate, before, after):
                by_words.setdefault(difference, []).append(coordinate)
        for (code, words), coordinates in by_words.items():
            sentence = f"{some(coordinates, most=1)}: {words}"
            yield Change(code, about, sentence, coordinates=tuple(coordinates), ways=ways)


def _overall(ways: Iterable[Way]) -> dict[str, int]:
    """Return coordinate -> the classes that reach it through any way."""
    reached: dict[str, int] = {}
    for way in ways:
        for coordinate, bits in way.seen.items():
            reached[coordinate] = reached.get(coordinate, 0) | bits
    return reached


def _guards_in_full(version: Published, way: Way) -> dict[str, str]:
    """Return the guarded coordinates behind a way, with their conditions in a form that all versions have."""
    bundle = version.bundle
    roots = list(version.index.roots.values()) if version.index else []
    tables: list[Mapping[str, Mask]] = [
        bundle.guards,
        (way.view_of or bundle.graphql).guards,
        dict.fromkeys(roots, way.mask | (way.view_of.mask if way.view_of else OPEN)),
    ]
    texts: dict[Mask, str] = {}
    guards: dict[str, str] = {}
    for coordinate in dict.fromkeys(each for table in tables for each in table):
        mask = OPEN.union(*(table.get(coordinate, OPEN) for table in tables))
        if mask not in texts:
            texts[mask] = json.dumps(_in_full(mask, bundle.conditions, frozenset()), sort_keys=True)
        guards[coordinate] = texts[mask]
    return guards


def _in_full(mask: Iterable[int], conditions: Sequence[Predicate], inside: frozenset[int]) -> list[Any]:
    texts = []
    for number in mask:
        alternatives = alternatives_of(conditions, number)
        if alternatives is None:
            texts.append(json.dumps(conditions[number], sort_keys=True))
        elif number in inside:
            texts.append("*")
        else:
            ways = [_in_full(way, conditions, inside | {number}) for way in alternatives]
            texts.append(json.dumps(sorted(json.dumps(way) for way in ways)))
    return sorted(texts)


def _following(index: SchemaIndex, changed: Collection[str], among: Collection[str]) -> set[str]:
    """Return the coordinates to which a change can spread through others that are all ``among`` some."""

    def following(coordinate: str) -> Iterable[str]:
        return _next(index, coordinate) if coordinate in among or coordinate in changed else ()

    return {each for each in closure(changed, following) if each in among}


def _next(index: SchemaIndex, coordinate: str) -> Iterator[str]:
    """Yield the coordinates that may be lost or gained with one."""
    owner, member, _ = parts_of(coordinate)
    if owner.startswith("@"):
        directive = index.directives.get(owner.removeprefix("@"))
        for each, value in directive.arguments.items() if directive else ():
            yield f"{owner}({each}:)"
            yield named_type(value.type)
        yield owner
        return
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
    yield from (f"{each}.{coordinate.partition('.')[2]}" for each in index.interfaces(owner))
    for name, of_argument, target in index.references(owner):
        if name == member:
            yield target
            if of_argument:
                yield f"{owner}.{member}({of_argument}:)"


Difference = tuple[str, str]
"""A code, and the words on both types of a coordinate."""


def _type_differences(coordinate: str, before: SchemaIndex, after: SchemaIndex) -> Iterator[Difference]:
    owner, member, argument = parts_of(coordinate)
    if owner.startswith("@"):
        yield from _of_directive(owner.removeprefix("@"), argument, before, after)
        return
    if owner not in before or owner not in after:
        return
    old, new = before[owner], after[owner]
    texts = [_texts(each, member, argument) for each in (old, new)]
    if None not in texts and texts[0] != texts[1]:
        yield _OTHER_TEXT
    if not member:
        for interface in [each for each in before.interfaces(owner) if each not in after.interfaces(owner)]:
            if interface in after:
                yield "interface-left", f"no longer implements {interface}"
        for interface in [each for each in after.interfaces(owner) if each not in before.interfaces(owner)]:
            if interface in before:
                yield "interface-joined", f"implements {interface}, too"
        if before.weight(owner) != after.weight(owner):
            yield "cost-changed", COST
    elif after.kind(owner) == "input" == before.kind(owner):
        yield from _of_input(old.inputs.get(member), new.inputs.get(member))
    elif member in old.fields and member in new.fields:
        was, now = old.fields[member], new.fields[member]
        if argument:
            yield from _of_input(was.arguments.get(argument), now.arguments.get(argument))
            return
        if was.type != now.type:
            code = "field-required" if _is_stricter(now.type, was.type) else "field-type"
            yield code, f"type {now.type}, and was {was.type}"
        if (was.size, was.weight) != (now.size, now.weight):
            yield "cost-changed", COST


_OTHER_TEXT: Difference = ("text-changed", "the schema has another description or other directives")


def _texts(of: TypeSlice, member: str, argument: str) -> Sequence[str] | None:
    """Return the description and the directives of a type or of one of its parts; ``None`` if there is no such part."""
    if not member:
        return of.description, of.directives
    part = of.fields.get(member) or of.inputs.get(member)
    if argument:
        part = of.fields[member].arguments.get(argument) if member in of.fields else None
        return (part.description, part.directives) if part else None
    return (part.description, part.directives) if part else of.values.get(member)


def _of_directive(name: str, argument: str, before: SchemaIndex, after: SchemaIndex) -> Iterator[Difference]:
    old, new = before.directives.get(name), after.directives.get(name)
    if old is None or new is None:
        return
    if argument:
        values = old.arguments.get(argument), new.arguments.get(argument)
        yield from _of_input(*values)
        texts = [(value.description, value.directives) for value in values if value]
        if len(texts) == 2 and texts[0] != texts[1]:
            yield _OTHER_TEXT
        return
    if old.description != new.description:
        yield _OTHER_TEXT
    was, now = ({*each.on, *(["repeated"] if each.repeatable else [])} for each in (old, new))
    if was - now:
        yield "directive-narrowed", f"no longer allowed: {', '.join(sorted(was - now))}"
    if now - was:
        yield "directive-widened", f"also allowed: {', '.join(sorted(now - was))}"


def _of_input(old: InputValue | None, new: InputValue | None) -> Iterator[Difference]:
    if new is None:
        return
    if old is None:
        if new.required:
            yield "input-required", f"new and required, of type {new.type}"
        return
    if new.type != old.type:
        code = "input-optional" if _is_stricter(old.type, new.type) else "input-required"
        yield code, f"type {new.type}, and was {old.type}"
    elif new.required != old.required:
        yield ("input-required", "required") if new.required else ("input-optional", "may be left out")
    if new.default != old.default and not old.required:
        yield "input-default", f"default {new.default or 'none'}, and was {old.default or 'none'}"


def _is_stricter(one: str, other: str) -> bool:
    """Return whether a type is another one with further ``!``, and so takes or gives fewer values."""
    same = one.replace("!", "") == other.replace("!", "")
    return same and _marks(one) > _marks(other)


def _marks(type_: str) -> frozenset[int]:
    """Return the depths at which a type is not null."""
    return frozenset(len(type_[:place].replace("!", "")) for place, each in enumerate(type_) if each == "!")
