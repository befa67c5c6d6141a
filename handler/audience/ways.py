"""The ways into one version of an endpoint: its tools and routes, each with the callers and the coordinates behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from handler.audience.caller_classes import CallerClasses, Trait
from handler.audience.condition_bits import (
    ConditionBits,
    leaves_of,
    paths_in,
    predicate_trait,
    variables_in,
)
from handler.audience.entrances import operation_standing
from handler.audience.many_views import names_seen, views_of
from handler.bundle.model import Bundle
from handler.bundle.operations import PersistedOperation
from handler.bundle.stored import read_bundle
from handler.bundle.tools import CatalogTool, CodeTool, GraphQLTool, PrescribedTool
from handler.compiler.compile import Compiled
from handler.compiler.config.ignores import ChangeIgnore
from handler.compiler.provenance import Provenance
from handler.graph.documents.used_fields import fields_of_text
from handler.graph.index import SchemaIndex, load_index, read_index
from handler.policy.evaluation import OPEN, Mask
from handler.server.auth.principal import SCOPE_CLAIMS, Principal
from handler.server.auth.scopes import has_scopes
from handler.server.endpoints.endpoint import Endpoint
from handler.storage.local import MemoryStorage
from handler.storage.storage import Storage


def no_index() -> bytes:
    """Return the index of an endpoint without a schema."""
    return b""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A bundle and the way to its schema index, which is read only if the comparison needs it.

    ``provenance`` has the rules behind the guards, and ``folder`` their files, for a folder that was compiled for it.
    """

    bundle: Bundle
    load_index: Callable[[], bytes] = no_index
    provenance: Provenance | None = None
    folder: Path = field(default_factory=Path)
    ignores: tuple[ChangeIgnore, ...] = ()

    @cached_property
    def index(self) -> SchemaIndex | None:
        """The schema; ``None`` if the endpoint has none.

        Raises:
            StorageError, BundleError: the index cannot be loaded.
        """
        return read_index(self.load_index(), sha256=self.bundle.index) if self.bundle.index else None


def version_of(compiled: Compiled, *, provenance: Provenance | None = None, folder: Path | None = None) -> Published:
    """Return a compiled endpoint as a version."""
    return Published(
        bundle=compiled.bundle,
        load_index=lambda: compiled.index,
        provenance=provenance,
        folder=folder or Path(),
        ignores=compiled.ignored_changes,
    )


def version_in(storage: Storage, raw: bytes, *, endpoint: str) -> Published:
    """Return a stored bundle as a version. Its schema index is read from the storage.

    Raises:
        BundleError: the bytes are not a bundle that this release reads.
    """
    bundle = read_bundle(raw, endpoint=endpoint)
    return Published(bundle=bundle, load_index=lambda: load_index(storage, endpoint, bundle.index))


Fixed = PrescribedTool | PersistedOperation

ROUTE = "/graphql"

CALLABLE = ("yes", "call")

ViewCache = dict[Hashable, dict[str, int]]
"""Views by schema and hidden coordinates: tools and versions often share them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way in. ``open``: the classes that may use it; ``sure``: those that may for all values of variables.

    ``seen`` has the coordinates behind it, ``condition`` the mask of an operation whose variables decide.
    """

    name: str
    kind: str  # graphql | route | prescribed | persisted | code | catalog
    open: int
    sure: int
    seen: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, int] = field(default_factory=dict)  # of arguments and their values
    mask: Mask = OPEN
    view_of: GraphQLTool | None = None


def traits_of(version: Published) -> Iterator[Trait]:
    """Yield everything that decides about callers of a version."""
    bundle, endpoint = version.bundle, endpoint_of(version)
    for predicate in leaves_of(bundle.conditions):
        yield predicate_trait(predicate, None)
    for _, fixed in _operations(version):
        for predicate in leaves_of(bundle.conditions, fixed.mask):
            yield predicate_trait(predicate, frozenset(fixed.operation.variables))
        if is_bound(version, fixed):
            yield standing_trait(version, endpoint, fixed)
    persisted = (each for document in bundle.graphql.documents for each in document.operations)
    for scopes in {*(tool.options.scopes for tool in bundle.tools), *(each.scopes for each in persisted)}:
        yield scopes_trait(scopes)


