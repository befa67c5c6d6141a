"""Claims that tell callers apart: one set of claims for each combination of conditions that claims can meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, pairwise, product, zip_longest
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

    ``thorough``: also values of a type that no predicate expects, values between each two constants, and all sets of
    items of a list. Claims that are compared with each other have the same values.
    """

    def __init__(self, *, thorough: bool = False) -> None:
        self._values: dict[Path, list[Any]] = {}
        self._compared: list[set[Path]] = []  # claims that are compared, those that are with each other in one set
        self._holding: set[Path] = set()  # lists that are asked for the value of another claim
        self._thorough = thorough

    @property
    def names(self) -> frozenset[str]:
        """The names of the claims."""
        return frozenset(path[0] for path in self._values if path)

    def add(self, path: Sequence[str], *values: Any) -> None:
        """Add values of a claim."""
        known = self._values.setdefault(tuple(path), [])
        known[:] = _distinct([*known, *values])

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
                self._compare({tuple(each["jwt"]) for each in (left, right) if "jwt" in each})
            case {"has": {"jwt": path, "type": type_}, "value": value}:
                constant = value.get("value", SAMPLES.get(type_, "x"))
                self.add(path, [constant], [])  # a claim without the value is not a missing claim
                if self._thorough:
                    self.add(path, constant, OF_NO_TYPE)
                if "jwt" in value:
                    self.add(value["jwt"], constant, *([OF_NO_TYPE] if self._thorough else []))
                    self._holding.add(tuple(path))
                    self._compare({tuple(path), tuple(value["jwt"])})

    def _add_operand(self, operand: Mapping[str, Any], other: Mapping[str, Any]) -> None:
        if "jwt" not in operand:
            return
        value = other.get("value", SAMPLES.get(operand.get("type", ""), "x"))
        if self._thorough:
            self.add(operand["jwt"], value, *([not value] if isinstance(value, bool) else []), OF_NO_TYPE)
        else:
            self.add(operand["jwt"], *_near(value) if "value" in other else [value])

    def _compare(self, paths: set[Path]) -> None:
        joined = paths.union(*(each for each in self._compared if not each.isdisjoint(paths)))
        self._compared = [*(each for each in self._compared if each.isdisjoint(paths)), joined]

    def _tried(self) -> dict[Path, list[Any]]:
        """Return the values of each claim; of compared ones, with those of claims beside them, and others between."""
        found = dict(self._values)
        for paths in self._compared if self._thorough else ():
            known = list(chain.from_iterable(self._values[each] for each in self._values if each in paths))
            known = _distinct(chain.from_iterable(each if isinstance(each, list) else [each] for each in known))
            tried = [*known, *_beside(known, len(paths))]
            for path in paths:
                lists = [[each] for each in tried if each != OF_NO_TYPE] if path in self._holding else []
                found[path] = _distinct([*self._values[path], *tried, *lists])
        return found

    def claims(self, *, most: int = MAX_CLAIMS) -> tuple[list[dict[str, Any]], bool]:
        """Return sets of claims, the smallest first, and whether these are all combinations of the values."""
        items = MOST_ITEMS if self._thorough else 0
        tried = self._tried()
        values = {path: _with_lists(each or ["x"], whole_to=items) for path, each in tried.items()}
        whole = prod(len(each) + 1 for each in values.values()) <= most
        paths = len(values) if whole else 2
        found = chain.from_iterable(_of_paths(chosen, values) for chosen in _by_size(values, paths))
        kept = [claims for claims, _ in zip(found, range(most), strict=False)]
        return kept, whole and not (self._thorough and any(_items(each) > items for each in tried.values()))


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


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without those that are there already: 1, 1.0 and true are three values."""
    found: list[Any] = []
    for value in values:
        if not any(type(value) is type(each) and value == each for each in found):
            found.append(value)
    return found


def _beside(values: Sequence[Any], count: int) -> Iterator[Any]:
    """Yield so many numbers, and so many texts, between each two values next to each other, and beyond them."""
    numbers = sorted({each for each in values if isinstance(each, int | float) and not isinstance(each, bool)})
    if numbers:
        yield from (math.floor(numbers[-1]) + place for place in range(1, count + 1))
        yield from (math.ceil(numbers[0]) - place for place in range(1, count + 1))
    for low, high in pairwise(numbers):
        whole = [math.floor(low) + place for place in range(1, count + 1)]
        parts = [low + (high - low) * place / (count + 1) for place in range(1, count + 1)]
        yield from islice((each for each in (*whole, *parts) if low < each < high), count)
    texts = sorted({each for each in values if isinstance(each, str)})
    for first, second in zip_longest(texts, texts[1:]):
        after = (f"{first}{sign * place}" for sign in ("x", " ", "\0") for place in range(1, count + 1))
        yield from islice((each for each in after if second is None or each < second), count)
    below = ("\0" * length for length in range(count)) if texts else ()
    yield from (each for each in below if each < texts[0])


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
