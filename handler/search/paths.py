"""Paths from root fields to the parts of a view, and the types next to a type.

A path costs less the more of it a caller can supply: a field that takes names, filters or nothing comes before the
lookup by an id. Order is by cost, then by name, because the order of an index depends on hidden parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from heapq import heapify, heappop, heappush, nsmallest
from math import inf, log2
from typing import NamedTuple

from handler.graph.index import InputValue, named_type
from handler.graph.view import View, leads
from handler.policy.evaluation import DEFAULT
from handler.search.corpus import Corpus
from handler.search.question import Question
from handler.search.words import Vocabulary, split

MAX_PATHS = 3
"""Paths that one match has at most."""

FAR = 4.0
"""Cost of a mutation. A path through a mutation is for parts without a short path through a query."""

STEP, OF_HOLDER, OF_OTHER = 1.0, 0.25, 2.0
"""Costs of a step: from a root type, from a type that only holds others, and from any other type."""

SMALL = 6
"""Members that a type without an id has at most if it only holds others: a page, an edge, a payload."""

FEW = 4
"""Types that a union or an interface may have for a fragment to cost no more than a step from a holder."""

ID, REQUIRED, DEPRECATED = 4.0, 0.5, 1.0
"""Costs of a required id, of other required arguments, and of a deprecated field."""

BELONGS = 1.0
"""Worth of a step from a type without which no value is: ``Comment.issue: Issue!``."""

ONE_OF_MANY = 1.5
"""Cost of a way to one value if the question is about many."""

ASKED, UNASKED = 0.5, 0.3
"""Worth of a word of the question in a way, and cost of another word in the name of its root field."""

DETOUR = 3.0
"""Cost more than the nearest way's of the ways that are followed."""

MAX_OWNERS, MAX_WAYS = 3, 8
"""Nearest types with a field to a type that are followed to the roots, and ways to a type that are kept."""

