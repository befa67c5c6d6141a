"""Claims that tell callers apart: one set of claims for each combination of conditions that claims can meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from math import prod
from typing import Any

from handler.policy.predicates import Predicate

MAX_CLAIMS = 2_048
"""Sets of claims that are tried. With more, only those of at most two claims are."""

Path = tuple[str, ...]

Values = Mapping[Path, Sequence[Any]]

MOST_ITEMS = 9
"""Items of a list of which all sets are tried, if claims are to be thorough."""

OF_NO_TYPE: Mapping[str, Any] = {}
"""A value that exists, and that no comparison takes."""

SAMPLES: Mapping[str, Any] = {"String": "x", "Int": 1, "Float": 1.5, "Boolean": True}
"""A value of each type, for a claim that no constant is compared with."""


class ClaimValues:
    """Values worth trying for each claim that predicates, bindings and scopes name.

    ``thorough``: also values of a type that no predicate expects, and all sets of items of a list.
    """

    def __init__(self, *, thorough: bool = False) -> None:
        self._values: dict[Path, list[Any]] = {}
        self._thorough = thorough

    def add(self, path: Sequence[str], *values: Any) -> None:
        """Add values of a claim."""
        known = self._values.setdefault(tuple(path), [])
        for value in values:
            if not any(type(value) is type(each) and value == each for each in known):
                known.append(value)

    def add_predicate(self, predicate: Predicate) -> None:
        """Add the values for which a predicate may hold or fail."""
        match predicate:
            case {"and": parts} | {"or": parts}:
                for part in parts:
                    self.add_predicate(part)
            case {"not": part}:
                self.add_predicate(part)
            case {"exists": {"jwt": [_, *_] as path}}:
                self.add(path, *([OF_NO_TYPE] if self._thorough else []))
            case {"compare": _, "left": left, "right": right}:
                self._add_operand(left, right)
                self._add_operand(right, left)
            case {"has": {"jwt": path, "type": type_}, "value": value}:
                constant = value.get("value", SAMPLES.get(type_, "x"))
                self.add(path, [constant], [])  # a claim without the value is not a missing claim
                if self._thorough:
                    self.add(path, constant, OF_NO_TYPE)

    def _add_operand(self, operand: Mapping[str, Any], other: Mapping[str, Any]) -> None:
        if "jwt" not in operand:
            return
        value = other.get("value", SAMPLES.get(operand.get("type", ""), "x"))
        self.add(operand["jwt"], *_near(value) if "value" in other or self._thorough else [value])
        if self._thorough:
            self.add(operand["jwt"], OF_NO_TYPE)

    def claims(self, *, most: int = MAX_CLAIMS) -> tuple[list[dict[str, Any]], bool]:
        """Return sets of claims, the smallest first, and whether these are all combinations of the values."""
        items = MOST_ITEMS if self._thorough else 0
        values = {path: _with_lists(each or ["x"], whole_to=items) for path, each in self._values.items()}
        whole = prod(len(each) + 1 for each in values.values()) <= most
        paths = len(values) if whole else 2
        found = chain.from_iterable(_of_paths(chosen, values) for chosen in _by_size(values, paths))
        kept = [claims for claims, _ in zip(found, range(most), strict=False)]
        return kept, whole and not (self._thorough and any(_items(each) > items for each in self._values.values()))


def _by_size(paths: Iterable[Path], most: int) -> Iterator[tuple[Path, ...]]:
    known = list(paths)
    return chain.from_iterable(combinations(known, size) for size in range(most + 1))


def _of_paths(paths: Sequence[Path], values: Values) -> Iterator[dict[str, Any]]:
    for chosen in product(*(values[path] for path in paths)):
        claims: dict[str, Any] = {}
        if all(_put(claims, path, value) for path, value in zip(paths, chosen, strict=True)):
            yield claims


def _put(claims: dict[str, Any], path: Path, value: Any) -> bool:
    """Put a value at a path. Return ``False`` if another claim stands in the way."""
    *above, last = path
    for name in above:
        inner = claims.setdefault(name, {})
        if not isinstance(inner, dict):
            return False
        claims = inner
    if last in claims:
        return False
    claims[last] = value
    return True


def _near(value: Any) -> list[Any]:
    """Return a constant and values on both sides of it."""
    match value:
        case bool():
            return [value, not value]
        case int() | float():
            return [value, value + 1, value - 1]
        case str():
            return [value, f"{value}x", ""]
        case _:
            return ["x"]


def _with_lists(values: Sequence[Any], *, whole_to: int) -> list[Any]:
    """Add lists of several items: a caller may have some of them at once. Up to ``whole_to`` items, add all sets."""
    items = [each[0] for each in values if isinstance(each, list) and each]
    if len(items) <= whole_to:
        more = [list(each) for size in range(2, len(items) + 1) for each in combinations(items, size)]
    else:
        more = [list(each) for size in (2, 3) for each in combinations(items, size)] if len(items) < 6 else [items]
    return [*values, *more]


def _items(values: Sequence[Any]) -> int:
    return sum(isinstance(each, list) and bool(each) for each in values)
