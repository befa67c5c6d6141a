from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, read_bundle, short_digest
from handler.errors import BundleError, EndpointNotFound, FunctionLacks, ObjectNotFound, StorageError
from handler.lru import Lru
from handler.records import record
from handler.server.endpoints.clock import Instant, now
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.storage import READ_TIMEOUT_S, Storage

if TYPE_CHECKING:
    from handler.server.endpoints.lacks import Lack

MAX_MISSES = 1_000
MISS_S = 30.0
"""How long an endpoint that is not there is not asked for again."""

BESIDE_S = 1.0
"""How long storage has for an answer that a request does not need itself."""

MAX_DOUBTFUL = 100
"""Endpoints that count as failing though nothing says that they exist: storage did not answer for them."""

DOUBTFUL_S = 300.0
"""How long each of these counts after storage was last asked for it."""

NEVER_STORED = ".health"
"""The key of an object that nobody stores: storage that can be read says so."""

OnTrouble = Callable[[str, Exception], None]

FindLacks = Callable[[Bundle], Sequence["Lack"]]


@record(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """How long a bundle is believed, and how much is held.

    After ``refresh_s`` storage is asked beside the request that finds it so, after ``max_stale_s`` before it is
    answered. ``max_bytes`` is of all that is held together.
    """

    refresh_s: float = 60.0
    max_stale_s: float = 300.0
    max_bytes: int = 128 * 1_048_576


@record(frozen=True, slots=True, kw_only=True)
class _Held:
    """An endpoint, when storage was last asked for it, and when it last said that this is the one."""

    endpoint: Endpoint
    etag: str
    asked: Instant | None
    confirmed: Instant | None
    lacks: Sequence[Lack]
    failing: bool = False  # the last time nothing good came: what is held is the last good one

    @property
    def cost_bytes(self) -> int:
        return self.endpoint.cost_bytes

    @property
    def closed(self) -> bool:
        """``True`` if the function lacks something without which nobody may use the endpoint."""
        return any(lack.closes for lack in self.lacks)

    def require_open(self) -> Endpoint:
        """The endpoint.

        Raises:
            FunctionLacks: it is closed.
        """
        if self.closed:
            raise self.lacking
        return self.endpoint

    @property
    def lacking(self) -> FunctionLacks:
        """All that the function lacks for it, as an error."""
        return FunctionLacks(self.endpoint.bundle.endpoint, [lack.sentence for lack in self.lacks])


@record(frozen=True, slots=True, kw_only=True)
class _Failed:
    """An endpoint that is not held and could not be loaded. ``exists``: whether anything says that there is one."""

    asked: Instant
    exists: bool


@record(frozen=True, slots=True, kw_only=True)
class Known:
    """The state of one endpoint, as this process knows it."""

    name: str
    asked: Instant | None  # when storage was last asked for it
    serves: bool
    failing: bool  # storage or what it holds failed the last time, or the schema; the last good bundle may serve
    lacking: bool  # the function was built or configured without what it needs


class Endpoints:
    """The endpoints of one storage, each loaded at its first request and asked for again when it is old.

    A good bundle is never replaced by a bad one: while storage fails or holds something unreadable, the last good one
    serves, and ``on_trouble`` is told. A bundle that the function lacks something for does replace it: what it closes
    must not stay open. Nothing runs between requests, because Lambda freezes the process: what a request started,
    ``settle`` waits for.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        on_trouble: OnTrouble,
        keeping: CachePolicy | None = None,
        clock: Callable[[], Instant] = now,
        find_lacks: FindLacks = lambda _: (),
    ) -> None:
        self._storage = storage
        self._find_lacks = find_lacks
        self._expected: set[str] = set()
        self._on_trouble = on_trouble
        self._keeping = keeping or CachePolicy()
        self.clock = clock
        self._held: Lru[str, _Held] = Lru(max_bytes=self._keeping.max_bytes, cost_of=lambda held: held.cost_bytes)
        # Apart from the held ones: asking for names that do not exist must not push out those that do.
        self._missing: Lru[str, Instant] = Lru(most=MAX_MISSES)
        self._failed: dict[str, _Failed] = {}
        self._under_way: dict[str, asyncio.Task[Endpoint]] = {}

    async def find(self, name: str) -> Endpoint:
        """The endpoint ``folder/name``.

        Raises:
            EndpointNotFound: it is not published, or not any more.
            StorageError, BundleError: it is not held, and could not be loaded.
            FunctionLacks: the function lacks what it needs.
        """
        held = self._held.use(name)
        refresh_s, max_stale_s = self._keeping.refresh_s, self._keeping.max_stale_s
        if held is None:
            if self._age_s(self._missing.peek(name)) < min(MISS_S, refresh_s):
                raise EndpointNotFound(name)
            return await self._load(name)
        if not self.is_old(held.asked):
            return held.require_open()
        if self._age_s(held.confirmed) >= max_stale_s:
            return await self._load(name)
        self._asking(name, timeout_s=BESIDE_S)
        return held.require_open()

    def load(self, name: str) -> Endpoint:
        """``find``, asking storage whatever is held. Blocks, and is for when there are no requests yet.

        The endpoint counts as failing while it cannot be loaded: the owner says that it exists.
        """
        self._expected.add(name)
        with self._noting_failure(name):
            held = self._read(name, self._held.peek(name), READ_TIMEOUT_S)
        return self._take(name, held)

    async def ask(self, name: str) -> None:
        """Ask storage for an endpoint. Whatever comes of it, ``known`` tells."""
        with suppress(EndpointNotFound, StorageError, BundleError, FunctionLacks):
            await self._load(name)

    async def reach(self) -> None:
        """Ask storage for an object that it does not have.

        Raises:
            StorageError: it cannot be read.
        """
        with suppress(ObjectNotFound):
            await asyncio.to_thread(self._storage.read, NEVER_STORED, timeout_s=READ_TIMEOUT_S)

    async def settle(self) -> None:
        """Wait for what requests have started, for a second at most; then let go what is too much to hold."""
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()), timeout=BESIDE_S)
        self._held.fit()

    def doubt(self) -> None:
        """Ask storage again before anything that is held serves, as after a snapshot: nobody knows how old it is."""
        for held in self._held.values():
            self._held.put(held.endpoint.bundle.endpoint, replace(held, asked=None, confirmed=None))
        self._missing.clear()

    @property
    def count(self) -> int:
        """How many endpoints are held."""
        return len(self._held)

    @property
    def oldest_check_s(self) -> float | None:
        """How long ago storage last confirmed the endpoint that it has not confirmed for longest, if it is known."""
        oldest = max((self._age_s(held.confirmed) for held in self._held.values()), default=inf)
        return None if oldest == inf else oldest

    @property
    def known(self) -> list[Known]:
        """All endpoints that are held, and those that exist, or may, and could not be loaded."""
        held = [
            Known(
                name=each.endpoint.bundle.endpoint,
                asked=each.asked,
                serves=not each.closed,
                failing=each.failing or each.endpoint.schema_fails,
                lacking=bool(each.lacks),
            )
            for each in self._held.values()
        ]
        failed = [
            Known(name=name, asked=each.asked, serves=False, failing=True, lacking=False)
            for name, each in self._failed.items()
            if self._counts(each)
        ]
        return held + failed

    def is_old(self, then: Instant | None) -> bool:
        """Tell whether storage has to be asked again, if it was last asked at that moment."""
        return self._age_s(then) >= min(self._keeping.refresh_s, self._keeping.max_stale_s)

    def _age_s(self, then: Instant | None) -> float:
        return self.clock().age_s(then)

    async def _load(self, name: str) -> Endpoint:
        # A caller who goes away must not take the answer from others who wait for it.
        return await asyncio.shield(self._asking(name, timeout_s=READ_TIMEOUT_S))

    def _asking(self, name: str, *, timeout_s: float) -> asyncio.Task[Endpoint]:
        """The question to storage that is under way, or a new one: all who wait for an endpoint share it."""
        task = self._under_way.get(name)
        if task is None:
            task = self._under_way[name] = asyncio.create_task(self._ask(name, timeout_s))
            task.add_done_callback(partial(self._forget, name))
        return task

    def _forget(self, name: str, task: asyncio.Task[Endpoint]) -> None:
        self._under_way.pop(name, None)
        if not task.cancelled():
            task.exception()  # who waits for it gets it, and beside a request nobody does

    async def _ask(self, name: str, timeout_s: float) -> Endpoint:
        with self._noting_failure(name):
            held = await asyncio.to_thread(self._read, name, self._held.peek(name), timeout_s)
        return self._take(name, held)

    @contextmanager
    def _noting_failure(self, name: str) -> Iterator[None]:
        """Note that an endpoint could not be loaded. Names that nobody stored are bounded: anybody can ask for them."""
        try:
            yield
        except (StorageError, BundleError) as exc:
            before = self._failed.pop(name, None)
            exists = name in self._expected or isinstance(exc, BundleError) or (before is not None and before.exists)
            self._failed = {other: each for other, each in self._failed.items() if self._counts(each)}
            if exists or len(self._failed) < MAX_DOUBTFUL:
                self._failed[name] = _Failed(asked=self.clock(), exists=exists)
            raise

    def _counts(self, failed: _Failed) -> bool:
        return failed.exists or self._age_s(failed.asked) < DOUBTFUL_S

    def _take(self, name: str, held: _Held | None) -> Endpoint:
        """Hold what was read; nothing: the endpoint is not there.

        Raises:
            EndpointNotFound: it is not.
            FunctionLacks: it is closed.
        """
        self._failed.pop(name, None)
        if held is None:
            self._held.drop(name)
            self._missing.put(name, self.clock())
            raise EndpointNotFound(name)
        self._held.put(name, held)
        if held.lacks and not held.failing:
            self._on_trouble(name, held.lacking)
        return held.require_open()

    def _read(self, name: str, known: _Held | None, timeout_s: float) -> _Held | None:
        """What to hold from now on. Blocks, maybe in a thread, so it changes nothing that is held.

        Raises:
            StorageError, BundleError: nothing is known, and nothing could be read.
        """
        asked = self.clock()
        try:
            return self._read_anew(name, known, asked, timeout_s)
        except ObjectNotFound:
            return None
        except (StorageError, BundleError) as exc:
            self._on_trouble(name, exc)
            if known is None:
                raise
            return replace(known, asked=asked, failing=True)

    def _read_anew(self, name: str, known: _Held | None, asked: Instant, timeout_s: float) -> _Held:
        stored = self._storage.read(bundle_key(name), etag=known.etag if known else None, timeout_s=timeout_s)
        if stored is not None:
            bundle = read_bundle(stored.body, endpoint=name)
            digest = short_digest(stored.body)
            told = partial(self._on_trouble, name)
            endpoint = Endpoint(bundle, self._storage, stored_bytes=len(stored.body), digest=digest, on_trouble=told)
            lacks = self._find_lacks(bundle)
            return _Held(endpoint=endpoint, etag=stored.etag, asked=asked, confirmed=asked, lacks=lacks)
        if known is None:
            raise StorageError(self._storage.location, "answered 'unchanged' where nothing was known")
        known.endpoint.recheck_schema(timeout_s=timeout_s)
        return replace(known, asked=asked, confirmed=asked, failing=False)
