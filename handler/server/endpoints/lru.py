from __future__ import annotations

from collections import OrderedDict
from typing import Generic, Protocol, TypeVar


class Costed(Protocol):
    """Something that knows what it takes."""

    @property
    def cost_bytes(self) -> int:
        """About how much memory it takes at the moment."""


T = TypeVar("T", bound=Costed)


class Lru(Generic[T]):
    """Entries that take ``max_bytes`` together; those unused for longest go first, and the newest always stays.

    An entry that is used may grow, so it is counted again by ``fit``.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, T] = OrderedDict()
        self._costs: dict[str, int] = {}
        self._used: set[str] = set()
        self.cost_bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def peek(self, key: str) -> T | None:
        """An entry, without using it."""
        return self._entries.get(key)

    def use(self, key: str) -> T | None:
        """An entry, which becomes the newest."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
            self._used.add(key)
        return entry

    def values(self) -> list[T]:
        """The entries, the one unused for longest first."""
        return list(self._entries.values())

    def put(self, key: str, entry: T) -> None:
        """Put an entry in as the newest; others go for it."""
        self._entries[key] = entry
        self.use(key)
        self.fit()

    def drop(self, key: str) -> None:
        """Forget an entry; there need not be one."""
        self._entries.pop(key, None)
        self.cost_bytes -= self._costs.pop(key, 0)

    def fit(self) -> None:
        """Count what was used since the last time, and let the oldest go until the rest fits."""
        while self._used:
            key = self._used.pop()
            if key in self._entries:
                cost = self._entries[key].cost_bytes
                self.cost_bytes += cost - self._costs.get(key, 0)
                self._costs[key] = cost
        while self.cost_bytes > self._max_bytes and len(self._entries) > 1:
            self.drop(next(iter(self._entries)))
