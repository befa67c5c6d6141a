"""What leads where in a graph of names."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Graph = Mapping[str, Collection[str]]

Given = TypeVar("Given", bound=Hashable)


def reachable(start: Collection[str], graph: Graph) -> set[str]:
    """``start`` and everything that the graph leads to from there."""
    found = set(start)
    waiting = list(start)
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def turned(graph: Graph) -> dict[str, set[str]]:
    """The same steps the other way round."""
    back: dict[str, set[str]] = {}
    for name, others in graph.items():
        for other in others:
            back.setdefault(other, set()).add(name)
    return back


def handed_down(own: Mapping[str, Collection[Given]], below: Graph) -> dict[str, frozenset[Given]]:
    """What each type has itself and from all that lead to it. Types that lead to each other share one set.

    Filters of large schemas all lead to each other: a set for each of them would be thousands of equal ones.
    """
    found: dict[str, frozenset[Given]] = {}
    inherited: dict[str, set[Given]] = {}
    for circle in circles(below, own):
        whole = frozenset[Given]().union(
            *(own.get(name, ()) for name in circle), *(inherited.pop(name, ()) for name in circle)
        )
        for name in circle:
            found[name] = whole
        for other in {other for name in circle for other in below.get(name, ())}.difference(circle):
            inherited.setdefault(other, set()).update(whole)
    return found


def circles(graph: Graph, start: Iterable[str]) -> list[list[str]]:
    """What can be reached, in parts that lead to themselves as a whole, each before those that it leads to.

    Source: S. R. Kosaraju's strongly connected components; without recursion, as filters nest without end.
    """
    entered: set[str] = set()
    left: dict[str, None] = {}
    waiting = list(start)
    while waiting:
        name = waiting[-1]
        if name in entered:
            left.setdefault(waiting.pop())
        else:
            entered.add(name)
            waiting += [other for other in graph.get(name, ()) if other not in entered]
    above = turned({name: graph.get(name, ()) for name in left})
    placed: set[str] = set()
    return [part for name in reversed(left) if (part := _unplaced(name, above, placed))]


def _unplaced(name: str, graph: Graph, placed: set[str]) -> list[str]:
    """A name and all that can be reached from it, but for what has been placed; then it has."""
    part = [name] if name not in placed else []
    placed.add(name)
    for each in part:
        new = set(graph.get(each, ())) - placed
        placed |= new
        part += new
    return part
