"""Reachability in any graph, and strongly connected components in a graph of names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Graph = Mapping[str, Collection[str]]

Given = TypeVar("Given", bound=Hashable)


Node = TypeVar("Node", bound=Hashable)


def closure(start: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield the nodes of ``start`` and all that follow from them, nearest first, each once."""
    nodes = dict.fromkeys(start)
    waiting = list(nodes)
    for node in waiting:  # it grows
        yield node
        new = dict.fromkeys(each for each in following(node) if each not in nodes)
        nodes |= new
        waiting += new


def reachable(start: Collection[str], graph: Graph) -> set[str]:
    """Return ``start`` and all names reachable from it."""
    return set(closure(start, lambda name: graph.get(name, ())))


def turned(graph: Graph) -> dict[str, set[str]]:
    """Reverse the edges of a graph."""
    back: dict[str, set[str]] = {}
    for name, others in graph.items():
        for other in others:
            back.setdefault(other, set()).add(name)
    return back


def handed_down(own: Mapping[str, Collection[Given]], below: Graph) -> dict[str, frozenset[Given]]:
    """Return name -> its own values and those of all names that lead to it. Names in one cycle share one set.

    The filters of large schemas all lead to each other: a set for each would be thousands of equal sets.
    """
    sources: dict[str, frozenset[Given]] = {}
    inherited: dict[str, set[Given]] = {}
    for circle in circles(below, own):
        whole = frozenset[Given]().union(
            *(own.get(name, ()) for name in circle), *(inherited.pop(name, ()) for name in circle)
        )
        for name in circle:
            sources[name] = whole
        for other in {other for name in circle for other in below.get(name, ())}.difference(circle):
            inherited.setdefault(other, set()).update(whole)
    return sources


def circles(graph: Graph, start: Iterable[str]) -> list[list[str]]:
    """Return the strongly connected components reachable from ``start``, each before those that it leads to.

    Source: S. R. Kosaraju's algorithm; without recursion, because filters nest deeply.
    """
    entered: set[str] = set()
    names: dict[str, None] = {}
    waiting = list(start)
    while waiting:
        name = waiting[-1]
        if name in entered:
            names.setdefault(waiting.pop())
        else:
            entered.add(name)
            waiting += [other for other in graph.get(name, ()) if other not in entered]
    above = turned({name: graph.get(name, ()) for name in names})
    placed: set[str] = set()
    parts: list[list[str]] = []
    for name in reversed(names):
        part = [name] if name not in placed else []
        placed.add(name)
        for each in part:  # it grows
            new = set(above.get(each, ())) - placed
            placed |= new
            part += new
        parts += [part] if part else []
    return parts
