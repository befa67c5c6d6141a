from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from handler.bundle import Bundle, GraphQLTool, JSONObject, PersistedOperation, PrescribedTool, Tool
from handler.bundle_json import bundle_key, index_key, read_bundle
from handler.errors import BundleError, DocumentRefused, EndpointNotFound, Fault, ObjectNotFound, StorageError
from handler.graph.index import SchemaIndex, read_index
from handler.graph.view import build_view
from handler.policy import Mask, hidden_from
from handler.storage import Storage

if TYPE_CHECKING:
    from handler.graph.schemas import ViewSchemas
    from handler.server.arguments import ArgumentsValidator

K = TypeVar("K")
T = TypeVar("T")

MAX_HELD = 256
"""Endpoints held in memory; the one unused for longest goes first."""

MAX_VIEWS = 16
"""Views held for one endpoint, each with the schemas of the documents that came to it."""

MAX_MISSES = 1_000
MISS_S = 30.0
"""How long an endpoint that is not there is not asked for again."""

OnTrouble = Callable[[str, Exception], None]


class Endpoint:
    """One loaded bundle and what is built from it, each part once: when the bundle goes, all of it goes."""

    def __init__(self, bundle: Bundle, storage: Storage) -> None:
        self.bundle = bundle
        self.tools: Mapping[str, Tool] = {
            name: tool for tool in bundle.tools for name in (tool.name, *tool.options.aliases)
        }
        self.documents: Mapping[str, tuple[PersistedOperation, ...]] = {
            document.id: (*document.operations, *self._operations_of(document.tools))
            for document in bundle.graphql.documents
        }
        self._storage = storage
        self._index: SchemaIndex | None = None
        self._validators: dict[str, ArgumentsValidator] = {}
        self._views: OrderedDict[tuple[str, Mask], ViewSchemas] = OrderedDict()
        self._lock = Lock()

    def validator(self, tool: Tool) -> ArgumentsValidator:
        """The validator of a tool's arguments. jsonschema loads with the first one."""
        return self._validator(f"tool {tool.name}", tool.name, tool.arguments)

    def variables_validator(self, persisted: PersistedOperation) -> ArgumentsValidator:
        """The validator of the variables of an operation that is called by its document's id."""
        # Two operations without a name may have one text, and differ in what is bound.
        return self._validator(f"operation {id(persisted.variables)}", persisted.operation.name, persisted.variables)

    def _operations_of(self, names: Iterable[str]) -> Iterator[PersistedOperation]:
        for tool in map(self.tools.get, names):
            if isinstance(tool, PrescribedTool):
                yield PersistedOperation(
                    operation=tool.operation,
                    variables=tool.arguments,
                    mask=tool.mask,
                    bindings=tool.bindings,
                    bound=tool.bound,
                )

    def _validator(self, key: str, name: str, schema: JSONObject) -> ArgumentsValidator:
        if key not in self._validators:
            from handler.server.arguments import ArgumentsValidator

            self._validators[key] = ArgumentsValidator(name, schema)
        return self._validators[key]

    def bound_validator(self, bound: PrescribedTool | PersistedOperation) -> ArgumentsValidator:
        """The validator of what fills the bound variables of a tool or a persisted operation."""
        return self._validator(f"bound {id(bound.bound)}", bound.operation.name, bound.bound)

    def view_schemas(self, tool: GraphQLTool | None, outcome: Mask) -> ViewSchemas:
        """What callers of this outcome may use through a tool, or without one of all there is.

        Blocks while it is made; graphql-core loads with the first one.

        Raises:
            DocumentRefused: there is nothing that these callers may use.
        """
        from handler.graph.schemas import ViewSchemas

        key = (tool.name if tool else "", outcome)
        with self._lock:
            schemas = self._views.get(key)
            if schemas is None:
                hidden = hidden_from(outcome, self.bundle.guards, (tool or self.bundle.graphql).guards)
                view = build_view(self._require_index(), hidden)
                if not view.root_fields():
                    raise DocumentRefused(Fault("nothing here is open to this caller"))
                schemas = ViewSchemas(view)
            _keep(self._views, key, schemas, most=MAX_VIEWS)
        return schemas

    def _require_index(self) -> SchemaIndex:
        if self._index is None:
            stored = self._storage.read(index_key(self.bundle.index))
            self._index = read_index(stored.body if stored else b"", sha256=self.bundle.index)
        return self._index


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
            _keep(self._missing, name, self._clock(), most=MAX_MISSES)
            raise EndpointNotFound(name) from exc
        _keep(self._held, name, held, most=MAX_HELD)
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


def _keep(entries: OrderedDict[K, T], key: K, entry: T, *, most: int) -> None:
    """Put an entry in as the newest; the oldest go."""
    entries[key] = entry
    entries.move_to_end(key)
    while len(entries) > most:
        entries.popitem(last=False)
