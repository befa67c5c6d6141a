"""The arguments and values that each class of callers sees in the schema of a tool's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from handler.policy.evaluation import Mask
from handler.policy.guarded_schema import GUARDS


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