def endpoint_of(version: Published) -> Endpoint:
    """Return the endpoint that judges operations with bound variables; it has no schema."""
    return Endpoint(version.bundle, MemoryStorage())


def scopes_trait(scopes: tuple[str, ...]) -> Trait:
    """Return the trait of callers who have scopes."""
    return Trait(
        key=("scopes", scopes),
        paths=tuple((name,) for name in SCOPE_CLAIMS),
        read=lambda principal: has_scopes(scopes, principal),
        values=((("scope",), tuple([scope] for scope in scopes)),),
    )


def standing_trait(version: Published, endpoint: Endpoint, fixed: Fixed) -> Trait:
    """Return the trait of an operation whose bound variables depend on claims, or that conditions ask about."""

    def read(principal: Principal) -> str:
        evaluation = endpoint.evaluation_of(principal)
        return operation_standing(endpoint, fixed, principal=principal, evaluation=evaluation).verdict

    claims = [binding for binding in fixed.bindings if binding.source == "claim"]
    types = {each.variable: fixed.bound.get("properties", {}).get(each.variable, {}).get("type") for each in claims}
    decisive = list(leaves_of(version.bundle.conditions, fixed.mask))
    paths = [path for predicate in decisive for path in paths_in(predicate)]
    variables = fixed.operation.variables if any(any(variables_in(each)) for each in decisive) else ()
    scopes = fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes
    bound = json.dumps(fixed.bound, sort_keys=True, default=str)
    return Trait(
        key=("standing", id(version.bundle), fixed.mask, repr(fixed.bindings), bound, scopes, variables),
        paths=(*paths, *((each.name,) for each in claims), *((name,) for name in SCOPE_CLAIMS)),
        read=read,
        values=tuple(((each.name,), _samples(types[each.variable])) for each in claims),
    )


def _samples(type_: object) -> tuple[object, ...]:
    """Return a value of each of some JSON types: one may fit the variable, and another may not."""
    return ("x", 1, True, 1.5) if type_ != "array" else (["x"], [1])


def is_bound(version: Published, fixed: Fixed) -> bool:
    """Return whether bound values of variables decide about an operation: claims, or constants for a condition."""
    if any(binding.source == "claim" for binding in fixed.bindings):
        return True
    valued = {binding.variable for binding in fixed.bindings if binding.source == "value"}
    return bool(valued) and any(
        not valued.isdisjoint(variables_in(predicate)) for predicate in leaves_of(version.bundle.conditions, fixed.mask)
    )


def _operations(version: Published) -> Iterator[tuple[str, Fixed]]:
    bundle = version.bundle
    tools = {tool.name: tool for tool in bundle.tools if isinstance(tool, PrescribedTool)}
    yield from tools.items()
    if bundle.graphql.mode == "off":
        return
    for document in bundle.graphql.documents:
        for persisted in document.operations:
            yield f"{ROUTE} {persisted.operation.name or document.id}", persisted
        for name in document.tools:
            if name in tools:
                yield f"{ROUTE} {tools[name].operation.name or document.id}", tools[name]


