"""Paths from root fields to the parts of a view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from handler.graph.view import View

MAX_PATHS = 3
"""Paths that one match has at most."""

MAX_STEPS = 12
"""Steps of a path. What is farther from a root has a path that begins in the middle."""

Path = tuple[str, ...]


class Paths:
    """The shortest paths of a view. Order is by name, because the order of an index depends on what is hidden."""

    def __init__(self, view: View) -> None:
        self._view = view

    def to(self, coordinate: str) -> tuple[Path, ...]:
        """Return the shortest paths to a visible part of the view."""
        type_name, _, rest = coordinate.partition(".")
        if not rest:
            return tuple((*path, type_name) for path in self._of_type(type_name)) or ((type_name,),)
        member, argument, _ = rest.partition("(")
        last = (f"{type_name}.{member}", coordinate) if argument else (coordinate,)
        return tuple((*path, *last) for path in self._of_type(type_name)) or (last,)

    def _of_type(self, name: str) -> list[Path]:
        """Return paths whose last step names a type; one empty path for a root type."""
        if name in self._roots:
            return [()]
        return [(*self._nearest(owner), *steps) for owner, steps in self._nearest_ways(name)[:MAX_PATHS]]

    def _nearest_ways(self, name: str) -> list[tuple[str, Path]]:
        ways = (way for way in self._ways.get(name, ()) if way[0] in self._far)
        return sorted(ways, key=lambda way: (self._far[way[0]], len(way[1]), way))

    def _nearest(self, name: str) -> Path:
        """Return the first of the shortest paths to a type."""
        steps: list[Path] = []
        while name not in self._roots and len(steps) < MAX_STEPS:
            name, step = self._nearest_ways(name)[0]
            steps.append(step)
        return tuple(part for step in reversed(steps) for part in step)

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(self._view.index.roots.values())

    @cached_property
    def _ways(self) -> dict[str, list[tuple[str, Path]]]:
        """Type -> the types that lead to it, each with the steps in between."""
        found: defaultdict[str, list[tuple[str, Path]]] = defaultdict(list)
        for name in self._view.members:
            for target, steps in self._from(name):
                found[target].append((name, steps))
        return found

    def _from(self, name: str) -> Iterator[tuple[str, Path]]:
        index, gone = self._view.index, self._view.gone
        kind = index.kind(name)
        for member, argument, target in index.references(name):
            coordinate = f"{name}.{member}"
            if coordinate in gone or target not in self._view.members:
                continue
            if kind == "union":
                yield target, ()
            elif not argument:
                yield target, (coordinate,)
            elif f"{coordinate}({argument}:)" not in gone:
                yield target, (coordinate, f"{coordinate}({argument}:)")
        if name in self._roots:
            return
        # A fragment leads from an interface to its implementers and back.
        for each in (*index.implementers.get(name, ()), *index.interfaces(name)):
            if each in self._view.members:
                yield each, ()

    @cached_property
    def _far(self) -> dict[str, int]:
        """Type -> the number of types between a root and it."""
        onward: defaultdict[str, set[str]] = defaultdict(set)
        for target, ways in self._ways.items():
            for owner, _ in ways:
                onward[owner].add(target)
        found = dict.fromkeys(sorted(self._roots), 0)
        edge: Sequence[str] = list(found)
        distance = 0
        while edge:
            distance += 1
            edge = sorted({target for name in edge for target in onward[name] if target not in found})
            found.update(dict.fromkeys(edge, distance))
        return found
