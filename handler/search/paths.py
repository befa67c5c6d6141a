"""Paths from root fields to the parts of a view, and the types next to a type.

Order is by name, because the order of an index depends on what is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from handler.graph.view import View

MAX_PATHS = 3
"""Paths that one match has at most."""

FAR = {"mutation": 3}
"""Distance of a root type. A path through a mutation is for what no short path through a query leads to."""

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
        found = self._next_to.get(name)
        if found is None:
            found = {*self._targets(name), *self._users(name), *self._kin(name)} - self._roots - {name}
            self._next_to[name] = found
        return found

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
        found = self._paths.get(name)
        if found is None:
            ways = islice(self._ways(name), MAX_PATHS)
            found = self._paths[name] = [(*self._nearest(owner), *step) for owner, step in ways]
        return found

    def _nearest(self, name: str) -> Path:
        steps: list[Path] = []
        while name not in self._roots:
            name, step = next(self._ways(name))
            steps.append(step)
        return tuple(part for step in reversed(steps) for part in step)

    def _ways(self, name: str) -> Iterator[tuple[str, Path]]:
        """Yield the types that lead to a type, the nearest to a root first, each with the step to it."""
        for owner in self._owners(name):
            if owner in self._kin(name) or self._index.kind(owner) == "union":
                yield owner, ()
            else:
                yield from ((owner, step) for step in self._steps(owner)[name])

    def _owners(self, name: str) -> Sequence[str]:
        """Return the types that lead to a type, the nearest to a root first."""
        found = self._owners_of.get(name)
        if found is None:
            far = self._far
            owners = [each for each in {*self._users(name), *self._kin(name)} if each in far]
            found = self._owners_of[name] = sorted(owners, key=lambda each: (far[each], each))
        return found

    def _steps(self, name: str) -> Mapping[str, Sequence[Path]]:
        """Return the types that a type leads to, each with the steps to it, fields without arguments first."""
        found = self._steps_of.get(name)
        if found is None:
            found = self._steps_of[name] = {}
            for coordinate, of_argument, target in self._references(name):
                found.setdefault(target, []).append((coordinate, of_argument) if of_argument else (coordinate,))
            for steps in found.values():
                steps.sort(key=lambda step: (len(step), step))
        return found

    def _references(self, name: str) -> Iterator[tuple[str, str, str]]:
        """Yield the coordinates of visible members, and of arguments, with the visible type of each."""
        for member, argument, target in self._index.references(name):
            coordinate = f"{name}.{member}"
            of_argument = f"{coordinate}({argument}:)" if argument else ""
            if target in self._visible and self._view.gone.isdisjoint((coordinate, of_argument)):
                yield coordinate, of_argument, target

    def _targets(self, name: str) -> tuple[str, ...]:
        """Return the types that a type's visible members and arguments name."""
        found = self._visible_targets.get(name)
        if found is None:
            if name not in self._visible:
                targets: Iterable[str] = ()
            elif name in self._cut:
                targets = self._steps(name)
            else:
                targets = self._index.targets(name)
            found = self._visible_targets[name] = tuple(targets)
        return found

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
        found: dict[str, int] = {}
        edge: Iterable[str] = ()
        distance = 0
        while edge or distance <= max(starts.values(), default=-1):
            fresh = {name for name in edge if name not in found} | {
                name for name, start in starts.items() if start == distance
            }
            found.update(dict.fromkeys(fresh, distance))
            edge = {target for name in fresh for target in (*self._targets(name), *self._kin(name))}
            distance += 1
        return found
