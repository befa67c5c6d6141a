"""The LRU cache, for values that can be made again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from math import inf
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Lru(Generic[K, T]):
    """An LRU cache that never evicts its newest entry.

    It holds ``most`` entries at most, with a total cost of ``max_bytes`` at most. ``cost_of`` returns the cost of an
    entry. The cost may grow with use, so ``fit`` counts it again.
    """

    def __init__(self, *, most: float = inf, max_bytes: float = inf, cost_of: Callable[[T], int] | None = None) -> None:
        self._most = most
        self._max_bytes = max_bytes
        self._cost_of = cost_of
        self._entries: OrderedDict[K, T] = OrderedDict()
        self._costs: dict[K, int] = {}
        self._used: set[K] = set()
        self.cost_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """Yield the keys, least recently used first."""
        return iter(self._entries)

    def values(self) -> list[T]:
        """Return the entries, least recently used first."""
        return list(self._entries.values())

    def peek(self, key: K) -> T | None:
        """Return an entry without marking it as used; ``None`` if the key is unknown."""
        return self._entries.get(key)

    def use(self, key: K) -> T | None:
        """Return an entry and make it the newest; ``None`` if the key is unknown."""
        if key in self._entries:
            self._entries.move_to_end(key)
            if self._cost_of:
                self._used.add(key)
        return self._entries.get(key)

    def use_or_make(self, key: K, make: Callable[[], T]) -> T:
        """Return an entry and make it the newest; ``make`` creates it if the key is unknown."""
        if key not in self._entries:
            entry = make()
            self.put(key, entry)
            return entry
        self.use(key)
        return self._entries[key]

    def put(self, key: K, entry: T) -> list[T]:
        """Add an entry as the newest, and return the evicted entries."""
        self._entries[key] = entry
        self.use(key)
        return self.fit()

    def drop(self, key: K) -> T | None:
        """Remove an entry and return it; ``None`` if the key is unknown."""
        self.cost_bytes -= self._costs.pop(key, 0)
        return self._entries.pop(key, None)

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()
        self._costs.clear()
        self.cost_bytes = 0

    def fit(self) -> list[T]:
        """Count the cost of entries used since the last call, then evict the oldest until the rest fits."""
        while self._cost_of and self._used:
            key = self._used.pop()
            if key in self._entries:
                cost = self._cost_of(self._entries[key])
                self.cost_bytes += cost - self._costs.get(key, 0)
                self._costs[key] = cost
        evicted: list[T] = []
        while len(self._entries) > 1 and (len(self._entries) > self._most or self.cost_bytes > self._max_bytes):
            oldest = next(iter(self._entries))
            evicted.append(self._entries[oldest])
            self.drop(oldest)
        return evicted
