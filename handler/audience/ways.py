"""The ways into one version of an endpoint: its tools and routes, each with the callers and the coordinates behind.

Sets of classes of callers are integers with a bit for each class, so that thousands of views cost little more than one.
The rules of views are ``Removals`` and ``leads`` of ``handler/graph/view.py``, which builds the view of one caller from
them. The standing of one caller at an author's operation is that of the function: conditions, scopes and bound
variables decide.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any, assert_never

from handler.audience.caller_classes import (
    CallerClasses,
    ConditionBits,
    Trait,
    leaves_of,
    paths_in,
    predicate_trait,
    variables_in,
)
from handler.bundle.model import Bundle
from handler.bundle.stored import read_bundle
from handler.bundle.tools import CatalogTool, CodeTool, CompanionTool, GraphQLTool, PersistedOperation, PrescribedTool
from handler.compiler.compile import Compiled
from handler.compiler.config.config import Ignore
from handler.compiler.provenance import Provenance
from handler.graph.documents.used_fields import fields_of_text
from handler.graph.index import SchemaIndex, load_index, read_index
from handler.graph.view import Removals, leads, taken_by_directives
from handler.policy.evaluation import OPEN, Evaluation, Mask
from handler.policy.guarded_schema import GUARDS
from handler.policy.predicates import UNKNOWN
from handler.server.auth.principal import ANONYMOUS, SCOPE_CLAIMS, Principal, has_scopes
from handler.server.endpoints.endpoint import Endpoint
from handler.server.upstream.bound_variables import find_claim
from handler.storage.local import MemoryStorage
from handler.storage.storage import Storage

ROUTE = "/graphql"
"""The name of the endpoint's own GraphQL route."""

VERDICTS = ("yes", "no", "call", "refused", "403", "401")

Fixed = PrescribedTool | PersistedOperation
"""An operation of the author."""

ViewCache = dict[Hashable, dict[str, int]]
"""Views by schema and hidden coordinates: tools and versions often share them."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """A bundle and the way to its schema index, which is read only if the comparison needs it.

    ``provenance`` has the rules behind the guards, and ``folder`` their files, for a folder that was compiled for it.
    """

    bundle: Bundle
    load_index: Callable[[], bytes] = bytes
    provenance: Provenance | None = None
    folder: Path = field(default_factory=Path)
    ignores: tuple[Ignore, ...] = ()

    @cached_property
    def index(self) -> SchemaIndex | None:
        """The schema; ``None`` if the endpoint has none.

        Raises:
            StorageError, BundleError: the index cannot be loaded.
        """
        return read_index(self.load_index(), sha256=self.bundle.index) if self.bundle.index else None

    @cached_property
    def endpoint(self) -> Endpoint:
        """The endpoint that judges callers and operations with bound variables; it has no schema."""
        return Endpoint(self.bundle, MemoryStorage())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An entrance for one caller.

    ``verdict`` is ``yes``, ``no`` (the entrance does not exist for the caller), ``call`` (values of variables decide),
    ``refused`` (listed, and every call is refused), ``403`` (scopes are missing) or ``401``. ``note`` is the reason in
    words. ``fields`` counts the visible fields and all fields behind a GraphQL entrance, if they differ.
    """

    verdict: str
    note: str = ""
    fields: tuple[int, int] | None = None


def operation_standing(endpoint: Endpoint, fixed: Fixed, *, principal: Principal, evaluation: Evaluation) -> Standing:
    """Return the standing of an operation for a caller."""
    variables = fixed.operation.variables
    if not evaluation.may_meet(fixed.mask, variables):
        return Standing(verdict="no")
    refusal = scope_refusal(required_scopes(fixed), principal)
    if refusal:
        return refusal
    claims = principal.claims or {}
    bound = {
        each.variable: each.value if each.source == "value" else find_claim(claims, each.name)
        for each in fixed.bindings
        if each.source in ("value", "claim")
    }
    misfits = set(endpoint.bound_validator(fixed).misfits(bound)) if bound else set()
    for each in fixed.bindings:
        if each.source == "claim" and (bound[each.variable] is None or each.variable in misfits):
            return Standing(verdict="refused", note=f"it needs the claim {each.name}")
    values = {**dict.fromkeys(variables, UNKNOWN), **bound}
    if evaluation.meets_with(fixed.mask, values):
        return Standing(verdict="yes")
    if evaluation.may_meet(fixed.mask, values):
        return Standing(verdict="call", note="the values of $variables decide at the call")
    return Standing(verdict="refused", note="no call meets its condition with the bound values")


