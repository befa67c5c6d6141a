"""How many values, and how deep, a caller's JSON may be: counted before anything walks it value by value."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

MAX_NESTING = 64
"""How deep lists and objects may stand in each other in what callers send: enough for any filter, and far from where
validating them meets Python's own recursion limit."""

MAX_VALUES = 10_000
"""How many values a call may have where an endpoint says nothing else."""


def excess_of(value: Any, *, max_values: float) -> str:
    """Say what is too much of a value, after a JSON pointer: its nesting, or the number of its values.

    The values are all items of lists and all members of objects. The result is empty if the value is within bounds.
    """
    count = _count(value)
    if count is None:
        return f"/: nested more than {MAX_NESTING} deep"
    if count <= max_values:
        return ""
    from handler.sentences import pointer_of  # only a refusal needs it

    place, count = _largest_part(value, count, max_values)
    limit = f"a call may have {max_values:,} (limits.max_values)"
    return f"{pointer_of(place)}: {count:,} values, counting items of lists and members of objects; {limit}"


def nests_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects stand in each other more than ``levels`` deep."""
    return _count(value, levels) is None


def count_values(value: Any) -> int:
    """How many values there are in a value; 0 if they are nested too deeply to be counted."""
    return _count(value) or 0


def _count(value: Any, levels: int = MAX_NESTING) -> int | None:
    """How many values there are in a value; ``None`` if they are nested more than ``levels`` deep."""
    count, level = 0, [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        parts = [part for each in level for part in _parts(each)]
        count += len(parts)
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return count
    return None if level else count


def _largest_part(value: Any, count: int, max_values: float) -> tuple[list[str | int], int]:
    """The member of an object that is too large by itself, with its count; else the object."""
    for name, part in value.items() if isinstance(value, dict) else ():
        own = count_values(part)
        if own > max_values:
            return [name], own
    return [], count


def _parts(value: Any) -> Collection[Any]:
    return value.values() if isinstance(value, dict) else value
