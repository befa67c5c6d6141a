"""Paths from root fields to the parts of a view, and the types next to a type.

A path costs less the more of it a caller can supply: a field that takes names, filters or nothing comes before the
lookup by an id. Order is by cost, then by name, because the order of an index depends on hidden parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from handler.graph.index import InputValue, named_type
from handler.graph.view import View, leads
from handler.search.question import Question
from handler.search.words import Vocabulary, split

MAX_PATHS = 3
"""Paths that one match has at most."""

FAR = 4.0
"""Cost of a mutation. A path through a mutation is for parts without a short path through a query."""

STEP, OF_HOLDER, OF_OTHER = 1.0, 0.25, 2.0
"""Costs of a step: from a root type, from a type that only holds others, and from any other type."""

OF_TYPE = 0.125
"""Cost of a fragment for each type of its union or interface."""

ID, REQUIRED, DEPRECATED = 4.0, 0.5, 1.0
"""Costs of a required id, of other required arguments, and of a deprecated field."""

BELONGS = 1.0
"""Worth of a step from a type to which a type leads back: ``Comment.issue: Issue!``."""

ONE_OF_MANY = 1.5
"""Cost of a way to one value if the question is about many."""

ASKED, UNASKED = 0.5, 0.3
"""Worth of a word of the question in a way, and cost of another word in the name of its root field."""

MAX_SEEN = 8
"""Types between a type and the roots that are followed, the nearest to the roots first."""

Path = tuple[str, ...]


class _Way(NamedTuple):
    """A path to a type, or its end, and its cost without that of required ids."""

    cost: float
    path: Path
    ids: int = 0  # required ids
    many: bool = False  # the last step returns a list

    def then(self, end: _Way) -> _Way:
        """Return the way with another end."""
        many = end.many if end.path else self.many
        return _Way(self.cost + end.cost, (*self.path, *end.path), self.ids + end.ids, many)

    @property
    def most(self) -> float:
        """The cost for a caller that has none of the ids."""
        return self.cost + self.ids * ID


class Paths:
    """The best paths of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index
        self._vocabulary = Vocabulary()
        self._roots = frozenset(view.index.roots.values())
        self._visible = frozenset(view.members)
        self._cut = {coordinate.partition(".")[0] for coordinate in view.gone}
        self._visible_targets: dict[str, tuple[str, ...]] = {}
        self._next_to: dict[str, Iterable[str]] = {}
        self._ways: dict[str, list[_Way]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._steps_of: dict[str, dict[str, list[Path]]] = {}

    def to(self, coordinate: str, question: Question) -> tuple[Path, ...]:
        """Return the best paths to a visible part of the view by different root fields, each with the part as its end.

        Paths whose required ids the question does not have come last. Of several such, the last path is one.
        """
        type_name, _, rest = coordinate.partition(".")
        member, argument, _ = rest.partition("(")
        last: Path = (f"{type_name}.{member}", coordinate) if argument else (coordinate,)
        if type_name in self._roots:
            return (last,)
        is_many, known = question.is_many(type_name), question.words.keys() | self._words_of(f".{type_name}")

        def cost(way: _Way) -> float:
            ids = 0.0 if question.has_id else way.ids * ID
            one = ONE_OF_MANY if is_many and not way.many else 0.0
            asked = len({word for step in way.path for word in self._words_of(step) if word in question.words})
            return way.cost + ids + one - ASKED * asked + UNASKED * len(self._words_of(way.path[0]) - known)

        best: dict[str, _Way] = {}
        for way in sorted(self._to_type(type_name), key=lambda way: (cost(way), way.path)):
            best.setdefault(way.path[0], way)
        roots = {self._index.roots.get("query")} & {step.partition(".")[0] for step in best}
        ways = [way for step, way in best.items() if not roots or step.partition(".")[0] in roots]
        others = ways[MAX_PATHS - 1 :]
        ways[MAX_PATHS - 1 :] = (sorted(way for way in others if way.ids) or others)[:1]
        return tuple((*way.path, *last) for way in ways) or (last,)

    def next_to(self, name: str) -> Iterable[str]:
        """Return the types that a type leads to or that lead to it, without root types."""
        if name not in self._next_to:
            types = {*self._targets(name), *self._users(name), *self._kin(name)}
            self._next_to[name] = types - self._roots - {name}
        return self._next_to[name]

    def of_one_mutation(self) -> dict[str, str]:
        """Return the payload and input types that nothing but one mutation names, each with its coordinate."""
        root = self._index.roots.get("mutation", "")
        steps = self._steps(root) if root in self._visible else {}
        return {
            name: ways[0][0]
            for name, ways in steps.items()
            if len({way[0] for way in ways}) == 1
            and self._index.kind(name) in ("object", "input")
            and name not in self._roots
            and not self._kin(name)
            and not any(user != root for user in self._users(name))
        }

    def _words_of(self, coordinate: str) -> frozenset[str]:
        """Return the words of the name of a member."""
        if coordinate not in self._words:
            self._words[coordinate] = frozenset(self._vocabulary.words(coordinate.partition(".")[2]))
        return self._words[coordinate]

    def _to_type(self, name: str) -> list[_Way]:
        """Return cheap ways to a type, found from the type to the roots.

        A type is passed once, so that no way leads in a circle.
        """
        if name in self._ways:
            return self._ways[name]
        far, entries, holders = self._far, self._entries, self._holders
        ways = [*entries.get(name, ())]
        seen = {*(self._roots & self._visible)}
        heap = [(0.0, name, "", name, _Way(0.0, ()))]
        while heap and (len(seen) < MAX_SEEN or not ways):
            _, target, below, value, end = heappop(heap)
            if target in seen:
                continue
            seen.add(target)
            if below:
                end = self._step_between(target, below, value).then(end)
            value = value if target in holders else target
            for owner in {*self._users(target), *(self._above(target) if below else self._kin(target))} - seen:
                if owner in far and (owner in holders or far[owner] < far.get(value, inf)):
                    cost = far[owner] + self._least(owner, target, value) + end.cost
                    heappush(heap, (cost, owner, target, value, end))
                    if owner in entries:
                        end_of = self._step_between(owner, target, value).then(end)
                        ways += [way.then(end_of) for way in entries[owner]]
        self._ways[name] = ways
        return ways

    @cached_property
    def _holders(self) -> Set[str]:
        """The types without an id: they only hold others, as pages, edges, payloads and namespaces of fields do."""
        return {
            name for name in self._visible if self._index.kind(name) != "object" or "id" not in self._view.members[name]
        }

    @cached_property
    def _entries(self) -> Mapping[str, Sequence[_Way]]:
        """Type -> the ways to it of one root field."""
        entries: defaultdict[str, list[_Way]] = defaultdict(list)
        for kind, root in self._index.roots.items():
            if root in self._visible:
                for target, paths in self._steps(root).items():
                    is_query = kind == "query"
                    entries[target] += (self._step(path, STEP) if is_query else _Way(FAR, path) for path in paths)
        return entries

    def _least(self, owner: str, target: str, value: str = "") -> float:
        """Return the least cost of a step from a type, or of the fragment that leads from an interface to a type.

        ``value``: the type to which the step leads through holders.
        """
        if self._index.kind(owner) == "union":
            return OF_TYPE * len(self._targets(owner))
        if owner in self._index.interfaces(target):
            return OF_TYPE * len(self._below(owner))
        least = OF_HOLDER if owner in self._holders else OF_OTHER
        return least - BELONGS if owner in self._targets(value) else least

    def _step_between(self, owner: str, target: str, value: str) -> _Way:
        """Return the cheapest step from a type to another."""
        least = self._least(owner, target, value)
        paths = self._steps(owner).get(target, ()) if self._index.kind(owner) != "union" else ()
        steps = [self._step(path, least) for path in paths]
        return min(steps, key=lambda step: (step.most, step), default=_Way(least, ()))

    def _step(self, path: Path, least: float) -> _Way:
        type_name, _, member = path[0].partition(".")
        entry = self._index[type_name]
        if entry.kind == "input" or len(path) > 1:
            return _Way(least, path)
        field = entry.fields[member]
        required = [each for each in self._view.arguments(type_name, member).items() if each[1].required]
        ids = sum(self._needs_id(name, value) for name, value in required)
        least += REQUIRED if len(required) > ids else 0.0
        least += DEPRECATED if "@deprecated" in field.directives else 0.0
        return _Way(least, path, ids, "[" in field.type)

    def _needs_id(self, name: str, value: InputValue, depth: int = 2) -> bool:
        """Return whether a caller has to know an id to give a required value."""
        type_name = named_type(value.type)
        if self._index.kind(type_name) == "input":
            inputs = ((each, self._view.input_field(type_name, each)) for each in self._view.members[type_name])
            return depth > 0 and any(each.required and self._needs_id(name, each, depth - 1) for name, each in inputs)
        return type_name == "ID" or [*split(name)][-1:] in (["id"], ["ids"])

    def _steps(self, name: str) -> Mapping[str, Sequence[Path]]:
        """Return the types that a type leads to, each with the steps to it, fields without arguments first."""
        if name not in self._steps_of:
            steps_to: defaultdict[str, list[Path]] = defaultdict(list)
            for target, path in leads(self._index, name):
                if target in self._visible and self._view.gone.isdisjoint(path):
                    steps_to[target].append(path)
            for steps in steps_to.values():
                steps.sort(key=lambda step: (len(step), step))
            self._steps_of[name] = dict(steps_to)
        return self._steps_of[name]

    def _targets(self, name: str) -> tuple[str, ...]:
        """Return the types that a type's visible members and arguments name."""
        if name not in self._visible:
            return ()
        if name not in self._visible_targets:
            targets = self._steps(name) if name in self._cut else self._index.targets(name)
            self._visible_targets[name] = tuple(targets)
        return self._visible_targets[name]

    def _users(self, name: str) -> Iterator[str]:
        """Yield the visible types of which a visible member or argument names a type."""
        visible, cut = self._visible, self._cut
        return (
            each
            for each in self._index.users.get(name, ())
            if each in visible and (each not in cut or name in self._targets(each))
        )

    def _kin(self, name: str) -> Set[str]:
        """Return the interfaces of a type and its implementers: a fragment leads from each to the other."""
        return frozenset() if name in self._roots else self._above(name) | self._below(name)

    def _above(self, name: str) -> Set[str]:
        """Return the interfaces of a type."""
        return self._visible.intersection(self._index.interfaces(name)) - self._roots

    def _below(self, name: str) -> Set[str]:
        """Return the implementers of an interface."""
        return self._visible.intersection(self._index.implementers.get(name, ())) - self._roots

    @cached_property
    def _far(self) -> Mapping[str, float]:
        """Type -> the least cost of a way to it, where steps below root fields need no id."""
        far = {name: min(way.most for way in ways) for name, ways in self._entries.items()}
        heap = [(cost, name) for name, cost in far.items()]
        heapify(heap)
        while heap:
            cost, name = heappop(heap)
            if cost > far[name]:
                continue
            for target in {*self._targets(name), *self._below(name)}:
                of_target = cost + self._least(name, target)
                if of_target < far.get(target, inf):
                    far[target] = of_target
                    heappush(heap, (of_target, target))
        return far
