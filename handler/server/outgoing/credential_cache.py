"""Values that are slow to get, kept for as long as they are good: secrets and tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from typing import Generic, TypeVar

from handler.errors import CredentialUnavailable
from handler.lru import Lru
from handler.records import record
from handler.server.auth.own_secrets import REFUSED_PAUSE_S

T = TypeVar("T")

MAX_KEPT = 1_000
"""Values of one kind; the one unused for longest goes first."""


@record(frozen=True, slots=True)
class Fetched(Generic[T]):
    """A value, and until when it is good (UNIX seconds). In the past: it serves those who waited for it, and is gone.

    ``stale_until``: how long it may serve where none newer is to be had, if who fetches says so.
    """

    value: T
    good_until: float
    stale_until: float = -inf


class SingleFlightCache(Generic[T]):
    """Values by keys, ``most`` of them. Who asks while one is fetched waits for that, and shares its failure."""

    def __init__(self, *, clock: Callable[[], float], most: int = MAX_KEPT) -> None:
        self._clock = clock
        self._entries: Lru[Hashable, _Entry[T]] = Lru(most=most)

    async def get(self, key: Hashable, fetch: Callable[[], Awaitable[Fetched[T]]]) -> T:
        """The value of a key, fetched where none is held that is good.

        Raises:
            CredentialUnavailable: it could not be fetched. The next one who asks tries again.
        """
        entry = self._entries.use_or_make(key, _Entry)
        if entry.fetched and self._clock() < entry.fetched.good_until:
            return entry.fetched.value
        number = entry.fetches
        async with entry.lock:
            outcome = entry.outcome
            if outcome is None or entry.fetches == number:  # else it was fetched while this one waited
                outcome = await entry.renew(fetch)
        if isinstance(outcome, CredentialUnavailable):
            raise CredentialUnavailable(outcome.reason, refused=outcome.refused)
        return outcome.value

    def held(self, key: Hashable) -> Fetched[T] | None:
        """The value that is held, good or not."""
        entry = self._entries.peek(key)
        return entry.fetched if entry else None

    def refuse(self, key: Hashable, value: T) -> bool:
        """Forget a value that was refused. Whether to ask again: there is a newer one, or one can be fetched."""
        entry = self._entries.peek(key)
        if entry is None or entry.fetched is None or entry.fetched.value != value:
            return True
        now = self._clock()
        if now - entry.refused_at < REFUSED_PAUSE_S:
            return False
        entry.forget(now)
        return True

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
        self.fetches += 1  # not where the request was given up: who waits tries then
        self.outcome = outcome
        return outcome

    def forget(self, now: float) -> None:
        self.outcome = None
        self.refused_at = now
