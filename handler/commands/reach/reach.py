"""The reach of callers: the doors that are open to a caller, and those that lead to a schema coordinate.

The answers come from the loaded endpoint that also answers requests. The rules behind a closed door come from the
compiler's provenance.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import CodeTool, PrescribedTool
from handler.commands.local.callers import NamedCaller
from handler.commands.local.local_server import local_endpoint
from handler.commands.reach.doors import Door, asks_for_its_caller, doors_of
from handler.commands.reach.view_paths import find_document, is_visible
from handler.compiler.compile import Compiled
from handler.compiler.operations.operation_paths import find_path, find_variable, names_of
from handler.compiler.provenance import Cause, Holds, Provenance
from handler.errors.access import AccessError, CredentialRefused, CredentialRequired
from handler.graph.index import SchemaIndex, read_index
from handler.graph.view import View
from handler.policy.evaluation import OPEN, Evaluation
from handler.policy.operands import UNKNOWN
from handler.server.auth.principal import Principal
from handler.server.auth.scopes import require_scopes
from handler.server.endpoints.endpoint import Endpoint
from handler.server.upstream.bound_variables import find_claim

OPEN_DOORS = ("yes", "call", "may ask")
"""Verdicts of doors that let a caller through, for some values of variables if the verdict is ``call``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A caller of one endpoint. ``refusal`` says why the function answers 401; empty string if it does not."""

    label: str
    principal: Principal
    evaluation: Evaluation
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A door for one caller.

    ``verdict`` is ``yes``, ``no`` (the door does not exist for the caller), ``call`` (values of variables decide),
    ``refused`` (listed, and every call is refused), ``403`` (scopes are missing) or ``401``. ``note`` is the reason in
    words. ``fields`` counts the visible fields and all fields behind a GraphQL door, if they differ.
    """

    verdict: str
    note: str = ""
    fields: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The way to a coordinate through a door. ``verdict`` is a ``Standing``'s, or ``may ask`` for a tool in Python.

    ``document`` is a request that uses the coordinate, ``path`` the way inside the author's operation.
    """

    door: Door
    verdict: str
    note: str = ""
    document: str = ""
    path: str = ""

    @property
    def is_open(self) -> bool:
        """True if the caller reaches the coordinate, at least for some values of variables."""
        return self.verdict in OPEN_DOORS


class Reach:
    """The reach of callers at one endpoint. ``provenance`` is ``None`` for an endpoint without a schema."""

    def __init__(self, compiled: Compiled, provenance: Provenance | None) -> None:
        self.compiled = compiled
        self.provenance = provenance
        self.endpoint: Endpoint = local_endpoint(compiled)
        self.doors: Sequence[Door] = tuple(doors_of(compiled))

    @cached_property
    def index(self) -> SchemaIndex | None:
        """The schema; ``None`` if the endpoint has none."""
        return read_index(self.compiled.index, sha256=self.compiled.bundle.index) if self.compiled.index else None

    def visitor(self, caller: NamedCaller) -> Visitor:
        """Return a named caller at this endpoint.

        Raises:
            UnknownCaller: the endpoint has no API key of this name.
        """
        refusal = ""
        try:
            caller.admitted(self.compiled.bundle, now=time.time())
        except CredentialRequired:
            refusal = "access.anonymous is challenge"
        except CredentialRefused:
            refusal = "the key has expired"
        return self.visitor_of(caller.principal(self.compiled.bundle), caller.text, refusal=refusal)

    def visitor_of(self, principal: Principal, label: str, *, refusal: str = "") -> Visitor:
        """Return a caller at this endpoint."""
        evaluation = self.endpoint.evaluation_of(principal)
        return Visitor(label=label, principal=principal, evaluation=evaluation, refusal=refusal)

    def view(self, door: Door, visitor: Visitor) -> View:
        """Return the view behind a GraphQL door, or without a tool, of the whole endpoint."""
        conditions = (door.view_of or self.compiled.bundle.graphql).conditions
        return self.endpoint.schema.view(door.view_of, visitor.evaluation.outcome(conditions))

    def whole_view(self, door: Door) -> View:
        """Return the view of a caller who meets all conditions that a caller can meet."""
        return self.endpoint.schema.view(door.view_of, (door.view_of or self.compiled.bundle.graphql).conditions)

    def standing(self, door: Door, visitor: Visitor, *, counted: bool = True) -> Standing:
        """Return a door's standing for a caller. ``counted``: with the numbers of fields behind a GraphQL door."""
        if visitor.refusal:
            return Standing(verdict="401", note=visitor.refusal)
        if door.fixed is not None:
            return self._of_operation(door.fixed, visitor)
        if door.tool is not None:
            if not self.endpoint.is_visible(door.tool, visitor.evaluation):
                return Standing(verdict="no")
            lacking = self._lacking(door.tool.name, door.tool.options.scopes, visitor)
            if lacking:
                return lacking
        elif not self.view(door, visitor).root_fields():
            return Standing(verdict="no")
        return Standing(verdict="yes", fields=self._counts(door, visitor) if counted else None)

    def passage(self, door: Door, coordinate: str, visitor: Visitor) -> Passage:
        """Return the way of a caller through a door to a coordinate of the schema."""
        standing = self.standing(door, visitor, counted=False)
        closed = Passage(door=door, verdict="no")
        if standing.verdict == "no" or self.index is None:
            return closed
        if door.fixed is not None:
            path = self._path(door, coordinate, visitor)
            return Passage(door=door, verdict=standing.verdict, note=standing.note, path=path) if path else closed
        if asks_for_its_caller(door):
            reaches = standing.verdict == "yes" and self._may_ask(coordinate, visitor)
            return Passage(door=door, verdict="may ask") if reaches else closed
        if not door.takes_documents:
            return closed
        view = self.view(door, visitor)
        if not is_visible(view, coordinate):
            return closed
        document = find_document(view, coordinate) or ""
        return Passage(door=door, verdict=standing.verdict, note=standing.note, document=document)

    def passages(self, coordinate: str, visitor: Visitor) -> list[Passage]:
        """Return the ways of a caller through all doors to a coordinate."""
        return [self.passage(door, coordinate, visitor) for door in self.doors]

    def names(self, door: Door, coordinate: str) -> bool:
        """Tell if a door leads to a coordinate for any caller."""
        if self.index is None:
            return False
        if door.takes_documents:
            return is_visible(self.whole_view(door), coordinate)
        everybody = self.visitor_of(Principal(kind="development", unrestricted=True), "")
        return door.fixed is not None and bool(self._path(door, coordinate, everybody))

    def causes(self, door: Door, visitor: Visitor) -> dict[str, list[Cause]]:
        """Return the coordinates for which a door is closed to a caller, with the rules that close it.

        For a door that values of variables decide about, return the rules that then have to hold.
        """
        if isinstance(door.tool, CodeTool):
            return self._causes_of_code(door.tool, visitor)
        if door.fixed is not None:
            uses = door.made.uses if door.made else self._uses(door)
            return self._causes(uses, self._holds(door, visitor))
        if self.provenance is None or not door.takes_documents:
            return {}
        roots = (
            [
                f"{self.index.roots[kind]}.{name}"
                for kind, names in self.whole_view(door).root_fields().items()
                for name in names
            ]
            if self.index
            else []
        )
        return self._causes(roots, visitor.evaluation.meets, tool=door.view_of.name if door.view_of else "")

    def causes_at(self, door: Door, coordinate: str, visitor: Visitor) -> dict[str, list[Cause]]:
        """Return the rules for which a caller does not reach a coordinate through a door, by the hidden coordinates.

        Above all the coordinate's own rules; else those of the coordinates that would lead to it.
        """
        if self.provenance is None or self.index is None:
            return {}
        if not door.takes_documents:
            return self.causes(door, visitor)
        tool = door.view_of.name if door.view_of else ""
        own = self._causes([coordinate], visitor.evaluation.meets, tool=tool)
        return own or self._causes_of_way(door, coordinate, visitor)

    def hidden(self, visitor: Visitor) -> dict[str, list[Cause]]:
        """Return the coordinates that policies and ``access.hide`` hide from a caller, with their rules."""
        return self.provenance.hidden(visitor.evaluation.meets) if self.provenance else {}

    def hidden_by_patterns(self, door: Door, visitor: Visitor) -> list[str]:
        """Return the coordinates that a GraphQL tool's patterns hide from a caller beyond ``hidden``."""
        if door.view_of is None:
            return []
        guards, meets = self.compiled.bundle.guards, visitor.evaluation.meets
        hidden = (each for each, mask in door.view_of.guards.items() if not meets(mask))
        return [each for each in hidden if meets(guards.get(each, OPEN))]

    def _causes_of_way(self, door: Door, coordinate: str, visitor: Visitor) -> dict[str, list[Cause]]:
        """Return the hidden coordinates at the edge of a caller's view from which ways lead on to a coordinate."""
        if self.index is None:
            return {}
        view, whole = (
            self.view(door, visitor),
            self.endpoint.schema.view(None, frozenset(range(len(self.compiled.bundle.conditions)))),
        )
        leading = _types_leading_to(whole.index, coordinate)
        tool = door.view_of.name if door.view_of else ""
        roots = set(self.index.roots.values())
        edge = [
            f"{owner}.{member}"
            for owner in dict.fromkeys((*roots, *view.members))
            for member, argument, target in self.index.references(owner)
            if target in leading and not argument and not is_visible(view, f"{owner}.{member}")
        ]
        return self._causes(edge, visitor.evaluation.meets, tool=tool)

    def _causes(self, coordinates: Sequence[str], holds: Holds, *, tool: str = "") -> dict[str, list[Cause]]:
        if self.provenance is None:
            return {}
        found = {each: self.provenance.causes(each, holds, tool=tool) for each in coordinates}
        return {each: causes for each, causes in found.items() if causes}

    def _causes_of_code(self, tool: CodeTool, visitor: Visitor) -> dict[str, list[Cause]]:
        named = (tool.kit, f"tool {tool.name}")
        return {
            name: causes
            for name in named
            if (
                causes := [
                    Cause(rule, own=True)
                    for rule in self.compiled.kit_rules
                    if name in rule.coordinates and not visitor.evaluation.meets(rule.mask)
                ]
            )
        }

    def _holds(self, door: Door, visitor: Visitor) -> Holds:
        """Return the test of the rules that close a door or, if values of variables decide, leave it open."""
        fixed, evaluation = door.fixed, visitor.evaluation
        if fixed is None or self.standing(door, visitor).verdict in ("call", "refused"):
            return evaluation.meets
        return lambda mask: evaluation.may_meet(mask, fixed.operation.variables)

    def _uses(self, door: Door) -> list[str]:
        """Return the guarded coordinates that a persisted operation names."""
        if door.author is None or self.index is None:
            return []
        author, index = door.author, self.index
        return [each for each in self.compiled.bundle.guards if find_path(author, index, each)]

    def _of_operation(self, fixed: PrescribedTool | PersistedOperation, visitor: Visitor) -> Standing:
        evaluation, variables = visitor.evaluation, fixed.operation.variables
        if not evaluation.may_meet(fixed.mask, variables):
            return Standing(verdict="no")
        name = fixed.name if isinstance(fixed, PrescribedTool) else fixed.operation.name
        scopes = fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes
        lacking = self._lacking(name, scopes, visitor)
        if lacking:
            return lacking
        known, missing = self._bound(fixed, visitor.principal)
        if missing:
            return Standing(verdict="refused", note=f"it needs the claim {missing}")
        values = {**dict.fromkeys(variables, UNKNOWN), **known}
        if evaluation.meets_with(fixed.mask, values):
            return Standing(verdict="yes")
        if evaluation.may_meet_with(fixed.mask, values):
            return Standing(verdict="call", note="the values of $variables decide at the call")
        return Standing(verdict="refused", note="no call meets its condition with the bound values")

    def _bound(self, fixed: PrescribedTool | PersistedOperation, principal: Principal) -> tuple[Mapping[str, Any], str]:
        """Return the values of variables bound to constants and claims, and a claim that is missing or does not fit."""
        values: dict[str, Any] = {}
        for binding in fixed.bindings:
            if binding.source == "value":
                values[binding.variable] = binding.value
            elif binding.source == "claim":
                values[binding.variable] = find_claim(principal.claims or {}, binding.name)
        misfits = set(self.endpoint.bound_validator(fixed).misfits(values)) if values else set()
        for binding in fixed.bindings:
            if binding.source == "claim" and (values[binding.variable] is None or binding.variable in misfits):
                return values, binding.name
        return values, ""

    def _lacking(self, name: str, scopes: Sequence[str], visitor: Visitor) -> Standing | None:
        try:
            require_scopes(name, tuple(scopes), visitor.principal)
        except AccessError as exc:
            lacking = " ".join(scope for scope in scopes if scope not in visitor.principal.scopes)
            verdict = "401" if isinstance(exc, CredentialRequired) else "403"
            return Standing(verdict=verdict, note=f"it needs the scopes {lacking}")
        return None

    def _counts(self, door: Door, visitor: Visitor) -> tuple[int, int] | None:
        if not door.takes_documents:
            return None
        view, whole = self.view(door, visitor), self.whole_view(door)
        if view is whole:
            return None
        seen, all_of_them = _fields_in(view), _fields_in(whole)
        return (seen, all_of_them) if seen != all_of_them else None

    def _path(self, door: Door, coordinate: str, visitor: Visitor) -> str:
        """Return the way to a coordinate in the operation of a door; empty string if it does not lead there."""
        fixed, author, index = door.fixed, door.author, self.index
        if fixed is None or author is None or index is None:
            return ""
        found = find_path(author, index, coordinate)
        if found is None and door.made and not set(names_of(index, coordinate)).isdisjoint(door.made.uses):
            found = "a bound constant"
        guards, meets = self.compiled.bundle.guards, visitor.evaluation.meets
        return (
            found
            or find_variable(author, index, coordinate, usable=lambda each: meets(guards.get(each, OPEN) - fixed.mask))
            or ""
        )

    def _may_ask(self, coordinate: str, visitor: Visitor) -> bool:
        """Tell if a tool in Python may ask for a coordinate in its caller's name."""
        conditions = self.compiled.bundle.graphql.conditions
        if is_visible(self.endpoint.schema.view(None, visitor.evaluation.outcome(conditions)), coordinate):
            return True
        named = [each for each in self.doors if each.fixed and each.fixed.operation.name in self.endpoint.operations]
        return any(self.passage(each, coordinate, visitor).is_open for each in named)


def _fields_in(view: View) -> int:
    kinds = ("object", "interface")
    return sum(len(view.members[name]) for name in view.members if view.index.kind(name) in kinds)


def _types_leading_to(index: SchemaIndex, coordinate: str) -> set[str]:
    """Return the types from which a request can go on to a coordinate, its own type included."""
    owner = coordinate.removeprefix("@").partition(".")[0]
    found = {owner}
    waiting = [owner]
    while waiting:
        name = waiting.pop()
        above = [*index.users.get(name, ()), *index.implementers.get(name, ())]
        above += index.interfaces(name) if name in index else ()
        new = {each for each in above if each not in index.roots.values()} - found
        found |= new
        waiting += new
    return found
