"""Paths from root fields to the parts of a view, and the types next to a type.

Order is by name, because the order of an index depends on hidden parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from handler.graph.view import View, leads

MAX_PATHS = 3
"""Paths that one match has at most."""

FAR = {"mutation": 3}
"""Distance of a root type. A path through a mutation is for parts without a short path through a query."""

Path = tuple[str, ...]

_NONE: frozenset[str] = frozenset()


class Paths:
    """The shortest paths of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index
        self._roots = frozenset(view.index.roots.values())
        self._visible = frozenset(view.members)
        self._cut = {coordinate.partition(".")[0] for coordinate in view.gone}
        self._visible_targets: dict[str, tuple[str, ...]] = {}
        self._next_to: dict[str, Iterable[str]] = {}
        self._paths: dict[str, list[Path]] = {}
        self._owners_of: dict[str, Sequence[str]] = {}
        self._steps_of: dict[str, dict[str, list[Path]]] = {}

    def to(self, coordinate: str) -> tuple[Path, ...]:
        """Return the shortest paths to a visible part of the view, each with the part itself as its end."""
        type_name, _, rest = coordinate.partition(".")
        member, argument, _ = rest.partition("(")
        last: Path = (f"{type_name}.{member}", coordinate) if argument else (coordinate,)
        return tuple((*path, *last) for path in self._to_type(type_name)) or (last,)

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

    def _to_type(self, name: str) -> list[Path]:
        """Return paths whose last step names a type; one empty path for a root type."""
        if name in self._roots:
            return [()]
        if name not in self._paths:
            ways = islice(self._ways(name), MAX_PATHS)
            self._paths[name] = [(*self._nearest(owner), *step) for owner, step in ways]
        return self._paths[name]

    def _nearest(self, name: str) -> Path:
        path: Path = ()
        while name not in self._roots:
            name, step = next(self._ways(name))
            path = (*step, *path)
        return path

    def _ways(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the types that lead to a type, the nearest to a root first, each with the step to it."""
        if name not in self._owners_of:
            far = self._far
            owners = [each for each in {*self._users(name), *self._kin(name)} if each in far]
            self._owners_of[name] = sorted(owners, key=lambda each: (far[each], each))
        for owner in self._owners_of[name]:
            if owner in self._kin(name) or self._index.kind(owner) == "union":
                yield owner, ()
            else:
                yield from ((owner, step) for step in self._steps(owner)[name])

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

    def _kin(self, name: str) -> frozenset[str]:
        """Return the interfaces of a type and its implementers: a fragment leads from each to the other."""
        if name in self._roots:
            return _NONE
        kin = (*self._index.interfaces(name), *self._index.implementers.get(name, ()))
        return self._visible.intersection(kin) - self._roots if kin else _NONE

    @cached_property
    def _far(self) -> dict[str, int]:
        """Type -> the number of types between a root and it."""
        starts = {name: FAR.get(kind, 0) for kind, name in self._index.roots.items() if name in self._visible}
        distances: dict[str, int] = {}
        edge: set[str] = set()
        distance = 0
        while edge or distance <= max(starts.values(), default=-1):
            fresh = edge - distances.keys() | {name for name, start in starts.items() if start == distance}
            distances |= dict.fromkeys(fresh, distance)
            edge = {target for name in fresh for target in (*self._targets(name), *self._kin(name))}
            distance += 1
        return distances
