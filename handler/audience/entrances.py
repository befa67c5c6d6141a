"""The entrances of an endpoint: the tools and GraphQL operations through which callers reach its API.

The standing of an author's operation is that of the function: conditions, scopes and bound variables decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.bundle.operations import PersistedOperation
from handler.bundle.tools import CodeTool, GraphQLTool, PrescribedTool, Tool
from handler.compiler.compile import Compiled
from handler.compiler.operations.author_operations import AuthorOperation
from handler.compiler.problems import Place, where
from handler.compiler.tools.declaration import CompiledTool
from handler.errors.access import AccessError, CredentialRequired
from handler.policy.evaluation import Evaluation
from handler.policy.predicates import UNKNOWN
from handler.server.auth.principal import Principal, require_scopes
from handler.server.endpoints.endpoint import Endpoint
from handler.server.upstream.bound_variables import find_claim

OWN_GRAPHQL = "/graphql"
"""The name of the endpoint's own GraphQL route among the entrances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """A tool, the GraphQL route for any document, or a persisted operation at this route.

    An entrance has at most one of ``tool`` and ``persisted``; the GraphQL route has neither.
    """

    name: str
    kind: str  # graphql | prescribed | code | catalog | route | persisted
    place: Place | None = None
    tool: Tool | None = None
    made: CompiledTool | None = None
    persisted: PersistedOperation | None = None
    author: AuthorOperation | None = None

    @property
    def view_of(self) -> GraphQLTool | None:
        """The GraphQL tool whose view holds behind the entrance; ``None``: the view of the whole endpoint."""
        return self.tool if isinstance(self.tool, GraphQLTool) else None

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that callers need."""
        if self.persisted is not None:
            return self.persisted.scopes
        return self.tool.options.scopes if self.tool else ()

    @property
    def takes_documents(self) -> bool:
        """True if callers write documents themselves."""
        return self.kind in ("graphql", "route")

    @property
    def fixed(self) -> PrescribedTool | PersistedOperation | None:
        """The operation of the author that runs behind the entrance, if any."""
        return self.tool if isinstance(self.tool, PrescribedTool) else self.persisted


def entrances_of(compiled: Compiled) -> Iterator[Entrance]:
    """Yield the tools in the bundle's order, then the GraphQL route and the persisted operations that it runs."""
    for made in compiled.made:
        yield Entrance(
            name=made.tool.name,
            kind=made.tool.KIND,
            place=where(made.at),
            tool=made.tool,
            made=made,
            author=made.operation,
        )
    graphql = compiled.bundle.graphql
    if graphql.mode == "on":
        yield Entrance(name=OWN_GRAPHQL, kind="route")
    if graphql.mode == "off":
        return
    known = {each.name: each for each in compiled.operations}
    named = {
        persisted.operation.name or document.id: (document.id, persisted)
        for document in graphql.documents
        for persisted in document.operations
    }
    files = {document.id: document for document in compiled.documents}
    for name, (id_, persisted) in named.items():
        author = known.get(persisted.operation.name) or files[id_].anonymous
        yield Entrance(
            name=f"{OWN_GRAPHQL} {name}",
            kind="persisted",
            place=where(author.node) if author else None,
            persisted=persisted,
            author=author,
        )


def asks_for_its_caller(entrance: Entrance) -> bool:
    """Return whether an entrance runs code of the author, which may ask the API for all that its caller may."""
    return isinstance(entrance.tool, CodeTool)


VERDICTS = ("yes", "no", "call", "refused", "403", "401")


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


def operation_standing(
    endpoint: Endpoint, fixed: PrescribedTool | PersistedOperation, *, principal: Principal, evaluation: Evaluation
) -> Standing:
    """Return the standing of an operation for a caller."""
    variables = fixed.operation.variables
    if not evaluation.may_meet(fixed.mask, variables):
        return Standing(verdict="no")
    name = fixed.name if isinstance(fixed, PrescribedTool) else fixed.operation.name
    scopes = fixed.options.scopes if isinstance(fixed, PrescribedTool) else fixed.scopes
    lacking = lacking_scopes(name, scopes, principal)
    if lacking:
        return lacking
    known, missing = _bound(endpoint, fixed, principal)
    if missing:
        return Standing(verdict="refused", note=f"it needs the claim {missing}")
    values = {**dict.fromkeys(variables, UNKNOWN), **known}
    if evaluation.meets_with(fixed.mask, values):
        return Standing(verdict="yes")
    if evaluation.may_meet_with(fixed.mask, values):
        return Standing(verdict="call", note="the values of $variables decide at the call")
    return Standing(verdict="refused", note="no call meets its condition with the bound values")


def lacking_scopes(name: str, scopes: Sequence[str], principal: Principal) -> Standing | None:
    """Return the standing of a caller who lacks scopes; ``None`` if the caller has them."""
    try:
        require_scopes(name, tuple(scopes), principal)
    except AccessError as exc:
        lacking = " ".join(scope for scope in scopes if scope not in principal.scopes)
        verdict = "401" if isinstance(exc, CredentialRequired) else "403"
        return Standing(verdict=verdict, note=f"it needs the scopes {lacking}")
    return None


def _bound(
    endpoint: Endpoint, fixed: PrescribedTool | PersistedOperation, principal: Principal
) -> tuple[Mapping[str, Any], str]:
    """Return the values of variables bound to constants and claims, and a claim that is missing or does not fit."""
    values: dict[str, Any] = {}
    for binding in fixed.bindings:
        if binding.source == "value":
            values[binding.variable] = binding.value
        elif binding.source == "claim":
            values[binding.variable] = find_claim(principal.claims or {}, binding.name)
    misfits = set(endpoint.bound_validator(fixed).misfits(values)) if values else set()
    for binding in fixed.bindings:
        if binding.source == "claim" and (values[binding.variable] is None or binding.variable in misfits):
            return values, binding.name
    return values, ""
