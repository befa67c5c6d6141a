from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from handler.bundle_json import bundle_key, read_bundle
from handler.errors import BundleError, EndpointNotFound, ObjectNotFound, StorageError
from handler.server.endpoint import Endpoint, keep
from handler.storage import Storage

MAX_HELD = 256
"""Endpoints held in memory; the one unused for longest goes first."""

MAX_MISSES = 1_000
MISS_S = 30.0
"""How long an endpoint that is not there is not asked for again."""

OnTrouble = Callable[[str, Exception], None]


@dataclass(frozen=True, slots=True)
class _Held:
    """An endpoint and when storage was last asked for it (monotonic seconds)."""

    endpoint: Endpoint
    etag: str
    checked_at: float


class Endpoints:
    """The endpoints of one storage, each loaded at its first request and asked for again when it is old.

    A good bundle is never replaced by a bad one: while storage fails or holds something unreadable, the last good
    one serves, and ``on_trouble`` is told. Nothing runs between requests, because Lambda freezes the process.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        refresh_s: float,
        on_trouble: OnTrouble,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._storage = storage
        self._refresh_s = refresh_s
        self._on_trouble = on_trouble
        self._clock = clock
        self._held: OrderedDict[str, _Held] = OrderedDict()
        # Apart from the held ones: asking for names that do not exist must not push out those that do.
        self._missing: OrderedDict[str, float] = OrderedDict()

    async def find(self, name: str) -> Endpoint:
        """The endpoint ``folder/name``.

        Raises:
            EndpointNotFound: it is not published, or not any more.
            StorageError, BundleError: it is not held, and could not be loaded.
        """
        held = self._held.get(name)
        if held is None and self._is_fresh(self._missing.get(name), min(MISS_S, self._refresh_s)):
            raise EndpointNotFound(name)
        if held is None or not self._is_fresh(held.checked_at, self._refresh_s):
            return await asyncio.to_thread(self.load, name)
        self._held.move_to_end(name)
        return held.endpoint

    def load(self, name: str) -> Endpoint:
        """``find``, asking storage whatever is held. Blocks."""
        try:
            held = self._read(name, self._held.get(name))
        except ObjectNotFound as exc:
            self._held.pop(name, None)
            keep(self._missing, name, self._clock(), most=MAX_MISSES)
            raise EndpointNotFound(name) from exc
        keep(self._held, name, held, most=MAX_HELD)
        return held.endpoint

    @property
    def count(self) -> int:
        """How many endpoints are held."""
        return len(self._held)

    def _is_fresh(self, checked_at: float | None, limit_s: float) -> bool:
        return checked_at is not None and self._clock() - checked_at < limit_s

    def _read(self, name: str, known: _Held | None) -> _Held:
        try:
            return self._ask(name, known)
        except ObjectNotFound:
            raise
        except (StorageError, BundleError) as exc:
            self._on_trouble(name, exc)
            if known is None:
                raise
            return replace(known, checked_at=self._clock())

    def _ask(self, name: str, known: _Held | None) -> _Held:
        now = self._clock()
        stored = self._storage.read(bundle_key(name), etag=known.etag if known else None)
        if stored is not None:
            return _Held(Endpoint(read_bundle(stored.body, endpoint=name), self._storage), stored.etag, now)
        if known is None:
            raise StorageError(self._storage.location, "answered 'unchanged' where nothing was known")
        return replace(known, checked_at=now)
