"""The cache of endpoints: loads a bundle at its first request, refreshes it, and remembers failed loads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from handler.bundle.identity import SECRET_REFERENCE, ApiKey
from handler.bundle.model import Bundle
from handler.bundle.stored import bundle_key, read_bundle, short_digest
from handler.cold.records import record
from handler.errors.calls import EndpointNotFound
from handler.errors.infrastructure import BundleError, FunctionLacks, ObjectNotFound, StorageError
from handler.lru import Lru
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.storage import READ_TIMEOUT_S, Storage

if TYPE_CHECKING:
    from handler.server.endpoints.absence import Absence


class Instant(NamedTuple):
    """A moment by both clocks, in seconds."""

    monotonic: float  # may stand still while Lambda has the process frozen
    wall: float  # UNIX time, which can be set

    def age_s(self, then: Instant | None) -> float:
        """Return the age of ``then`` at this moment, by the clock that gives more; infinite for ``None``."""
        return inf if then is None else max(self.monotonic - then.monotonic, self.wall - then.wall)


def now() -> Instant:
    """Return the current moment."""
    return Instant(time.monotonic(), time.time())


MAX_MISSES = 1_000
MISS_S = 30.0
"""Time that storage is not asked again for a missing endpoint; ``refresh_s`` if shorter."""

BESIDE_S = 1.0
"""Time limit of a refresh that no request waits for."""

_REMEDY = "add it to Extras in samconfig.toml, then `sam build` and `sam deploy`"

NEVER_STORED = ".health"
"""The key of an object that is never stored: readable storage answers that it does not exist."""

MAX_DOUBTFUL = 100
"""Limit of endpoints that count as failing but may not exist, because storage did not answer."""

DOUBTFUL_S = 300.0
"""Time that such an endpoint counts after storage was last asked for it."""


@record(frozen=True, slots=True, kw_only=True)
class Lack:
    """A missing part. ``sentence`` is for the log; ``closes``: the endpoint cannot be used without the part."""

    sentence: str
    closes: bool


@record(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """The ages at which bundles are refreshed, and the size of the cache.

    After ``refresh_s``, the next request starts a refresh and is served the old bundle. After ``max_stale_s``, the
    next request waits for the refresh. ``max_bytes`` limits all cached endpoints together.
    """

    refresh_s: float = 60.0
    max_stale_s: float = 300.0
    max_bytes: int = 128 * 1_048_576


@record(frozen=True, slots=True, kw_only=True)
class _Held:
    """A cached endpoint, and the moments when storage was last asked for it and last confirmed it."""

    endpoint: Endpoint
    etag: str
    asked: Instant | None
    confirmed: Instant | None
    lacks: Sequence[Lack]
    failing: bool = False  # the last refresh failed, so the endpoint is the last good one

    @property
    def closed(self) -> bool:
        """True if the function lacks a part without which the endpoint cannot be used."""
        return any(lack.closes for lack in self.lacks)

    def require_open(self) -> Endpoint:
        """Return the endpoint.

        Raises:
            FunctionLacks: the endpoint is closed.
        """
        if self.closed:
            raise self.lacking
        return self.endpoint

    @property
    def lacking(self) -> FunctionLacks:
        """The error with all parts that the function lacks for the endpoint."""
        return FunctionLacks(self.endpoint.bundle.endpoint, [lack.sentence for lack in self.lacks])


@record(frozen=True, slots=True, kw_only=True)
class Known:
    """The state of one endpoint in this process."""

    name: str
    asked: Instant | None  # when storage was last asked for it
    serves: bool
    failing: bool  # storage, bundle or schema failed the last time; the last good bundle may serve
    lacking: bool  # the function's build or settings lack a part


@record(frozen=True, slots=True, kw_only=True)
class _Failed:
    """An endpoint that could not be loaded and is not cached. ``exists``: the endpoint is known to exist."""

    asked: Instant
    exists: bool


class Endpoints:
    """The endpoints of one storage, each loaded at its first request and refreshed when it is old.

    An unreadable bundle never replaces a good one: while storage fails or has an unreadable bundle, the last good
    bundle serves, and ``on_trouble`` is called. A bundle for which the function lacks a part does replace the good one,
    because an endpoint that it closes must not stay open. ``on_missing`` is called if an endpoint is gone that was
    served or preloaded, or, without a name, if storage has nothing that this release could serve.
    Lambda freezes the process between requests, so ``settle`` waits for refreshes that requests started.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        on_trouble: Callable[[str, Exception], None],
        on_missing: Callable[[str, Absence], None] = lambda *_: None,
        keeping: CachePolicy | None = None,
        clock: Callable[[], Instant] = now,
        find_lacks: Callable[[Bundle], Sequence[Lack]] = lambda _: (),
    ) -> None:
        self._storage = storage
        self._find_lacks = find_lacks
        self._on_trouble = on_trouble
        self._on_missing = on_missing
        self._keeping = keeping or CachePolicy()
        self.clock = clock
        self._held: Lru[str, _Held] = Lru(
            max_bytes=self._keeping.max_bytes, cost_of=lambda held: held.endpoint.cost_bytes
        )
        # Separate from ``_held``: requests for missing names must not evict endpoints.
        self._missing: Lru[str, Instant] = Lru(most=MAX_MISSES)
        self._expected: set[str] = set()  # names of endpoints that the owner has named, so that they exist
        self._served: set[str] = set()  # names of endpoints that storage has returned
        self.absences: dict[str, Absence] = {}  # of such endpoints, and without a name, of all endpoints
        self._looked: Instant | None = None  # for all endpoints
        self._failed: dict[str, _Failed] = {}
        self._under_way: dict[str, asyncio.Task[Endpoint]] = {}

    async def find(self, name: str) -> Endpoint:
        """Return the endpoint ``folder/name``.

        Raises:
            EndpointNotFound: the endpoint is not published (any more).
            StorageError, BundleError: the endpoint is not cached, and could not be loaded.
            FunctionLacks: the endpoint is closed, because the function lacks a part for it.
        """
        cached = self._held.use(name)
        refresh_s, max_stale_s = self._keeping.refresh_s, self._keeping.max_stale_s
        if cached is None:
            if self.clock().age_s(self._missing.peek(name)) < min(MISS_S, refresh_s):
                raise EndpointNotFound(name)
            return await self._load(name)
        if not self.is_old(cached.asked):
            return cached.require_open()
        if self.clock().age_s(cached.confirmed) >= max_stale_s:
            return await self._load(name)
        self._asking(name, timeout_s=BESIDE_S)
        return cached.require_open()

    def load(self, name: str) -> Endpoint:
        """Load an endpoint from storage, also if it is cached. Blocks, so it is for the time before requests.

        Raises as ``find``. While storage or the bundle fails, the endpoint counts as failing: the owner has named it.
        """
        self._expected.add(name)
        with self._loading(name):
            cached = self._read(name, self._held.peek(name), READ_TIMEOUT_S)
        return self._take(name, cached)

    async def ask(self, name: str) -> None:
        """Ask storage for an endpoint. ``known`` then has the outcome."""
        with suppress(EndpointNotFound, StorageError, BundleError, FunctionLacks):
            await self._load(name)

    async def reach(self) -> None:
        """Ask storage for an object that does not exist, and for the names of all endpoints.

        Raises:
            StorageError: storage cannot be read.
        """
        with suppress(ObjectNotFound):
            await asyncio.to_thread(self._storage.read, NEVER_STORED, timeout_s=READ_TIMEOUT_S)
        if self.is_old(self._looked):
            self._take_absence("", await asyncio.to_thread(self._find_absence, "", READ_TIMEOUT_S))

    async def settle(self) -> None:
        """Wait for started refreshes, at most ``BESIDE_S``, then evict endpoints above ``max_bytes``."""
        if self._under_way:
            await asyncio.wait(list(self._under_way.values()), timeout=BESIDE_S)
        self._held.fit()

    def doubt(self) -> None:
        """Have storage confirm a cached endpoint before it serves again: a snapshot may be older than any process."""
        for cached in self._held.values():
            self._held.put(cached.endpoint.bundle.endpoint, replace(cached, asked=None, confirmed=None))
        self._missing.clear()

    @property
    def count(self) -> int:
        """The number of cached endpoints."""
        return len(self._held)

    def check_age_s(self, name: str) -> float | None:
        """Return the time since storage last confirmed a cached endpoint, in seconds; ``None`` if unknown."""
        cached = self._held.peek(name)
        age_s = self.clock().age_s(cached.confirmed) if cached else inf
        return None if age_s == inf else age_s

    @property
    def oldest_check_s(self) -> float | None:
        """The age of the oldest confirmation by storage, in seconds; ``None`` if unknown."""
        oldest = max((self.clock().age_s(cached.confirmed) for cached in self._held.values()), default=inf)
        return None if oldest == inf else oldest

    @property
    def known(self) -> list[Known]:
        """All cached endpoints, and those that exist or may exist and could not be loaded."""
        cached = [
            Known(
                name=each.endpoint.bundle.endpoint,
                asked=each.asked,
                serves=not each.closed,
                failing=each.failing or each.endpoint.schema.fails,
                lacking=bool(each.lacks),
            )
            for each in self._held.values()
        ]
        failed = [
            Known(name=name, asked=each.asked, serves=False, failing=True, lacking=False)
            for name, each in self._failed.items()
            if self._counts(each)
        ]
        return [*cached, *failed]

    @property
    def api_keys(self) -> tuple[ApiKey, ...]:
        """The API keys of all cached endpoints."""
        return tuple(key for held in self._held.values() for key in held.endpoint.bundle.identity.api_keys)

    def _counts(self, failed: _Failed) -> bool:
        return failed.exists or self.clock().age_s(failed.asked) < DOUBTFUL_S

    def is_old(self, then: Instant | None) -> bool:
        """Return whether storage must be asked again, if it was last asked at that moment."""
        return self.clock().age_s(then) >= min(self._keeping.refresh_s, self._keeping.max_stale_s)

    async def _load(self, name: str) -> Endpoint:
        # A cancelled request must not cancel the load that other requests wait for.
        return await asyncio.shield(self._asking(name, timeout_s=READ_TIMEOUT_S))

    def _asking(self, name: str, *, timeout_s: float) -> asyncio.Task[Endpoint]:
        """Return the running load of an endpoint, or start one: all waiting requests share it."""
        task = self._under_way.get(name)
        if task is None:

            async def load() -> Endpoint:
                with self._loading(name):
                    cached = await asyncio.to_thread(self._read, name, self._held.peek(name), timeout_s)
                return self._take(name, cached)

            def forget(task: asyncio.Task[Endpoint]) -> None:
                self._under_way.pop(name, None)
                if not task.cancelled():
                    task.exception()  # retrieved, or asyncio would log it: no request waits for a refresh

            task = self._under_way[name] = asyncio.create_task(load())
            task.add_done_callback(forget)
        return task

    @contextmanager
    def _loading(self, name: str) -> Iterator[None]:
        """Note a failed load, after which no endpoint is left that storage has to confirm.

        Unknown names are limited, because anybody can ask for them.
        """
        try:
            yield
        except (StorageError, BundleError) as exc:
            before = self._failed.pop(name, None)
            exists = name in self._expected or isinstance(exc, BundleError) or (before is not None and before.exists)
            self._failed = {other: each for other, each in self._failed.items() if self._counts(each)}
            if exists or len(self._failed) < MAX_DOUBTFUL:
                self._failed[name] = _Failed(asked=self.clock(), exists=exists)
            self._held.drop(name)
            raise

    def _take(self, name: str, held: _Held | Absence | None) -> Endpoint:
        """Cache the endpoint that was read, and return it.

        Raises:
            EndpointNotFound: there is no endpoint. ``None`` if nothing was to be found out about it.
            FunctionLacks: the endpoint is closed.
        """
        self._failed.pop(name, None)
        if not isinstance(held, _Held):
            self._held.drop(name)
            self._missing.put(name, self.clock())
            if held is not None:
                self._take_absence(name if self._is_known(name) else "", held)
            raise EndpointNotFound(name)
        self._held.put(name, held)
        self._served.add(name)
        for found in ("", name):
            self.absences.pop(found, None)
        if held.lacks and not held.failing:
            self._on_trouble(name, held.lacking)
        return held.require_open()

    def _is_known(self, name: str) -> bool:
        return name in self._expected or name in self._served

    def _find_absence(self, name: str, timeout_s: float) -> Absence:
        """Look at the keys of an endpoint, or of all endpoints. Blocks.

        Raises:
            StorageError: the keys of all endpoints cannot be listed. An endpoint is missing, whatever is beside it.
        """
        from handler.server.endpoints.absence import Absence, find_absence  # few processes miss an endpoint

        if not name:
            self._looked = self.clock()
        try:
            return find_absence(self._storage, name, timeout_s=timeout_s)
        except StorageError:
            if not name:
                raise
            return Absence()

    def _take_absence(self, name: str, absence: Absence) -> None:
        """Report an endpoint that is missing and not withdrawn, or without a name, that nothing can be served."""
        self.absences.pop(name, None)
        self._served.discard(name)
        if absence.is_withdrawn or absence.serves:
            return
        if name in self._expected:
            self._failed[name] = _Failed(asked=self.clock(), exists=True)
        if not name or name in self._expected:
            self.absences[name] = absence
        self._on_missing(name, absence)

    def _read(self, name: str, known: _Held | None, timeout_s: float) -> _Held | Absence | None:
        """Read the endpoint, or what is there instead. Blocks, maybe in a thread, so the cache stays unchanged.

        Raises:
            StorageError, BundleError: the endpoint could not be read, and is not cached or in doubt.
        """
        asked_at = self.clock()
        try:
            return self._read_anew(name, known, asked_at, timeout_s)
        except ObjectNotFound:
            if self._is_known(name):
                return self._find_absence(name, timeout_s)
            if not self.count and self.is_old(self._looked):
                with suppress(StorageError):
                    return self._find_absence("", timeout_s)
            return None
        except (StorageError, BundleError) as exc:
            self._on_trouble(name, exc)
            if known is None or known.confirmed is None:
                raise
            return replace(known, asked=asked_at, failing=True)

    def _read_anew(self, name: str, known: _Held | None, asked: Instant, timeout_s: float) -> _Held:
        stored = self._storage.read(bundle_key(name), etag=known.etag if known else None, timeout_s=timeout_s)
        if stored is not None:
            bundle = read_bundle(stored.body, endpoint=name)
            endpoint = Endpoint(
                bundle,
                self._storage,
                stored_bytes=len(stored.body),
                digest=short_digest(stored.body),
                version=stored.version,
                on_trouble=partial(self._on_trouble, name),
            )
            lacks = self._find_lacks(bundle)
            return _Held(endpoint=endpoint, etag=stored.etag, asked=asked, confirmed=asked, lacks=lacks)
        if known is None:
            raise StorageError(self._storage.location, "answered 'unchanged' where nothing was known")
        known.endpoint.schema.recheck(timeout_s=timeout_s)
        return replace(known, asked=asked, confirmed=asked, failing=False)


