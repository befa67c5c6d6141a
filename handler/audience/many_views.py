"""The views of many classes of callers at once: each coordinate, and each argument of a tool, with the classes.

The rules are ``Removals`` and ``leads`` of ``handler/graph/view.py``, which builds the view of one caller from them.
Here sets of classes are integers with a bit for each, so that thousands of views cost little more than one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from handler.graph.index import SchemaIndex
from handler.graph.view import Removals, leads, taken_by_directives
from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import GUARDS


def views_of(index: SchemaIndex, hidden: Mapping[str, int], everybody: int) -> dict[str, int]:
    """Return visible coordinate -> the classes of callers that see it, for many classes at once.

    Classes are the bits of ``everybody``. ``hidden`` has the classes that may not use a coordinate.
    """
    gone = _gone(index, hidden, everybody)
    found = _reachable(index, gone, everybody)
    seen = {name: found[name] for name in index if found.get(name)}
    for name in list(seen):
        for member in index.members(name):
            seen[f"{name}.{member}"] = found[name] & ~gone.get(f"{name}.{member}", 0)
        for member, argument, _ in index.references(name):
            if argument:
                field = f"{name}.{member}"
                seen[f"{field}({argument}:)"] = seen[field] & ~gone.get(f"{field}({argument}:)", 0)
    with_roots = 0
    for root in index.roots.values():
        with_roots |= found.get(root, 0)
    for name, directive in index.directives.items():
        seen[f"@{name}"] = bits = with_roots & ~gone.get(f"@{name}", 0)
        for argument in directive.arguments:
            seen[f"@{name}({argument}:)"] = bits & ~gone.get(f"@{name}({argument}:)", 0)
    return {coordinate: bits for coordinate, bits in seen.items() if bits}


def _gone(index: SchemaIndex, hidden: Mapping[str, int], everybody: int) -> Mapping[str, int]:
    """Return coordinate -> the classes for which it is gone."""
    removals, gone = Removals(index), defaultdict[str, int](int)
    waiting = [*hidden.items(), *((each, everybody) for each in removals.at_start())]
    while waiting:
        coordinate, bits = waiting.pop()
        fresh = bits & ~gone[coordinate] if removals.knows(coordinate) else 0
        if not fresh:
            continue
        gone[coordinate] |= fresh
        waiting += ((each, fresh) for each in removals.of(coordinate))
        if owner := removals.owner(coordinate):
            for member in removals.members(owner):
                fresh &= gone.get(f"{owner}.{member}", 0)
            waiting.append((owner, fresh))
    return gone


def _reachable(index: SchemaIndex, gone: Mapping[str, int], everybody: int) -> Mapping[str, int]:
    """Return type -> the classes of which a request can reach it."""
    found: defaultdict[str, int] = defaultdict(int)
    opened: defaultdict[str, int] = defaultdict(int)

    def left(bits: int, path: Iterable[str]) -> int:
        for coordinate in path:
            bits &= ~gone.get(coordinate, 0)
        return bits

    with_roots = 0
    for root in index.roots.values():
        with_roots |= left(everybody, (root,)) if root in index else 0
    waiting = [(name, everybody, True) for name in index.roots.values()]
    waiting += [(type_, left(with_roots, path), False) for type_, path in taken_by_directives(index)]
    while waiting:
        name, bits, returned = waiting.pop()
        bits = left(bits, (name,)) if name in index else 0
        opening = bits & ~opened[name] if returned and name in index.implementers else 0
        if opening:
            opened[name] |= opening
            waiting += ((each, opening, True) for each in index.implementers[name])
        fresh = bits & ~found[name]
        if fresh:
            found[name] |= fresh
            waiting += ((each, fresh, False) for each in index.interfaces(name))
            waiting += ((type_, left(fresh, path), True) for type_, path in leads(index, name))
    return found


def names_seen(schema: Mapping[str, Any], opened: int, meets: Callable[[Mask], int]) -> dict[str, int]:
    """Return the names of arguments and values, each with the classes that see it, of those that may use the tool.

    A name in a definition stands behind the name of the definition, which is that of a type: ``Filter.salary``. Any
    other stands behind the argument: ``$where.salary``.
    """
    definitions = schema.get("$defs", {})
    reached: dict[str, int] = {}
    found: dict[str, int] = {}
    waiting: list[tuple[str, Any, int]] = [("$", {key: schema[key] for key in schema if key != "$defs"}, opened)]
    while waiting:
        label, part, bits = waiting.pop()
        for name, inner, mask in _inside(part):
            seen = bits & meets(mask)
            below = label if not name else f"{label}{name}" if label == "$" else f"{label}.{name}"
            if name:
                found[below] = found.get(below, 0) | seen
            waiting.append((below, inner, seen))
        for name in _definitions_in(part):
            fresh = bits & ~reached.get(name, 0)
            if fresh and name in definitions:
                reached[name] = reached.get(name, 0) | fresh
                waiting.append((name, definitions[name], fresh))
    return found


def _inside(part: Any) -> Iterator[tuple[str, Any, Mask]]:
    """Yield the properties, values and other parts of a schema, each with its mask. A part without a name is open."""
    if isinstance(part, list):
        yield from (("", each, frozenset()) for each in part)
    if not isinstance(part, dict):
        return
    guards = part.get(GUARDS, {})
    for key, value in part.items():
        if key == "properties":
            yield from ((name, inner, frozenset(guards.get(name, ()))) for name, inner in value.items())
        elif key == "enum":
            yield from ((str(name), None, frozenset(guards.get(name, ()))) for name in value if name is not None)
        elif key not in (GUARDS, "default", "$ref", "required"):
            yield "", value, frozenset()


def _definitions_in(part: Any) -> Iterator[str]:
    if isinstance(part, dict) and isinstance(part.get("$ref"), str):
        yield part["$ref"].rpartition("/")[2]