def required_scopes(fixed: Fixed) -> tuple[str, ...]:
    """Return the scopes that an operation of the author asks for."""
    return fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes


def lacking_scopes(scopes: Sequence[str], principal: Principal) -> list[str]:
    """Return the scopes that a caller lacks."""
    return [scope for scope in scopes if not has_scopes((scope,), principal)]


def scope_refusal(scopes: Sequence[str], principal: Principal) -> Standing | None:
    """Return the standing of a caller who lacks scopes; ``None`` if the caller has them."""
    lacking = " ".join(lacking_scopes(scopes, principal))
    verdict = "401" if principal == ANONYMOUS else "403"
    return Standing(verdict=verdict, note=f"it needs the scopes {lacking}") if lacking else None


def traits_of(version: Published) -> Iterator[Trait]:
    """Yield the traits of callers on which a version decides."""
    bundle = version.bundle
    for predicate in leaves_of(bundle.conditions):
        yield predicate_trait(predicate, None)
    for _, fixed in _operations(version):
        for predicate in leaves_of(bundle.conditions, fixed.mask):
            yield predicate_trait(predicate, frozenset(fixed.operation.variables))
        if decides_by_bindings(version, fixed):
            yield standing_trait(version, fixed)
    persisted = (each for document in bundle.graphql.documents for each in document.operations)
    for scopes in {*(tool.options.scopes for tool in bundle.tools), *(each.scopes for each in persisted)}:
        yield scopes_trait(scopes)


def scopes_trait(scopes: tuple[str, ...]) -> Trait:
    """Return the trait of callers who have scopes."""
    return Trait(
        key=("scopes", scopes),
        paths=tuple((name,) for name in SCOPE_CLAIMS),
        read=lambda principal: has_scopes(scopes, principal),
        values=((("scope",), tuple([scope] for scope in scopes)),),
    )


def standing_trait(version: Published, fixed: Fixed) -> Trait:
    """Return the trait of an operation whose bound variables depend on claims, or that conditions ask about."""

    def read(principal: Principal) -> str:
        evaluation = version.endpoint.evaluation_of(principal)
        return operation_standing(version.endpoint, fixed, principal=principal, evaluation=evaluation).verdict

    claims = [binding for binding in fixed.bindings if binding.source == "claim"]
    types = {each.variable: fixed.bound.get("properties", {}).get(each.variable, {}).get("type") for each in claims}
    decisive = list(leaves_of(version.bundle.conditions, fixed.mask))
    paths = [path for predicate in decisive for path in paths_in(predicate)]
    variables = fixed.operation.variables if any(any(variables_in(each)) for each in decisive) else ()
    bound = json.dumps(fixed.bound, sort_keys=True, default=str)
    lists, others = (["x"], [1]), ("x", 1, True, 1.5)  # one of them may fit the variable, and another may not
    return Trait(
        key=(
            "standing",
            id(version.bundle),
            fixed.mask,
            repr(fixed.bindings),
            bound,
            required_scopes(fixed),
            variables,
        ),
        paths=(*paths, *((each.name,) for each in claims), *((name,) for name in SCOPE_CLAIMS)),
        read=read,
        values=tuple(((each.name,), lists if types[each.variable] == "array" else others) for each in claims),
    )


def decides_by_bindings(version: Published, fixed: Fixed) -> bool:
    """Return whether bound values of variables decide about an operation: claims, or constants for a condition."""
    if any(binding.source == "claim" for binding in fixed.bindings):
        return True
    constants = {binding.variable for binding in fixed.bindings if binding.source == "value"}
    predicates = leaves_of(version.bundle.conditions, fixed.mask) if constants else ()
    return any(not constants.isdisjoint(variables_in(predicate)) for predicate in predicates)