def find_lacks(bundle: Bundle, *, code_modules: Sequence[str], secrets: Collection[str]) -> tuple[Lack, ...]:
    """Find the parts that an endpoint needs and the function lacks. No module is imported, as its code would run.

    If tokens cannot be verified, a caller asked to sign in would do so for ever. So the endpoint closes for all
    callers. If a part for tools in Python is missing, only the calls of these tools fail. ``secrets`` are the names of
    the secrets that keys of issuers may refer to.
    """
    if not bundle.identity.issuers and not bundle.code:  # as most endpoints
        return ()
    from handler.code_tools.modules import is_among, is_there

    closing, others = [], []
    if not bundle.identity.trusted_apis:  # else the authorizer verifies; another token is refused: ``VerifierMissing``
        if bundle.identity.issuers and not (is_there("jwt") and is_there("cryptography")):
            closing.append(f"the extra jwt is missing, which verifies tokens of issuers: {_REMEDY}")
        keys = [key for issuer in bundle.identity.issuers for key in issuer.keys if key.algorithm == "HS256"]
        for reference in dict.fromkeys(key.key for key in keys):
            name = reference.removeprefix(SECRET_REFERENCE)
            if name != reference and name not in secrets:
                closing.append(f"STILE_SECRET_{name} is missing, which verifies tokens of an issuer: set the variable")
    if bundle.code and not is_there("pydantic"):
        others.append(f"the extra code is missing, which tools in Python need: {_REMEDY}")
    for module in dict.fromkeys(kit.use.partition(":")[0] for kit in bundle.code):
        if not is_among(module, code_modules):
            others.append(f"{module} is not among STILE_CODE_MODULES: name the module there")
        elif not is_there(module):
            others.append(f"there is no module {module}: build the function with the code of the module")
    return (
        *(Lack(sentence=sentence, closes=True) for sentence in closing),
        *(Lack(sentence=sentence, closes=False) for sentence in others),
    )
