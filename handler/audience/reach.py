"""The reach of callers: the entrances that are open to a caller, and those that lead to a schema coordinate.

The answers come from the loaded endpoint that also answers requests. The rules behind a closed entrance come from the
compiler's provenance.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from handler.audience.entrances import Entrance, asks_for_its_caller, entrances_of
from handler.audience.operation_standing import Standing, lacking_scopes, operation_standing
from handler.audience.view_paths import find_document, is_visible
from handler.commands.local.callers import NamedCaller
from handler.commands.local.local_endpoint import local_endpoint
from handler.compiler.compile import Compiled
from handler.compiler.operations.operation_paths import find_path, find_variable, names_of
from handler.compiler.provenance import Provenance
from handler.errors.access import CredentialRefused, CredentialRequired
from handler.graph.index import SchemaIndex, read_index
from handler.graph.view import View
from handler.policy.evaluation import OPEN, Evaluation
from handler.server.auth.principal import Principal
from handler.server.endpoints.endpoint import Endpoint

OPEN_VERDICTS = ("yes", "call", "may ask")
"""Verdicts of entrances that let a caller through, for some values of variables if the verdict is ``call``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A caller of one endpoint. ``refusal`` says why the function answers 401; empty string if it does not."""

    label: str
    principal: Principal
    evaluation: Evaluation
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """The way to a coordinate through an entrance. ``verdict``: a ``Standing``'s, or ``may ask`` of a tool in Python.

    ``document`` is a request that uses the coordinate, ``path`` the way inside the author's operation.
    """

    entrance: Entrance
    verdict: str
    note: str = ""
    document: str = ""
    path: str = ""

    @property
    def is_open(self) -> bool:
        """True if the caller reaches the coordinate, at least for some values of variables."""
        return self.verdict in OPEN_VERDICTS


class Reach:
    """The reach of callers at one endpoint. ``provenance`` is ``None`` for an endpoint without a schema."""

    def __init__(self, compiled: Compiled, provenance: Provenance | None) -> None:
        self.compiled = compiled
        self.provenance = provenance
        self.endpoint: Endpoint = local_endpoint(compiled)
        self.entrances: Sequence[Entrance] = tuple(entrances_of(compiled))

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

    def view(self, entrance: Entrance, visitor: Visitor) -> View:
        """Return the view behind a GraphQL entrance, or without a tool, of the whole endpoint."""
        conditions = (entrance.view_of or self.compiled.bundle.graphql).conditions
        return self.endpoint.schema.view(entrance.view_of, visitor.evaluation.outcome(conditions))

    def whole_view(self, entrance: Entrance) -> View:
        """Return the view of a caller who meets all conditions that a caller can meet."""
        return self.endpoint.schema.view(
            entrance.view_of, (entrance.view_of or self.compiled.bundle.graphql).conditions
        )

    def standing(self, entrance: Entrance, visitor: Visitor, *, counted: bool = True) -> Standing:
        """Return an entrance's standing for a caller. ``counted``: with numbers of fields."""
        if visitor.refusal:
            return Standing(verdict="401", note=visitor.refusal)
        if entrance.fixed is not None:
            return operation_standing(
                self.endpoint, entrance.fixed, principal=visitor.principal, evaluation=visitor.evaluation
            )
        if entrance.tool is not None:
            if not self.endpoint.is_visible(entrance.tool, visitor.evaluation):
                return Standing(verdict="no")
            lacking = lacking_scopes(entrance.tool.name, entrance.tool.options.scopes, visitor.principal)
            if lacking:
                return lacking
        elif not self.view(entrance, visitor).root_fields():
            return Standing(verdict="no")
        return Standing(verdict="yes", fields=self._counts(entrance, visitor) if counted else None)

    def passage(self, entrance: Entrance, coordinate: str, visitor: Visitor) -> Passage:
        """Return the way of a caller through an entrance to a coordinate of the schema."""
        standing = self.standing(entrance, visitor, counted=False)
        closed = Passage(entrance=entrance, verdict="no")
        if standing.verdict == "no" or self.index is None:
            return closed
        if entrance.fixed is not None:
            path = self._path(entrance, coordinate, visitor)
            return (
                Passage(entrance=entrance, verdict=standing.verdict, note=standing.note, path=path) if path else closed
            )
        if asks_for_its_caller(entrance):
            reaches = standing.verdict == "yes" and self._may_ask(coordinate, visitor)
            return Passage(entrance=entrance, verdict="may ask") if reaches else closed
        if not entrance.takes_documents:
            return closed
        view = self.view(entrance, visitor)
        if not is_visible(view, coordinate):
            return closed
        document = find_document(view, coordinate) or ""
        return Passage(entrance=entrance, verdict=standing.verdict, note=standing.note, document=document)

    def passages(self, coordinate: str, visitor: Visitor) -> list[Passage]:
        """Return the ways of a caller through all entrances to a coordinate."""
        return [self.passage(entrance, coordinate, visitor) for entrance in self.entrances]

    def names(self, entrance: Entrance, coordinate: str) -> bool:
        """Tell if an entrance leads to a coordinate for any caller."""
        if self.index is None:
            return False
        if entrance.takes_documents:
            return is_visible(self.whole_view(entrance), coordinate)
        everybody = self.visitor_of(Principal(kind="development", unrestricted=True), "")
        return entrance.fixed is not None and bool(self._path(entrance, coordinate, everybody))

    def _counts(self, entrance: Entrance, visitor: Visitor) -> tuple[int, int] | None:
        if not entrance.takes_documents:
            return None
        view, whole = self.view(entrance, visitor), self.whole_view(entrance)
        if view is whole:
            return None
        seen, all_of_them = _fields_in(view), _fields_in(whole)
        return (seen, all_of_them) if seen != all_of_them else None

    def _path(self, entrance: Entrance, coordinate: str, visitor: Visitor) -> str:
        """Return the way to a coordinate in the operation of an entrance; empty string if it does not lead there."""
        fixed, author, index = entrance.fixed, entrance.author, self.index
        if fixed is None or author is None or index is None:
            return ""
        found = find_path(author, index, coordinate)
        if found is None and entrance.made and not set(names_of(index, coordinate)).isdisjoint(entrance.made.uses):
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
        named = [
            each for each in self.entrances if each.fixed and each.fixed.operation.name in self.endpoint.operations
        ]
        return any(self.passage(each, coordinate, visitor).is_open for each in named)


def _fields_in(view: View) -> int:
    kinds = ("object", "interface")
    return sum(len(view.members[name]) for name in view.members if view.index.kind(name) in kinds)
