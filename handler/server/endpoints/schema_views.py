"""The views of an endpoint's schema, one for each outcome of conditions, and the texts and schemas made from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from handler.bundle.model import Bundle
from handler.bundle.tools import GraphQLTool
from handler.errors.calls import DocumentRefused, Fault
from handler.errors.infrastructure import BundleError, StorageError
from handler.errors.upstream import UpstreamError
from handler.lru import Lru
from handler.policy.evaluation import Evaluation, Mask, hidden_from
from handler.storage.storage import READ_TIMEOUT_S, Storage

if TYPE_CHECKING:
    from handler.graph.documents.partial_schema import ViewSchemas
    from handler.graph.index import SchemaIndex
    from handler.graph.view import View
    from handler.search.schema_search import SchemaSearch

MAX_VIEWS = 16
"""Views cached for one endpoint, and also the limit of those with schemas for documents."""

MAX_PRINTED = 16
"""Views cached for one endpoint as SDL."""

MAX_SEARCHES = 4
"""Views cached for one endpoint as they are searched."""

SEARCH_SHARE = 0.5
"""Memory of a view as it is searched, as a share of its index, measured on GitHub's schema with all its words asked."""

VIEW_SHARE = 0.05
"""Memory of a view, as a share of its index, measured on GitHub's schema."""


@contextmanager
def schema_loading() -> Iterator[None]:
    """Turn the failure to load a schema into the error of a call.

    Raises:
        UpstreamError: storage fails, or its schema index is not the one that the bundle names.
    """
    try:
        yield
    except (StorageError, BundleError) as exc:
        raise UpstreamError("The schema cannot be loaded at the moment. Try later.") from exc


