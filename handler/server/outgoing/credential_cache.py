"""A TTL cache with single flight for secrets and tokens, which are slow to get."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from typing import Generic, TypeVar

from handler.cold.records import record
from handler.errors.upstream import CredentialUnavailable
from handler.lru import Lru
from handler.server.auth.own_secrets import REFUSED_PAUSE_S

T = TypeVar("T")

MAX_KEPT = 1_000
"""The most values of one kind; the least recently used goes first."""


@record(frozen=True, slots=True)
class Fetched(Generic[T]):
    """A value, and the time until which it is good (UNIX seconds). In the past: it serves only the waiting requests.

    ``stale_until``: the time until which the value may serve if no newer one is available. The fetcher decides so.
    """

    value: T
    good_until: float
    stale_until: float = -inf


class SingleFlightCache(Generic[T]):
    """A cache of ``most`` values by key. Requests during a fetch wait for the fetch, and share its failure."""

    def __init__(self, *, clock: Callable[[], float], most: int = MAX_KEPT) -> None:
        self._clock = clock
        self._entries: Lru[Hashable, _Entry[T]] = Lru(most=most)

    async def get(self, key: Hashable, fetch: Callable[[], Awaitable[Fetched[T]]]) -> T:
        """Return the value of a key, fetched if no good value is held.

        Raises:
            CredentialUnavailable: the value could not be fetched. The next request tries again.
        """
        entry = self._entries.use_or_make(key, _Entry)
        if entry.fetched and self._clock() < entry.fetched.good_until:
            return entry.fetched.value
        number = entry.fetches
        async with entry.lock:
            outcome = entry.outcome
            if outcome is None or entry.fetches == number:  # else fetched while this request waited
                outcome = await entry.renew(fetch)
        if isinstance(outcome, CredentialUnavailable):
            raise CredentialUnavailable(outcome.reason, refused=outcome.refused)
        return outcome.value

    def held(self, key: Hashable) -> Fetched[T] | None:
        """Return the held value, good or not; ``None`` if no value is held."""
        entry = self._entries.peek(key)
        return entry.fetched if entry else None

    def refuse(self, key: Hashable, value: T) -> bool:
        """Forget a value that was refused. Tell if asking again may help: a newer value is held or can be fetched."""
        entry = self._entries.peek(key)
        if entry is None or entry.fetched is None or entry.fetched.value != value:
            return True
        now = self._clock()
        if now - entry.refused_at < REFUSED_PAUSE_S:
            return False
        entry.forget(now)
        return True

    def clear(self) -> None:
        """Forget all values."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


class _Entry(Generic[T]):
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.fetches = 0
        self.refused_at = -inf
        self.outcome: Fetched[T] | CredentialUnavailable | None = None

    @property
    def fetched(self) -> Fetched[T] | None:
        return self.outcome if isinstance(self.outcome, Fetched) else None

    async def renew(self, fetch: Callable[[], Awaitable[Fetched[T]]]) -> Fetched[T] | CredentialUnavailable:
        outcome: Fetched[T] | CredentialUnavailable
        try:
            outcome = await fetch()
        except CredentialUnavailable as exc:
            outcome = exc
        self.fetches += 1  # not if the request was cancelled: the next one waiting fetches then
        self.outcome = outcome
        return outcome

    def forget(self, now: float) -> None:
        self.outcome = None
        self.refused_at = now