class Ways:
    """The ways into one version."""

    def __init__(self, version: Published, classes: CallerClasses, side: int, *, cache: ViewCache) -> None:
        self.version = version
        self.bits = ConditionBits(version.bundle, classes, side)
        self.classes = classes
        self._side = side
        self._cache = cache
        self._masks: dict[Mask, int] = {}

    def all(self) -> Iterator[Way]:
        """Yield the ways, those of tools first."""
        for tool in self.version.bundle.tools:
            if isinstance(tool, GraphQLTool):
                yield self._of_view(tool.name, tool)
            elif isinstance(tool, CodeTool):
                yield self._of_code(tool)
            elif isinstance(tool, CatalogTool):
                may_use = self.bits.admitted & self._with_scopes(tool.options.scopes)
                yield Way(name=tool.name, kind="catalog", open=may_use, sure=may_use)
        for name, fixed in _operations(self.version):
            yield self._of_operation(name, fixed)
        if self.version.bundle.graphql.mode == "on":
            yield self._of_view(ROUTE, None)

    def _of_view(self, name: str, tool: GraphQLTool | None) -> Way:
        may_use = self.bits.surely(tool.mask) & self._with_scopes(tool.options.scopes) if tool else self.bits.admitted
        seen = {each: bits & may_use for each, bits in self.views(tool).items() if bits & may_use}
        index = self.version.index
        opened = 0
        for root in index.roots.values() if index else ():
            opened |= seen.get(root, 0)
        return Way(name=name, kind="graphql" if tool else "route", open=opened, sure=opened, seen=seen, view_of=tool)

    def _of_code(self, tool: CodeTool) -> Way:
        """Return the way of a function in Python, which may ask the API for all that its caller may."""
        may_use = self.bits.surely(tool.mask) & self._with_scopes(tool.options.scopes)
        views = self.views(None) if self.version.index else {}
        seen = {each: bits & may_use for each, bits in views.items() if bits & may_use}
        return Way(name=tool.name, kind="code", open=may_use, sure=may_use, seen=seen, mask=tool.mask)

    def _of_operation(self, name: str, fixed: Fixed) -> Way:
        is_tool = isinstance(fixed, PrescribedTool)
        scopes = fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes
        if is_bound(self.version, fixed):
            trait = standing_trait(self.version, endpoint_of(self.version), fixed)
            opened = self.classes.bits(trait, lambda verdict: verdict in CALLABLE, self._side)
            sure = self.classes.bits(trait, lambda verdict: verdict == "yes", self._side)
        else:
            allowed = self._with_scopes(scopes)
            opened = self.bits.may(fixed.mask, fixed.operation.variables) & allowed
            sure = self.bits.surely(fixed.mask) & allowed
        schema = fixed.arguments if isinstance(fixed, PrescribedTool) else fixed.variables
        fields = fields_of_text(fixed.operation.text, self.version.index, max_tokens=None) if self.version.index else ()
        kind = "prescribed" if is_tool and not name.startswith(ROUTE) else "persisted"
        return Way(
            name=name,
            kind=kind,
            open=opened,
            sure=sure,
            seen=dict.fromkeys(sorted(fields), opened) if opened else {},
            names=names_seen(schema, opened, self._mask),
            mask=fixed.mask,
        )

    def _with_scopes(self, scopes: tuple[str, ...]) -> int:
        return self.classes.bits(scopes_trait(scopes), bool, self._side) if scopes else self.bits.admitted

    def _mask(self, mask: Mask) -> int:
        if mask not in self._masks:
            self._masks[mask] = self.bits.surely(mask)
        return self._masks[mask]

    def views(self, tool: GraphQLTool | None) -> dict[str, int]:
        """Return visible coordinate -> classes, of the views of a GraphQL tool or of the whole endpoint."""
        index, bundle = self.version.index, self.version.bundle
        if index is None:
            return {}
        everybody = self.classes.everybody
        hidden: dict[str, int] = {}
        for table in (bundle.guards, (tool or bundle.graphql).guards):
            for coordinate, mask in table.items():
                bits = everybody & ~self._mask(mask)
                if bits:
                    hidden[coordinate] = hidden.get(coordinate, 0) | bits
        key = (bundle.index, frozenset(hidden.items()))
        if key not in self._cache:
            self._cache[key] = views_of(index, hidden, everybody)
        return self._cache[key]