MAX_SEEN = 50
"""Holders, unions and interfaces between a type and others that are followed, the nearest to the roots."""

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

    def __init__(self, view: View, corpus: Corpus) -> None:
        self._view = view
        self._index = view.index
        self._corpus = corpus
        self._vocabulary = Vocabulary()
        self._roots = frozenset(view.index.roots.values())
        self._visible = frozenset(view.members)
        self._cut = {coordinate.partition(".")[0] for coordinate in view.gone}
        self._visible_targets: dict[str, tuple[str, ...]] = {}
        self._next_to: dict[str, Iterable[str]] = {}
        self._ways: dict[str, list[_Way]] = {}
        self._ends: dict[str, tuple[list[_Way], list[tuple[str, _Way]]]] = {}
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
        """Return the cheapest ways to a type. Those to its owners come first: they are nearer to the roots."""
        waiting = [name]
        while waiting:
            type_name = waiting[-1]
            ways, ends = self._ends_of(type_name)
            if missing := [owner for owner, _ in ends if owner not in self._ways]:
                waiting += missing
                continue
            ways = [*ways, *(way.then(end) for owner, end in ends for way in self._ways[owner])]
            best: dict[tuple[str, bool], _Way] = {}
            for way in sorted(ways, key=lambda way: (way.most, way)):
                best.setdefault((way.path[0], way.many), way)
            ways = list(best.values())
            self._ways[type_name] = ways[:MAX_WAYS] + sorted(way for way in ways[MAX_WAYS:] if way.ids)[:1]
            waiting.pop()
        return self._ways[name]

    def _ends_of(self, name: str) -> tuple[list[_Way], list[tuple[str, _Way]]]:
        """Return the ways to a type through holders alone, and the ends of others, each with the type that it is from.

        These types are nearer to the roots than the type, so that no way leads in a circle.
        """
        if name in self._ends:
            return self._ends[name]
        far, parents = self._far, self._parents(name)
        ways: list[_Way] = []
        owners: list[tuple[float, str, str, _Way]] = []
        heap = [(0.0, name, "", _Way(0.0, ()))]
        seen = {*self._roots}
        while heap and len(seen) < MAX_SEEN:
            _, target, below, end = heappop(heap)
            if target in seen:
                continue
            seen.add(target)
            end = self._steps_between(target, below)[0].then(end) if below else end
            ways += [way.then(end) for way in self._entries.get(target, ())]
            for owner in {*self._users(target), *(self._above(target) if below else self._kin(target))} - seen:
                least = end.cost + self._least(owner, target) + far.get(owner, inf)
                is_near = least <= far.get(name, inf) + DETOUR
                if not self._passes(owner, target):
                    if is_near and far.get(owner, inf) < far.get(name, inf):
                        owners.append((least - (BELONGS if owner in parents else 0), owner, target, end))
                elif is_near:
                    heappush(heap, (least, owner, target, end))
                elif owner in self._entries:
                    end_of = self._steps_between(owner, target)[0].then(end)
                    ways += [way.then(end_of) for way in self._entries[owner]]
        ends = [
            (owner, step.then(end)._replace(cost=step.cost + end.cost - (BELONGS if owner in parents else 0)))
            for _, owner, target, end in nsmallest(MAX_OWNERS, owners)
            for step in self._steps_between(owner, target)
        ]
        self._ends[name] = ways, ends
        return ways, ends

    def _passes(self, owner: str, target: str) -> bool:
        """Return whether a type only holds another, or is a union or an interface of it."""
        return self._index.kind(owner) == "union" or owner in self._index.interfaces(target) or owner in self._holders

    @cached_property
    def _holders(self) -> Set[str]:
        """The pages, edges and small types without an id, and the types that only root types name."""
        corpus, roots = self._corpus, self._roots
        return {
            name
            for name in self._visible
            if name in corpus.wrappers
            or (corpus.sizes.get(name, 0) <= SMALL and name not in corpus.with_id)
            or (roots.issuperset(self._users(name)) and "id" not in self._view.members[name])
        }

    def _parents(self, name: str) -> set[str]:
        """Return the types without which no value of a type is."""
        gone = self._view.gone
        return {
            named_type(printed)
            for member, _, printed, _ in self._index.texts(name)
            if printed.endswith("!") or f"{name}.{member}{DEFAULT}" in gone
            if "[" not in printed and f"{name}.{member}" not in gone
        }

    @cached_property
    def _entries(self) -> Mapping[str, Sequence[_Way]]:
        """Type -> the ways to it of one root field."""
        entries: defaultdict[str, list[_Way]] = defaultdict(list)
        for kind, root in self._index.roots.items():
            if root in self._visible:
                for target, paths in self._steps(root).items():
                    if kind == "query":
                        entries[target] += (self._step(path, STEP) for path in paths)
                    else:
                        entries[target] += (_Way(FAR, path) for path in paths)
        return entries

    def _least(self, owner: str, target: str = "") -> float:
        """Return the least cost of a step from a type, or of the fragment that leads from an interface to a type."""
        if self._index.kind(owner) == "union":
            return _narrowed(self._targets(owner))
        if target and owner in self._index.interfaces(target):
            return _narrowed(self._below(owner))
        return OF_HOLDER if owner in self._holders else OF_OTHER

    def _steps_between(self, owner: str, target: str) -> list[_Way]:
        """Return the cheapest steps from a type to another, to one and to many."""
        least = self._least(owner, target)
        paths = self._steps(owner).get(target, ()) if self._index.kind(owner) != "union" else ()
        steps = sorted((self._step(path, least) for path in paths), key=lambda step: (step.most, step))
        return [*{step.many: step for step in reversed(steps)}.values()] or [_Way(least, ())]

    def _step(self, path: Path, least: float) -> _Way:
        type_name, _, member = path[0].partition(".")
        entry = self._index[type_name]
        if entry.kind == "input" or len(path) > 1:
            return _Way(least, path)
        field = entry.fields[member]
        required = [each for each in self._view.arguments(type_name, member).items() if each[1].required]
        ids = sum(self._needs_id(*each) for each in required)
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
            below = self._below(name)
            steps: Sequence[tuple[Iterable[str], float]] = (
                (self._targets(name), self._least(name)),
                (below, _narrowed(below)),
            )
            for targets, least in steps:
                for target in targets:
                    if cost + least < far.get(target, inf):
                        far[target] = cost + least
                        heappush(heap, (cost + least, target))
        return far


def _narrowed(types: Collection[str]) -> float:
    """Return the cost of a fragment on one of some types."""
    return max(OF_HOLDER, log2(max(1, len(types)) / FEW))