class SchemaViews:
    """The schema of an endpoint as its callers see it. The index is loaded at the first use, and views are cached.

    ``on_trouble`` is called if the schema index cannot be loaded, once until it can be loaded.
    """

    def __init__(self, bundle: Bundle, storage: Storage, *, on_trouble: Callable[[Exception], None]) -> None:
        self.fails = False  # the last load of the schema index failed
        self._bundle = bundle
        self._storage = storage
        self._on_trouble = on_trouble
        self.loaded: SchemaIndex | None = None  # the schema index, at its first use
        self._index_bytes = 0
        # Keys: the tool, and an outcome.
        self._views: Lru[tuple[str, Mask], View] = Lru(most=MAX_VIEWS)
        self._schemas: Lru[tuple[str, Mask], ViewSchemas] = Lru(most=MAX_VIEWS)
        self._printed: Lru[tuple[str, Mask], str] = Lru(most=MAX_PRINTED)
        self._searches: Lru[tuple[str, Mask], SchemaSearch] = Lru(most=MAX_SEARCHES)
        self._lock = Lock()

    @property
    def cost_bytes(self) -> int:
        """Approximate memory of the index and all cached objects, in bytes."""
        with self._lock:
            shares = len(self._views) * VIEW_SHARE + len(self._searches) * SEARCH_SHARE
            views = int(shares * self._index_bytes)
            schemas = sum(each.cost_bytes for each in self._schemas.values())
            searches = sum(each.kept_bytes for each in self._searches.values())
            printed = sum(map(sys.getsizeof, self._printed.values()))
        return self._index_bytes + views + schemas + searches + printed

    def find_index(self) -> SchemaIndex | None:
        """Return the schema index; ``None`` if it cannot be loaded. Blocks at the first use."""
        with self._lock, suppress(StorageError, BundleError):
            return self._require_index()
        return None

    def view(self, tool: GraphQLTool | None, outcome: Mask) -> View:
        """Return the view of an outcome through a tool, or of the whole schema if ``None``. Blocks while it is built.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        from handler.graph.view import build_view

        def build() -> View:
            hidden = hidden_from(outcome, self._bundle.guards, (tool or self._bundle.graphql).guards)
            return build_view(self._require_index(), hidden)

        with self._lock:
            return self._views.use_or_make((tool.name if tool else "", outcome), build)

    def has_fields(self, evaluation: Evaluation) -> bool:
        """Return whether the caller may use any field over GraphQL. Blocks while the view is built.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        return bool(self._view_of(None, evaluation)[1].root_fields())

    def sdl(self, tool: GraphQLTool | None, evaluation: Evaluation) -> str:
        """Return a view as SDL; empty string if it has no fields. Blocks while it is built.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        from handler.graph.sdl import print_view

        key, view = self._view_of(tool, evaluation)
        with self._lock:
            return self._printed.use_or_make(key, lambda: print_view(view) if view.root_fields() else "")

    def view_schemas(self, tool: GraphQLTool | None, evaluation: Evaluation) -> ViewSchemas:
        """Return the schemas that validate a caller's documents. Blocks; the first call loads graphql-core.

        Raises:
            DocumentRefused: the caller may not use any field.
            StorageError, BundleError: the schema index cannot be loaded.
        """
        from handler.graph.documents.partial_schema import ViewSchemas

        key, view = self._view_of(tool, evaluation)
        if not view.root_fields():
            raise DocumentRefused(Fault("nothing here is open to this caller"))
        with self._lock:
            schemas = self._schemas.use(key)
            if schemas is None or schemas.view is not view:
                schemas = ViewSchemas(view, partial(self._search_of, key, view))
                self._schemas.put(key, schemas)
        return schemas

    def cached_schemas(self, tool: GraphQLTool | None, evaluation: Evaluation) -> ViewSchemas | None:
        """Return ``view_schemas`` if they are cached, and no thread works on a view; otherwise ``None``."""
        key = tool.name if tool else "", evaluation.outcome((tool or self._bundle.graphql).conditions)
        if not self._lock.acquire(blocking=False):
            return None
        try:
            view, schemas = self._views.use(key), self._schemas.use(key)
        finally:
            self._lock.release()
        return schemas if schemas and schemas.view is view else None

    def search(self, tool: GraphQLTool | None, evaluation: Evaluation) -> SchemaSearch:
        """Return the search of a view. Blocks while the view is built; the first question reads the view's words.

        Raises:
            StorageError, BundleError: the schema index cannot be loaded.
        """
        return self._search_of(*self._view_of(tool, evaluation))

    def _view_of(self, tool: GraphQLTool | None, evaluation: Evaluation) -> tuple[tuple[str, Mask], View]:
        """Return a caller's view, and its key in the caches."""
        outcome = evaluation.outcome((tool or self._bundle.graphql).conditions)
        return (tool.name if tool else "", outcome), self.view(tool, outcome)

    def _search_of(self, key: tuple[str, Mask], view: View) -> SchemaSearch:
        from handler.search.schema_search import SchemaSearch

        with self._lock:
            search = self._searches.use(key)
            if search is None or search.view is not view:
                search = SchemaSearch(view)
                self._searches.put(key, search)
        return search

    def recheck(self, *, timeout_s: float) -> None:
        """Load the schema index again if its last load failed. Blocks."""
        if self.fails:
            with self._lock, suppress(StorageError, BundleError):
                self._require_index(timeout_s)

    def _require_index(self, timeout_s: float = READ_TIMEOUT_S) -> SchemaIndex:
        from handler.graph.index import load_index, read_index

        if self.loaded is None:
            try:
                body = load_index(self._storage, self._bundle.endpoint, self._bundle.index, timeout_s=timeout_s)
                self.loaded = read_index(body, sha256=self._bundle.index)
            except (StorageError, BundleError) as exc:
                if not self.fails:
                    self._on_trouble(exc)
                self.fails = True
                raise
            self.fails = False
            self._index_bytes = read_cost(len(body))
        return self.loaded


def read_cost(stored_bytes: int) -> int:
    """Return the approximate memory in bytes of a bundle or index of a stored size, with fragmentation."""
    return 16_000 + 8 * stored_bytes
