"""Claims that tell callers apart: one set of claims for each combination of conditions that claims can meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, pairwise, product, zip_longest
from math import prod
from typing import Any

from handler.policy.predicates import Predicate

Path = tuple[str, ...]

Values = Mapping[Path, Sequence[Any]]

MOST_ITEMS = 9
"""Items of a list of which all sets are tried."""

OF_NO_TYPE: Mapping[str, Any] = {}
"""A value that exists, and that no comparison takes."""

SAMPLES: Mapping[str, Any] = {"String": "x", "Int": 1, "Float": 1.5, "Boolean": True}
"""A value of each type, for a claim that no constant is compared with."""


class ClaimValues:
    """Values worth trying for each claim that predicates, bindings and scopes name.

    Among them are values of a type that no predicate expects, values between each two constants, and all sets of items
    of a list. Claims that are compared with each other have the same values.
    """

    def __init__(self) -> None:
        self._values: dict[Path, list[Any]] = {}
        self._compared: list[set[Path]] = []  # claims that are compared, those that are with each other in one set
        self._holding: set[Path] = set()  # lists that are asked for the value of another claim

    def add(self, path: Sequence[str], *values: Any) -> None:
        """Add values of a claim. A claim without values has any one."""
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
                self.add(path)
            case {"compare": _, "left": left, "right": right}:
                for operand, other in ((left, right), (right, left)):
                    if "jwt" in operand:
                        value = other.get("value", SAMPLES.get(operand.get("type", ""), "x"))
                        self.add(operand["jwt"], value, *([not value] if isinstance(value, bool) else []), OF_NO_TYPE)
                self._compare({tuple(each["jwt"]) for each in (left, right) if "jwt" in each})
            case {"has": {"jwt": path, "type": type_}, "value": value}:
                constant = value.get("value", SAMPLES.get(type_, "x"))
                # An empty list: a claim without the value is not a missing claim.
                self.add(path, [constant], [], constant, OF_NO_TYPE)
                if "jwt" in value:
                    self.add(value["jwt"], constant, OF_NO_TYPE)
                    self._holding.add(tuple(path))
                    self._compare({tuple(path), tuple(value["jwt"])})

    def _compare(self, paths: set[Path]) -> None:
        joined = paths.union(*(each for each in self._compared if not each.isdisjoint(paths)))
        self._compared = [*(each for each in self._compared if each.isdisjoint(paths)), joined]

    def claims(self, *, most: int) -> tuple[list[dict[str, Any]], bool]:
        """Return sets of claims, the smallest first, and whether these are all combinations of the values.

        With more combinations than ``most``, only sets of at most two claims are among them.
        """
        values = self._tried()
        lists = {path: _with_lists(each or ["x"]) for path, each in values.items()}
        whole = prod(len(each) + 1 for each in lists.values()) <= most
        paths = range(len(lists) + 1 if whole else 3)
        chosen = chain.from_iterable(combinations(lists, size) for size in paths)
        claims = islice(chain.from_iterable(_of_paths(each, lists) for each in chosen), most)
        return list(claims), whole and all(len(_items(each)) <= MOST_ITEMS for each in values.values())

    def _tried(self) -> dict[Path, list[Any]]:
        """Return the values of each claim; of compared ones, with those of claims beside them, and others between."""
        found = dict(self._values)
        for paths in self._compared:
            known = list(chain.from_iterable(self._values[each] for each in self._values if each in paths))
            known = _distinct(chain.from_iterable(each if isinstance(each, list) else [each] for each in known))
            tried = [*known, *_beside(known, len(paths))]
            for path in paths:
                lists = [[each] for each in tried if each != OF_NO_TYPE] if path in self._holding else []
                found[path] = _distinct([*self._values[path], *tried, *lists])
        return found


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
        if not isinstance(inner, dict) or inner is OF_NO_TYPE:
            return False
        claims = inner
    if last in claims:
        return False
    claims[last] = value
    return True


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


def _with_lists(values: Sequence[Any]) -> list[Any]:
    """Add lists of several items: a caller may have some of them at once. Up to ``MOST_ITEMS``, add all sets."""
    items = _items(values)
    if len(items) > MOST_ITEMS:
        return [*values, items]
    return [*values, *(list(each) for size in range(2, len(items) + 1) for each in combinations(items, size))]


def _items(values: Sequence[Any]) -> list[Any]:
    return [each[0] for each in values if isinstance(each, list) and each]