def _operations(version: Published) -> Iterator[tuple[str, Fixed]]:
    """Yield the operations of the author that tools run, then those that the route runs, with the names of the ways."""
    bundle = version.bundle
    tools = {tool.name: tool for tool in bundle.tools if isinstance(tool, PrescribedTool)}
    yield from tools.items()
    for document in bundle.graphql.documents if bundle.graphql.mode != "off" else ():
        operations: list[Fixed] = [*document.operations, *(tools[name] for name in document.tools if name in tools)]
        for fixed in operations:
            yield f"{ROUTE} {fixed.operation.name or document.id}", fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way in. ``open``: the classes that may use it; ``sure``: those that may for all values of variables.

    ``seen`` has the coordinates behind it, and ``names`` the arguments and their values; ``mask`` is an operation's.
    """

    name: str
    kind: str  # graphql | route | prescribed | persisted | code | catalog
    open: int
    sure: int
    seen: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, int] = field(default_factory=dict)
    mask: Mask = OPEN
    view_of: GraphQLTool | None = None


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
            match tool:
                case GraphQLTool():
                    yield self._of_view(tool.name, tool)
                case CodeTool():  # it may ask the API for all that its caller may
                    may_use = self.bits.surely(tool.mask) & self._with_scopes(tool.options.scopes)
                    seen = _among(self.views(None), may_use)
                    yield Way(name=tool.name, kind="code", open=may_use, sure=may_use, seen=seen, mask=tool.mask)
                case CatalogTool():
                    may_use = self.bits.admitted & self._with_scopes(tool.options.scopes)
                    yield Way(name=tool.name, kind="catalog", open=may_use, sure=may_use)
                case PrescribedTool() | CompanionTool():  # operations follow; a companion answers about its tool
                    continue
                case never:
                    assert_never(never)
        for name, fixed in _operations(self.version):
            yield self._of_operation(name, fixed)
        if self.version.bundle.graphql.mode == "on":
            yield self._of_view(ROUTE, None)

    def _of_view(self, name: str, tool: GraphQLTool | None) -> Way:
        may_use = self.bits.surely(tool.mask) & self._with_scopes(tool.options.scopes) if tool else self.bits.admitted
        seen = _among(self.views(tool), may_use)
        index = self.version.index
        opened = reduce(or_, (seen.get(root, 0) for root in index.roots.values()), 0) if index else 0
        return Way(name=name, kind="graphql" if tool else "route", open=opened, sure=opened, seen=seen, view_of=tool)

    def _of_operation(self, name: str, fixed: Fixed) -> Way:
        if decides_by_bindings(self.version, fixed):
            trait = standing_trait(self.version, fixed)
            opened = self.classes.bits(trait, ("yes", "call").__contains__, self._side)
            sure = self.classes.bits(trait, "yes".__eq__, self._side)
        else:
            allowed = self._with_scopes(required_scopes(fixed))
            opened = self.bits.may(fixed.mask, fixed.operation.variables) & allowed
            sure = self.bits.surely(fixed.mask) & allowed
        is_tool = isinstance(fixed, PrescribedTool)
        schema = fixed.arguments if isinstance(fixed, PrescribedTool) else fixed.variables
        fields = fields_of_text(fixed.operation.text, self.version.index, max_tokens=None) if self.version.index else ()
        return Way(
            name=name,
            kind="prescribed" if is_tool and not name.startswith(ROUTE) else "persisted",
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


def _among(views: Mapping[str, int], classes: int) -> dict[str, int]:
    """Return the coordinates that some of the classes see."""
    return {coordinate: bits & classes for coordinate, bits in views.items() if bits & classes}


def views_of(index: SchemaIndex, hidden: Mapping[str, int], everybody: int) -> dict[str, int]:
    """Return visible coordinate -> the classes of callers that see it, for many classes at once.

    Classes are the bits of ``everybody``. ``hidden`` has the classes that may not use a coordinate.
    """
    gone = _gone(index, hidden, everybody)
    reachable = _reachable(index, gone, everybody)
    seen = {name: reachable[name] for name in index if reachable.get(name)}
    for name in list(seen):
        for member in index.members(name):
            seen[f"{name}.{member}"] = reachable[name] & ~gone.get(f"{name}.{member}", 0)
        for member, argument, _ in index.references(name):
            if argument:
                path = f"{name}.{member}"
                seen[f"{path}({argument}:)"] = seen[path] & ~gone.get(f"{path}({argument}:)", 0)
    with_roots = reduce(or_, (reachable.get(root, 0) for root in index.roots.values()), 0)
    for name, directive in index.directives.items():
        seen[f"@{name}"] = bits = with_roots & ~gone.get(f"@{name}", 0)
        for argument in directive.arguments:
            seen[f"@{name}({argument}:)"] = bits & ~gone.get(f"@{name}({argument}:)", 0)
    return {coordinate: bits for coordinate, bits in seen.items() if bits}


def _gone(index: SchemaIndex, hidden: Mapping[str, int], everybody: int) -> Mapping[str, int]:
    """Return coordinate -> the classes for which it is gone."""
    removals, gone = Removals(index), defaultdict[str, int](int)
    waiting = [*hidden.items(), *((each, everybody) for each in removals.at_start())]
    while waiting:
        coordinate, bits = waiting.pop()
        fresh = bits & ~gone[coordinate] if removals.knows(coordinate) else 0
        if not fresh:
            continue
        gone[coordinate] |= fresh
        waiting += ((each, fresh) for each in removals.of(coordinate))
        if owner := removals.owner(coordinate):
            for member in removals.members(owner):
                fresh &= gone.get(f"{owner}.{member}", 0)
            waiting.append((owner, fresh))
    return gone


def _reachable(index: SchemaIndex, gone: Mapping[str, int], everybody: int) -> Mapping[str, int]:
    """Return type -> the classes of which a request can reach it."""
    reachable, opened = defaultdict[str, int](int), defaultdict[str, int](int)

    def seeing(bits: int, path: Iterable[str]) -> int:
        for coordinate in path:
            bits &= ~gone.get(coordinate, 0)
        return bits

    with_roots = reduce(or_, (seeing(everybody, (root,)) for root in index.roots.values() if root in index), 0)
    waiting = [(name, everybody, True) for name in index.roots.values()]
    waiting += [(type_, seeing(with_roots, path), False) for type_, path in taken_by_directives(index)]
    while waiting:
        name, bits, returned = waiting.pop()
        bits = seeing(bits, (name,)) if name in index else 0
        opening = bits & ~opened[name] if returned and name in index.implementers else 0
        if opening:
            opened[name] |= opening
            waiting += ((each, opening, True) for each in index.implementers[name])
        fresh = bits & ~reachable[name]
        if fresh:
            reachable[name] |= fresh
            waiting += ((each, fresh, False) for each in index.interfaces(name))
            waiting += ((type_, seeing(fresh, path), True) for type_, path in leads(index, name))
    return reachable


def names_seen(schema: Mapping[str, Any], opened: int, meets: Callable[[Mask], int]) -> dict[str, int]:
    """Return the names of arguments and values, each with the classes that see it, of those that may use the tool.

    A name in a definition stands behind the name of the definition, which is that of a type: ``Filter.salary``. Any
    other stands behind the argument: ``$where.salary``.
    """
    definitions = schema.get("$defs", {})
    opened_definitions, names = defaultdict[str, int](int), defaultdict[str, int](int)
    waiting: list[tuple[str, Any, int]] = [("$", {key: schema[key] for key in schema if key != "$defs"}, opened)]
    while waiting:
        label, part, bits = waiting.pop()
        for name, inner, mask in _parts_of(part):
            seen = bits & meets(mask)
            below = label if not name else f"{label}{name}" if label == "$" else f"{label}.{name}"
            if name:
                names[below] |= seen
            waiting.append((below, inner, seen))
        reference = part.get("$ref") if isinstance(part, dict) else None
        if isinstance(reference, str):
            name = reference.rpartition("/")[2]
            fresh = bits & ~opened_definitions[name]
            if fresh and name in definitions:
                opened_definitions[name] |= fresh
                waiting.append((name, definitions[name], fresh))
    return names


def _parts_of(part: Any) -> Iterator[tuple[str, Any, Mask]]:
    """Yield the properties, values and other parts of a schema, each with its mask. A part without a name is open."""
    if isinstance(part, list):
        yield from (("", each, OPEN) for each in part)
    if not isinstance(part, dict):
        return
    guards = part.get(GUARDS, {})
    for key, value in part.items():
        if key == "properties":
            yield from ((name, inner, frozenset(guards.get(name, ()))) for name, inner in value.items())
        elif key == "enum":
            yield from ((str(name), None, frozenset(guards.get(name, ()))) for name in value if name is not None)
        elif key not in (GUARDS, "default", "$ref", "required"):
            yield "", value, OPEN
